//! Any text as a page, and its first line as a selector.
//!
//! The tree must hold together, texts must come from the page, and what a selector finds must be what it matches, each node
//! once and in the order of the page.
#![no_main]

use brunt_html::{Document, NodeId, Selector, form};
use libfuzzer_sys::fuzz_target;

/// Looks at a node and all below it; gives how many there are, and how long their texts are.
fn check(document: &Document, top: NodeId) -> (usize, usize) {
    let (mut count, mut size) = (0, 0);
    let mut open = vec![top];
    while let Some(node) = open.pop() {
        count += 1;
        assert!(count <= document.len(), "a circle of nodes");
        size += document.value(node).map_or(0, str::len);
        let (mut before, mut last) = (None, None);
        for child in document.children(node) {
            assert_eq!(document.parent(child), Some(node));
            assert_eq!(document.previous(child), before);
            if let Some(before) = before {
                assert_eq!(document.next(before), Some(child));
            }
            (before, last) = (Some(child), Some(child));
            open.push(child);
        }
        assert_eq!(document.last_child(node), last);
        assert!(last.is_none_or(|last| document.next(last).is_none()));
    }
    (count, size)
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (selector, page) = text.split_once('\n').unwrap_or((&text, ""));
    let selector = Selector::new(selector);
    let Ok(document) = Document::parse(page) else { return };
    let root = document.root();
    let (count, size) = check(&document, root);
    assert_eq!(document.descendants(root).count(), count - 1);
    assert!(size <= 4 * page.len() + 16, "texts out of nothing");

    let order: Vec<NodeId> = document.descendants(root).collect();
    let found = selector.find(&document, &[root]);
    let mut rest = order.iter();
    for node in &found {
        assert!(rest.any(|next| next == node), "in the order of the page, and once");
        assert!(selector.matches(&document, *node));
    }
    assert_eq!(selector.find_first(&document, root), found.first().copied());
    assert!(selector.is_valid() || found.is_empty());

    let elements: Vec<NodeId> =
        order.iter().copied().filter(|node| document.is_element(*node)).collect();
    let _ = form::entries(&document, &elements);
    for node in elements {
        let _ = form::value(&document, node);
    }
    assert!(document.outer_html(root).is_none_or(|html| html.len() < 1 << 24));
});
