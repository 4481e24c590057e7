//! `k6/data`: `SharedArray`.

use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Value};

use crate::shared_array;
use crate::state::VuState;

pub(crate) fn names() -> Vec<String> {
    vec!["SharedArray".to_owned()]
}

pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    let prototype = ctx.object()?;
    set("SharedArray", ctx.constructor(c"SharedArray", 2, construct, &prototype)?)
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let in_init = Host::of(ctx).phase() == Phase::Init;
    let arrays = &VuState::of(ctx).shared.arrays;
    shared_array::construct(ctx, arrays, in_init, &call.argument(0), &call.argument(1))
}
