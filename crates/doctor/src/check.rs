//! One thing that was looked at.

/// How bad it is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing to do.
    Fine,
    /// Good to know.
    Note,
    /// Some tests would be spoiled.
    Warning,
    /// Most tests would be spoiled, or none can run.
    Problem,
}

impl Level {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Stable, for programs: `files`, `ports`.
    pub name: &'static str,
    /// How bad it is.
    pub level: Level,
    /// The finding, with numbers.
    pub found: String,
    /// Which tests suffer, and how; empty if all is fine.
    pub spoils: String,
    /// The remedy, a command where there is one; empty if none is needed.
    pub remedy: String,
}

impl Check {
    /// Nothing to do.
    pub(crate) fn fine(name: &'static str, found: impl Into<String>) -> Self {
        let (spoils, remedy) = Default::default();
        Self { name, level: Level::Fine, found: found.into(), spoils, remedy }
    }

    /// The same thing, but worse.
    pub(crate) fn at(
        self,
        level: Level,
        spoils: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { level, spoils: spoils.into(), remedy: remedy.into(), ..self }
    }
}
