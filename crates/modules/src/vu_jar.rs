//! The cookie jar of a VM, which all modules share whose requests carry cookies.

use std::cell::RefCell;
use std::rc::Rc;

use brunt_http::cookie::Jar;
use brunt_js::{Host, SlotKey, VuSlot};
use brunt_quickjs::{Ctx, touched};

/// A jar, as requests and scripts share it.
pub(crate) type SharedJar = Rc<RefCell<Jar>>;

/// The jar that the VU's requests use, unless their params name another. A clone is the same place.
#[derive(Clone, Default)]
pub(crate) struct VuJar(Rc<RefCell<SharedJar>>);

impl VuSlot for VuJar {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

impl VuJar {
    pub(crate) fn of(ctx: Ctx<'_>) -> &Self {
        Host::of(ctx).slot()
    }

    /// The jar of now.
    pub(crate) fn jar(&self) -> SharedJar {
        Rc::clone(&self.0.borrow())
    }

    /// A new jar; holders of the old one keep it.
    pub(crate) fn reset(&self) {
        let untouched = {
            let jar = self.0.borrow();
            Rc::strong_count(&jar) == 1 && jar.borrow().is_empty()
        };
        if !untouched {
            *self.0.borrow_mut() = SharedJar::default();
        }
    }

    /// Says where it is, for those who watch what is touched.
    pub(crate) fn note(&self) {
        touched::note_shared(&self.0);
        touched::note_shared(&self.0.borrow());
    }
}

#[cfg(test)]
mod tests {
    use brunt_http::Target;
    use brunt_http::cookie::{Scope, SetCookie};

    use super::*;

    fn fill(jar: &SharedJar) {
        let scope = Scope::of(&Target::parse("http://a.test/").unwrap());
        let cookie =
            SetCookie { name: "a".to_owned(), value: "1".to_owned(), ..SetCookie::default() };
        jar.borrow_mut().set(&scope, &cookie, 0);
    }

    #[test]
    fn a_reset_is_seen_by_all_who_share_the_place_and_leaves_the_old_jar_to_its_holders() {
        let place = VuJar::default();
        let of_http = place.clone();
        let held = of_http.jar();
        fill(&held);
        assert!(!place.jar().borrow().is_empty());
        place.reset();
        assert!(of_http.jar().borrow().is_empty() && !held.borrow().is_empty());
    }

    #[test]
    fn an_empty_jar_without_holders_stays() {
        let place = VuJar::default();
        let before = Rc::as_ptr(&place.jar());
        place.reset();
        assert_eq!(Rc::as_ptr(&place.jar()), before);
        let held = place.jar();
        place.reset();
        // A holder may fill it later.
        assert!(!Rc::ptr_eq(&place.jar(), &held));
    }
}
