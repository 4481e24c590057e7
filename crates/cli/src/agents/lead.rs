//! `brunt run --agents N`: leads a test on N agents, and makes no load itself.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use brunt_cluster::{Archive, LeaderConfig, Limits, Plan as WholePlan};
use brunt_engine::RunReport;
use brunt_fiber::clock;
use brunt_leases::Leases;
use brunt_metrics::{Registry, ThresholdSet};

use self::main_loop::{MainLoop, Whole};
use self::thread::{Finish, Work};
use super::follow::settings as of_agents;
use super::{LeadSettings, digest};
use crate::cmd::archive::Packed;
use crate::describe::Description;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::flags::Given;
use crate::javascript::JavaScript;
use crate::run::ending::{self, Ending};
use crate::run::evidence::Witness;
use crate::run::host::{Script as _, Source};
use crate::run::plan::{Outer, Plan};
use crate::run::samples::Samples;
use crate::run::signal::SignalWatch;
use crate::run::{RANDOM_SEEDS, offer_own, outcome};
use crate::settings::{RunSettings, SummaryMode};
use crate::{Context, describe, generator, secrets, version};

pub(crate) mod agents;
mod conductor;
mod main_loop;
mod pack;
pub(super) mod pool;
mod screen;
mod thread;

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
    let source = Source::of(script, &settings.script, &registry);
    let mut loaded = JavaScript::load_recorded(&Source {
        seed,
        repeats: given_seed.is_some(),
        ..source.clone()
    })?;
    offer_own(&registry, true);
    let mut plan = Plan::make(outer, &loaded.0, &registry, settings.script.thresholds)?;
    if let Some(own) = plan.consolidated.options.seed.map(i64::cast_unsigned)
        && given_seed != Some(own)
    {
        seed = own;
        loaded = JavaScript::load_recorded(&Source { seed, repeats: true, ..source })?;
    }
    let repeats = given_seed.is_some() || plan.consolidated.options.seed.is_some();
    plan.set_seed(seed);
    refuse_own_metrics(&plan)?;
    if !settings.lateness {
        registry.hide_own_unless(|own| plan.names_metric(own));
    }
    let (loaded, graph, recorder) = loaded;
    let packed = Packed { script: &loaded, graph: &graph, recorder: &recorder };
    let archive = pack::archive(context, given, &packed, &plan)?;
    let run = lead.meeting.run.clone().unwrap_or_else(new_run);
    let outputs = settings.outputs.clone().or_else(|| plan.outputs.clone()).unwrap_or_default();
    let (outputs, of_samples) = split(outputs)?;
    let mut whole =
        whole_plan(&plan, lead, &archive, loaded.functions(), (settings, seed, repeats));
    whole.settings.insert(of_agents::OUTPUTS.to_owned(), of_samples.into());
    whole.check().map_err(|error| Failure::config(error.to_string()))?;

    let env = context.environment.with_aliases();
    let samples = Samples::open(&outputs, &plan.output_context(&registry, env, script))?;
    let description = Description {
        execution: Some(execution(lead, &run)),
        script: script.to_owned(),
        outputs: samples.descriptions.clone(),
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
    if !quiet {
        let _ = context.screen.stdout(&description.text(color));
    }

    let config = LeaderConfig {
        id: format!("{}/{}", super::follow::host(context), std::process::id()),
        incarnation: clock::now_ns(),
        plan: whole,
        registry: Arc::clone(&registry),
        kept_tags: plan.judged_tags(),
        run_tags: plan.run_tags(),
    };
    let (inputs, given_inputs) = tokio::sync::mpsc::channel(16);
    let (told, heard) = sync_channel(TOLD_WAITING);
    let work = Work { meeting: lead.meeting.clone(), run, archive, config, leases };
    let broker = thread::start(work, given_inputs, told)?;
    let signal = inputs.clone();
    signals.call(Box::new(move |name| main_loop::signal(&signal, name)));
    let (listener, results, gauges) = samples.listen();
    let longest = plan.consolidated.total_duration();
    let screen = (!quiet).then(|| screen::Drawer::new(Arc::clone(&context.screen), color, longest));
    let mut main = MainLoop::new(ledger, listener, (heard, inputs), screen);
    let end = main.run(|whole: &mut Whole| {
        context.logging.flush(Duration::from_secs(2));
        Witness::new(None, false).tell(&mut whole.report.summary);
        let ending = Ending {
            context,
            settings,
            time_unit: plan.time_unit(),
            time_limit: plan.summary_time_limit(),
            script: &text,
            has_handle_summary,
            verdict: None,
            seed: Some(seed.cast_signed()),
            agents: Some(&whole.agents),
        };
        ending.write(&whole.report, &*runner);
        ending::warn(&whole.report);
    });
    signals.detach();
    drop(gauges);
    // Its last action was to tell the end.
    drop(broker.join());
    let _ = results.tell();
    exit(end, main.report())
}

/// The exit code: that of the leader's machine, or what thresholds say.
fn exit(end: main_loop::End, report: Option<&RunReport>) -> Outcome<Exit> {
    let told = report.and_then(outcome::of_run);
    let Finish { code, message, is_told, .. } = match end {
        main_loop::End::Failed(failure) => return Err(failure),
        main_loop::End::Finished(finish) => finish,
    };
    let exit = code.map(|code| Exit::of_code(i32::from(code)));
    let Some(exit) = exit.filter(|exit| *exit != Exit::Success) else {
        return told.map_or(Ok(Exit::Success), Err);
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

/// Metrics about the generator, and the verdict, are each agent's own.
fn refuse_own_metrics(plan: &Plan) -> Outcome<()> {
    if plan.names(generator::is_one) || plan.names_metric("verdict") {
        let told = "a threshold on generator_* or verdict can't be judged with --agents: each agent looks at its own machine";
        return Err(Failure::config(told));
    }
    let sets = &plan.consolidated.thresholds;
    let is_in_time = |set: &&ThresholdSet| set.thresholds.iter().any(|it| it.timing.is_in_time());
    if let Some(set) = sets.iter().find(is_in_time) {
        let told = format!(
            "the threshold on {} has a window or for, which can't be judged with --agents yet: values of agents come late, and in seconds of their \
             own; leave window and for out",
            set.metric
        );
        return Err(Failure::config(told));
    }
    Ok(())
}

/// The outputs of totals, which are the leader's, and those of single samples, which each agent writes.
///
/// # Errors
/// One that can be neither.
fn split(outputs: Vec<String>) -> Outcome<(Vec<String>, Vec<String>)> {
    const OF_TOTALS: [&str; 3] =
        ["experimental-prometheus-rw", "opentelemetry", "experimental-opentelemetry"];
    let is_of_totals =
        |output: &String| OF_TOTALS.contains(&output.split('=').next().unwrap_or_default());
    let outputs = outputs.into_iter().filter(|output| !output.is_empty());
    let (totals, samples): (Vec<String>, Vec<String>) = outputs.partition(is_of_totals);
    for output in &samples {
        of_agents::check_output(output).map_err(|fault| {
            Failure::usage(format!("--out {output} can't be had with --agents: {fault}"))
        })?;
    }
    Ok((totals, samples))
}
