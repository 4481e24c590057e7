//! `brunt run --agents N`: leads a test on N agents, and makes no load itself.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use brunt_cluster::{Archive, LeaderConfig, Limits, Plan as WholePlan, Policy, Steering};
use brunt_fiber::clock;
use brunt_leases::Leases;
use brunt_metrics::Registry;
use brunt_verdict::Level;

use self::aside::Aside;
use self::led::Led;
use self::main_loop::{Audience, MainLoop, Whole};
use self::thread::{Finish, Work};
use super::follow::settings as of_agents;
use super::handed::Handed;
use super::{LeadSettings, digest};
use crate::api::Subject;
use crate::cmd::archive::Packed;
use crate::describe::Description;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::features::FREEZE_ENV;
use crate::flags::Given;
use crate::javascript::JavaScript;
use crate::run::ending::{self, Ending};
use crate::run::evidence::Witness;
use crate::run::host::{Script as _, Source};
use crate::run::pages::Pages;
use crate::run::plan::{Outer, Plan};
use crate::run::rest::Rest;
use crate::run::run_file::led::{LedEnd, LedRecording};
use crate::run::samples::Samples;
use crate::run::signal::SignalWatch;
use crate::run::trust::Beginning;
use crate::run::{
    self, RANDOM_SEEDS, is_dashboard_wanted, offer_own, outcome, run_file, wait_for_viewers,
};
use crate::settings::{RunSettings, SummaryMode};
use crate::{Context, describe, generator, secrets, version};

pub(crate) mod agents;
mod aside;
mod conductor;
mod led;
mod linger;
mod main_loop;
mod outliers;
mod pack;
pub(super) mod pool;
mod screen;
mod thread;
mod trust;

/// Messages of the broker's thread that may wait; then it waits.
const TOLD_WAITING: usize = 4096;

