//! More of this, each with k6's own answer, is in `tests/k6/html/selectors.js`.

use proptest::prelude::*;

use super::Selector;
use crate::Document;

fn ids(selector: &str) -> String {
    let document = Document::parse(
        "<div id=a class='x y' lang=de-AT><p id=b class=x>Hello <em id=c>World</em></p><p id=d></p></div>\
         <ul id=e><li id=f>1<li id=g>2<li id=h>3</ul>\
         <fieldset id=i disabled><legend id=j><input id=k></legend><input id=l></fieldset>",
    )
    .unwrap();
    let found = Selector::new(selector).find(&document, &[document.root()]);
    let id = |&node| document.attribute(node, "id").unwrap_or("-").to_owned();
    found.iter().map(id).collect::<Vec<_>>().join(" ")
}

#[test]
fn selectors_find_what_they_say_in_document_order() {
    let cases = [
        ("p, #a", "a b d"),
        ("div > p + p", "d"),
        ("div em", "c"),
        (".x.y", "a"),
        ("[class~=y]", "a"),
        ("[lang|=de]", "a"),
        ("[id!=a][class]", "b"),
        ("[id#=^[f-h]$]", "f g h"),
        ("li:nth-child(2n+1)", "f h"),
        ("li:nth-last-child(-n+2)", "g h"),
        ("li:not(:first-child)", "g h"),
        ("p:has(em)", "b"),
        ("p:contains('hello world')", "b"),
        ("p:matches(^Hello)", "b"),
        ("p:empty", "d"),
        ("input:disabled", "l"),
        ("input:enabled", "k"),
    ];
    for (selector, expected) in cases {
        assert_eq!(ids(selector), expected, "{selector}");
    }
}

#[test]
fn what_is_no_selector_finds_nothing() {
    for selector in ["", "p[", "p:nope", "> p", "p,", "li:first", "p:not(", "p {", "li:nth-child()"]
    {
        assert!(!Selector::new(selector).is_valid(), "{selector}");
        assert_eq!(ids(selector), "", "{selector}");
    }
}

#[test]
fn selectors_have_limits_of_length_and_depth() {
    assert!(!Selector::new(&"a ".repeat(1000)).is_valid());
    assert!(!Selector::new(&format!("{}a{}", ":not(".repeat(50), ")".repeat(50))).is_valid());
    assert!(!Selector::new(&"a,".repeat(60_000)).is_valid());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z#.:()\\[\\]=*~^$|!'\"\\\\ ,>+n0-9-é]{0,24}") {
        let _ = ids(&text);
    }
}
