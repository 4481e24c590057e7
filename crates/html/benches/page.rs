//! A page of 100 kB: parsed, searched, written. `cargo bench -p brunt-html`.

use std::fmt::Write as _;

use brunt_html::{Document, Selector};
use divan::{Bencher, black_box, counter::BytesCount};

fn main() {
    divan::main();
}

/// A shop: lists, links, forms, entities.
fn page() -> String {
    let mut page =
        "<!DOCTYPE html><html lang=\"en\"><head><title>Shop</title></head><body>".to_owned();
    let mut number = 0;
    while page.len() < 100_000 {
        let _ = write!(
            page,
            "\n<div class=\"item odd\" id=\"item-{number}\"><h2><a href=\"/items/{number}?a=b&amp;c=d\" title=\"Item\">Item \
             &laquo;{number}&raquo;</a></h2>\n<p>It is <b>very</b> useful, for <i>this</i>.<br>Only 5&nbsp;&euro;!</p>\n<form \
             action=\"/cart\" method=\"post\"><input type=\"hidden\" name=\"id\" value=\"{number}\"><select name=\"size\"><option \
             value=\"s\">small</option><option selected>large</option></select></form>\n<ul><li>first</li><li \
             class=\"x\">second</li></ul></div>"
        );
        number += 1;
    }
    page + "</body></html>"
}

#[divan::bench]
fn parse(bencher: Bencher<'_, '_>) {
    let page = page();
    bencher
        .counter(BytesCount::of_str(&page))
        .bench_local(|| Document::parse(black_box(&page)).expect("a page within the limits"));
}

#[divan::bench]
fn find(bencher: Bencher<'_, '_>) {
    let document = Document::parse(&page()).expect("a page within the limits");
    let selector = Selector::new("div.item > form input[name=id]");
    bencher.bench_local(|| selector.find(black_box(&document), &[document.root()]).len());
}

#[divan::bench]
fn write(bencher: Bencher<'_, '_>) {
    let document = Document::parse(&page()).expect("a page within the limits");
    bencher.bench_local(|| document.outer_html(black_box(document.root())));
}
