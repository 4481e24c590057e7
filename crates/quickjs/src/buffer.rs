//! Bytes across the border: `ArrayBuffer` and its views.

use std::ffi::c_void;
use std::ptr;
use std::slice;

use crate::error::{ErrorKind, JsResult};
use crate::sys;
use crate::value::Value;
use crate::vm::Ctx;

/// Index of `Uint8Array` among the engine's typed arrays.
const UINT8: i32 = 2;

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
        const NAMES: [&str; 12] = [
            "Uint8ClampedArray",
            "Int8Array",
            "Uint8Array",
            "Int16Array",
            "Uint16Array",
            "Int32Array",
            "Uint32Array",
            "BigInt64Array",
            "BigUint64Array",
            "Float16Array",
            "Float32Array",
            "Float64Array",
        ];
        if !self.is_object() {
            return None;
        }
        // SAFETY: the value is alive.
        let kind = unsafe { sys::JS_GetTypedArrayType(self.raw) };
        usize::try_from(kind).ok().and_then(|kind| NAMES.get(kind).copied())
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

    /// A copy of the bytes of an `ArrayBuffer`, typed array or `DataView`.
    pub fn bytes(&self) -> Option<Bytes> {
        self.with_bytes(|bytes| Bytes { copy: bytes.to_vec() })
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
        unsafe extern "C" fn free(
            _: *mut sys::JSRuntime,
            opaque: *mut c_void,
            _: *mut c_void,
            size: usize,
        ) -> *mut c_void {
            if size == 0 {
                // SAFETY: the box made below, given back once when the buffer is freed.
                drop(unsafe { Box::from_raw(opaque.cast::<Vec<u8>>()) });
            }
            // Growing in place is not offered.
            ptr::null_mut()
        }
        self.need(sys::GROUP_TYPED_ARRAYS)?;
        let mut bytes = Box::new(bytes);
        let (pointer, length) = (bytes.as_mut_ptr(), bytes.len());
        let opaque = Box::into_raw(bytes).cast::<c_void>();
        // SAFETY: pointer and length are those of the boxed vector, which lives until `free` is called.
        unsafe {
            let buffer =
                sys::JS_NewArrayBuffer(self.raw(), pointer, length, 0, Some(free), opaque, false);
            let buffer = Value::returned(self, buffer);
            if buffer.is_err() {
                // The engine took nothing over.
                drop(Box::from_raw(opaque.cast::<Vec<u8>>()));
            }
            buffer
        }
    }

    /// A `Uint8Array` over a fresh buffer that takes over these bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn uint8_array(self, bytes: Vec<u8>) -> JsResult<'js> {
        let buffer = self.array_buffer(bytes)?;
        let mut arguments = [buffer.raw, sys::UNDEFINED, sys::UNDEFINED];
        // SAFETY: the arguments are alive and of this context; the engine borrows them.
        unsafe {
            Value::returned(
                self,
                sys::JS_NewTypedArray(self.raw(), 1, arguments.as_mut_ptr(), UINT8),
            )
        }
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
