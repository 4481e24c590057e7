//! The page: one file that needs no other, with the events in it or with an address to get them from.

use super::journal::Journal;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page that listens to `/events`.
pub(super) fn live() -> String {
    build("")
}

/// The page that knows everything already.
pub(super) fn report(journal: &Journal) -> String {
    let mut data = String::from("[");
    for event in journal.since(0, usize::MAX) {
        // The last one of these says what the ones before did.
        if data.len() > 1 {
            data.push_str(",\n");
        }
        data.push_str("[\"");
        data.push_str(event.name);
        data.push_str("\",");
        // Whatever a script called its metrics and groups: nothing ends the element.
        data.push_str(&event.data.replace('<', "\\u003c"));
        data.push(']');
    }
    data.push(']');
    build(&data)
}

fn build(data: &str) -> String {
    let parts = [("{{style}}", STYLE), ("{{data}}", data), ("{{script}}", SCRIPT)];
    let mut rest = PAGE;
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    for (mark, text) in parts {
        let (before, after) =
            rest.split_once(mark).expect("the page has each mark once, in this order");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_cannot_end_the_script() {
        let journal = Journal::default();
        journal.say("param", &json!({ "scriptPath": "</script><b>" }));
        let page = report(&journal);
        assert!(page.contains("[\"param\",{\"scriptPath\":\"\\u003c/script>\\u003cb>\"}]"));
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        for page in [live(), report(&Journal::default())] {
            for word in ["http://", "https://", "<link", "src=", "@import", "url(", "{{"] {
                let page = page.replace("http://www.w3.org/2000/svg", "");
                assert!(!page.contains(word), "{word}");
            }
        }
    }
}
