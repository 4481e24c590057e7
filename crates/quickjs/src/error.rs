//! Exceptions.

use std::ffi::CString;

use crate::ctx::Ctx;
use crate::sys;
use crate::value::Value;

/// An exception waits in the context. Return it to the engine, or take it with [`Ctx::take_exception`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Thrown(pub(crate) ());

/// A value, or an exception in the context.
pub type JsResult<'js, T = Value<'js>> = Result<T, Thrown>;

/// An exception that was taken out of the context.
#[derive(Debug)]
pub struct Exception<'js> {
    /// The thrown value.
    pub value: Value<'js>,
    /// Whether `catch` and `finally` were passed over: the VU was stopped.
    pub uncatchable: bool,
    /// Where it was thrown, as an error's stack tells it; also known for what is no `Error`. Empty if it is not.
    pub place: String,
}

/// The standard error classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// `Error`
    Plain,
    /// `TypeError`
    Type,
    /// `RangeError`
    Range,
    /// `SyntaxError`
    Syntax,
    /// `ReferenceError`
    Reference,
}

pub(crate) fn check(result: i32) -> Result<(), Thrown> {
    if result < 0 { Err(Thrown(())) } else { Ok(()) }
}

impl<'js> Ctx<'js> {
    /// A new error object with the current stack.
    pub fn error(self, kind: ErrorKind, message: &str) -> Value<'js> {
        let text =
            CString::new(message.replace('\0', "\u{FFFD}")).expect("zero bytes were replaced");
        let make = match kind {
            ErrorKind::Plain => sys::JS_NewPlainError,
            ErrorKind::Type => sys::JS_NewTypeError,
            ErrorKind::Range => sys::JS_NewRangeError,
            ErrorKind::Syntax => sys::JS_NewSyntaxError,
            ErrorKind::Reference => sys::JS_NewReferenceError,
        };
        // The engine formats errors into a buffer of 256 bytes: longer messages are set as a property.
        // SAFETY: the format takes one string, which lives through the call; the result is ours.
        let error =
            unsafe { Value::returned(self, make(self.raw(), c"%s".as_ptr(), text.as_ptr())) };
        let Ok(error) = error else {
            // Not even an error fits. The engine, too, throws `null` then.
            drop(self.take_exception());
            return self.null();
        };
        if message.len() > 200
            && let Ok(full) = self.string(message)
        {
            let _ = error.define_hidden("message", full);
        }
        error
    }

    /// Throws a value.
    pub fn throw(self, value: Value<'js>) -> Thrown {
        let raw = value.raw_for(self);
        std::mem::forget(value);
        // SAFETY: the reference is given to the engine.
        unsafe { sys::JS_Throw(self.raw(), raw) };
        Thrown(())
    }

    /// Throws again what was taken, from where it was thrown first.
    pub fn throw_again(self, exception: Exception<'js>) -> Thrown {
        let Exception { value, uncatchable: _, place } = exception;
        let thrown = self.throw(value);
        if !place.is_empty()
            && let Ok(place) = self.string(&place)
        {
            // SAFETY: the context is alive; the reference is given to it.
            unsafe { sys::brunt_place_of_throw(self.raw(), place.into_raw()) };
        }
        thrown
    }

    /// Throws a new error.
    pub fn throw_error(self, kind: ErrorKind, message: &str) -> Thrown {
        let error = self.error(kind, message);
        self.throw(error)
    }

    /// Throws a `TypeError`.
    pub fn throw_type(self, message: &str) -> Thrown {
        self.throw_error(ErrorKind::Type, message)
    }

    /// Throws a `SyntaxError` with this message.
    pub fn throw_syntax(self, message: &str) -> Thrown {
        self.throw_error(ErrorKind::Syntax, message)
    }

    /// Throws an error that no `catch` or `finally` of the script sees.
    pub fn throw_uncatchable(self, message: &str) -> Thrown {
        let error = self.error(ErrorKind::Plain, message);
        // SAFETY: the error is alive and of this context.
        unsafe { sys::JS_SetUncatchableError(self.raw(), error.raw) };
        self.throw(error)
    }

    /// Forgets where the last exception was thrown. The engine remembers the place of the first one that no `catch`
    /// took: call this where nothing is being thrown, or a later exception is told with the wrong place.
    pub fn forget_place(self) {
        drop(self.take_place());
    }

    fn take_place(self) -> Value<'js> {
        // SAFETY: the context is alive; the place comes as a reference of its own.
        unsafe { Value::owned(self, sys::brunt_take_place(self.raw())) }
    }

    /// Says that there is no memory: what waits in the context, or else a new error.
    pub(crate) fn throw_memory(self) -> Thrown {
        // SAFETY: the context is alive.
        if unsafe { sys::JS_HasException(self.raw()) } {
            return Thrown(());
        }
        self.throw_error(ErrorKind::Range, "out of memory")
    }

    /// Takes the waiting exception. `None` if there is none.
    pub fn take_exception(self) -> Option<Exception<'js>> {
        // SAFETY: the context is alive; the exception comes as a reference of its own.
        unsafe {
            if !sys::JS_HasException(self.raw()) {
                return None;
            }
            let value = Value::owned(self, sys::JS_GetException(self.raw()));
            let uncatchable = value.is_object() && sys::JS_IsUncatchableError(value.raw);
            let stack = self.take_place();
            let place = if value.is_error() { None } else { stack.as_str() };
            let place = place.map(|place| place.to_string()).unwrap_or_default();
            Some(Exception { value, uncatchable, place })
        }
    }
}
