//! The routes of a run, the same for all cores.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::{self, LENGTH_MAX};
use crate::patterns::Patterns;

/// Routes that are told apart, beside those that somebody wants; more are one route, [`OTHER`].
pub const ROUTES_MAX: usize = 200;
/// The route of those that had no room.
pub const OTHER: &str = "other";

/// All routes so far. Its lock is taken when a core meets a route for the first time.
#[derive(Debug, Default)]
pub struct Book {
    patterns: Patterns,
    /// Routes that have room in any case: thresholds name them.
    wanted: Vec<String>,
    known: Mutex<FxHashSet<Arc<str>>>,
    is_full: AtomicBool,
}

impl Book {
    /// A book without routes. The routes in `wanted` (a path, or a route with its origin) have room in any case.
    pub fn new(patterns: Patterns, wanted: Vec<String>) -> Self {
        Self { patterns, wanted, ..Self::default() }
    }

    /// Takes in a route; none if there is no room for it.
    fn admit(&self, route: &str) -> Option<Arc<str>> {
        let mut known = self.known();
        if let Some(route) = known.get(route) {
            return Some(Arc::clone(route));
        }
        if known.len() >= ROUTES_MAX {
            self.is_full.store(true, Relaxed);
            if !self.wants(route) {
                return None;
            }
        }
        let route: Arc<str> = Arc::from(route);
        known.insert(Arc::clone(&route));
        Some(route)
    }

    fn wants(&self, route: &str) -> bool {
        let path = path_of(route);
        self.wanted.iter().any(|wanted| wanted == route || wanted == path)
    }

    fn known(&self) -> MutexGuard<'_, FxHashSet<Arc<str>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A route without its origin: `/users/{id}`.
fn path_of(route: &str) -> &str {
    fold::origin_of(route).2
}

/// One core's view of the book.
#[derive(Debug)]
pub struct Reader {
    book: Arc<Book>,
    /// Routes that this core has met: no more than the book has.
    met: FxHashMap<Arc<str>, Arc<str>>,
    /// The book is full, and all in it is met.
    is_complete: bool,
    other: Arc<str>,
    /// Where routes are written, so that a known one takes no memory.
    text: String,
}

impl Reader {
    /// A view of this book.
    pub fn new(book: &Arc<Book>) -> Self {
        Self {
            book: Arc::clone(book),
            met: FxHashMap::default(),
            is_complete: false,
            other: Arc::from(OTHER),
            text: String::new(),
        }
    }

    /// The route of a request to this URL.
    pub fn route(&mut self, method: &str, url: &str) -> Arc<str> {
        let mut text = std::mem::take(&mut self.text);
        if self.book.patterns.is_empty() || !self.book.patterns.push_route(&mut text, method, url) {
            fold::fold_into(&mut text, url);
        }
        let route = self.find(&text);
        self.text = text;
        route
    }

    /// The route of a request to which the script gave a name: the name, cut if it is very long.
    pub fn named(&mut self, name: &str) -> Arc<str> {
        self.find(&name[..name.floor_char_boundary(LENGTH_MAX)])
    }

    fn find(&mut self, route: &str) -> Arc<str> {
        if let Some(known) = self.met.get(route) {
            return Arc::clone(known);
        }
        let is_full = self.book.is_full.load(Relaxed);
        if is_full && !self.is_complete {
            // Into a full book nothing comes but what is wanted: it is read once, and the lock not taken again.
            for known in self.book.known().iter() {
                self.met.insert(Arc::clone(known), Arc::clone(known));
            }
            self.is_complete = true;
            return self.find(route);
        }
        if is_full && !self.book.wants(route) {
            // A threshold on a path is on each query of it, of which there may be any number.
            return match route.split_once('?') {
                Some((path, _)) if self.book.wants(path) => self.find(path),
                _ => Arc::clone(&self.other),
            };
        }
        match self.book.admit(route) {
            Some(admitted) => {
                self.met.insert(Arc::clone(&admitted), Arc::clone(&admitted));
                admitted
            }
            None => Arc::clone(&self.other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(wanted: &[&str]) -> Reader {
        let wanted = wanted.iter().map(|one| (*one).to_owned()).collect();
        let patterns = Patterns::parse("GET /shop/{section}/{rest...}\n").unwrap();
        Reader::new(&Arc::new(Book::new(patterns, wanted)))
    }

    #[test]
    fn patterns_come_before_what_is_learned() {
        let mut reader = reader(&[]);
        assert_eq!(
            &*reader.route("GET", "http://a/shop/x/y/z"),
            "http://a/shop/{section}/{rest...}"
        );
        assert_eq!(&*reader.route("POST", "http://a/shop/x/17"), "http://a/shop/x/{id}");
        assert_eq!(&*reader.named("my name"), "my name");
    }

    #[test]
    fn beyond_the_bound_routes_are_others_but_for_those_that_are_wanted() {
        for wanted in [&[][..], &["/late"]] {
            let mut first = reader(wanted);
            let mut second = Reader::new(&first.book);
            for n in 0..100_000 {
                first.route("GET", &format!("http://a/{}", word(n)));
            }
            assert_eq!(
                &*first.route("GET", &format!("http://a/{}", word(7))),
                format!("http://a/{}", word(7))
            );
            let late = if wanted.is_empty() { OTHER } else { "http://a/late" };
            for reader in [&mut first, &mut second] {
                assert_eq!(&*reader.route("GET", "http://a/late"), late);
                assert_eq!(&*reader.route("GET", "http://a/late?q=yes"), late);
                assert_eq!(&*reader.route("GET", "http://a/later"), OTHER);
                assert!(reader.met.len() <= ROUTES_MAX + 1);
            }
            assert_eq!(
                &*second.route("GET", &format!("http://a/{}", word(9))),
                format!("http://a/{}", word(9))
            );
        }
    }

    /// Letters alone: no two fold to the same.
    fn word(n: usize) -> String {
        let letter = |digit: usize| char::from(b'g' + u8::try_from(digit % 20).unwrap());
        (0..5).map(|place| letter(n / 20usize.pow(place))).collect()
    }
}
