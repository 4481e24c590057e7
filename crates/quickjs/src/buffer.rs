//! Bytes across the border: `ArrayBuffer` and its views.

mod common;
mod lent;
mod mapping;

use std::ptr;
use std::rc::Rc;
use std::slice;
use std::sync::Arc;

use lent::{Handle, Held, REALLOCATE};

use crate::ctx::Ctx;
use crate::error::{ErrorKind, JsResult, Thrown};
use crate::sys;
use crate::value::Value;

pub use common::CommonBytes;
pub use lent::{HeldBytes, LateBytes};

/// Fewer bytes than this are copied rather than lent.
const LENT_FROM: usize = 1024;

/// The relation of a new buffer to its bytes.
#[derive(Clone, Copy)]
enum Lending {
    Own,
    Lent,
    Frozen,
    Late,
}

/// A copy of the bytes of an `ArrayBuffer` or of a view of one: it may be held while JavaScript runs, which could
/// detach or resize the buffer.
#[derive(Debug)]
pub struct Bytes {
    copy: Vec<u8>,
}

impl Bytes {
    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.copy
    }
    /// The bytes, owned.
    pub fn to_vec(self) -> Vec<u8> {
        self.copy
    }
}

impl Value<'_> {
    /// Whether it is an `ArrayBuffer`.
    pub fn is_array_buffer(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsArrayBuffer(self.raw) }
    }

    /// Whether it is a `DataView`.
    pub fn is_data_view(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsDataView(self.raw) }
    }

    /// The name of the typed array's class, if it is one.
    pub fn typed_array_name(&self) -> Option<&'static str> {
        if !self.is_object() {
            return None;
        }
        // SAFETY: the value is alive.
        let kind = unsafe { sys::JS_GetTypedArrayType(self.raw) };
        usize::try_from(kind).ok().and_then(|kind| sys::TYPED_ARRAYS.get(kind).copied())
    }

    /// Lets `read` see the bytes of an `ArrayBuffer`, typed array or `DataView`. `None` if it is none of them or was
    /// detached.
    ///
    /// # Panics
    /// If `read` runs JavaScript in this VM, or asks for bytes again.
    pub fn with_bytes<R>(&self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let (pointer, length) = self.byte_range(false)?;
        if length == 0 {
            return Some(read(&[]));
        }
        self.ctx().count_bytes(length);
        // SAFETY: the range lies in a buffer that this value keeps alive, and nothing can change it during `read`: the
        // VM refuses to run JavaScript, or to lend bytes again, until then.
        Some(self.lend(|| read(unsafe { slice::from_raw_parts(pointer, length) })))
    }

    /// Lets `write` change the bytes, as [`Value::with_bytes`] lets read them. `None` also if the buffer is immutable.
    pub fn with_bytes_mut<R>(&self, write: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
        let (pointer, length) = self.byte_range(true)?;
        if length == 0 {
            return Some(write(&mut []));
        }
        // SAFETY: as in `with_bytes`; so no other slice of the buffer exists while `write` runs.
        Some(self.lend(|| write(unsafe { slice::from_raw_parts_mut(pointer, length) })))
    }

    /// Whether it has bytes that may only be read.
    pub fn is_read_only(&self) -> bool {
        self.byte_range(false).is_some() && self.byte_range(true).is_none()
    }

    /// A copy of the bytes of an `ArrayBuffer`, typed array or `DataView`.
    pub fn bytes(&self) -> Option<Bytes> {
        self.with_bytes(|bytes| Bytes { copy: bytes.to_vec() })
    }

    /// The bytes of an `ArrayBuffer`, typed array or `DataView`, to be held while JavaScript runs, without a copy where
    /// that can be: a script that writes to the buffer meanwhile gets a copy of its own. (The first time, the bytes of a
    /// buffer that the script made move out of the VM's heap, which is a copy.) `None` as in [`Value::with_bytes`].
    ///
    /// # Panics
    /// While bytes are lent out by [`Value::with_bytes`].
    pub fn shared_bytes(&self) -> Option<HeldBytes> {
        let (pointer, length) = self.byte_range(false)?;
        assert!(!self.ctx().inner.lent.get(), "bytes are not shared while they are lent out");
        if length == 0 {
            return Some(HeldBytes::from(Vec::new()));
        }
        // SAFETY: the range lies in a buffer that is alive; no JavaScript runs meanwhile.
        let copy = || HeldBytes::from(unsafe { slice::from_raw_parts(pointer, length) }.to_vec());
        let (mut opaque, mut start, mut whole) = (ptr::null_mut(), ptr::null_mut(), 0);
        // SAFETY: the value is alive; on success the three are written.
        let can_be_lent = unsafe {
            let (opaque, start, whole) = (&raw mut opaque, &raw mut start, &raw mut whole);
            sys::brunt_buffer(self.raw, REALLOCATE, opaque, start, whole)
        };
        if !can_be_lent {
            return Some(copy());
        }
        let held = if opaque.is_null() {
            if length < LENT_FROM || length < whole / 4 {
                return Some(copy());
            }
            // SAFETY: all bytes of a buffer that is alive.
            let held = Held::new(unsafe { slice::from_raw_parts(start, whole) }.to_vec());
            self.lend_bytes(Some(held.clone()));
            held
        } else {
            self.lend_bytes(None);
            // SAFETY: a buffer with our function has our box.
            unsafe { &*opaque.cast::<Handle>() }.held.clone()
        };
        // Where the bytes lie now may be elsewhere; their place within the buffer is the same.
        let from = pointer as usize - start as usize;
        Some(HeldBytes::new(held, from..from + length))
    }

    /// The source of the bytes of an `ArrayBuffer`, if they have not been looked at yet.
    pub fn late_bytes(&self) -> Option<Rc<dyn LateBytes>> {
        if !self.is_array_buffer() {
            return None;
        }
        match self.held()? {
            (Held::Late(bytes), _) => Some(bytes),
            (Held::Own(_) | Held::Common(_), _) => None,
        }
    }

    /// The bytes of an `ArrayBuffer` or of a view of a whole one, if they are those of [`Ctx::common_buffer`] or
    /// [`Ctx::frozen_buffer`] and no script has written to them.
    pub fn common_bytes(&self) -> Option<Arc<CommonBytes>> {
        let (_, length) = self.byte_range(false)?;
        match self.held()? {
            (Held::Common(bytes), whole) if length == whole => Some(bytes),
            _ => None,
        }
    }

    /// The holder of the bytes of the buffer behind this value, if that is Rust's, and their number.
    fn held(&self) -> Option<(Held, usize)> {
        let (mut opaque, mut start, mut whole) = (ptr::null_mut(), ptr::null_mut(), 0);
        // SAFETY: the value is alive; on success the three are written.
        let is_known = unsafe {
            let (opaque, start, whole) = (&raw mut opaque, &raw mut start, &raw mut whole);
            sys::brunt_buffer(self.raw, REALLOCATE, opaque, start, whole)
        };
        if !is_known || opaque.is_null() {
            return None;
        }
        // SAFETY: a buffer with our function has our box.
        Some((unsafe { &*opaque.cast::<Handle>() }.held.clone(), whole))
    }

    /// From now on the bytes of the buffer behind this value are lent, be it these.
    fn lend_bytes(&self, held: Option<Held>) {
        let rt = self.ctx().inner.rt.as_ptr();
        let (data, opaque) = match held {
            Some(held) => (held.range().0, Handle::boxed(held, &self.ctx().inner.ledger)),
            None => (ptr::null_mut(), ptr::null_mut()),
        };
        // SAFETY: the value is alive, and a buffer that can be lent is behind it (see the callers). Memory that is given
        // has the content of the buffer's own.
        unsafe { sys::brunt_lend(rt, self.raw, REALLOCATE, opaque, data) };
    }

    fn lend<R>(&self, during: impl FnOnce() -> R) -> R {
        struct Back<'a>(&'a std::cell::Cell<bool>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        let lent = &self.ctx().inner.lent;
        assert!(!lent.replace(true), "a VM lends the bytes of one buffer at a time");
        let _back = Back(lent);
        during()
    }

    fn byte_range(&self, to_write: bool) -> Option<(*mut u8, usize)> {
        let (mut data, mut length) = (ptr::null_mut(), 0);
        // SAFETY: the value is alive; on success both are written. A view keeps its buffer alive.
        unsafe { sys::brunt_bytes(self.raw, to_write, &raw mut data, &raw mut length) }
            .then_some((data, length))
    }
}

