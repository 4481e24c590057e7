//! `connection`: one connection for several statements.

use std::rc::Rc;

use brunt_js::{Host, Phase};
use brunt_quickjs::{Ctx, JsResult};
use tokio::time::Instant;

use super::core::SqlCore;
use super::database::Connection;
use super::door::{Door, End};
use super::failing::throw;
use super::reading::within;
use super::record::Spent;
use super::source::{Pinned, Source};
use super::work::wait;
use crate::extension::keep;
use crate::state::VuState;

/// `connection()`.
///
/// # Errors
/// None could be opened.
pub(super) fn connection<'js>(ctx: Ctx<'js>, door: &Rc<Door>) -> JsResult<'js> {
    let pinned = pinned(ctx, door)?;
    let (options, meters) = (door.options.clone(), door.meters);
    Connection::make(
        ctx,
        Rc::new(Door { source: Source::Pinned(pinned), options, meters, faults: None }),
    )
}

/// A connection that is kept until the iteration ends, or before.
///
/// # Errors
/// None could be opened.
pub(super) fn pinned<'js>(ctx: Ctx<'js>, door: &Rc<Door>) -> JsResult<'js, Rc<Pinned>> {
    let host = Host::of(ctx);
    let ready = door.source.check().and_then(|()| door.source.ready(host));
    let ready = ready.map_err(|failure| throw(ctx, &failure))?;
    let deadline = door.options.timeout.map(|timeout| Instant::now() + timeout);
    let held = wait(ctx, within(deadline, ready.held()))?.and_then(|held| held);
    match held {
        Ok(held) => {
            let pinned = Pinned::new(door.pool(), held);
            if host.phase() != Phase::Init {
                keep(ctx, &pinned);
            }
            Ok(pinned)
        }
        Err(failure) => {
            let tags = VuState::of(ctx).tags();
            let label = label(door.core());
            let end = End {
                label: &label,
                spent: Spent::default(),
                rows: 0,
                affected: 0,
                failure: Some(&failure),
            };
            door.over(host, &tags, &end);
            Err(throw(ctx, &failure))
        }
    }
}

/// The statement of those that failed before there was one.
fn label(core: &SqlCore) -> Rc<super::core::Label> {
    core.label("CONNECT")
}
