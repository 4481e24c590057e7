//! The state that all VMs of a test share.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::config::{Config, World};

/// The world, the options, and state of modules.
pub(crate) struct Shared {
    pub(crate) world: World,
    config: OnceLock<Config>,
    defaults: Config,
    /// One for each type, as many as there are types. Looked through under a lock: not for requests and checks.
    slots: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl Shared {
    /// Before the options are known.
    pub(crate) fn new(world: World) -> Self {
        Self {
            world,
            config: OnceLock::new(),
            defaults: Config::default(),
            slots: Mutex::default(),
        }
    }

    /// The options; k6's defaults before they are known.
    pub(crate) fn config(&self) -> &Config {
        self.known_config().unwrap_or(&self.defaults)
    }

    /// The options, once they are known.
    pub(crate) fn known_config(&self) -> Option<&Config> {
        self.config.get()
    }

    /// Tells the options, once.
    ///
    /// # Panics
    /// If they were told before.
    pub(crate) fn configure(&self, config: Config) {
        assert!(self.config.set(config).is_ok(), "options are consolidated once");
    }

    /// State of a module in the whole test; made at the first call.
    pub(crate) fn slot<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slots.iter().find_map(|each| Arc::clone(each).downcast().ok()) {
            return known;
        }
        let made = Arc::new(T::default());
        slots.push(Arc::clone(&made) as _);
        made
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_type_has_one_value_for_the_whole_test() {
        let shared = Shared::new(World {
            registry: Arc::default(),
            env: BTreeMap::new(),
            extended: true,
            freeze_env: false,
            seed: 1,
            repeats: false,
        });
        let (text, number) = (shared.slot::<Mutex<String>>(), shared.slot::<Mutex<u8>>());
        assert!(Arc::ptr_eq(&text, &shared.slot()));
        assert!(Arc::ptr_eq(&number, &shared.slot()));
    }
}
