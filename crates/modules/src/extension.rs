//! What the modules of k6's extensions share: metrics of their own, declared when a script imports the module; tags;
//! connections, which end with their iteration, and the script's functions that they call.

pub(crate) mod backlog;
pub(crate) mod handlers;
pub(crate) mod stream;

use std::cell::RefCell;
use std::rc::Weak;

use brunt_metrics::{Contains, Kind, MetricId};
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::state::{VuState, read_tags, throw};

/// Declares a metric of an extension. Each VM does, and gets the same.
///
/// # Errors
/// The script declared one of the same name and of another kind, or there are too many.
pub(crate) fn declare<'js>(
    ctx: Ctx<'js>,
    name: &str,
    kind: Kind,
    contains: Contains,
) -> JsResult<'js, MetricId> {
    let registry = &VuState::of(ctx).shared.world.registry;
    registry.register(name, kind, contains).map_err(|error| throw(ctx, &error.to_string()))
}

/// Tags that samples get beside those of the VU.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnTags(Vec<(String, String)>);

impl OwnTags {
    /// The member `tags` of an object of options; without options there are none.
    ///
    /// # Errors
    /// A value that cannot be a tag's.
    pub(crate) fn read<'js>(ctx: Ctx<'js>, options: &Value<'js>) -> JsResult<'js, Self> {
        if !options.is_object() {
            return Ok(Self::default());
        }
        read_tags(ctx, &options.get("tags")?, String::new).map(Self)
    }

    /// These and others, which win.
    pub(crate) fn with(&self, others: &Self) -> Self {
        let mut all = self.clone();
        for (name, value) in &others.0 {
            all.set(name, value);
        }
        all
    }

    /// Sets one.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => value.clone_into(known),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// As the recorder takes them.
    pub(crate) fn pairs(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

/// A connection of an extension.
pub(crate) trait Link {
    /// The iteration is over: closes it and lets go of what is the script's.
    fn cut(&self);
}

/// The connections of an iteration, which end with it.
#[derive(Default)]
pub(crate) struct Links(RefCell<Vec<Weak<dyn Link>>>);

impl Links {
    /// Remembers one. Those that are gone are forgotten from time to time.
    pub(crate) fn keep(&self, link: Weak<dyn Link>) {
        let mut links = self.0.borrow_mut();
        // One that connects again is known.
        if links.last().is_some_and(|last| last.ptr_eq(&link)) {
            return;
        }
        if links.len() >= 16 && links.len().is_power_of_two() {
            links.retain(|link| link.strong_count() > 0);
        }
        links.push(link);
    }

    /// Ends them all.
    pub(crate) fn cut(&self) {
        for link in self.0.take() {
            if let Some(link) = link.upgrade() {
                link.cut();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tags_of_a_call_win_over_those_of_its_client() {
        let mut client = OwnTags::default();
        client.set("a", "1");
        client.set("b", "2");
        let mut call = OwnTags::default();
        call.set("b", "3");
        assert_eq!(client.with(&call).pairs(), [("a", "1"), ("b", "3")]);
    }
}
