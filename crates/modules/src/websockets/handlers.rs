//! The script's functions that a connection calls.

use std::cell::RefCell;

use brunt_quickjs::{Ctx, Root, Value};

/// The events of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Open,
    Message,
    Error,
    Close,
    Ping,
    Pong,
}

impl On {
    pub(super) fn of(name: &str) -> Option<Self> {
        let all = [Self::Open, Self::Message, Self::Error, Self::Close, Self::Ping, Self::Pong];
        all.into_iter().find(|on| on.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Message => "message",
            Self::Error => "error",
            Self::Close => "close",
            Self::Ping => "ping",
            Self::Pong => "pong",
        }
    }
}

/// The functions in the order in which they are called: that of the `on…` property goes first.
#[derive(Default)]
pub(super) struct Handlers(RefCell<Vec<Handler>>);

struct Handler {
    on: On,
    /// Of the `on…` property.
    is_slot: bool,
    function: Root,
}

impl Handlers {
    pub(super) fn add<'js>(&self, ctx: Ctx<'js>, on: On, function: Value<'js>) {
        let function = ctx.root(function);
        self.0.borrow_mut().push(Handler { on, is_slot: false, function });
    }

    pub(super) fn remove<'js>(&self, ctx: Ctx<'js>, on: On, function: &Value<'js>) {
        let found = {
            let handlers = self.0.borrow();
            handlers.iter().position(|handler| {
                handler.on == on
                    && !handler.is_slot
                    && ctx.rooted(&handler.function).strict_equals(function)
            })
        };
        if let Some(place) = found {
            let handler = self.0.borrow_mut().remove(place);
            drop(ctx.unroot(handler.function));
        }
    }

    fn slot_place(&self, on: On) -> Option<usize> {
        self.0.borrow().iter().position(|handler| handler.is_slot && handler.on == on)
    }

    pub(super) fn slot<'js>(&self, ctx: Ctx<'js>, on: On) -> Option<Value<'js>> {
        let place = self.slot_place(on)?;
        Some(ctx.rooted(&self.0.borrow()[place].function))
    }

    pub(super) fn set_slot<'js>(&self, ctx: Ctx<'js>, on: On, function: Value<'js>) {
        if let Some(place) = self.slot_place(on) {
            let old = self.0.borrow_mut().remove(place);
            drop(ctx.unroot(old.function));
        }
        if function.is_function() {
            let function = ctx.root(function);
            self.0.borrow_mut().insert(0, Handler { on, is_slot: true, function });
        }
    }

    /// Whether anybody listens.
    pub(super) fn has(&self, on: On) -> bool {
        self.0.borrow().iter().any(|handler| handler.on == on)
    }

    /// The functions to call now.
    pub(super) fn of<'js>(&self, ctx: Ctx<'js>, on: On) -> Vec<Value<'js>> {
        let handlers = self.0.borrow();
        let of = handlers.iter().filter(|handler| handler.on == on);
        of.map(|handler| ctx.rooted(&handler.function)).collect()
    }

    pub(super) fn clear(&self, ctx: Ctx<'_>) {
        for handler in self.0.take() {
            drop(ctx.unroot(handler.function));
        }
    }
}
