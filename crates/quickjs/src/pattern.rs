//! Objects of the same properties, made again and again: the rows of a table.

use crate::ctx::Ctx;
use crate::error::{JsResult, Thrown};
use crate::root::Root;
use crate::sys;
use crate::value::Value;

/// Columns of an ordinary table.
const FEW: usize = 16;

/// The names of the properties of objects that are yet to be made. Like a [`Root`], it may be kept anywhere, and is of use in its
/// own VM alone.
#[derive(Debug)]
pub struct Pattern {
    /// An object of these properties that no script ever sees: it keeps the atoms.
    like: Root,
    atoms: Vec<sys::JSAtom>,
}

impl Pattern {
    /// How many properties there are.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }
}

impl<'js> Ctx<'js> {
    /// A pattern of these names, in this order. Of names that are the same, the last counts: [`Ctx::object_by`] gets a value for each
    /// name that is left, and the places of these in `names` come back beside the pattern.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn pattern(self, names: &[&str]) -> Result<(Pattern, Vec<usize>), Thrown> {
        let is_last = |index: &usize| !names[index + 1..].contains(&names[*index]);
        let places: Vec<usize> = (0..names.len()).filter(is_last).collect();
        let like = self.object()?;
        let mut atoms = Vec::with_capacity(places.len());
        for &place in &places {
            let name = names[place];
            like.define(name, self.undefined())?;
            // SAFETY: pointer and length are those of a `str`. The property that was just defined keeps the atom alive, for as long
            // as the root keeps the object, which no script can reach: the reference made here is given back.
            let atom = unsafe {
                let atom = sys::JS_NewAtomLen(self.raw(), name.as_ptr().cast(), name.len());
                sys::JS_FreeAtom(self.raw(), atom);
                atom
            };
            if atom == 0 {
                return Err(self.throw_memory());
            }
            atoms.push(atom);
        }
        Ok((Pattern { like: self.root(like), atoms }, places))
    }

    /// A new object with the properties of the pattern and these values, which are taken from the list.
    ///
    /// # Errors
    /// If there is no memory.
    ///
    /// # Panics
    /// If the numbers of values and properties differ, or the pattern or a value is another VM's.
    pub fn object_by(self, pattern: &Pattern, values: &mut Vec<Value<'js>>) -> JsResult<'js> {
        let like = self.rooted(&pattern.like);
        assert_eq!(values.len(), pattern.len(), "each property has one value");
        let is_own = |value: &Value<'_>| value.ctx().inner.id == self.inner.id;
        assert!(values.iter().all(is_own), "a value is used in the VM that it came from");
        let count = i32::try_from(values.len()).expect("fewer than two billion properties");
        // Few columns need no list of their own.
        let (mut few, mut many) = ([sys::UNDEFINED; FEW], Vec::new());
        let raws: &[sys::JSValue] = if values.len() <= FEW {
            for (place, value) in few.iter_mut().zip(values.drain(..)) {
                *place = value.into_raw();
            }
            &few
        } else {
            many.extend(values.drain(..).map(Value::into_raw));
            &many
        };
        let (atoms, given) = (pattern.atoms.as_ptr(), raws.as_ptr());
        // SAFETY: both lists have `count` entries; the atoms are alive and differ; the values are the engine's from here on, but if
        // the answer is `undefined`: then they still are ours, and are given once more.
        let made = unsafe {
            let made = sys::brunt_object_like(self.raw(), like.raw_for(self), count, atoms, given);
            if made.tag == sys::TAG_UNDEFINED {
                sys::brunt_object_from(self.raw(), count, atoms, given)
            } else {
                made
            }
        };
        // SAFETY: the result is ours.
        unsafe { Value::returned(self, made) }
    }
}
