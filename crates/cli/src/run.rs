//! `brunt run`: from a script's name to an exit code.
//!
//! ```text
//! config file, script, variables, flags ─▶ plan ─▶ engine ─▶ ending (summary) ─▶ outcome (exit code)
//!      │             │                                │ live
//!  config_file     host                    watch (progress), signal, samples (--out)
//! ```

use std::{sync::Arc, time::Duration};

use brunt_demo::{Demo, DemoConfig, DemoHandle};
use brunt_engine::{AbortReason, Failure as RunFailure, Run, RunConfig};
use brunt_metrics::{MetricId, Registry};
use brunt_modules::watch::Watcher;
use brunt_outputs::Page;
use brunt_verdict::Level;

use self::{
    ending::Ending,
    evidence::Witness,
    host::{Host, Script, Source},
    linger::Bars,
    live_line::LiveLine,
    once::Trace,
    pages::Pages,
    plan::{Outer, Plan},
    replay_log::ReplayLog,
    rest::Rest,
    run_file::Recording,
    samples::Samples,
    signal::SignalWatch,
    traces::Traced,
    trust::Beginning,
    watch::Watch,
};
use crate::{
    Context, describe,
    describe::Description,
    exit::Exit,
    failure::{Failure, Outcome},
    features::FREEZE_ENV,
    find::Hunt,
    flags::{Given, given::parse_bool},
    generator::{self, Looks, Meters, Watchman},
    limits,
    progress::{self, Progress, ProgressSource as _},
    secrets,
    settings::{RunSettings, SummaryMode},
    version,
};

mod adjust;
mod config_file;
pub(crate) mod ending;
pub(crate) mod evidence;
pub(crate) mod host;
pub(crate) mod http_debug;
mod linger;
mod live_line;
mod once;
pub(crate) mod outcome;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod replay_log;
pub(crate) mod rest;
pub(crate) mod routes;
pub(crate) mod run_file;
pub(crate) use run_file::arguments;
pub(crate) mod samples;
pub(crate) mod signal;
pub(crate) mod traces;
pub(crate) mod trust;
mod ui;
mod watch;
pub(crate) mod wrong;

/// Seeds of runs that were given none: six digits, which people can write down.
pub(crate) const RANDOM_SEEDS: std::ops::Range<u64> = 100_000..1_000_000;

/// Runs the test with the JavaScript that we have.
pub(crate) fn perform(
    context: &Context,
    script: &str,
    settings: RunSettings,
    given: &Given,
) -> Outcome<Exit> {
    run(context, &crate::javascript::JavaScript, script, settings, (given, None))
}

/// Runs the test while a search decides its load.
pub(crate) fn search(
    context: &Context,
    script: &str,
    settings: RunSettings,
    given: &Given,
    hunt: Hunt,
) -> Outcome<Exit> {
    run(context, &crate::javascript::JavaScript, script, settings, (given, Some(hunt)))
}

/// Registers Brunt's own metrics that thresholds may name though no script makes them. The script's metrics of these names win.
///
/// The metric of the verdict on the run, if the registry has room.
pub(crate) fn offer_own(registry: &Registry, has_generator: bool) -> Option<MetricId> {
    if has_generator {
        generator::offer(registry);
    }
    trust::offer(registry)
}

