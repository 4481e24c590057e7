//! Everything that the workers share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::time::Instant;

use crate::caching::Caching;
use crate::config::DemoConfig;
use crate::dice::Dice;
use crate::faults::Switch;
use crate::forms::Forms;
use crate::governor::Governor;
use crate::images::Images;
use crate::mysql;
use crate::plain::Plain;
use crate::stats::Stats;

/// The parts of the server, and what it counts.
pub(crate) struct App {
    pub(crate) config: DemoConfig,
    pub(crate) started: Instant,
    pub(crate) stats: Stats,
    pub(crate) dice: Arc<Dice>,
    pub(crate) faults: Arc<Switch>,
    pub(crate) caching: Arc<Caching>,
    pub(crate) images: Arc<Images>,
    pub(crate) forms: Forms,
    pub(crate) plain: Plain,
    pub(crate) mysql: Option<Arc<mysql::Shared>>,
    /// The limit of computing time, if there is one.
    pub(crate) governor: Option<Governor>,
    /// Bytes of request bodies that are held.
    pub(crate) held: AtomicUsize,
}

impl App {
    pub(crate) fn new(
        config: DemoConfig,
        caching: Caching,
        dice: Arc<Dice>,
        faults: Arc<Switch>,
        mysql: Option<Arc<mysql::Shared>>,
    ) -> Self {
        Self {
            started: Instant::now(),
            stats: Stats::default(),
            plain: Plain::default(),
            governor: config.cpu_budget.map(Governor::new),
            held: AtomicUsize::new(0),
            caching: Arc::new(caching),
            images: Arc::new(Images::new(&config.image)),
            forms: Forms::new(&config.forms, config.seed),
            config,
            dice,
            faults,
            mysql,
        }
    }
}