/// Leads a test.
///
/// # Errors
/// The same as those of `brunt run`; agents or broker that did not come (112), load or results that are missing (111).
pub(crate) fn perform(
    context: &Context,
    script: &str,
    settings: &RunSettings,
    given: &Given,
    lead: &LeadSettings,
) -> Outcome<Exit> {
    log::debug!("brunt {}", version::line());
    let outer = Outer::read(context, given)?;
    let rest = Rest::start(context, &outer)?;
    let signals = SignalWatch::start(context.logging.flusher())?;
    let quiet = context.global.quiet;
    let color = context.global.color && context.screen.stdout_is_terminal();
    if !quiet {
        let _ = context.screen.stdout(&describe::banner(color));
    }
    lead.meeting.warn_if_open();

    let registry = Arc::new(Registry::new());
    secrets::keep_out_of_tags(&registry);
    let given_seed = outer.seed();
    let mut seed = given_seed.unwrap_or_else(|| fastrand::u64(RANDOM_SEEDS));
    let source = Source {
        freeze_env: outer.features().has(FREEZE_ENV),
        ..Source::of(script, &settings.script, &registry)
    };
    let mut loaded = JavaScript::load_recorded(&Source {
        seed,
        repeats: given_seed.is_some(),
        ..source.clone()
    })?;
    let own_verdict = offer_own(&registry, !settings.no_generator_metrics);
    let mut plan = Plan::make(outer, &loaded.0, &registry, settings.script.thresholds)?;
    if let Some(own) = plan.consolidated.options.seed.map(i64::cast_unsigned)
        && given_seed != Some(own)
    {
        seed = own;
        loaded = JavaScript::load_recorded(&Source { seed, repeats: true, ..source })?;
    }
    let repeats = given_seed.is_some() || plan.consolidated.options.seed.is_some();
    plan.set_seed(seed);
    refuse_untold(&plan, lead)?;
    if !settings.lateness {
        registry.hide_own_unless(|own| plan.names_metric(own));
    }
    let (loaded, graph, recorder) = loaded;
    let packed = Packed { script: &loaded, graph: &graph, recorder: &recorder };
    let archive = pack::archive(context, given, &packed, &plan)?;
    let run = lead.meeting.run.clone().unwrap_or_else(new_run);
    let mut outputs = settings.outputs.clone().or_else(|| plan.outputs.clone()).unwrap_or_default();
    if is_dashboard_wanted(context, &plan, &outputs) {
        outputs.push("web-dashboard".to_owned());
    }
    let (mut outputs, of_samples) = split(outputs)?;
    if run_file::count(&outputs) > 1 {
        return Err(Failure::usage("--out run is there twice, and a run has one run file")
            .hint("copy the file when the run is over"));
    }
    let mut kept = Pages::prepare(settings, &mut outputs, &signals)?;
    let mut output_context =
        plan.output_context(&registry, context.environment.with_aliases(), script);
    output_context.feed = kept.feed.clone();
    let recording = run_file::is_wanted(&outputs).then(|| {
        let (recording, facts) =
            LedRecording::prepare(context, (script, &loaded), &plan, settings, lead.shares.len());
        output_context.run = Some(facts);
        recording
    });
    let mut handed = Handed::gather(context, given, settings, &plan, &of_samples)?;
    let samples = Samples::open(&outputs, &output_context)?;
    let pages = samples.pages.clone();
    let is_judged = plan.names(generator::is_one);
    handed.wants_generator = is_judged || samples.wants_generator();
    let mut whole =
        whole_plan(&plan, lead, &archive, loaded.functions(), (settings, seed, repeats));
    whole.settings.insert(of_agents::OUTPUTS.to_owned(), of_samples.into());
    handed.put(&mut whole.settings);
    whole.check().map_err(|error| Failure::config(error.to_string()))?;

    let description = Description {
        execution: Some(execution(lead, &run)),
        script: script.to_owned(),
        outputs: kept.shown(samples.descriptions.clone()),
        report: kept.report(),
        ui: kept.address(),
        pages: pages.iter().map(|page| page.address.clone().unwrap_or_default()).collect(),
        seed: Some(seed.cast_signed()),
        overview: plan.overview(),
        scenarios: plan.bullets(),
        ..Description::default()
    };
    let text = loaded.text().to_owned();
    let has_handle_summary = pack::has(loaded.functions(), "handleSummary")
        || pack::has(loaded.others(), "handleSummary");
    let env = context.environment.all().clone();
    // handleSummary() runs here, and finds what the agents left.
    let leases = Leases::new(whole.seats);
    let mut test_options = plan.test_options(env, [None, None], None);
    test_options.leases = Some(Arc::clone(&leases));
    let runner = loaded.into_runner(&test_options)?;
    let ledger = plan.ledger(&registry, settings.summary_mode == SummaryMode::Full)?;
    for warning in ledger.warnings() {
        log::warn!("{warning}");
    }
    description.show(&context.screen, quiet, color);

    let config = LeaderConfig {
        id: format!("{}/{}", super::follow::host(context), std::process::id()),
        incarnation: clock::now_ns(),
        plan: whole,
        registry: Arc::clone(&registry),
        kept_tags: plan.judged_tags(),
        run_tags: plan.run_tags(),
        scenarios: plan.consolidated.scenarios.clone(),
        has_scenario_tag: plan.tells_scenarios(),
        steering: Steering::beginning(plan.consolidated.options.paused.unwrap_or(false)),
    };
    let (inputs, given_inputs) = tokio::sync::mpsc::channel(16);
    let (told, heard) = sync_channel(TOLD_WAITING);
    let whole = (&plan.consolidated.scenarios[..], lead.shares.len());
    let led = Arc::new(Led::new(whole, inputs.clone(), config.steering));
    rest.begins(Arc::clone(&led) as Arc<dyn Subject>);
    let meeting = lead.meeting.clone();
    let work = Work { meeting, run, archive, config, leases, led: Arc::clone(&led) };
    let broker = thread::start(work, given_inputs, told)?;
    let signal = inputs.clone();
    signals.call(Box::new(move |name| main_loop::signal(&signal, name)));
    let (listener, results, gauges) = samples.listen();
    let aside = (handed.wants_generator && !is_judged && !handed.no_generator)
        .then(|| Aside { metrics: generator::ids(&registry), outputs: gauges });
    let beginning = Arc::new(Beginning::default());
    if let Some(recording) = &recording {
        let watched = (&pages[..], &plan.consolidated.scenarios[..]);
        kept.serve_led(recording, Arc::clone(&led) as Arc<dyn Subject>, watched)?;
    }
    let regular = brunt_schedule::regular_duration(&plan.consolidated.scenarios);
    let longest = plan.consolidated.total_duration();
    let screen = (!quiet).then(|| screen::Drawer::new(Arc::clone(&context.screen), color, longest));
    let audience = Audience {
        listeners: vec![listener, beginning.listener()],
        aside,
        run: recording.as_ref().map(LedRecording::run),
    };
    let mut main = MainLoop::new(ledger, audience, (heard, inputs), regular, screen);
    let end = main.run(|whole: &mut Whole| {
        let scenarios = &plan.consolidated.scenarios;
        let summary = &whole.report.summary;
        let own = trust::of_whole(summary, scenarios, whole.times, &beginning);
        let verdict = trust::together(&whole.agents.rows, own, whole.report.started);
        whole.level = verdict.level();
        if own_verdict.is_some_and(|metric| registry.is_taken(metric)) {
            run::trust::judge(&mut whole.report, verdict.level());
        }
        rest.ended(&whole.report);
        context.logging.flush(Duration::from_secs(2));
        let dropped = results.tell();
        if let Some(recording) = &recording {
            // A run that went on to its end tells missing results with its agents.
            let is_cut = |code: &u8| *code != Exit::Incomplete.code() || recording.run().is_cut_short();
            let cut_short = whole.code.filter(is_cut).and(whole.message.clone());
            kept.finish(&whole.report, &pages, || {
                recording.end(LedEnd {
                    report: &whole.report,
                    exit: exit_of(whole, settings.strict),
                    verdict: &verdict,
                    agents: &whole.agents.rows,
                    cut_short,
                    lost: &[("dropped", dropped)],
                })
            });
        }
        Witness::new(None, false).tell(&mut whole.report.summary);
        if whole.was_told && has_handle_summary {
            log::warn!("the leader before this one had begun to tell the summary: handleSummary() is not called again");
        }
        let ending = Ending {
            context,
            settings,
            time_unit: plan.time_unit(),
            time_limit: plan.summary_time_limit(),
            script: &text,
            has_handle_summary: has_handle_summary && !whole.was_told,
            calls_handle_summary: !whole.was_told,
            verdict: Some(&verdict),
            seed: Some(seed.cast_signed()),
            agents: Some(&whole.agents),
        };
        ending.write(&whole.report, &*runner);
        ending::warn(&whole.report);
        generator::tell(context, &verdict);
    });
    if main.whole().is_none() {
        // No test was told: its run file goes away, and the one that was there before comes back.
        main.gives_up();
        let _ = results.tell();
    }
    signals.detach();
    // Its last action was to tell the end.
    drop(broker.join());
    led.ends();
    let lingers = settings.linger.unwrap_or(plan.linger) && main.whole().is_some();
    if lingers {
        linger::linger(&signals, quiet);
    }
    let outcome = exit(end, main.whole(), settings.strict);
    // Viewers of a test that lingered have had their time.
    let is_left = outcome.is_err() || lingers;
    if !is_left {
        wait_for_viewers(&pages, &signals, quiet);
    }
    kept.linger(is_left, &signals, quiet);
    outcome
}