/// Runs the test; generic, so that the tests need no JavaScript.
fn run<H: Host>(
    context: &Context,
    host: &H,
    script: &str,
    mut settings: RunSettings,
    (given, mut hunt): (&Given, Option<Hunt>),
) -> Outcome<Exit> {
    log::debug!("brunt {}", version::line());
    let outer = Outer::read(context, given)?;
    let rest = Rest::start(context, &outer)?;
    let open_files = limits::raise_open_files();
    let signals = SignalWatch::start(context.logging.flusher())?;
    // A search tells of itself.
    let quiet = context.global.quiet || hunt.is_some();
    let color = context.global.color && context.screen.stdout_is_terminal();
    if !quiet {
        let _ = context.screen.stdout(&describe::banner(color));
    }
    let demo = settings.demo.then(start_demo).transpose()?;
    if let Some(demo) = &demo {
        let env = &mut settings.script.env;
        env.insert("DEMO_URL".to_owned(), demo.url());
        if let Some(faults) = demo.faults_addr() {
            env.insert("DEMO_FAULTS_URL".to_owned(), format!("http://{faults}"));
        }
        if let Some(grpc) = demo.grpc_addr() {
            env.insert("DEMO_GRPC".to_owned(), grpc.to_string());
        }
        if let Some(mysql) = demo.mysql_dsn() {
            env.insert("DEMO_SQL".to_owned(), mysql);
        }
    }

    let registry = Arc::new(Registry::new());
    secrets::keep_out_of_tags(&registry);
    let source = Source {
        freeze_env: outer.features.has(FREEZE_ENV),
        ..Source::of(script, &settings.script, &registry)
    };
    let given = outer.seed();
    let mut seed = given.unwrap_or_else(|| fastrand::u64(RANDOM_SEEDS));
    let mut loaded = host.load(&Source { seed, repeats: given.is_some(), ..source.clone() })?;
    if let Some(path) = secrets::beside().filter(|_| !quiet) {
        context.screen.stderr(&format!("secrets come from {}\n", path.display()));
    }
    let own_verdict = offer_own(&registry, !settings.no_generator_metrics);
    log::debug!(script, functions = loaded.functions().join(","); "The script is loaded");
    let mut plan = Plan::make(outer, &loaded, &registry, settings.script.thresholds)?;
    if let Some(own) = plan.consolidated.options.seed.map(i64::cast_unsigned)
        && given != Some(own)
    {
        // Only the script says so: what its init code drew, it draws again.
        seed = own;
        loaded = host.load(&Source { seed, repeats: true, ..source })?;
    }
    plan.set_seed(seed);
    if let Some(hunt) = &mut hunt {
        hunt.prepare(&mut plan.consolidated, &registry, settings.workers)?;
        plan.is_search = true;
    }
    crate::memory::check_room(&plan.consolidated.scenarios, &plan.consolidated.segment)?;
    log::debug!(options = plan.consolidated.to_inspect_json().to_string(); "All options together");
    if !settings.lateness {
        registry.hide_own_unless(|own| plan.names_metric(own));
    }
    let routes = routes::book(&settings, &plan)?;
    let text = loaded.text().to_owned();

    let mut outputs = settings.outputs.clone().or_else(|| plan.outputs.clone()).unwrap_or_default();
    if is_dashboard_wanted(context, &plan, &outputs) {
        outputs.push("web-dashboard".to_owned());
    }
    if let Some(repeat) = settings.repeat {
        for output in &mut outputs {
            *output = repeat.output(output, &context.environment);
        }
    }
    if run_file::count(&outputs) > 1 {
        return Err(Failure::usage("--out run is there twice, and a run has one run file")
            .hint("copy the file when the run is over"));
    }
    let mut kept = Pages::prepare(&settings, &mut outputs, &signals)?;
    let env = context.environment.with_aliases();
    let mut output_context = plan.output_context(&registry, env, script);
    output_context.feed = kept.feed.clone();
    let looks = Looks::new();
    let is_recorded = run_file::is_wanted(&outputs);
    let witness = Arc::new(Witness::new(routes.clone(), is_recorded));
    let recording = is_recorded.then(|| {
        let facts = (script, &loaded);
        let (recording, facts) =
            Recording::prepare(context, facts, &plan, (&settings, &looks, &witness));
        output_context.run = Some(facts);
        recording
    });
    let samples = Samples::open(&outputs, &output_context)?;
    // Thresholds on them want them in the summary, too.
    let is_judged = plan.names(generator::is_one);
    let has_meters = !settings.no_generator_metrics && (is_judged || samples.wants_generator());
    let (wants_samples, run_tags) = (samples.wanted(), plan.run_tags());
    let own = Arc::clone(&registry);
    let meters = move || has_meters.then(|| Meters::new(&own, run_tags, wants_samples));
    let pages = samples.pages.clone();
    let description = Description {
        execution: None,
        script: script.to_owned(),
        outputs: kept.shown(samples.descriptions.clone()),
        report: kept.report(),
        ui: kept.address(),
        pages: pages.iter().map(|page| page.address.clone().unwrap_or_default()).collect(),
        demo: demo.as_ref().map(DemoHandle::url),
        seed: Some(seed.cast_signed()),
        overview: plan.overview(),
        scenarios: plan.bullets(),
    };
    // A function that is not there is no phase: no VM is made for it, nothing is measured.
    let missing = |name: &str| !loaded.functions().iter().any(|function| function == name);
    let (no_setup, no_teardown) = (missing("setup"), missing("teardown"));
    let has_handle_summary =
        !missing("handleSummary") || loaded.others().iter().any(|name| name == "handleSummary");
    let env = context.environment.all().clone();
    let watcher: Option<Arc<dyn Watcher>> = if settings.once {
        Some(Arc::new(Trace::new(Arc::clone(&context.screen), color)))
    } else {
        plan.http_debug().map(|debug| Arc::new(debug) as Arc<dyn Watcher>)
    };
    let witnessing = Some(Arc::clone(&witness) as Arc<dyn Watcher>)
        .filter(|_| is_recorded || settings.show_failures > 0);
    let watcher = traces::both(watcher, witnessing.clone().filter(|_| is_recorded));
    let watcher = traces::both(watcher, ReplayLog::wanted(context)?);
    let traces = settings.traces.as_ref().map(traces::start).transpose()?;
    let spans = traces.as_ref().map(|(spans, _)| Arc::clone(spans));
    let watcher = traces::and(watcher, spans.as_ref());
    // Where others look at each request, so does the witness; else at those alone that fail.
    let watcher = match watcher {
        Some(watcher) if !is_recorded => traces::both(Some(watcher), witnessing.clone()),
        watcher => watcher,
    };
    let watchers = [watcher, witnessing.filter(|_| !is_recorded)];
    let runner = loaded.into_runner(&plan.test_options(env, watchers, routes))?;

    let breakdown = settings.summary_mode == SummaryMode::Full;
    let ledger = plan.ledger(&registry, breakdown)?;
    for warning in ledger.warnings() {
        log::warn!("{warning}");
    }
    let mut config =
        RunConfig::new(plan.consolidated.scenarios.clone(), Arc::clone(&registry), ledger);
    plan.fill(&mut config);
    config.no_setup |= no_setup;
    config.no_teardown |= no_teardown;
    config.workers = settings.workers.unwrap_or(0);
    if let Some(hunt) = &hunt {
        hunt.fill(&mut config);
    }
    config.want_samples = samples.wanted();
    let (listener, results, gauges) = samples.listen();
    config.listeners.push(listener);
    let beginning = Arc::new(Beginning::default());
    config.listeners.push(beginning.listener());
    let is_k6s = settings.no_live || !context.screen.stdout_is_terminal();
    let line = (!is_k6s && !quiet && !settings.once).then(LiveLine::new);
    config.listeners.extend(line.as_ref().map(LiveLine::listener));

    warn_of_open_files(plan.consolidated.peak().possible, open_files);
    description.show(&context.screen, quiet, color);
    let teardown = (!config.no_teardown).then_some(config.teardown_timeout);
    let bars = Bars::default();
    // A search tells its answer at once.
    let lingers = settings.linger.unwrap_or(plan.linger) && hunt.is_none();
    let mut run = Run::new(config, Arc::new(Traced { runner: Arc::clone(&runner), spans }));
    if lingers {
        let around = (bars.clone(), Arc::clone(&looks), quiet);
        let begin = linger::linger(run.control(), &signals, around);
        run = run.lingering(begin);
    }
    signals.attach(run.control(), teardown);
    let live = run.live();
    looks.attach(live.clone());
    let told = live.clone();
    let watchman =
        Watchman::start(&looks, move || trust::teller(meters(), is_judged, told, gauges))?;
    if let Some(recording) = &recording {
        recording.watch(run.live());
        kept.serve(recording, run.live(), (&pages, &plan.consolidated.scenarios))?;
    }
    rest.begins(Arc::new(run.live()));
    let watch = Arc::new(Watch::new(run.live(), &plan.consolidated.segment, line));
    let progress = (!quiet && !settings.once)
        .then(|| Progress::start(watch.clone(), Arc::clone(&context.screen), (color, is_k6s)))
        .transpose()?;
    bars.keep(progress);
    let searching = hunt.as_ref().map(|hunt| {
        let notes = recording.as_ref().map(Recording::notes);
        let tell = move |text: &str| {
            if notes.as_ref().is_some_and(|notes| !notes.step(text)) {
                log::debug!("a step of the search has no room in the run file");
            }
        };
        hunt.start(context, run.live(), Box::new(tell))
    });
    let searching = searching.transpose()?;
    let mut report = run.execute();
    let finding = searching.and_then(|search| search.join().ok());
    let figures = trust::figures(&report, &live, &plan.consolidated.segment, &beginning);
    let verdict = looks.verdict(&figures);
    drop(watchman);
    if own_verdict.is_some_and(|metric| registry.is_taken(metric)) {
        trust::judge(&mut report, verdict.level());
    }
    rest.ended(&report);
    signals.detach();
    bars.stop();

    // The counts of repeated messages are told before the results.
    context.logging.flush(Duration::from_secs(2));
    let dropped = results.tell();
    let is_searched = report.error().as_ref().is_some_and(is_end_of_search);
    let error = outcome::of_run(&report).filter(|_| !is_searched);
    let exit = match (&error, &finding) {
        (Some(failure), _) => failure.exit,
        (None, Some(finding)) => finding.exit(),
        (None, None) if settings.strict && verdict.level() == Level::Invalid => Exit::Untrusted,
        (None, None) => Exit::Success,
    };
    if let Some(recording) = &recording {
        kept.finish(&report, &pages, || {
            recording.end(&report, (exit, &verdict, finding.as_ref()), dropped)
        });
    }
    if let Some(traces) = traces {
        traces::finish(traces);
    }
    witness.tell(&mut report.summary);
    if report.started {
        let ending = Ending {
            context,
            settings: &settings,
            time_unit: plan.time_unit(),
            time_limit: plan.summary_time_limit(),
            script: &text,
            has_handle_summary,
            calls_handle_summary: true,
            verdict: Some(&verdict),
            seed: Some(seed.cast_signed()),
            agents: None,
        };
        ending.write(&report, &*runner);
        if !quiet {
            let _ = progress::draw_last(&watch.snapshot(), &context.screen, (color, is_k6s));
        }
    }
    if hunt.is_none() {
        ending::warn(&report);
        generator::tell(context, &verdict);
    }
    let found = hunt.as_ref().zip(finding.as_ref()).filter(|_| report.started);
    let found = found.map(|(hunt, finding)| hunt.tell(context, finding)).transpose()?;
    // Viewers of a run that lingered have had their time.
    let is_left = error.is_some() || lingers;
    if !is_left {
        wait_for_viewers(&pages, &signals, quiet);
    }
    kept.linger(is_left, &signals, quiet);
    drop(demo);
    match error {
        Some(failure) => Err(failure),
        None => Ok(found.unwrap_or(exit)),
    }
}

