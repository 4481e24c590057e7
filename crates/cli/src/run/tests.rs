//! Whole runs without JavaScript: what is told, what is written, which exit code.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::Path,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use brunt_engine::{
    AbortReason, Core, Ended, ErrorKind, Iteration, RunError, Runner, ScenarioHere, StopHandle, Vu,
    VuIds,
};
use brunt_metrics::{Contains, Kind, Recorder, TagSet, TagsId};
use serde_json::{Value, json};

use super::{
    host::{Answer, Files, TestOptions, TestRunner},
    *,
};
use crate::{
    cmd::{self, Call},
    environment::Environment,
    logging::Logging,
    screen::{Screen, tests::Tape},
};

/// The behaviour of the double in place of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Act {
    #[default]
    Nothing,
    SetupThrows,
    SetupHangs,
    AbortTest,
    MarkFailed,
}

#[derive(Clone, Default)]
struct Double {
    options: Value,
    functions: Vec<String>,
    act: Act,
    answer: Option<Answer>,
    /// The content of `__ENV`.
    env: Arc<Mutex<BTreeMap<String, String>>>,
    /// The argument of `handleSummary`.
    data: Arc<Mutex<Option<Value>>>,
}

fn double(options: Value) -> Double {
    Double {
        options,
        functions: ["default", "setup", "teardown", "handleSummary"].map(str::to_owned).to_vec(),
        ..Double::default()
    }
}

impl Host for Double {
    type Script = Self;

    fn load(&self, source: &Source<'_>) -> Outcome<Self> {
        self.env.lock().unwrap().clone_from(source.env);
        source.registry.register("mine", Kind::Counter, Contains::Default).unwrap();
        Ok(self.clone())
    }
}

impl Script for Double {
    type Runner = Self;

    fn options(&self) -> &Value {
        &self.options
    }

    fn functions(&self) -> &[String] {
        &self.functions
    }

    fn others(&self) -> &[String] {
        &[]
    }

    fn text(&self) -> &'static str {
        "the script"
    }

    fn into_runner(self, test: &TestOptions) -> Outcome<Arc<Self>> {
        assert!(test.exec_options["scenarios"].is_object());
        Ok(Arc::new(self))
    }
}

impl TestRunner for Double {
    fn handle_summary(
        &self,
        data: String,
        _: Duration,
        _: Option<&mut Option<Result<String, String>>>,
    ) -> Answer {
        *self.data.lock().unwrap() = serde_json::from_str(&data).ok();
        self.answer.clone().unwrap_or(Answer::Usual)
    }
}

impl Runner for Double {
    type Vu = DoubleVu;

    async fn create(&self, core: &Rc<Core>, _: VuIds) -> Result<DoubleVu, RunError> {
        Ok(DoubleVu { core: Rc::clone(core), act: self.act })
    }

    async fn setup(&self, _: &Rc<Core>, stop: &StopHandle) -> Result<Option<String>, RunError> {
        match self.act {
            Act::SetupThrows => Err(RunError::new(ErrorKind::Script, "Error: no setup")),
            Act::SetupHangs => {
                stop.stopped().await;
                Err(RunError::new(ErrorKind::Interrupted, "stopped"))
            }
            _ => Ok(Some("{\"a\":1}".to_owned())),
        }
    }

    async fn teardown(
        &self,
        _: &Rc<Core>,
        _: Option<&str>,
        _: &StopHandle,
    ) -> Result<(), RunError> {
        Ok(())
    }

    fn set_setup_data(&self, _: Option<Arc<str>>) {}
}

struct DoubleVu {
    core: Rc<Core>,
    act: Act,
}

impl Vu for DoubleVu {
    fn activate(&mut self, _: &Rc<ScenarioHere>) {}

    async fn iterate(&mut self, iteration: Iteration, _: &StopHandle) -> Ended {
        let mut recorder = self.core.recorder().borrow_mut();
        let check = recorder.check("", "it is so");
        recorder.add_check(check, iteration.in_test.is_multiple_of(2));
        drop(recorder);
        match self.act {
            Act::AbortTest => {
                let message = "test aborted: enough".to_owned();
                self.core.control().abort(AbortReason::Test { message });
                Ended::Aborted
            }
            Act::MarkFailed => {
                self.core.control().mark_failed();
                Ended::Complete
            }
            _ => Ended::Complete,
        }
    }

