//! A test from an archive, laid out as one agent's part of it.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use brunt_cluster::{DoneOf, Loaded, Plan as WholePlan, Policy};
use brunt_engine::{Relay, Relayed, Resumed, Run, RunConfig};
use brunt_js::ScriptRunner;
use brunt_metrics::Registry;
use brunt_modules::watch::Watcher;
use brunt_outputs::{TraceTarget, TracesEnd};

use super::ToLoad;
use super::judged::Judged;
use super::meters::{Own, Wanted};
use super::settings::{self, AGENT_TAG, NO_ROUTES, REPEATS, is_on, seed_of};
use crate::Context;
use crate::agents::digest;
use crate::agents::handed::Handed;
use crate::archive;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::features::{FREEZE_ENV, Features};
use crate::generator::{Looks, Watchman};
use crate::javascript::JavaScript;
use crate::repeat::Repeat;
use crate::run::host::{Script as _, Source};
use crate::run::plan::{Outer, Plan};
use crate::run::samples::{Results, Samples};
use crate::run::traces::{self, Spans, Traced};
use crate::run::{offer_own, routes};
use crate::secrets;
use crate::settings::FileType;

/// A test that can begin.
pub(super) struct Test {
    pub(super) run: Run<Traced<ScriptRunner>>,
    /// Its frames.
    pub(super) relayed: Relayed,
    /// The facts that its leader and its frames need.
    pub(super) loaded: Loaded,
    /// Where the results of its outputs will be.
    pub(super) outputs: Results,
    /// Whether its numbers can be trusted.
    pub(super) judged: Judged,
    /// The thread that looks at the generator.
    pub(super) watchman: Watchman,
    /// Where its spans go.
    pub(super) spans: Option<(Arc<Spans>, TracesEnd)>,
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
        let ToLoad { plan: whole, seat, substitute, archive, leases } = to_load;
        // A load that is taken over is that of the seat whose it was.
        let of = substitute.as_ref().map_or(*seat, |takeover| takeover.root);
        let registry = &Arc::new(Registry::new());
        let unread = |error: archive::ReadError| {
            Failure::new(Exit::Other, anyhow::anyhow!("could not load the test archive: {error}"))
        };
        let archive = archive::read(&archive[..]).map_err(unread)?;
        secrets::keep_out_of_tags(registry);
        // The archive's variables win over this machine's: the leader's -e holds on all.
        let mut env = context.environment.all().clone();
        env.extend(archive.metadata.env.clone());
        env.insert("BRUNT_SEAT".to_owned(), of.to_string());
        env.insert("BRUNT_SEATS".to_owned(), whole.seats.to_string());
        let seed = seed_of(whole);
        let handed = Handed::of(whole);
        let features = Features::of_names(&handed.features);
        let source = Source {
            name: "the archive of the leader",
            kind: FileType::Archive,
            env: &env,
            extended: None,
            freeze_env: features.has(FREEZE_ENV),
            remote: true,
            libraries: true,
            registry: Arc::clone(registry),
            seed,
            repeats: is_on(whole, REPEATS),
        };
        let script = JavaScript::load_archive(&source, archive)?;
        offer_own(registry, true);
        let outer = Outer::of_segment(own_segment(whole, of), whole.sequence.clone(), features);
        let mut plan = Plan::make(outer, &script, registry, false)?;
        plan.set_seed(seed);
        let digest = digest::of_options(&plan.consolidated);
        if is_on(whole, AGENT_TAG) {
            plan.tag("agent", &of.to_string());
        }
        crate::memory::check_room(&plan.consolidated.scenarios, &plan.consolidated.segment)?;
        let book = routes::book_of(handed.routes.as_deref(), is_on(whole, NO_ROUTES), &plan);
        let spans = spans(&handed, *seat)?;
        let watcher = plan.http_debug().map(|debug| Arc::new(debug) as Arc<dyn Watcher>);
        let watcher = traces::and(watcher, spans.as_ref().map(|(spans, _)| spans));
        let env = context.environment.all().clone();
        let mut options = plan.test_options(env, [watcher, None], book);
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
        config.tells_done = whole.policy == Policy::TakeOver;
        config.resumed = substitute.as_ref().map(|takeover| {
            let resumed = |done: &DoneOf| Resumed {
                scenario: done.scenario,
                begun: done.begun,
                done: done.numbers.iter().collect(),
            };
            takeover.done.iter().map(resumed).collect()
        });
        config.workers = workers.unwrap_or(0);
        let place = Repeat::of_seat(*seat, whole.seats);
        let outputs = settings::outputs(whole);
        let outputs: Vec<String> =
            outputs.iter().map(|output| place.output(output, &context.environment)).collect();
        let mut env = context.environment.with_aliases();
        env.extend(handed.variables.clone());
        let mut of_outputs = plan.output_context(registry, env, source.name);
        of_outputs.collectors.extend(handed.collectors.clone());
        of_outputs.instance = Some(("agent".to_owned(), seat.to_string()));
        let samples = Samples::open(&outputs, &of_outputs)?;
        config.want_samples = samples.wanted();
        let own = Own {
            registry: Arc::clone(registry),
            run_tags: plan.run_tags(),
            wants_samples: samples.wanted(),
            wanted: match (handed.no_generator, handed.wants_generator) {
                (false, true) => Wanted::ByLeader,
                (false, false) if samples.wants_generator() => Wanted::ByOutputs,
                _ => Wanted::Nowhere,
            },
            seat: *seat,
        };
        let (listener, outputs, gauges) = samples.listen();
        let (relay, relayed) = Relay::new();
        config.listeners.extend([listener, Box::new(relay)]);
        let loaded = Loaded { digest, registry: Arc::clone(registry) };
        let traced = spans.as_ref().map(|(spans, _)| Arc::clone(spans));
        let run = Run::new(config, Arc::new(Traced { runner, spans: traced }));
        let looks = Looks::new();
        looks.attach(run.live());
        let live = run.live();
        let watchman = Watchman::start(&looks, move || own.teller(live, gauges))?;
        let judged = Judged::new(looks, plan.consolidated.segment.clone());
        // Lines of a load that is taken over go to the file of the agent's own.
        if let Some(file) = handed.console.as_ref().filter(|_| substitute.is_none()) {
            context.logging.console_to(Some(console(place, file)?));
        }
        Ok(Self { run, relayed, loaded, outputs, judged, watchman, spans })
    }
}