/// Whether the run was ended because its search was over.
fn is_end_of_search(failure: &RunFailure) -> bool {
    matches!(failure, RunFailure::Aborted(AbortReason::Steered))
}

/// Whether a variable or the configuration file asks for the web dashboard, and no `--out` does.
pub(crate) fn is_dashboard_wanted(context: &Context, plan: &Plan, outputs: &[String]) -> bool {
    let variable = context.environment.setting("WEB_DASHBOARD");
    let is_wanted = variable.map_or(Some(plan.web_dashboard), |(_, text)| parse_bool(text));
    let is_there = |output: &String| output.split('=').next() == Some("web-dashboard");
    is_wanted == Some(true) && !outputs.iter().any(is_there)
}

/// Viewers of the test's page may go on looking, as in k6.
pub(crate) fn wait_for_viewers(pages: &[Page], signals: &SignalWatch, quiet: bool) {
    let over = "the test is over; its web dashboard is still open in a browser: close it there, or press Ctrl-C";
    for viewers in pages.iter().filter_map(|page| page.viewers.as_ref()) {
        let watched = (viewers.feed(), viewers.count() > 0);
        let say = (!quiet).then_some(over);
        ui::wait_for_browsers(watched, signals, (say, None), |time| viewers.wait_for_none(time));
    }
}

/// Each VU keeps at least one connection.
fn warn_of_open_files(vus: u64, allowed: Option<u64>) {
    /// For everything else: files, timers, the standard streams.
    const OTHERS: u64 = 64;
    if let Some(allowed) = allowed
        && vus.saturating_add(OTHERS) > allowed
    {
        log::warn!(
            "{vus} VUs may need more connections than the {allowed} open files that the system \
             allows; raise the limit with ulimit -n"
        );
    }
}

fn start_demo() -> Outcome<DemoHandle> {
    let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    Demo::start(DemoConfig { listen, ..DemoConfig::default() })
        .map_err(|error| Failure::new(Exit::Other, error))
}

#[cfg(test)]
mod tests;