/// The exit code of a run that is told: that of its leader's machine, else what thresholds say, else what the verdict does.
fn exit_of(whole: &Whole, is_strict: bool) -> Exit {
    let own = whole.code.map(|code| Exit::of_code(i32::from(code)));
    match own.filter(|exit| *exit != Exit::Success) {
        // The first of the thresholds may have an exit code of its own.
        Some(Exit::Thresholds) => {
            whole.report.exit_code.map_or(Exit::Thresholds, Exit::OfThreshold)
        }
        Some(exit) => exit,
        None => match outcome::of_run(&whole.report) {
            Some(failure) => failure.exit,
            None if is_strict && whole.level == Level::Invalid => Exit::Untrusted,
            None => Exit::Success,
        },
    }
}

/// The exit code, with its message.
fn exit(end: main_loop::End, whole: Option<&Whole>, is_strict: bool) -> Outcome<Exit> {
    let report = whole.map(|whole| &whole.report);
    let told = report.and_then(outcome::of_run);
    let Finish { code, message, is_told, .. } = match end {
        main_loop::End::Failed(failure) => return Err(failure),
        main_loop::End::Finished(finish) => finish,
    };
    let exit = code.map(|code| Exit::of_code(i32::from(code)));
    let Some(exit) = exit.filter(|exit| *exit != Exit::Success) else {
        let untrusted = is_strict && whole.is_some_and(|whole| whole.level == Level::Invalid);
        let fine = if untrusted { Exit::Untrusted } else { Exit::Success };
        return told.map_or(Ok(fine), Err);
    };
    let crossed = report.map(|report| report.crossed.join(", ")).filter(|all| !all.is_empty());
    if let Some(crossed) = crossed.filter(|_| exit != Exit::Thresholds) {
        log::error!("thresholds on metrics '{crossed}' have been crossed, too");
    }
    // The first of the thresholds may have an exit code of its own.
    let exit = match report.and_then(|report| report.exit_code) {
        Some(own) if exit == Exit::Thresholds => Exit::OfThreshold(own),
        _ => exit,
    };
    let message = message.unwrap_or_else(|| "the test did not end well".to_owned());
    Err(Failure { told: is_told, ..Failure::new(exit, anyhow::Error::msg(message)) })
}

