//! Scenarios as they are written, and what they mean.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_schedule::{Executor, Gaps, Rhythm, Scenario, Sine, Stage};
use serde_json::{Map, Value};

use crate::error::Fault;
use crate::json::Json;
use crate::rhythm::{ArrivalsKind, ReadFile, SineConfig, executor_of_file};
use crate::stage::StageConfig;
use crate::value::{OptionValue, record};

const GRACE: Duration = Duration::from_secs(30);
const MAX_DURATION: Duration = Duration::from_mins(10);
const TIME_UNIT: Duration = Duration::from_secs(1);

/// Which executor a scenario has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in brunt_schedule::Executor")]
pub enum ExecutorKind {
    SharedIterations,
    #[default]
    PerVuIterations,
    ConstantVus,
    RampingVus,
    ConstantArrivalRate,
    RampingArrivalRate,
    ExternallyControlled,
}

impl ExecutorKind {
    const ALL: [Self; 7] = [
        Self::SharedIterations,
        Self::PerVuIterations,
        Self::ConstantVus,
        Self::RampingVus,
        Self::ConstantArrivalRate,
        Self::RampingArrivalRate,
        Self::ExternallyControlled,
    ];

    /// As scripts write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedIterations => "shared-iterations",
            Self::PerVuIterations => "per-vu-iterations",
            Self::ConstantVus => "constant-vus",
            Self::RampingVus => "ramping-vus",
            Self::ConstantArrivalRate => "constant-arrival-rate",
            Self::RampingArrivalRate => "ramping-arrival-rate",
            Self::ExternallyControlled => "externally-controlled",
        }
    }

    /// Its own keys, in the order in which they are printed.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::SharedIterations | Self::PerVuIterations => &["vus", "iterations", "maxDuration"],
            Self::ConstantVus => &["vus", "duration"],
            Self::ExternallyControlled => &["vus", "duration", "maxVUs"],
            Self::RampingVus => &["startVUs", "stages", "gracefulRampDown"],
            Self::ConstantArrivalRate => {
                &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs", "arrivals", "sine"]
            }
            Self::RampingArrivalRate => &[
                "startRate",
                "timeUnit",
                "stages",
                "preAllocatedVUs",
                "maxVUs",
                "arrivals",
                "rateFile",
            ],
        }
    }

    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let name = json.string()?;
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(kind);
        }
        let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
        let meant = brunt_spelling::question(name, names.iter().copied());
        let expected = match meant {
            Some(question) => question,
            None => format!("expected one of {}", names.join(", ")),
        };
        Err(json.fault(format!("unknown executor type {name:?}: {expected}")))
    }
}

/// Keys of every scenario, in the order in which they are printed.
const COMMON_KEYS: [&str; 7] =
    ["startTime", "gracefulStop", "env", "exec", "tags", "options", "warmup"];

/// Keys that are shown only if they are set: all but the first are ours.
const IF_SET: [&str; 5] = ["options", "warmup", "arrivals", "sine", "rateFile"];

record! {
    /// A scenario as it is written. Only the keys of its executor can be set.
    pub struct ScenarioConfig {
        /// Which executor; always set once it is read.
        executor: ExecutorKind = "executor",
        /// From the launch of all scenarios to this one's start.
        start_time: Duration = "startTime",
        /// How long iterations may go on after the regular end.
        graceful_stop: Duration = "gracefulStop",
        /// Laid over `__ENV`.
        env: BTreeMap<String, String> = "env",
        /// The exported function to run.
        exec: String = "exec",
        /// Laid over the run's tags.
        tags: BTreeMap<String, String> = "tags",
        /// Settings of modules: `browser`.
        options: Map<String, Value> = "options",
        /// How long its measurements are a warm-up; k6 has neither this nor the next three.
        warmup: Duration = "warmup",
        /// The gaps between iterations.
        arrivals: ArrivalsKind = "arrivals",
        /// A swing of the rate.
        sine: SineConfig = "sine",
        /// A file with the rates of all its time, in the place of stages.
        rate_file: String = "rateFile",
        /// VUs.
        vus: i64 = "vus",
        /// Iterations, of all or of each VU.
        iterations: i64 = "iterations",
        /// The longest the iterations may take.
        max_duration: Duration = "maxDuration",
        /// How long it runs.
        duration: Duration = "duration",
        /// VUs at the start.
        start_vus: i64 = "startVUs",
        /// Iterations per time unit.
        rate: i64 = "rate",
        /// Iterations per time unit at the start.
        start_rate: i64 = "startRate",
        /// The unit of time of rates.
        time_unit: Duration = "timeUnit",
        /// VUs or rates over time.
        stages: Vec<StageConfig> = "stages",
        /// How long iterations may go on when a VU is ramped down.
        graceful_ramp_down: Duration = "gracefulRampDown",
        /// VUs to be made before the test.
        pre_allocated_vus: i64 = "preAllocatedVUs",
        /// VUs it may come to.
        max_vus: i64 = "maxVUs",
    }
}

impl OptionValue for ExecutorKind {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        ExecutorKind::read(json)
    }

    fn print(&self) -> Value {
        self.name().into()
    }
}

