//! How the cores did: each watches itself. Whether that bends the numbers is judged elsewhere (crate `verdict`).

mod watch;

use brunt_metrics::TrendSink;

pub(crate) use self::watch::CoreWatch;

/// How one core did while the scenarios ran.
#[derive(Clone, Debug, Default)]
pub struct CoreHealth {
    /// Which core, from 0.
    pub core: u32,
    /// Part of the time in which its thread was on a CPU, 0 to 1; `None` if the system does not tell.
    pub busy: Option<f64>,
    /// How late its own ticks ran, in milliseconds.
    pub lag: TrendSink,
}