impl<'js> Ctx<'js> {
    /// An `ArrayBuffer` that takes over these bytes without a copy.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn array_buffer(self, bytes: Vec<u8>) -> JsResult<'js> {
        self.buffer_over(Held::new(bytes), Lending::Own)
    }

    /// Bytes for Rust code to keep for a script: they count as memory of the VM until the last holder is gone.
    ///
    /// # Errors
    /// More than the VM may have: the script is stopped past `catch` and `finally`.
    pub fn held_bytes(self, bytes: Vec<u8>) -> Result<HeldBytes, Thrown> {
        self.may_take(bytes.len())?;
        let bytes = HeldBytes::from(bytes);
        bytes.count(&self.inner.ledger);
        Ok(bytes)
    }

    /// An `ArrayBuffer` with a copy of these bytes. Many are copied in slices: the interrupt handler is asked after each.
    ///
    /// # Errors
    /// If there is no memory, or the handler stops what runs.
    pub fn copied_buffer(self, bytes: &[u8]) -> JsResult<'js> {
        /// Copied in a part of a millisecond.
        const SLICE: usize = 256 * 1024;
        if bytes.len() <= SLICE {
            return self.array_buffer(bytes.to_vec());
        }
        self.may_take(bytes.len())?;
        let mut copy = Vec::with_capacity(bytes.len());
        for slice in bytes.chunks(SLICE) {
            copy.extend_from_slice(slice);
            self.poll(10_000)?;
        }
        self.array_buffer(copy)
    }

    /// An `ArrayBuffer` that shows these bytes without a copy. A script that writes to it gets a copy of its own, page by
    /// page if the bytes are those of a larger file; only that copy counts as memory of the VM.
    ///
    /// # Errors
    /// If there is no memory, or they are more than an `ArrayBuffer` can have (2 GiB less one).
    pub fn common_buffer(self, bytes: &Arc<CommonBytes>) -> JsResult<'js> {
        self.buffer_over(Held::Common(Arc::clone(bytes)), Lending::Lent)
    }

    /// An `ArrayBuffer` that shows these bytes without a copy, cannot be written to and is frozen. Views of it can be frozen.
    ///
    /// # Errors
    /// As [`Ctx::common_buffer`].
    pub fn frozen_buffer(self, bytes: &Arc<CommonBytes>) -> JsResult<'js> {
        self.buffer_over(Held::Common(Arc::clone(bytes)), Lending::Frozen)
    }

    /// An `ArrayBuffer` of bytes that are made when a script first looks at them. They hold no values of the VM.
    ///
    /// # Errors
    /// As [`Ctx::common_buffer`].
    pub fn late_buffer(self, bytes: Rc<dyn LateBytes>) -> JsResult<'js> {
        if bytes.size() == 0 {
            return self.array_buffer(Vec::new());
        }
        self.buffer_over(Held::Late(bytes), Lending::Late)
    }

    fn buffer_over(self, held: Held, lending: Lending) -> JsResult<'js> {
        self.need(sys::GROUP_TYPED_ARRAYS)?;
        let (pointer, length) = held.range();
        if matches!(lending, Lending::Own) {
            self.count_bytes(length);
        }
        let opaque = Handle::boxed(held, &self.inner.ledger);
        // SAFETY: pointer and length are those of the held bytes, which live until our function is told to free them.
        // Shared bytes are marked before any script could write to them.
        unsafe {
            let ours = Some(REALLOCATE);
            let buffer =
                sys::JS_NewArrayBuffer(self.raw(), pointer, length, 0, ours, opaque, false);
            let buffer = Value::returned(self, buffer);
            match (&buffer, lending) {
                // The engine took nothing over.
                (Err(_), _) => drop(Box::from_raw(opaque.cast::<Handle>())),
                (Ok(_), Lending::Own) => {}
                (Ok(buffer), Lending::Lent) => buffer.lend_bytes(None),
                (Ok(buffer), Lending::Late) => sys::brunt_make_late(buffer.raw),
                (Ok(buffer), Lending::Frozen) => sys::brunt_freeze_bytes(buffer.raw),
            }
            buffer
        }
    }

    /// A typed array of the class `name` (as [`Value::typed_array_name`] tells it) over a whole buffer.
    ///
    /// # Errors
    /// If there is no such class, or the buffer's length is no multiple of the elements'.
    pub fn typed_array(self, name: &str, buffer: &Value<'js>) -> JsResult<'js> {
        let kind = sys::TYPED_ARRAYS.iter().position(|known| *known == name);
        let Some(kind) = kind.and_then(|kind| i32::try_from(kind).ok()) else {
            return Err(self.throw_error(ErrorKind::Type, &format!("there is no {name}")));
        };
        self.need(sys::GROUP_TYPED_ARRAYS)?;
        let mut arguments = [buffer.raw_for(self), sys::UNDEFINED, sys::UNDEFINED];
        // SAFETY: the arguments are alive and of this context; the engine borrows them.
        unsafe {
            let array = sys::JS_NewTypedArray(self.raw(), 1, arguments.as_mut_ptr(), kind);
            Value::returned(self, array)
        }
    }

    /// A `DataView` of a whole buffer.
    ///
    /// # Errors
    /// If there is no memory, or it is no `ArrayBuffer`.
    pub fn data_view(self, buffer: &Value<'js>) -> JsResult<'js> {
        self.need(sys::GROUP_TYPED_ARRAYS)?;
        // SAFETY: the buffer is alive and of this context; the result is ours.
        unsafe { Value::returned(self, sys::brunt_data_view(self.raw(), buffer.raw_for(self))) }
    }

    /// A `Uint8Array` over a fresh buffer that takes over these bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn uint8_array(self, bytes: Vec<u8>) -> JsResult<'js> {
        let buffer = self.array_buffer(bytes)?;
        self.typed_array("Uint8Array", &buffer)
    }

    /// The bytes of a string (as UTF-8), `ArrayBuffer`, typed array or `DataView`.
    ///
    /// # Errors
    /// A `TypeError` that names `what` for anything else.
    pub fn to_bytes(self, value: &Value<'js>, what: &str) -> JsResult<'js, Vec<u8>> {
        if let Some(text) = value.as_str() {
            return Ok(text.as_bytes().to_vec());
        }
        match value.bytes() {
            Some(bytes) => Ok(bytes.to_vec()),
            None => Err(self.throw_error(
                ErrorKind::Type,
                &format!("{what} must be a string, an ArrayBuffer or a typed array"),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
