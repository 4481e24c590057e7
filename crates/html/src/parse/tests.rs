//! More of this, each with k6's own answer, is in `tests/k6/html/parse.js`.

use proptest::prelude::*;

use super::*;

fn written(text: &str) -> String {
    let document = Document::parse(text).unwrap();
    document.outer_html(document.root()).unwrap()
}

#[test]
fn documents_are_completed_as_browsers_do() {
    let cases = [
        ("", "<html><head></head><body></body></html>"),
        ("<p>a<p>b", "<html><head></head><body><p>a</p><p>b</p></body></html>"),
        (
            "<table>x<tr><td>1",
            "<html><head></head><body>x<table><tbody><tr><td>1</td></tr></tbody></table></body></html>",
        ),
        ("<b><p>x</b>y", "<html><head></head><body><b></b><p><b>x</b>y</p></body></html>"),
        (
            "<!DOCTYPE html><a href=x class=y>1<br></a>",
            "<!DOCTYPE html><html><head></head><body><a class=\"y\" href=\"x\">1<br/></a></body></html>",
        ),
        (
            "<textarea>\n\n&lt;</textarea><script>a<b</script>",
            "<html><head></head><body><textarea>\n\n&lt;</textarea><script>a<b</script></body></html>",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(written(text), expected, "{text}");
    }
}

#[test]
fn elements_may_be_open_512_deep() {
    assert!(Document::parse(&"<div>".repeat(510)).is_ok());
    assert_eq!(Document::parse(&"<div>".repeat(511)).err(), Some(ParseError::Depth));
}

#[test]
fn text_that_comes_in_pieces_is_one_node() {
    // Text that does not belong in the table is put before it, piece by piece.
    let text = format!("<table>{}", "x&amp;<tr>".repeat(1000));
    let document = Document::parse(&text).unwrap();
    let texts = document.descendants(document.root()).filter_map(|node| document.text_of(node));
    assert!({ texts }.any(|text| text == "x&".repeat(1000)));
    assert!(document.text.len() < 2 * text.len(), "joining copies no text again and again");
}

#[test]
fn a_text_that_grows_when_it_is_parsed_is_stopped() {
    // Each paragraph opens all of them anew.
    let mut text = "<p>".to_owned();
    text.extend((0..100).map(|number| format!("<b id={number}>")));
    text.push_str("</p>");
    text.push_str(&"<p>x</p>".repeat(5000));
    assert_eq!(Document::parse_within(&text, 10_000, || true).err(), Some(ParseError::Nodes));
}

#[test]
fn pages_made_to_hurt_are_parsed_in_time_that_grows_with_their_length() {
    let many = |piece: fn(usize) -> String| (0..100_000).map(piece).collect::<String>();
    let attributes = many(|number| format!(" a{number}"));
    let began = std::time::Instant::now();
    for page in [
        format!("<p{attributes}>"),
        format!("<body{attributes}><body{attributes} b>"),
        many(|_| "</p>".to_owned()),
        many(|_| "<table>".to_owned()),
        many(|_| "<select><option>".to_owned()),
        many(|number| format!("<x{number}>")),
        many(|_| "<a>".to_owned()),
        many(|_| "<b></p>".to_owned()),
        many(|_| "<template>".to_owned()),
        many(|_| "<svg><desc>".to_owned()),
    ] {
        let _ = Document::parse(&page);
    }
    // A second is usual; what grows with the square of the length takes minutes.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn trees_have_no_loops_and_all_links_go_both_ways() {
    let text = "<i><b><p>1</i>2</b>3<table><a>x<tr><td></a><form><table></form>y<select><option>z";
    check(&Document::parse(text).unwrap());
}

fn check(document: &Document) {
    let mut count = 0;
    for node in std::iter::once(document.root()).chain(document.descendants(document.root())) {
        count += 1;
        assert!(count <= document.len(), "no node comes twice");
        let mut last = None;
        for child in document.children(node) {
            assert_eq!(document.parent(child), Some(node));
            assert_eq!(document.previous(child), last);
            last = Some(child);
        }
        assert_eq!(document.last_child(node), last);
    }
}

proptest! {
    #[test]
    fn any_text_is_a_document(parts in prop::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<b>", "</b>", "<i id=1>", "</i>", "<table>", "</table>", "<tr>", "<td>", "</td>",
        "<a href=x>", "</a>", "<select>", "<option>", "</select>", "<form>", "</form>", "<svg>", "</svg>",
        "<script>", "</script>", "<!-- ", "-->", "x", "&amp;", "&", "<", "\0", "é", "<template>",
        "</template>", "<body a=1>", "<html b>", "</body>", "</html>", "<frameset>", "<textarea>",
        "</textarea>", "<math>", "<mi>", "<button>", "<ul>", "<li>", "<h1>", "</h2>", "<nobr>", "<br>",
    ]), 0..60)) {
        let text = parts.concat();
        let document = Document::parse(&text).unwrap();
        check(&document);
        let _ = document.outer_html(document.root());
        let _ = document.text(document.root());
    }
}

#[test]
fn the_caller_is_asked_again_and_again_and_may_stop_the_parser() {
    for text in ["<p>x</p>", "<a b=c d=e f>", "<a b=c "] {
        let text = text.repeat(100_000);
        let parse = |most: usize| {
            let mut asked = 0;
            let goes_on = || {
                asked += 1;
                asked < most
            };
            let error = Document::parse_while(&text, goes_on).err();
            (asked, error)
        };
        let (asked, error) = parse(usize::MAX);
        assert!(error.is_none() && asked >= text.len() / (64 << 10), "{asked}");
        assert_eq!(parse(3), (3, Some(ParseError::Stopped)));
    }
}
