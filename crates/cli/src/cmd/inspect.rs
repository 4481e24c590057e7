//! `brunt inspect`: the options of a script as JSON.

use std::sync::Arc;

use brunt_metrics::Registry;
use brunt_options::{Layer, Options};

use crate::print::print;
use crate::{
    Context,
    exit::Exit,
    failure::Outcome,
    flags::Given,
    javascript::JavaScript,
    run::{
        host::{Host as _, Script as _, Source},
        plan::{self, Outer, Plan},
        wrong::{Texts, invalid_in},
    },
    settings::ScriptSettings,
};

/// `requirements`: lay all layers over each other and work out the scenarios.
pub(super) fn perform(
    context: &Context,
    script: &str,
    settings: &ScriptSettings,
    requirements: bool,
    given: &Given,
) -> Outcome<Exit> {
    let registry = Arc::new(Registry::new());
    let script = JavaScript.load(&Source::of(script, settings, &registry))?;
    let json = if requirements {
        let outer = Outer::read(context, given)?;
        crate::run::offer_own(&registry, true);
        let plan = Plan::make(outer, &script, &registry, settings.thresholds)?;
        plan.consolidated.to_inspect_json()
    } else {
        plan::functions(&script)?;
        let texts =
            Texts { script: script.url().map(|url| (url, script.text())), ..Texts::default() };
        let parsed = Options::from_json(script.options(), Layer::Script)
            .map_err(|error| invalid_in(&error, texts))?;
        plan::tell(parsed.warning(Layer::Script));
        parsed.options.to_inspect_json()
    };
    let text = serde_json::to_string_pretty(&json).expect("a JSON value can be printed");
    // As Go's encoder prints them.
    let text = text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    print(context, &format!("{text}\n"))
}
