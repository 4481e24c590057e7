//! Remarks on a comparison that its reader must know.

use std::fmt;

use crate::likeness::Difference;

/// A remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The runs differ in more than what is compared, and the user wants the comparison all the same.
    Unlike(Difference),
    /// A run doubts its own figures.
    NotTrusted {
        /// The run.
        run: String,
        /// Whether its figures are invalid, not only doubtful.
        is_invalid: bool,
        /// Its findings.
        findings: Vec<String>,
    },
    /// There is one run on each side; with runs of the history that show how runs differ (0 = none do).
    OneRunASide {
        /// How many.
        history: usize,
    },
    /// One side has a single run, which is taken to spread as the others do.
    OneRun,
    /// One side has two runs.
    TwoRuns,
    /// All runs of one side were made before all of the other.
    OneAfterTheOther,
    /// The load of a run rises or falls all the time: all of it is compared.
    NeverSteady {
        /// The run.
        run: String,
    },
    /// Routes beyond the bound are left out.
    RoutesLeftOut {
        /// How many.
        count: usize,
    },
    /// Checks, thresholds or durations beyond the bound are left out.
    FiguresLeftOut {
        /// How many.
        count: usize,
    },
}

impl Warning {
    /// Its word in formats for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unlike(_) => "unlike",
            Self::NotTrusted { .. } => "not_trusted",
            Self::OneRunASide { .. } => "one_run_a_side",
            Self::OneRun => "one_run",
            Self::TwoRuns => "two_runs",
            Self::OneAfterTheOther => "one_after_the_other",
            Self::NeverSteady { .. } => "never_steady",
            Self::RoutesLeftOut { .. } => "routes_left_out",
            Self::FiguresLeftOut { .. } => "figures_left_out",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlike(difference) => write!(f, "the runs are unlike: {difference}"),
            Self::NotTrusted { run, is_invalid, findings } => {
                let word = if *is_invalid { "not to be trusted" } else { "doubtful" };
                write!(f, "the figures of {run} are {word}")?;
                if !findings.is_empty() {
                    write!(f, ": {}", findings.join("; "))?;
                }
                Ok(())
            }
            Self::OneRunASide { history: 0 } => f.write_str(
                "one run a side cannot show how runs of the same test differ from each other: a change \
                 of a few percent may be chance. Give several runs a side, or keep five runs of this \
                 script in one folder",
            ),
            Self::OneRunASide { history } => write!(
                f,
                "one run a side cannot show how runs of the same test differ from each other: the \
                 intervals are as wide as {history} earlier runs of this script differ. Several runs \
                 a side say more"
            ),
            Self::OneRun => f.write_str(
                "one side has a single run, which is taken to spread as those of the other do",
            ),
            Self::TwoRuns => {
                f.write_str("two runs on a side say little of their spread: three are the least that find 10 %")
            }
            Self::OneAfterTheOther => f.write_str(
                "all runs of one side were made before all of the other: a change of the machine or the \
                 network in between looks like a change of the target. Runs that take turns (A B B A) \
                 do not have this fault",
            ),
            Self::NeverSteady { run } => write!(
                f,
                "the load of {run} rises or falls all the time: all of it is compared, which needs the \
                 same stages on both sides"
            ),
            Self::RoutesLeftOut { count } => {
                write!(f, "{count} routes with the fewest requests are left out")
            }
            Self::FiguresLeftOut { count } => {
                write!(f, "{count} durations, checks or thresholds are left out")
            }
        }
    }
}
