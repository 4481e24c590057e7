//! Options of `rows()`, `queue()` and `counter()`.

use brunt_leases::WHOLE_MAX;
use brunt_quickjs::{Ctx, JsResult, Value};
use brunt_spelling::question;

use crate::reading::keys_of;
use crate::throwing::throw_type;

/// An object of options, whose keys are all known.
pub(super) struct Options<'js> {
    ctx: Ctx<'js>,
    /// Of whom they are, in messages: `rows "users"`.
    whose: String,
    given: Value<'js>,
}

impl<'js> Options<'js> {
    /// Options of these names; none if `given` is missing.
    ///
    /// # Errors
    /// A `TypeError` for another value, and for a key that is unknown.
    pub(super) fn read(
        ctx: Ctx<'js>,
        whose: String,
        given: &Value<'js>,
        known: &[&str],
    ) -> JsResult<'js, Self> {
        let options = Self { ctx, whose, given: given.clone() };
        if given.is_undefined() {
            return Ok(options);
        }
        if !given.is_object() || given.is_array() || given.is_function() {
            let known = known.join(", ");
            return Err(options.wrong(&format!("the options are an object with {known}")));
        }
        for key in keys_of(given)? {
            let name = key.text().unwrap_or_default();
            if !known.contains(&&*name) {
                let meant = question(&name, known.iter().copied())
                    .unwrap_or_else(|| format!("there are {}", known.join(", ")));
                return Err(options.wrong(&format!("there is no option \"{name}\"; {meant}")));
            }
        }
        Ok(options)
    }

    fn wrong(&self, why: &str) -> brunt_quickjs::Thrown {
        throw_type(self.ctx, &format!("{}: {why}", self.whose))
    }

    fn get(&self, name: &str) -> JsResult<'js, Option<Value<'js>>> {
        if self.given.is_undefined() {
            return Ok(None);
        }
        Ok(Some(self.given.get(name)?).filter(|value| !value.is_undefined()))
    }

    /// Whether the option is there.
    ///
    /// # Errors
    /// The exception of reading it.
    pub(super) fn has(&self, name: &str) -> JsResult<'js, bool> {
        Ok(self.get(name)?.is_some())
    }

    /// One word of several; the first of them if the option is missing.
    ///
    /// # Errors
    /// It is none of them.
    pub(super) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&'static str, T)],
    ) -> JsResult<'js, T> {
        let Some(value) = self.get(name)? else { return Ok(words[0].1) };
        let given = value.as_str().map(|text| text.as_str().to_owned());
        let found = words.iter().find(|(word, _)| given.as_deref() == Some(word));
        if let Some((_, found)) = found {
            return Ok(*found);
        }
        let all: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let meant = given
            .and_then(|given| question(&given, words.iter().map(|(word, _)| *word)))
            .map_or(String::new(), |meant| format!("; {meant}"));
        Err(self.wrong(&format!("{name} is one of {}{meant}", all.join(", "))))
    }

    /// A whole number within bounds.
    ///
    /// # Errors
    /// It is no whole number, or out of bounds.
    pub(super) fn whole(
        &self,
        name: &str,
        otherwise: i64,
        [least, most]: [i64; 2],
    ) -> JsResult<'js, i64> {
        let Some(value) = self.get(name)? else { return Ok(otherwise) };
        let whole = value.as_number().and_then(whole);
        match whole.filter(|whole| (least..=most).contains(whole)) {
            Some(whole) => Ok(whole),
            None => Err(self.wrong(&format!("{name} is a whole number from {least} to {most}"))),
        }
    }
}

/// A number of a script as a whole one, if it is one.
pub(super) fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= WHOLE_MAX as f64;
    is_whole.then_some(number as i64)
}
