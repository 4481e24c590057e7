//! The things that VUs share, by their names.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_js::{Host, Phase};
use brunt_quickjs::{Ctx, JsResult, Value};
use rustc_hash::FxHashMap;

use crate::throwing::{throw, throw_type};

/// The most things of one kind in a test; a script that wants more is told so.
const NAMES_MAX: usize = 1000;
/// The longest name, in bytes.
const NAME_MAX: usize = 128;

/// All things of one kind, as long as the test. Looked through in init code alone.
#[derive(Debug)]
pub(super) struct Named<T>(Mutex<FxHashMap<String, Arc<T>>>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Named<T> {
    /// The thing of this name, made if there is none. Making it may run the script, so it happens outside of the lock; were two VMs to
    /// make one at once, the first to come would stay.
    ///
    /// # Errors
    /// The exception of making it; there are too many.
    pub(super) fn find_or_make<'js>(
        &self,
        ctx: Ctx<'js>,
        kind: &str,
        name: &str,
        make: impl FnOnce() -> JsResult<'js, T>,
    ) -> JsResult<'js, Arc<T>> {
        if let Some(known) = self.lock().get(name) {
            return Ok(Arc::clone(known));
        }
        let made = make()?;
        let mut all = self.lock();
        if all.len() >= NAMES_MAX && !all.contains_key(name) {
            drop(all);
            let why = format!("{kind} \"{name}\": a test has at most {NAMES_MAX} of them");
            return Err(throw(ctx, &why));
        }
        Ok(Arc::clone(all.entry(name.to_owned()).or_insert_with(|| Arc::new(made))))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<String, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name that a script gives, in init code.
///
/// # Errors
/// A `GoError` elsewhere; a `TypeError` for what is no name.
pub(super) fn read_name<'js>(
    ctx: Ctx<'js>,
    kind: &str,
    given: &Value<'js>,
) -> JsResult<'js, String> {
    if Host::of(ctx).phase() != Phase::Init {
        let why = format!("{kind}() must be called in the init context: at the top of the script");
        return Err(throw(ctx, &why));
    }
    let name = given.as_str().map(|text| text.as_str().to_owned()).unwrap_or_default();
    if name.is_empty() || name.len() > NAME_MAX {
        let why = format!(
            "{kind}() needs a name, by which all VUs find the same one: a text of 1 to {NAME_MAX} bytes"
        );
        return Err(throw_type(ctx, &why));
    }
    Ok(name)
}

/// Refuses a thing that was made with other options before.
///
/// # Errors
/// They differ.
pub(super) fn same<'js, T: PartialEq>(
    ctx: Ctx<'js>,
    kind: &str,
    name: &str,
    [before, now]: [&T; 2],
) -> JsResult<'js, ()> {
    if before == now {
        return Ok(());
    }
    let why = format!(
        "{kind} \"{name}\" were made with other options before: give each its own name, or all the same options"
    );
    Err(throw(ctx, &why.replace("were", if kind == "rows" { "were" } else { "was" })))
}
