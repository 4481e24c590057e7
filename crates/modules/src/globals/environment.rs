//! `__ENV` as scripts see it: texts, whatever they assign.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::rc::Rc;

use brunt_engine::ScenarioHere;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::named::Named;
use crate::state::VuState;

/// The run's variables, with the scenario's on top, and what the script has made of them in one VU: the run's own are not
/// copied.
pub(super) struct Environment {
    scenario: Option<Rc<ScenarioHere>>,
    /// The assigned values; `None`: deleted.
    changes: RefCell<BTreeMap<String, Option<String>>>,
}

impl Environment {
    /// The environment of the scenario which the VU works for.
    pub(super) fn here(ctx: Ctx<'_>) -> Self {
        Self { scenario: Host::of(ctx).scenario(), changes: RefCell::default() }
    }
}

impl Named for Environment {
    const NAME: &'static CStr = c"Object";

    fn get<'js>(&self, ctx: Ctx<'js>, name: &str) -> JsResult<'js, Option<Value<'js>>> {
        if let Some(changed) = self.changes.borrow().get(name) {
            return changed.as_ref().map(|text| ctx.string(text)).transpose();
        }
        let here = self.scenario.as_ref().and_then(|scenario| scenario.spec().env.get(name));
        let text = here.or_else(|| VuState::of(ctx).shared.world.env.get(name));
        text.map(|text| ctx.string(text)).transpose()
    }

    fn names(&self, ctx: Ctx<'_>) -> Vec<String> {
        let shared = &VuState::of(ctx).shared;
        let of_scenario = self.scenario.iter().flat_map(|scenario| scenario.spec().env.keys());
        let mut names: BTreeSet<&str> =
            shared.world.env.keys().chain(of_scenario).map(String::as_str).collect();
        let changes = self.changes.borrow();
        for (name, value) in changes.iter() {
            if value.is_some() {
                names.insert(name);
            } else {
                names.remove(name.as_str());
            }
        }
        names.into_iter().map(str::to_owned).collect()
    }

    fn set<'js>(&self, _: Ctx<'js>, name: String, value: &Value<'js>) -> JsResult<'js, ()> {
        let text = if value.is_nullish() { String::new() } else { value.to_string_lossy()? };
        self.changes.borrow_mut().insert(name, Some(text));
        Ok(())
    }

    fn remove<'js>(&self, _: Ctx<'js>, name: String) -> JsResult<'js, ()> {
        self.changes.borrow_mut().insert(name, None);
        Ok(())
    }
}