/// Keys of ours that some executors have, and which.
const OF_OTHERS: [(&str, &str); 3] = [
    ("arrivals", "constant-arrival-rate and ramping-arrival-rate"),
    ("sine", "constant-arrival-rate"),
    ("rateFile", "ramping-arrival-rate"),
];

const NO_EXECUTOR: &str = "executor is missing: name one, such as constant-vus";

/// The `scenarios` option. A layer replaces those of the lower ones.
impl OptionValue for BTreeMap<String, ScenarioConfig> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let read = |(name, value): (&str, Json<'_>)| {
            // Elsewhere `null` means unset; a scenario that is unset would silently not run.
            let scenario = if value.is_null() {
                Err(value.fault(NO_EXECUTOR))
            } else {
                ScenarioConfig::read(&value)
            };
            Some((name.into(), json.kept(scenario)?))
        };
        Ok(json.keys()?.filter_map(read).collect())
    }

    fn print(&self) -> Value {
        self.iter().map(|(name, config)| (name.clone(), config.print())).collect()
    }
}

impl ScenarioConfig {
    /// Strict: a key that the executor does not have is an error, as in k6.
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut config = Self::default();
        let executor = json.entries()?.find(|(name, _)| name.eq_ignore_ascii_case("executor"));
        let Some((_, executor)) = executor else {
            return Err(json.fault(NO_EXECUTOR));
        };
        let kind = ExecutorKind::read(&executor)?;
        for (name, value) in json.keys()? {
            let key = Self::key(name);
            let fits = |key: &&str| {
                *key == "executor" || COMMON_KEYS.contains(key) || kind.keys().contains(key)
            };
            let Some(key) = key.filter(fits) else {
                let keys = [kind.keys(), &COMMON_KEYS].concat();
                let own = OF_OTHERS.iter().find(|(key, _)| *key == name);
                let meant = brunt_spelling::question(name, keys.iter().copied());
                let reason = match (own, meant) {
                    (Some((_, of)), _) => format!("unknown field: {name} is for {of}"),
                    (None, Some(question)) => format!("unknown field: {question}"),
                    (None, None) => {
                        format!("unknown field: {} has {}", kind.name(), keys.join(", "))
                    }
                };
                json.kept::<()>(Err(value.fault(reason)));
                continue;
            };
            if !value.is_null() {
                json.kept(config.read_key(key, &value));
            }
        }
        if let Some(options) = &config.options
            && let Some(other) = options.keys().find(|key| *key != "browser")
        {
            let reason =
                format!("unknown field in options: {other}; the only known one is browser");
            return Err(json.fault(reason));
        }
        Ok(config)
    }

    fn print(&self) -> Value {
        let kind = self.executor.unwrap_or_default();
        let keys = ["executor"].iter().chain(&COMMON_KEYS).chain(kind.keys());
        let shown = keys.filter(|key| !IF_SET.contains(key) || self.is_set(key));
        shown.map(|key| ((*key).to_string(), self.print_key(key))).collect()
    }

    /// The settings of the browser module, if the scenario wants a browser.
    pub fn browser(&self) -> Option<&Value> {
        self.options.as_ref()?.get("browser")
    }

    /// The scenario with all defaults, or its faults. Paths begin with the keys of the scenario.
    /// `read` reads a file of rates.
    pub(crate) fn resolve(
        &self,
        name: &str,
        read: Option<ReadFile<'_>>,
    ) -> Result<Scenario, Vec<Fault>> {
        let mut resolving = Resolving { config: self, read, faults: Vec::new() };
        let executor = resolving.executor();
        let rhythm = resolving.rhythm();
        if !resolving.faults.is_empty() {
            return Err(resolving.faults);
        }
        let scenario = Scenario {
            name: name.into(),
            executor,
            start_time: self.start_time.unwrap_or_default(),
            graceful_stop: match self.executor {
                Some(ExecutorKind::ExternallyControlled) => Duration::ZERO,
                _ => self.graceful_stop.unwrap_or(GRACE),
            },
            exec: self.exec.clone().unwrap_or_else(|| "default".into()),
            env: self.env.clone().unwrap_or_default(),
            tags: self.tags.clone().unwrap_or_default(),
            warmup: self.warmup.unwrap_or_default(),
            rhythm,
        };
        let faults = scenario.validate();
        if faults.is_empty() {
            return Ok(scenario);
        }
        Err(faults.into_iter().map(|fault| Fault::new(fault.key, fault.reason)).collect())
    }
}

/// A scenario whose values are being looked at.
struct Resolving<'a> {
    config: &'a ScenarioConfig,
    read: Option<ReadFile<'a>>,
    faults: Vec<Fault>,
}

