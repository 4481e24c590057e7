//! The parts of the process that every command can use.

use std::sync::Arc;

use crate::{environment::Environment, logging::Logging, screen::Screen, settings::GlobalSettings};

/// The terminal, the environment, the global flags and the log.
pub(crate) struct Context {
    pub(crate) screen: Arc<Screen>,
    pub(crate) environment: Environment,
    pub(crate) global: GlobalSettings,
    pub(crate) logging: Logging,
}
