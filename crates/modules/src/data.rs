//! `k6/data`: `SharedArray`.

use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Value};

use crate::module::Module;
use crate::shared_array;
use crate::state::VuState;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/data"
    }

    fn names(&self) -> Vec<String> {
        vec!["SharedArray".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let prototype = ctx.object()?;
        exports.define("SharedArray", ctx.constructor(c"SharedArray", 2, construct, &prototype)?)
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let in_init = Host::of(ctx).phase() == Phase::Init;
    let arrays = VuState::of(ctx).shared.slot();
    shared_array::construct(ctx, &arrays, in_init, &call.argument(0), &call.argument(1))
}
