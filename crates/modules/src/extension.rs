//! The parts that the modules of k6's extensions share: metrics of their own, tags, connections, which end with their iteration, and the
//! script's functions that they call.

pub(crate) mod backlog;
pub(crate) mod events;
pub(crate) mod handlers;
pub(crate) mod meters;
pub(crate) mod stream;

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use brunt_js::{Host, SlotKey, VuSlot};
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::reading::read_tags;

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
struct Links(RefCell<Vec<Weak<dyn Link>>>);

impl VuSlot for Links {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

/// A connection ends with the iteration from now on.
pub(crate) fn keep<L: Link + 'static>(ctx: Ctx<'_>, link: &Rc<L>) {
    let link: Rc<dyn Link> = Rc::clone(link) as Rc<dyn Link>;
    Host::of(ctx).slot::<Links>().keep(Rc::downgrade(&link));
}

/// The iteration is over: ends all its connections.
pub(crate) fn cut(host: &Host) {
    if let Some(links) = host.slot_if_made::<Links>() {
        links.cut();
    }
}

impl Links {
    /// Remembers one. Those that are gone are forgotten from time to time.
    fn keep(&self, link: Weak<dyn Link>) {
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
    fn cut(&self) {
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