impl Resolving<'_> {
    fn executor(&mut self) -> Executor {
        let config = self.config;
        let max_duration = config.max_duration.unwrap_or(MAX_DURATION);
        let time_unit = config.time_unit.unwrap_or(TIME_UNIT);
        match config.executor.unwrap_or_default() {
            ExecutorKind::SharedIterations => Executor::SharedIterations {
                vus: self.count("vus", config.vus, Some(1)),
                iterations: self.count("iterations", config.iterations, Some(1)),
                max_duration,
            },
            ExecutorKind::PerVuIterations => Executor::PerVuIterations {
                vus: self.count("vus", config.vus, Some(1)),
                iterations: self.count("iterations", config.iterations, Some(1)),
                max_duration,
            },
            ExecutorKind::ConstantVus => Executor::ConstantVus {
                vus: self.count("vus", config.vus, Some(1)),
                duration: self.duration(),
            },
            ExecutorKind::ExternallyControlled => {
                if config.graceful_stop.is_some() {
                    let reason = "is not supported by the externally controlled executor";
                    self.fault("gracefulStop", reason);
                }
                if config.duration.is_none() {
                    self.fault("duration", "must be specified, for infinite duration use 0");
                }
                let vus = self.count("vus", config.vus, Some(0));
                let duration = config.duration.filter(|duration| !duration.is_zero());
                Executor::ExternallyControlled {
                    vus,
                    max_vus: self.count("maxVUs", config.max_vus, Some(vus)),
                    duration: duration.unwrap_or(Executor::FOREVER),
                }
            }
            ExecutorKind::RampingVus => Executor::RampingVus {
                start_vus: self.count("startVUs", config.start_vus, Some(1)),
                stages: self.stages(),
                graceful_ramp_down: config.graceful_ramp_down.unwrap_or(GRACE),
            },
            ExecutorKind::ConstantArrivalRate => {
                let (pre_allocated_vus, max_vus) = self.vu_range();
                Executor::ConstantArrivalRate {
                    rate: self.count("rate", config.rate, None),
                    time_unit,
                    duration: self.duration(),
                    pre_allocated_vus,
                    max_vus,
                }
            }
            ExecutorKind::RampingArrivalRate => {
                let (pre_allocated_vus, max_vus) = self.vu_range();
                if let Some(file) = &config.rate_file {
                    return self.of_file(file, (pre_allocated_vus, max_vus));
                }
                Executor::RampingArrivalRate {
                    start_rate: self.count("startRate", config.start_rate, Some(0)),
                    time_unit,
                    stages: self.stages(),
                    pre_allocated_vus,
                    max_vus,
                }
            }
        }
    }

    /// The rates of a file, which says them all.
    fn of_file(&mut self, file: &str, vus: (u64, u64)) -> Executor {
        for key in ["startRate", "timeUnit", "stages"] {
            if self.config.is_set(key) {
                self.fault(
                    key,
                    "cannot be used with rateFile: the file has the rates, their units and times",
                );
            }
        }
        executor_of_file(file, self.read, vus).unwrap_or_else(|reason| {
            self.fault("rateFile", reason);
            Executor::ConstantVus { vus: 1, duration: TIME_UNIT }
        })
    }

    fn rhythm(&mut self) -> Rhythm {
        let sine = self.config.sine.as_ref().map(|sine| {
            if sine.period.is_none() {
                self.fault("sine.period", "is missing, and has no default");
            }
            Sine {
                amplitude: self.count("sine.amplitude", sine.amplitude, None),
                period: sine.period.unwrap_or_default(),
                start: sine.start.unwrap_or_default(),
            }
        });
        let gaps = match self.config.arrivals.unwrap_or_default() {
            ArrivalsKind::Uniform => Gaps::Uniform,
            ArrivalsKind::Poisson => Gaps::Poisson { seed: 0 },
        };
        Rhythm { gaps, sine }
    }

    fn fault(&mut self, key: impl Into<String>, reason: impl Into<String>) {
        self.faults.push(Fault::new(key, reason));
    }

    /// A number that is not negative; without a default it must be set.
    fn count(&mut self, key: &str, value: Option<i64>, default: Option<u64>) -> u64 {
        match value.map(u64::try_from) {
            Some(Ok(count)) => count,
            Some(Err(_)) => {
                let value = value.unwrap_or_default();
                self.fault(key, format!("must not be negative, got {value}"));
                0
            }
            None => default.unwrap_or_else(|| {
                self.fault(key, "is missing, and has no default");
                0
            }),
        }
    }

    fn duration(&mut self) -> Duration {
        self.config.duration.unwrap_or_else(|| {
            self.fault("duration", "is missing, and has no default");
            Duration::ZERO
        })
    }

    fn vu_range(&mut self) -> (u64, u64) {
        let pre_allocated = self.count("preAllocatedVUs", self.config.pre_allocated_vus, None);
        (pre_allocated, self.count("maxVUs", self.config.max_vus, Some(pre_allocated)))
    }

    fn stages(&mut self) -> Vec<Stage> {
        let mut stages = Vec::new();
        for (index, stage) in self.config.stages.iter().flatten().enumerate() {
            let duration = stage.duration.unwrap_or_else(|| {
                self.fault(format!("stages[{index}].duration"), "is missing");
                Duration::ZERO
            });
            if stage.target.is_none() {
                self.fault(format!("stages[{index}].target"), "is missing");
            }
            let target = self.count(&format!("stages[{index}].target"), stage.target, Some(0));
            stages.push(Stage { duration, target });
        }
        stages
    }
}
