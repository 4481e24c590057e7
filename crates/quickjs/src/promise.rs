//! Promises made and read by native code.

use crate::ctx::Ctx;
use crate::error::{JsResult, Thrown};
use crate::root::Root;
use crate::sys;
use crate::value::Value;

/// The state of a promise.
#[derive(Debug)]
pub enum PromiseState<'js> {
    /// Not settled yet.
    Pending,
    /// Fulfilled with this.
    Fulfilled(Value<'js>),
    /// Rejected with this.
    Rejected(Value<'js>),
}

/// A promise's other end, kept until the answer is there.
#[derive(Debug)]
#[must_use = "an unsettled promise never resolves"]
pub struct Deferred {
    resolve: Root,
    reject: Root,
}

impl<'js> Ctx<'js> {
    /// A pending promise and its other end.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn promise(self) -> JsResult<'js, (Value<'js>, Deferred)> {
        let mut functions = [sys::UNDEFINED; 2];
        // SAFETY: the engine fills in two functions, which become ours with the promise.
        unsafe {
            let promise = Value::returned(
                self,
                sys::JS_NewPromiseCapability(self.raw(), functions.as_mut_ptr()),
            )?;
            let resolve = self.root(Value::owned(self, functions[0]));
            let reject = self.root(Value::owned(self, functions[1]));
            Ok((promise, Deferred { resolve, reject }))
        }
    }

    /// Settles a promise. Its reactions are queued as jobs.
    ///
    /// # Errors
    /// Only if the VM was stopped.
    pub fn settle(
        self,
        deferred: Deferred,
        with: Result<Value<'js>, Value<'js>>,
    ) -> Result<(), Thrown> {
        let resolve = self.unroot(deferred.resolve);
        let reject = self.unroot(deferred.reject);
        let (function, value) = match with {
            Ok(value) => (resolve, value),
            Err(reason) => (reject, reason),
        };
        function.call(&self.undefined(), &[value]).map(drop)
    }

    /// Forgets a promise's other end: it stays pending.
    pub fn forget(self, deferred: Deferred) {
        drop(self.unroot(deferred.resolve));
        drop(self.unroot(deferred.reject));
    }
}

impl<'js> Value<'js> {
    /// The state of the promise; `None` if the value is not one.
    pub fn promise_state(&self) -> Option<PromiseState<'js>> {
        if !self.is_promise() {
            return None;
        }
        let ctx = self.ctx();
        // SAFETY: the promise is alive and of this context; its result comes as a reference of its own.
        unsafe {
            let result = || Value::owned(ctx, sys::JS_PromiseResult(ctx.raw(), self.raw));
            match sys::JS_PromiseState(ctx.raw(), self.raw) {
                sys::PROMISE_FULFILLED => Some(PromiseState::Fulfilled(result())),
                sys::PROMISE_REJECTED => Some(PromiseState::Rejected(result())),
                _ => Some(PromiseState::Pending),
            }
        }
    }

    /// Tells the engine that somebody looks after this promise's rejection.
    pub fn mark_handled(&self) {
        // SAFETY: the value is alive and of this context.
        unsafe { sys::JS_PromiseMarkAsHandled(self.ctx().raw(), self.raw) };
    }
}
