//! Partial responses of JSF: updates of parts of a page, redirects, errors.

use std::collections::BTreeMap;

use crate::address::plain;
use crate::body::Difference;
use crate::{errors, page};

/// The updates of a partial response, by their plain ids.
fn updates(text: &str) -> BTreeMap<String, &str> {
    let mut found = BTreeMap::new();
    let mut rest = text;
    while let Some(at) = rest.find("<update") {
        rest = &rest[at + "<update".len()..];
        let Some(end) = rest.find("</update>") else { break };
        let update = &rest[..end];
        rest = &rest[end..];
        let Some((head, inside)) = update.split_once('>') else { continue };
        let id = head.split(['"', '\'']).nth(1).unwrap_or_default();
        let inside = inside.trim();
        let inside = inside.strip_prefix("<![CDATA[").unwrap_or(inside);
        let inside = inside.strip_suffix("]]>").unwrap_or(inside);
        found.insert(plain(id), inside);
    }
    found
}

/// Compares two of them.
pub(crate) fn compare(recorded: &str, replayed: &str) -> Vec<Difference> {
    let mut found = Vec::new();
    let is_new = |tag: &str| replayed.contains(tag) && !recorded.contains(tag);
    if is_new("<error>") || is_new("<error ") {
        let word = errors::new_word(replayed, recorded).unwrap_or("error");
        found.push(Difference::fault(format!("is an error ({word}), and the recorded one is not")));
    }
    if is_new("<redirect") {
        found.push(Difference::fault("redirects the page, and the recorded one does not"));
    } else if recorded.contains("<redirect") && !replayed.contains("<redirect") {
        found.push(Difference::fault("does not redirect the page, as the recorded one does"));
    }
    let (old, new) = (updates(recorded), updates(replayed));
    for (id, before) in &old {
        match new.get(id) {
            None => found.push(Difference::fault(format!("has no update of {id}"))),
            Some(after) if before.contains('<') => found.extend(page::compare(before, after)),
            Some(_) => {}
        }
    }
    for (id, after) in new.iter().filter(|(id, _)| !old.contains_key(*id)) {
        if let Some(word) = errors::new_word(after, recorded) {
            found.push(Difference::fault(format!("says \"{word}\" in an update of {id}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(inside: &str) -> String {
        format!(
            "<?xml version='1.0'?><partial-response><changes>{inside}</changes></partial-response>"
        )
    }

    #[test]
    fn an_update_that_is_gone_or_an_error_is_a_fault_and_a_new_token_is_not() {
        let old = partial(
            r#"<update id="form:orders"><![CDATA[<table><tr><td>1</td></tr></table>]]></update>
               <update id="j_id1:javax.faces.ViewState:0"><![CDATA[A+1=]]></update>"#,
        );
        let faults = |new: &str| compare(&old, new).iter().filter(|one| one.is_fault).count();
        assert_eq!(faults(&old.replace("A+1=", "B/2=").replace("<td>1", "<td>7")), 0);
        assert_eq!(faults(&partial("<error><error-name>X</error-name></error>")), 3);
        assert_eq!(faults(r#"<partial-response><redirect url="/login"/></partial-response>"#), 3);
        assert_eq!(faults(&old.replace("</table>", "</table><p class=\"error\">invalid</p>")), 1);
    }
}
