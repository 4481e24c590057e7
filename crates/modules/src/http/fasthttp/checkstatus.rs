//! `checkstatus(expected, response, tags?)`: a check without a function of the script's.

use std::sync::Arc;

use brunt_js::{Host, Phase};
use brunt_metrics::builtin;
use brunt_quickjs::{Call, JsResult};

use super::ready::{KnownCheck, Ready};
use super::response::Response;
use crate::reading::read_tags;
use crate::state::VuState;
use crate::throwing::{not_in_init, throw};

pub(super) fn checkstatus<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, given) = (call.ctx(), call.argument(1));
    not_in_init(ctx, "Using checkstatus()")?;
    if given.is_nullish() {
        return Err(throw(ctx, "nil response"));
    }
    let Some(response) = given.instance::<Response>() else {
        return Err(throw(ctx, "response object not given to CheckStatus"));
    };
    let expected = call.argument(0).to_integer()?;
    let tags = read_tags(ctx, &call.argument(2), String::new)?;
    let passed = i64::from(response.status()) == expected;
    record(Host::of(ctx), VuState::of(ctx), &response.ready, (expected, passed), &tags);
    Ok(ctx.bool(passed))
}

fn record(
    host: &Host,
    state: &VuState,
    ready: &Ready,
    (expected, passed): (i64, bool),
    tags: &[(String, String)],
) {
    let Some(core) = host.core().filter(|_| host.phase() != Phase::Summary) else { return };
    let at = core.now();
    let mut recorder = core.recorder().borrow_mut();
    let (epoch, base) = (recorder.epoch(), state.tags_id(&mut recorder));
    let group = state.group.borrow();
    let mut known = ready.check.borrow_mut();
    let is_same = |known: &KnownCheck| {
        tags.is_empty()
            && (known.epoch, known.base, known.expected) == (epoch, base, expected)
            && (Arc::ptr_eq(&known.group, &group) || known.group == *group)
    };
    let (series, check) = match &*known {
        Some(known) if is_same(known) => (known.series, known.check),
        _ => {
            let name = format!("check status is {expected}");
            let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(tags.len() + 1);
            if state.shared.config().system_tags.check {
                pairs.push(("check", &name));
            }
            pairs.extend(tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
            let all = recorder.tags_with(base, &pairs);
            let series = recorder.series(builtin::CHECKS, all);
            let check = recorder.check(&group, &name);
            if tags.is_empty() {
                let group = Arc::clone(&group);
                *known = Some(KnownCheck { epoch, base, group, expected, series, check });
            }
            (series, check)
        }
    };
    state.add_to(&mut recorder, series, if passed { 1.0 } else { 0.0 }, at);
    if !state.is_warm() {
        recorder.add_check(check, passed);
    }
}
