//! The steps of the journey through the application, and how often they were done.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::{Map, Value};

macro_rules! steps {
    ($($variant:ident $name:literal)*) => {
        /// A step of the journey.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Step {
            $(#[doc = $name] $variant,)*
        }

        const NAMES: [&str; 9] = [$($name,)*];
    };
}

steps! {
    LoginPage "login_page"
    Login "login"
    Orders "orders"
    Filter "filter"
    Order "order"
    Edit "edit"
    UploadPage "upload_page"
    Upload "upload"
    Logout "logout"
}

/// The steps that a session has done, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Steps(u16);

impl Steps {
    /// One more step is done.
    pub(super) fn add(&mut self, step: Step) {
        self.0 |= 1 << step as u16;
    }

    /// Whether each step is done: the journey is.
    pub(super) fn are_all(self) -> bool {
        self.0 == (1 << NAMES.len()) - 1
    }
}

/// How often each step was done, in all sessions.
#[derive(Debug, Default)]
pub(super) struct Tally([AtomicU64; NAMES.len()]);

impl Tally {
    pub(super) fn add(&self, step: Step) {
        self.0[step as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn reset(&self) {
        self.0.iter().for_each(|count| count.store(0, Relaxed));
    }

    /// How often one step was done.
    pub(super) fn count(&self, step: Step) -> u64 {
        self.0[step as usize].load(Relaxed)
    }

    /// The counts by name.
    pub(super) fn report(&self) -> Value {
        let counts = NAMES.iter().zip(&self.0);
        let counts = counts.map(|(name, count)| ((*name).to_owned(), count.load(Relaxed).into()));
        counts.collect::<Map<_, _>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journey_is_all_its_steps() {
        let mut steps = Steps::default();
        let all = [
            Step::Logout,
            Step::LoginPage,
            Step::Login,
            Step::Orders,
            Step::Filter,
            Step::Order,
            Step::Edit,
            Step::UploadPage,
            Step::Upload,
        ];
        for step in all {
            assert!(!steps.are_all());
            steps.add(step);
            steps.add(step);
        }
        assert!(steps.are_all());
    }
}
