//! The cost of a route: of a URL that is new, and of one whose route is known.
#![allow(missing_docs, reason = "a bench says by its name what it measures")]

use std::sync::Arc;

use brunt_routes::{Book, Patterns, Reader};
use divan::{Bencher, black_box};

/// The allocator of the process; divan counts what it is asked for.
#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// A short URL, one with a query, one with all that folds.
const URLS: [&str; 3] = [
    "http://127.0.0.1:8080/users/17",
    "http://127.0.0.1:8080/api/items?page=2&sort=asc&q=red%20shoes",
    "http://127.0.0.1:8080/v2/u/6ba7b810-9dad-11d1-80b4-00c04fd430c8/files/da39a3ee5e6b4b0d3255bfef95601890afd80709.json?at=2026-11-27T10:00:00Z&ids=1&ids=2",
];

#[divan::bench(args = URLS)]
fn fold(url: &str) -> String {
    brunt_routes::fold(black_box(url))
}

/// A URL that the core has forgotten, of a route that it knows: no memory is asked for.
#[divan::bench(args = URLS)]
fn find_the_route_of_a_url(bencher: Bencher, url: &str) {
    let mut reader = Reader::new(&Arc::new(Book::new(Patterns::default(), Vec::new())));
    reader.route("GET", url);
    bencher.bench_local(move || reader.route("GET", black_box(url)));
}

/// The same with a hundred patterns by hand, none of which fits.
#[divan::bench(args = URLS)]
fn find_the_route_beside_patterns(bencher: Bencher, url: &str) {
    let lines: Vec<String> = (0..100).map(|n| format!("GET /none/of/{n}x/{{id}}\n")).collect();
    let patterns = lines.concat();
    let patterns = Patterns::parse(&patterns).expect("they are patterns");
    let mut reader = Reader::new(&Arc::new(Book::new(patterns, Vec::new())));
    reader.route("GET", url);
    bencher.bench_local(move || reader.route("GET", black_box(url)));
}
