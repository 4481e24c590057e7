//! `__ENV` as scripts see it: texts, whatever they assign.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::rc::Rc;

use brunt_engine::ScenarioHere;
use brunt_js::Host;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Class, Ctx, JsResult, Members, Value};

use crate::state::VuState;

/// The run's variables, with the scenario's on top, and what the script has made of them in one VU: the run's own are not
/// copied.
pub(super) struct Environment {
    scenario: Option<Rc<ScenarioHere>>,
    /// What was assigned; `None`: deleted.
    changes: RefCell<BTreeMap<String, Option<String>>>,
}

impl Environment {
    /// That of the scenario which the VU works for.
    pub(super) fn here(ctx: Ctx<'_>) -> Self {
        Self { scenario: Host::of(ctx).scenario(), changes: RefCell::default() }
    }
}

impl Class for Environment {
    const NAME: &'static CStr = c"Object";
    const EXOTIC: bool = true;
    const DYNAMIC: bool = true;

    fn members() -> &'static Members {
        static NONE: Members = Members::new();
        &NONE
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let Some(name) = key.text() else { return Ok(Own::None) };
        if let Some(changed) = self.changes.borrow().get(&*name) {
            return match changed {
                Some(text) => Ok(Own::Once(ctx.string(text)?)),
                None => Ok(Own::None),
            };
        }
        let here = self.scenario.as_ref().and_then(|scenario| scenario.spec().env.get(&*name));
        let shared = &VuState::of(ctx).shared;
        match here.or_else(|| shared.world.env.get(&*name)) {
            Some(text) => Ok(Own::Once(ctx.string(text)?)),
            None => Ok(Own::None),
        }
    }

    fn dynamic_names(&self, ctx: Ctx<'_>) -> Vec<String> {
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

    fn assign<'js>(&self, _ctx: Ctx<'js>, key: &Key<'js>, value: &Value<'js>) -> JsResult<'js, ()> {
        let text = if value.is_nullish() { String::new() } else { value.to_string_lossy()? };
        if let Some(name) = key.text() {
            self.changes.borrow_mut().insert(name.clone(), Some(text));
        }
        Ok(())
    }

    fn remove<'js>(&self, _ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        if let Some(name) = key.text() {
            self.changes.borrow_mut().insert(name.clone(), None);
        }
        Ok(())
    }
}
