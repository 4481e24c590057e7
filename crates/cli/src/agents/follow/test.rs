//! A test from an archive, laid out as one agent's part of it.

use std::sync::Arc;

use brunt_cluster::{Loaded, Plan as WholePlan};
use brunt_engine::{Relay, Relayed, Run, RunConfig};
use brunt_js::ScriptRunner;
use brunt_metrics::Registry;

use super::ToLoad;
use super::settings::{self, AGENT_TAG, NO_ROUTES, REPEATS, is_on, seed_of};
use crate::Context;
use crate::agents::digest;
use crate::archive;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::javascript::JavaScript;
use crate::repeat::Repeat;
use crate::run::host::{Script as _, Source};
use crate::run::plan::{Outer, Plan};
use crate::run::samples::{Results, Samples};
use crate::run::{offer_own, routes};
use crate::secrets;
use crate::settings::FileType;

/// A test that can begin.
pub(super) struct Test {
    pub(super) run: Run<ScriptRunner>,
    /// Its frames.
    pub(super) relayed: Relayed,
    /// The facts that its leader and its frames need.
    pub(super) loaded: Loaded,
    /// Where the results of its outputs will be.
    pub(super) outputs: Results,
}

impl Test {
    /// Reads the archive, runs the init code once, and lays the run out. VUs are made when it is executed.
    ///
    /// # Errors
    /// The same as those of `brunt run` with that archive.
    pub(super) fn load(
        context: &Context,
        to_load: &ToLoad,
        workers: Option<usize>,
        once: bool,
    ) -> Outcome<Self> {
        let ToLoad { plan: whole, seat, archive, leases } = to_load;
        let registry = &Arc::new(Registry::new());
        let unread = |error: archive::ReadError| {
            Failure::new(Exit::Other, anyhow::anyhow!("could not load the test archive: {error}"))
        };
        let archive = archive::read(&archive[..]).map_err(unread)?;
        secrets::keep_out_of_tags(registry);
        // The archive's variables win over this machine's: the leader's -e holds on all.
        let mut env = context.environment.all().clone();
        env.extend(archive.metadata.env.clone());
        env.insert("BRUNT_SEAT".to_owned(), seat.to_string());
        env.insert("BRUNT_SEATS".to_owned(), whole.seats.to_string());
        let seed = seed_of(whole);
        let source = Source {
            name: "the archive of the leader",
            kind: FileType::Archive,
            env: &env,
            extended: None,
            freeze_env: false,
            remote: true,
            libraries: true,
            registry: Arc::clone(registry),
            seed,
            repeats: is_on(whole, REPEATS),
        };
        let script = JavaScript::load_archive(&source, archive)?;
        offer_own(registry, true);
        let outer = Outer::of_segment(own_segment(whole, *seat), whole.sequence.clone());
        let mut plan = Plan::make(outer, &script, registry, false)?;
        plan.set_seed(seed);
        let digest = digest::of_options(&plan.consolidated);
        if is_on(whole, AGENT_TAG) {
            plan.tag("agent", &seat.to_string());
        }
        crate::memory::check_room(&plan.consolidated.scenarios, &plan.consolidated.segment)?;
        let book = (!is_on(whole, NO_ROUTES)).then(|| routes::learned(&plan));
        let mut options = plan.test_options(context.environment.all().clone(), [None, None], book);
        options.share = plan.consolidated.segment.share();
        options.leases = Some(Arc::clone(leases));
        let runner = script.into_runner(&options)?;
        let ledger = plan.ledger(registry, false)?;
        let scenarios = plan.consolidated.scenarios.clone();
        let mut config = RunConfig::new(scenarios, Arc::clone(registry), ledger);
        plan.fill(&mut config);
        config.led = true;
        config.paused = false;
        config.is_last = once;
        config.workers = workers.unwrap_or(0);
        let place = Repeat::of_seat(*seat, whole.seats);
        let outputs = settings::outputs(whole);
        let outputs: Vec<String> =
            outputs.iter().map(|output| place.output(output, &context.environment)).collect();
        let env = context.environment.with_aliases();
        let samples = Samples::open(&outputs, &plan.output_context(registry, env, source.name))?;
        config.want_samples = samples.wanted();
        let (listener, outputs, _) = samples.listen();
        let (relay, relayed) = Relay::new();
        config.listeners.extend([listener, Box::new(relay)]);
        let loaded = Loaded { digest, registry: Arc::clone(registry) };
        Ok(Self { run: Run::new(config, runner), relayed, loaded, outputs })
    }
}

/// The segment of a seat as text, `1/4:2/4`.
fn own_segment(plan: &WholePlan, seat: u32) -> String {
    let mut bounds = plan.sequence.split(',').skip(seat.saturating_sub(1) as usize);
    format!("{}:{}", bounds.next().unwrap_or("0"), bounds.next().unwrap_or("1"))
}
