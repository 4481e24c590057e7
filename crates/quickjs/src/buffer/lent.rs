//! Memory behind the buffers of a VM that Rust owns, and its lending.
//!
//! A buffer is either *own* (one [`Region`], which the engine writes to as it likes) or *lent*: somebody else may read
//! the same bytes now. At the first write to a lent buffer the engine calls [`reallocate`], which gives it bytes of its
//! own: the same ones if it is their last holder, else a copy. See `engine/lending.c`. The bytes of a *late*
//! buffer are made when they are first looked at.

use std::any::Any;
use std::cell::OnceCell;
use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, Range};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;
use std::sync::Arc;

use super::common::CommonBytes;
use super::mapping::Mapping;
use crate::heap::Ledger;
use crate::sys::{self, OWN};

/// Bytes of one VM: they count as its memory from the time when they are its own until the last holder is gone.
pub(super) struct Region {
    start: NonNull<u8>,
    len: usize,
    memory: Memory,
    counted: OnceCell<Rc<Ledger>>,
}

enum Memory {
    /// A `Vec` of this capacity.
    Heap(usize),
    /// Held, and unmapped when dropped.
    Private { _mapping: Mapping },
}

impl Region {
    fn new(bytes: Vec<u8>) -> Self {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        let start = NonNull::new(bytes.as_mut_ptr()).expect("a vector's pointer is never null");
        let memory = Memory::Heap(bytes.capacity());
        Self { start, len: bytes.len(), memory, counted: OnceCell::new() }
    }

    fn private(mapping: Mapping) -> Self {
        let (start, len) = mapping.range();
        let memory = Memory::Private { _mapping: mapping };
        Self { start, len, memory, counted: OnceCell::new() }
    }

    /// From now on the bytes count.
    fn count(&self, ledger: &Rc<Ledger>) {
        self.counted.get_or_init(|| {
            ledger.account(0, self.len);
            Rc::clone(ledger)
        });
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(ledger) = self.counted.get() {
            ledger.account(self.len, 0);
        }
        if let Memory::Heap(capacity) = self.memory {
            // SAFETY: the parts of the vector that `new` took apart.
            drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), self.len, capacity) });
        }
    }
}

/// Where the bytes of a buffer are.
#[derive(Clone)]
pub(super) enum Held {
    Own(Rc<Region>),
    Common(Arc<CommonBytes>),
    /// Nothing lies anywhere yet.
    Late(Rc<dyn LateBytes>),
}

/// The state behind the opaque pointer of a buffer.
pub(super) struct Handle {
    pub(super) held: Held,
    ledger: Rc<Ledger>,
}

impl Handle {
    /// A box of a buffer of the VM of this ledger, as the engine keeps it.
    pub(super) fn boxed(held: Held, ledger: &Rc<Ledger>) -> *mut c_void {
        held.count(ledger);
        Box::into_raw(Box::new(Self { held, ledger: Rc::clone(ledger) })).cast()
    }

    /// Another size, or bytes of its own (`OWN`). `None`: nothing has changed.
    fn change(&mut self, size: usize) -> Option<()> {
        let grows = match (size, &self.held) {
            (OWN, Held::Own(region)) if Rc::strong_count(region) == 1 => 0,
            (OWN, held) => held.range().1,
            (size, _) => size,
        };
        if grows > 0 && !self.ledger.may_take(grows) {
            return None;
        }
        let done = if size == OWN { self.held.own() } else { self.held.resize(size) };
        self.held.count(&self.ledger);
        done
    }
}

/// Bytes that are made when a script first looks at them, if it ever does.
pub trait LateBytes: Any {
    /// How many there will be.
    fn size(&self) -> usize;

    /// The bytes, as many as was said. `None` if they can't be made: an exception.
    fn make(&self) -> Option<Vec<u8>>;
}