/// Starts to send spans, with the seat as an attribute of their resource.
fn spans(handed: &Handed, seat: u32) -> Outcome<Option<(Arc<Spans>, TracesEnd)>> {
    let Some(text) = &handed.traces else { return Ok(None) };
    let target = TraceTarget::parse(text).map_err(Failure::usage)?;
    target
        .map(|target| traces::start(&target.with_resource("agent", &seat.to_string())))
        .transpose()
}

/// The file of `--console-output`, numbered, in the folder where the agent was started.
fn console(place: Repeat, file: &str) -> Outcome<File> {
    settings::check_file(file).map_err(|fault| {
        Failure::new(Exit::Other, anyhow::anyhow!("--console-output {file}: {fault}"))
    })?;
    let path = place.numbered(Path::new(file));
    OpenOptions::new().append(true).create(true).open(&path).map_err(|error| {
        let path = path.display();
        Failure::new(
            Exit::Other,
            anyhow::anyhow!("--console-output: {path} can't be opened: {error}"),
        )
    })
}

/// The segment of a seat as text, `1/4:2/4`.
fn own_segment(plan: &WholePlan, seat: u32) -> String {
    let mut bounds = plan.sequence.split(',').skip(seat.saturating_sub(1) as usize);
    format!("{}:{}", bounds.next().unwrap_or("0"), bounds.next().unwrap_or("1"))
}
