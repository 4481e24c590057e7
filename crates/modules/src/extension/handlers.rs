//! The script's functions for events: one for each, the last that was given.

use std::cell::RefCell;

use brunt_quickjs::{Ctx, JsResult, Root, Value};

/// Functions by the place of their event in a list.
#[derive(Default)]
pub(crate) struct Handlers(RefCell<Vec<(usize, Root)>>);

impl Handlers {
    /// Takes the place of the one before.
    pub(crate) fn set<'js>(&self, ctx: Ctx<'js>, event: usize, function: Value<'js>) {
        let function = ctx.root(function);
        let mut all = self.0.borrow_mut();
        all.retain(|(known, _)| *known != event);
        all.push((event, function));
    }

    /// Whether anybody listens.
    pub(crate) fn has(&self, event: usize) -> bool {
        self.0.borrow().iter().any(|(known, _)| *known == event)
    }

    /// Calls the function of an event, if there is one.
    ///
    /// # Errors
    /// Its exception.
    pub(crate) fn call<'js>(
        &self,
        ctx: Ctx<'js>,
        event: usize,
        arguments: &[Value<'js>],
    ) -> JsResult<'js, ()> {
        let function = {
            let all = self.0.borrow();
            let found = all.iter().find(|(known, _)| *known == event);
            found.map(|(_, root)| ctx.rooted(root))
        };
        if let Some(function) = function {
            ctx.forget_place();
            function.call(&ctx.undefined(), arguments)?;
        }
        Ok(())
    }

    /// Lets go of them all: no VM is needed.
    pub(crate) fn clear(&self) {
        self.0.take();
    }
}
