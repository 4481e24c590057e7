//! How a run ended, as the number that CI systems look at.

/// The exit codes of `brunt`. The numbers are k6's (2.2), so that scripts around k6 keep working.
///
/// If several apply, the first that was recorded wins; a failed threshold counts only when nothing
/// else went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well. Failed checks and exceptions in iterations don't change that.
    Success,
    /// `brunt attack`, `encode`, `report` or `plot` could not do it. The number is vegeta's.
    Vegeta,
    /// A flag of one of these four is wrong. The number is vegeta's.
    WrongFlag,
    /// The numbers are not to be trusted: a search came to no answer, or, with `--strict`, the verdict on the run is *invalid*. The
    /// latter counts only when nothing else went wrong, a crossed threshold included.
    Untrusted,
    /// A verdict is negative: a threshold was crossed, at the end or by `abortOnFail`; a comparison found what it was to fail on; a
    /// recorded script is not proven; no load meets the goals of a search.
    Thresholds,
    /// The same, by a threshold with an exit code of its own: 1 to 125.
    OfThreshold(u8),
    /// `setup()` took longer than `setupTimeout`.
    SetupTimeout,
    /// `teardown()` took longer than `teardownTimeout`.
    TeardownTimeout,
    /// The REST API was told to stop the test.
    StoppedByApi,
    /// An option, a scenario, a threshold or the configuration file is wrong.
    InvalidConfig,
    /// SIGINT or SIGTERM, once or twice.
    Signal,
    /// The REST API can't be served where `--address` says.
    ApiAddress,
    /// The script threw in init code, `setup()` or `teardown()`, or could not be compiled.
    ScriptException,
    /// The script called `exec.test.abort()`.
    ScriptAborted,
    /// We are wrong: a panic.
    Panic,
    /// The run finished, but `exec.test.fail()` was called.
    MarkedAsFailed,
    /// A test on several machines lost load or results: an agent died, left, or did not deliver. Comes before crossed thresholds.
    Incomplete,
    /// A test on several machines could not be started: agents or the broker did not come in time.
    NotStarted,
    /// Everything else: a wrong command line, no such script, an unknown output.
    Other,
}

impl Exit {
    /// The process exit code, 0 to 255.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Vegeta => 1,
            Self::WrongFlag => 2,
            Self::Untrusted => 98,
            Self::Thresholds => 99,
            Self::OfThreshold(code) => code,
            Self::SetupTimeout => 100,
            Self::TeardownTimeout => 101,
            Self::StoppedByApi => 103,
            Self::InvalidConfig => 104,
            Self::Signal => 105,
            Self::ApiAddress => 106,
            Self::ScriptException => 107,
            Self::ScriptAborted => 108,
            Self::Panic => 109,
            Self::MarkedAsFailed => 110,
            Self::Incomplete => 111,
            Self::NotStarted => 112,
            Self::Other => 255,
        }
    }
}

impl Exit {
    /// All of them.
    const ALL: [Self; 18] = [
        Self::Success,
        Self::Vegeta,
        Self::WrongFlag,
        Self::Untrusted,
        Self::Thresholds,
        Self::SetupTimeout,
        Self::TeardownTimeout,
        Self::StoppedByApi,
        Self::InvalidConfig,
        Self::Signal,
        Self::ApiAddress,
        Self::ScriptException,
        Self::ScriptAborted,
        Self::Panic,
        Self::MarkedAsFailed,
        Self::Incomplete,
        Self::NotStarted,
        Self::Other,
    ];

    /// The end that a process of ours told by its exit code.
    pub(crate) fn of_code(code: i32) -> Self {
        let found = Self::ALL.into_iter().find(|exit| i32::from(exit.code()) == code);
        let chosen = u8::try_from(code).ok().filter(|code| (1..=125).contains(code));
        found.or(chosen.map(Self::OfThreshold)).unwrap_or(Self::Other)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
