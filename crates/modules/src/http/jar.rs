//! `CookieJar`: a cookie jar in a script's hands.

use std::ffi::CStr;
use std::rc::Rc;

use brunt_quickjs::{Class, Members, Value};

use crate::vu_jar::SharedJar;

/// A jar in a script's hands.
#[derive(Default)]
pub(super) struct CookieJar {
    pub(super) jar: SharedJar,
}

impl Class for CookieJar {
    const NAME: &'static CStr = c"CookieJar";

    fn members() -> &'static Members {
        static NONE: Members = Members::new();
        &NONE
    }
}

/// The jar behind a script's `CookieJar`.
pub(crate) fn jar_in(value: &Value<'_>) -> Option<SharedJar> {
    value.instance::<CookieJar>().map(|jar| Rc::clone(&jar.jar))
}