impl Held {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self::Own(Rc::new(Region::new(bytes)))
    }

    /// Counts bytes of its own as the VM's.
    pub(super) fn count(&self, ledger: &Rc<Ledger>) {
        if let Self::Own(region) = self {
            region.count(ledger);
        }
    }

    /// The place of the bytes. Lent ones must not be changed.
    pub(super) fn range(&self) -> (*mut u8, usize) {
        match self {
            Self::Own(region) => (region.start.as_ptr(), region.len),
            Self::Common(bytes) => (bytes.as_ptr().cast_mut(), bytes.len()),
            Self::Late(bytes) => (NonNull::dangling().as_ptr(), bytes.size()),
        }
    }

    /// # Safety
    /// The buffer is lent for as long as the slice lives, and not late.
    unsafe fn as_slice(&self) -> &[u8] {
        let (start, len) = self.range();
        // SAFETY: the memory lives as long as `self`; it is not written to, as the caller promises.
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// Makes the bytes the buffer's own. `None`: they can't be made.
    fn own(&mut self) -> Option<()> {
        let private = match self {
            Self::Own(region) if Rc::strong_count(region) == 1 => return Some(()),
            Self::Own(_) => None,
            Self::Common(bytes) => bytes.private_mapping(),
            Self::Late(late) => {
                let bytes = late.make()?;
                // The buffer has said its size already.
                assert_eq!(bytes.len(), late.size(), "late bytes are as many as was said");
                *self = Self::new(bytes);
                return Some(());
            }
        };
        // SAFETY: the engine asks before it writes: until this returns the buffer is lent.
        let region = private
            .map_or_else(|| Region::new(unsafe { self.as_slice() }.to_vec()), Region::private);
        *self = Self::Own(Rc::new(region));
        Some(())
    }

    /// Own bytes of another length; zeros are added. `None` if there is no memory for them: nothing has changed then.
    fn resize(&mut self, size: usize) -> Option<()> {
        // SAFETY: as in `own`.
        let bytes = unsafe { self.as_slice() };
        let mut resized = Vec::new();
        resized.try_reserve_exact(size).ok()?;
        resized.extend_from_slice(&bytes[..bytes.len().min(size)]);
        resized.resize(size, 0);
        *self = Self::new(resized);
        Some(())
    }
}

/// [`reallocate`]: the one address by which the engine knows buffers of ours.
pub(super) static REALLOCATE: sys::ReallocArrayBuffer = reallocate;

/// The function that the engine calls for buffers whose memory is ours: to free it (size 0), to own it, or to have it
/// in another size (which `ArrayBuffer.prototype.transfer` wants).
unsafe extern "C" fn reallocate(
    _: *mut sys::JSRuntime,
    opaque: *mut c_void,
    _: *mut c_void,
    size: usize,
) -> *mut c_void {
    let handle = opaque.cast::<Handle>();
    if size == 0 {
        // SAFETY: the box of this buffer, given back once when the buffer is freed.
        drop(unsafe { Box::from_raw(handle) });
        return ptr::null_mut();
    }
    // SAFETY: the box belongs to the buffer, which is alive; the engine runs nothing else meanwhile.
    let handle = unsafe { &mut *handle };
    if handle.change(size).is_none() {
        return ptr::null_mut();
    }
    handle.held.range().0.cast()
}

/// Bytes of a buffer that stay as they are while somebody holds them, without a copy: a script that writes to the buffer
/// meanwhile gets a copy of its own to write to. They may outlive the buffer and its VM, and count as its memory as long.
#[derive(Clone)]
pub struct HeldBytes {
    held: Held,
    range: Range<usize>,
}

impl HeldBytes {
    /// `range` lies within the bytes of `held`, whose buffer is lent, or which has none.
    pub(super) fn new(held: Held, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= held.range().1, "a range within a buffer");
        Self { held, range }
    }

    pub(super) fn count(&self, ledger: &Rc<Ledger>) {
        self.held.count(ledger);
    }
}

impl From<Vec<u8>> for HeldBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { held: Held::new(bytes), range }
    }
}

impl Deref for HeldBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: `held` is a second holder besides the buffer: the engine, before it writes, makes the buffer's bytes
        // its own, which are others then.
        unsafe { &self.held.as_slice()[self.range.clone()] }
    }
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for HeldBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBytes").field("range", &self.range).finish_non_exhaustive()
    }
}
