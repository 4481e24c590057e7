//! Metrics of extensions, declared when a script imports the module.

use std::cell::Cell;

use brunt_js::{Host, SlotKey, VuSlot};
use brunt_metrics::{Contains, Kind, MetricId};
use brunt_quickjs::{Ctx, JsResult};

use crate::state::VuState;
use crate::throwing::throw;

/// Declares a metric. Each VM does, and gets the same.
///
/// # Errors
/// The script declared one of the same name and of another kind, or there are too many.
fn declare<'js>(
    ctx: Ctx<'js>,
    name: &str,
    kind: Kind,
    contains: Contains,
) -> JsResult<'js, MetricId> {
    let registry = &VuState::of(ctx).shared.world.registry;
    registry.register(name, kind, contains).map_err(|error| throw(ctx, &error.to_string()))
}

/// Declares a counter.
///
/// # Errors
/// As all of these: the script declared one of the same name and of another kind, or there are too many.
pub(crate) fn counter<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js, MetricId> {
    declare(ctx, name, Kind::Counter, Contains::Default)
}

/// Declares a trend of times in milliseconds.
pub(crate) fn time<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js, MetricId> {
    declare(ctx, name, Kind::Trend, Contains::Time)
}

/// Declares a gauge.
pub(crate) fn gauge<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js, MetricId> {
    declare(ctx, name, Kind::Gauge, Contains::Default)
}

/// Declares a rate.
pub(crate) fn rate<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js, MetricId> {
    declare(ctx, name, Kind::Rate, Contains::Default)
}

/// Offers a metric: the script's own of the same name wins.
///
/// # Errors
/// There are too many.
pub(crate) fn offer<'js>(
    ctx: Ctx<'js>,
    name: &str,
    kind: Kind,
    contains: Contains,
) -> JsResult<'js, MetricId> {
    let registry = &VuState::of(ctx).shared.world.registry;
    registry.offer(name, kind, contains).map_err(|error| throw(ctx, &error.to_string()))
}

/// The metrics of an extension whose objects are made again and again.
pub(crate) trait Meters: Copy + 'static {
    /// A `static` of this type alone.
    fn key() -> &'static SlotKey;

    /// Declares them.
    ///
    /// # Errors
    /// As [`counter`].
    fn declare(ctx: Ctx<'_>) -> JsResult<'_, Self>;

    /// The metrics of the VM, declared at the first use: the registry has a lock.
    ///
    /// # Errors
    /// As [`counter`].
    fn of(ctx: Ctx<'_>) -> JsResult<'_, Self> {
        let kept = &Host::of(ctx).slot::<Kept<Self>>().0;
        if let Some(known) = kept.get() {
            return Ok(known);
        }
        let declared = Self::declare(ctx)?;
        kept.set(Some(declared));
        Ok(declared)
    }
}

/// Those that a VM has declared.
struct Kept<M>(Cell<Option<M>>);

impl<M: Meters> VuSlot for Kept<M> {
    fn key() -> &'static SlotKey {
        M::key()
    }

    fn new(_: &Host) -> Self {
        Self(Cell::new(None))
    }
}