    fn tags(&mut self, recorder: &mut Recorder) -> TagsId {
        recorder.tags(&TagSet::default())
    }
}

/// The outcome of a run.
struct Told {
    code: u8,
    message: String,
    stdout: String,
}

fn told(host: &Double, line: &str) -> Told {
    let environment: Environment = [("K6_CSV_TIME_FORMAT", "unix")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let words = format!("brunt run script.js --workers 1 {line}");
    let (global, call) =
        cmd::parse(words.split_whitespace().map(OsString::from), &environment).unwrap();
    let (out, err) = (Tape::default(), Tape::default());
    let screen = Arc::new(Screen::new(Box::new(out.clone()), false, Box::new(err.clone()), false));
    let logging = Logging::start(&global.log, &screen).unwrap();
    let context = Context { screen, environment, global, logging };
    let Call::Run { script, settings, given } = call else { panic!("{line}") };
    let outcome = run(&context, host, &script, *settings, (&given, None));
    context.logging.finish();
    let (code, message) = match outcome {
        Ok(exit) => (exit.code(), String::new()),
        Err(failure) => (failure.exit.code(), failure.message()),
    };
    Told { code, message, stdout: out.text() }
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_run_tells_what_it_will_do_how_far_it_is_and_what_came_of_it() {
    let host = double(json!({ "vus": 2, "iterations": 6 }));
    let told = told(&host, "-e A=1");
    assert_eq!((told.code, told.message.as_str()), (0, ""));
    assert_eq!(host.env.lock().unwrap()["A"], "1");
    let order = [
        "brunt",
        "execution: local",
        "script: script.js",
        "output: -",
        "(100.00%) 1 scenario, 2 max VUs, 10m30s max duration",
        "* default: 6 iterations shared among 2 VUs",
        "TOTAL RESULTS",
        "it is so",
        "iterations",
        "running (",
        "6 complete and 0 interrupted iterations",
        "default ✓ [ 100% ] 2 VUs",
        "6/6 shared iters",
    ];
    let mut rest = told.stdout.as_str();
    for part in order {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in {rest}"));
        rest = &rest[at..];
    }
}

#[test]
fn quiet_leaves_the_summary_alone_and_flags_beat_the_script() {
    let host = double(json!({ "vus": 2, "iterations": 6 }));
    let told = told(&host, "-q --iterations 3");
    assert!(told.stdout.trim_start().starts_with("█ TOTAL RESULTS"), "{}", told.stdout);
    assert!(!told.stdout.contains("running ("));
    assert!(told.stdout.contains("iterations...........: 3 "), "{}", told.stdout);
}

#[test]
fn options_that_cannot_run_end_with_their_code_before_the_start() {
    let mut others = double(json!({}));
    others.functions = vec!["other".to_owned()];
    let none = Double { functions: Vec::new(), ..double(json!({})) };
    for (host, line, code, message) in [
        (double(json!({ "vus": "many" })), "", 104, "invalid option in the script: vus: "),
        (double(json!({ "iterations": 1, "vus": 2 })), "", 104, "invalid options: iterations"),
        (double(json!({ "thresholds": { "nope": ["avg<1"] } })), "", 104, "nope"),
        (double(json!({ "thresholds": { "mine": ["p(95)<1"] } })), "", 104, "mine"),
        (double(json!({ "thresholds": { "mine": ["count<<1"] } })), "", 104, "count<<1"),
        (others, "", 104, "the scenario \"default\" runs the function \"default\""),
        (none, "", 255, "the script exports no functions"),
        (double(json!({})), "--duration 5", 255, "--duration: "),
        (double(json!({})), "--out nope", 255, "invalid output type 'nope'"),
        (double(json!({})), "--out kafka", 255, "could not create the 'kafka' output"),
        (double(json!({})), "--config /nowhere/c.json", 104, "/nowhere/c.json"),
    ] {
        let told = told(&host, line);
        assert_eq!(told.code, code, "{line}: {}", told.message);
        assert!(told.message.contains(message), "{}", told.message);
        assert!(!told.stdout.contains("TOTAL RESULTS"));
    }
}

#[test]
fn each_end_has_its_code_and_still_a_summary() {
    let acting = |act, options| Double { act, ..double(options) };
    for (host, line, code, message) in [
        (
            double(json!({ "iterations": 2, "thresholds": { "iterations": ["count>5"] } })),
            "",
            99,
            "thresholds on metrics 'iterations' have been crossed",
        ),
        (double(json!({ "thresholds": { "iterations": ["count>5"] } })), "--no-thresholds", 0, ""),
        (acting(Act::SetupThrows, json!({})), "", 107, "Error: no setup"),
        (acting(Act::SetupThrows, json!({})), "--no-setup", 0, ""),
        (acting(Act::SetupHangs, json!({ "setupTimeout": "50ms" })), "", 100, "setup()"),
        (acting(Act::AbortTest, json!({ "duration": "20s" })), "", 108, "test aborted: enough"),
        (acting(Act::MarkFailed, json!({})), "", 110, "marked as failed"),
    ] {
        let told = told(&host, &format!("-q {line}"));
        assert_eq!(told.code, code, "{}", told.message);
        assert!(told.message.contains(message), "{}", told.message);
        assert!(told.stdout.contains("TOTAL RESULTS"), "{}", told.stdout);
    }
}

#[test]
fn handle_summary_takes_the_place_of_the_text() {
    let place = directory();
    let file = place.path().join("out.json");
    let lost = place.path().join("no/such/dir/x");
    let files = vec![
        (lost.display().to_string(), b"lost".to_vec()),
        ("stdout".to_owned(), b"mine\n".to_vec()),
        (file.display().to_string(), vec![0, 159, 146, 150]),
    ];
    let host = Double { answer: Some(Answer::Write(files)), ..double(json!({ "iterations": 2 })) };
    let told = told(&host, "-q");
    assert_eq!((told.code, told.stdout.as_str()), (0, "mine\n"));
    assert_eq!(std::fs::read(&file).unwrap(), [0, 159, 146, 150]);
    let data = host.data.lock().unwrap().clone().unwrap();
    assert_eq!(data["metrics"]["iterations"]["values"]["count"], 2);
    assert_eq!(data["setup_data"], json!({ "a": 1 }));
    assert_eq!(data["state"]["isStdOutTTY"], false);
}

#[test]
fn without_an_answer_of_handle_summary_the_text_is_shown() {
    let failed = || Answer::Failed("Error: no".to_owned());
    for (answer, line, text) in [
        (Answer::Usual, "-q", true),
        (failed(), "-q", true),
        (Answer::Write(Files::new()), "-q", false),
        (Answer::Unusable("not a map".to_owned()), "-q", false),
        (Answer::Usual, "-q --no-summary", false),
        (failed(), "-q --summary-mode=disabled", false),
    ] {
        let told = told(&Double { answer: Some(answer), ..double(json!({})) }, line);
        assert_eq!(told.code, 0);
        assert_eq!(told.stdout.contains("TOTAL RESULTS"), text, "{}", told.stdout);
    }
}

#[test]
fn samples_and_the_summary_go_to_files() {
    let place = directory();
    let path = |name: &str| place.path().join(name);
    let line = format!(
        "-q --out json={} -o csv={} --summary-export {}",
        path("a.json").display(),
        path("b.csv").display(),
        path("c.json").display()
    );
    let told = told(&double(json!({ "iterations": 3 })), &line);
    assert_eq!(told.code, 0);
    assert!(read(&path("a.json")).contains("\"metric\":\"iterations\",\"type\":\"Point\""));
    assert!(read(&path("b.csv")).lines().any(|line| line.starts_with("iterations,")));
    let export: Value = serde_json::from_str(&read(&path("c.json"))).unwrap();
    assert_eq!(export["metrics"]["iterations"]["count"], 3);

    let line =
        format!("-q --new-machine-readable-summary --summary-export {}", path("d.json").display());
    self::told(&double(json!({})), &line);
    let export: Value = serde_json::from_str(&read(&path("d.json"))).unwrap();
    assert_eq!(export["config"]["script"], "the script");
}

#[test]
fn the_demo_target_is_known_to_the_script() {
    let host = double(json!({}));
    let told = told(&host, "--demo -e DEMO_URL=x");
    assert_eq!(told.code, 0);
    let url = host.env.lock().unwrap()["DEMO_URL"].clone();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let dsn = host.env.lock().unwrap()["DEMO_SQL"].clone();
    assert!(dsn.starts_with("brunt@tcp(127.0.0.1:") && dsn.ends_with(")/demo"), "{dsn}");
    assert!(told.stdout.contains(&format!("demo target: {url}")), "{}", told.stdout);
}
