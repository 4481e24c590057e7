//! Property names that are looked up once per VM.

mod cache;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ctx::{Ctx, Inner};
use crate::error::Thrown;
use crate::sys;
use crate::touched;

pub(crate) use cache::AtomCache;

static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A property name known at compile time: `static STATUS: Name = Name::new("status");`. Each VM keeps the engine's atom
/// for it after the first use, so that later uses hash nothing.
pub struct Name {
    text: &'static str,
    /// Index in every VM's cache; 0 until the first use.
    index: AtomicUsize,
}

impl Name {
    /// A name.
    pub const fn new(text: &'static str) -> Self {
        Self { text, index: AtomicUsize::new(0) }
    }

    /// The text.
    pub fn text(&self) -> &'static str {
        self.text
    }

    fn index(&self) -> usize {
        match self.index.load(Ordering::Relaxed) {
            0 => {
                let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
                match self.index.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => fresh,
                    Err(winner) => winner,
                }
            }
            index => index,
        }
    }

    /// The engine's atom for it, lent; the first use in a VM makes it.
    pub(crate) fn atom(&self, ctx: Ctx<'_>) -> Result<sys::JSAtom, Thrown> {
        match self.find(ctx.inner) {
            0 => Err(ctx.throw_memory()),
            atom => Ok(atom),
        }
    }

    /// The atom, or 0 if there is no memory for it.
    pub(crate) fn find(&self, inner: &Inner) -> sys::JSAtom {
        let index = self.index();
        let mut atoms = inner.atoms.names.borrow_mut();
        if atoms.len() <= index {
            atoms.resize(index + 1, 0);
        }
        touched::note(&atoms[index]);
        if atoms[index] == 0 {
            // SAFETY: pointer and length are those of a `str`, the context is alive.
            atoms[index] = unsafe {
                sys::JS_NewAtomLen(inner.ctx.as_ptr(), self.text.as_ptr().cast(), self.text.len())
            };
        }
        atoms[index]
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Name({:?})", self.text)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &super::Name {}
    impl Sealed for &str {}
    impl Sealed for &String {}
    impl Sealed for &super::Key<'_> {}
}

/// A name of a property: a [`Name`], a string, or a [`Key`].
pub trait PropertyKey: sealed::Sealed {
    #[doc(hidden)]
    fn with_atom<R>(
        self,
        ctx: Ctx<'_>,
        use_atom: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown>;
}

/// An engine atom, lent.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Atom(pub(crate) sys::JSAtom);

impl PropertyKey for &Name {
    fn with_atom<R>(
        self,
        ctx: Ctx<'_>,
        use_atom: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        use_atom(Atom(self.atom(ctx)?))
    }
}

impl PropertyKey for &str {
    fn with_atom<R>(
        self,
        ctx: Ctx<'_>,
        use_atom: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        // SAFETY: pointer and length are those of a `str`; the atom comes as a reference of its own.
        let atom = unsafe { sys::JS_NewAtomLen(ctx.raw(), self.as_ptr().cast(), self.len()) };
        if atom == 0 {
            return Err(ctx.throw_memory());
        }
        let key = Key { atom, ctx };
        use_atom(Atom(key.atom))
    }
}

impl PropertyKey for &String {
    fn with_atom<R>(
        self,
        ctx: Ctx<'_>,
        use_atom: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        self.as_str().with_atom(ctx, use_atom)
    }
}

impl PropertyKey for &Key<'_> {
    fn with_atom<R>(
        self,
        ctx: Ctx<'_>,
        use_atom: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        assert!(self.ctx.inner.id == ctx.inner.id, "a key is used in the VM that it came from");
        use_atom(Atom(self.atom))
    }
}

/// A key that its VM keeps, so that it can be compared with others later without looking at its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinnedKey {
    atom: sys::JSAtom,
    vm: u64,
}

/// A property key of an object: a string or a symbol.
pub struct Key<'js> {
    pub(crate) atom: sys::JSAtom,
    pub(crate) ctx: Ctx<'js>,
}

impl<'js> Key<'js> {
    /// Makes a key of its own from one that the engine lends.
    ///
    /// # Safety
    /// `atom` belongs to `ctx` and is alive.
    pub(crate) unsafe fn borrowed(ctx: Ctx<'js>, atom: sys::JSAtom) -> Self {
        // SAFETY: as promised by the caller.
        Self { atom: unsafe { sys::JS_DupAtom(ctx.raw(), atom) }, ctx }
    }

    /// The VM's handle.
    pub fn ctx(&self) -> Ctx<'js> {
        self.ctx
    }

    /// Keeps the key until the VM goes. Pin what recurs: there is no way back.
    pub fn pin(&self) -> PinnedKey {
        // SAFETY: the atom is alive; the reference made here is the cache's, which frees it with the VM.
        let atom = unsafe { sys::JS_DupAtom(self.ctx.raw(), self.atom) };
        self.ctx.inner.atoms.pinned.borrow_mut().push(atom);
        PinnedKey { atom, vm: self.ctx.inner.id }
    }

    /// Whether it is the key that was pinned.
    pub fn is_pinned(&self, pinned: PinnedKey) -> bool {
        self.atom == pinned.atom && self.ctx.inner.id == pinned.vm
    }

    /// Whether it is this name.
    pub fn is(&self, name: &Name) -> bool {
        self.atom == name.find(self.ctx.inner)
    }

    /// The array index that it is, if it is one.
    pub fn index(&self) -> Option<u32> {
        (self.atom & sys::ATOM_TAG_INT != 0).then_some(self.atom & !sys::ATOM_TAG_INT)
    }

    /// The key as a string; `None` if there is no memory.
    pub fn text(&self) -> Option<String> {
        // SAFETY: the atom is alive; the string comes as a reference of its own.
        let value = unsafe {
            crate::Value::returned(self.ctx, sys::JS_AtomToString(self.ctx.raw(), self.atom))
        };
        value.ok()?.to_string_lossy().ok()
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { sys::JS_FreeAtom(self.ctx.raw(), self.atom) };
    }
}

impl std::fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({:?})", self.text())
    }
}