/// The plan for the agents.
fn whole_plan(
    plan: &Plan,
    lead: &LeadSettings,
    archive: &[u8],
    functions: &[String],
    (settings, seed, repeats): (&RunSettings, u64, bool),
) -> WholePlan {
    let options = &plan.consolidated.options;
    let millis = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let mut of_agents = serde_json::Map::new();
    of_agents.insert(of_agents::SEED.to_owned(), seed.into());
    of_agents.insert(of_agents::REPEATS.to_owned(), repeats.into());
    of_agents.insert(of_agents::AGENT_TAG.to_owned(), lead.agent_tag.into());
    of_agents.insert(of_agents::NO_ROUTES.to_owned(), settings.no_routes.into());
    WholePlan {
        format: brunt_cluster::FORMAT,
        version: version::line(),
        nonce: fastrand::u64(1..=i64::MAX as u64),
        seats: lead.shares.len() as u32,
        sequence: WholePlan::sequence_of(&lead.shares),
        archive: Archive { sha256: digest::of_bytes(archive), size: archive.len() as u64 },
        digest: digest::of_options(&plan.consolidated),
        frame_ms: 1000,
        beat_ms: 1000,
        has_setup: pack::has(functions, "setup") && options.no_setup != Some(true),
        has_teardown: pack::has(functions, "teardown") && options.no_teardown != Some(true),
        limits: Limits {
            agents_wait_ms: millis(lead.agents_wait),
            setup_ms: millis(options.setup_timeout()),
            run_ms: millis(plan.consolidated.total_duration()),
            teardown_ms: millis(options.teardown_timeout()),
            agent_timeout_ms: millis(lead.agent_timeout),
            leader_timeout_ms: millis(lead.leader_timeout),
            ..Limits::default()
        },
        policy: lead.policy,
        allow_lost: lead.allow_lost,
        settings: of_agents,
    }
}

/// An id for a run: ten letters and digits, which no other leader is likely to draw.
fn new_run() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(10).collect::<String>().to_lowercase()
}

/// `4 agents of the pool "default" at nats://127.0.0.1:4222, run x3…`
fn execution(lead: &LeadSettings, run: &str) -> String {
    let count = lead.shares.len();
    let agents = if count == 1 { "agent" } else { "agents" };
    let pool = lead.meeting.pool.as_ref().map(|pool| format!(" of the pool \"{pool}\""));
    let servers = lead.meeting.access.shown();
    format!("{count} {agents}{} at {servers}, run {run}", pool.unwrap_or_default())
}

/// A load that is taken over goes on where each scenario was, so measurements must tell their scenario.
fn refuse_untold(plan: &Plan, lead: &LeadSettings) -> Outcome<()> {
    let is_told = plan.consolidated.scenarios.len() < 2 || plan.tells_scenarios();
    if lead.policy == Policy::TakeOver && !is_told {
        let told = "--on-agent-loss take-over needs the system tag \"scenario\", as the test has several scenarios";
        return Err(Failure::config(told).hint("add scenario to systemTags, or use go-on or stop"));
    }
    Ok(())
}

/// The outputs of totals, which are the leader's, and those of single samples, which each agent writes or sends.
///
/// # Errors
/// One that can be neither.
fn split(outputs: Vec<String>) -> Outcome<(Vec<String>, Vec<String>)> {
    const OF_TOTALS: [&str; 5] = [
        "experimental-prometheus-rw",
        "opentelemetry",
        "experimental-opentelemetry",
        "run",
        "web-dashboard",
    ];
    let is_of_totals =
        |output: &String| OF_TOTALS.contains(&output.split('=').next().unwrap_or_default());
    let outputs = outputs.into_iter().filter(|output| !output.is_empty());
    let (totals, samples): (Vec<String>, Vec<String>) = outputs.partition(is_of_totals);
    for output in &samples {
        // An unknown one is told as ever.
        brunt_outputs::OutputSpec::parse(output)
            .map_err(|error| Failure::usage(error.to_string()))?;
        of_agents::check_output(output).map_err(|fault| {
            Failure::usage(format!("--out {output} can't be had with --agents: {fault}"))
        })?;
    }
    Ok((totals, samples))
}
