//! `k6/experimental/streams`: the streams of browsers. k6's streams, and the strategy and the controllers that belong to them.

use brunt_quickjs::{Ctx, JsResult, Value};

use super::parts::{self, Set};
use crate::module::Module;

const NAMES: [&str; 8] = [
    "ReadableStream",
    "ReadableStreamDefaultReader",
    "ReadableStreamDefaultController",
    "WritableStream",
    "WritableStreamDefaultWriter",
    "WritableStreamDefaultController",
    "CountQueuingStrategy",
    "ByteLengthQueuingStrategy",
];

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/experimental/streams"
    }

    fn names(&self) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let define = |name| exports.define(name, parts::export(ctx, Set::Streams, name)?);
        NAMES.into_iter().try_for_each(define)
    }
}
