//! How the iterations of an arrival rate follow each other, as it is written.

use std::time::Duration;

use brunt_schedule::{Curve, Executor, SineStart};
use serde_json::Value;

use crate::error::Fault;
use crate::json::Json;
use crate::value::{OptionValue, record};

/// The gaps between iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArrivalsKind {
    /// Even ones.
    #[default]
    Uniform,
    /// Exponential ones.
    Poisson,
}

impl OptionValue for ArrivalsKind {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        match json.value().as_str() {
            Some("uniform") => Ok(Self::Uniform),
            Some("poisson") => Ok(Self::Poisson),
            _ => Err(json.expected("\"uniform\" or \"poisson\"")),
        }
    }

    fn print(&self) -> Value {
        match self {
            Self::Uniform => "uniform".into(),
            Self::Poisson => "poisson".into(),
        }
    }
}

record! {
    /// A swing of a constant rate.
    pub struct SineConfig {
        /// Iterations per time unit.
        amplitude: i64 = "amplitude",
        /// From one peak to the next.
        period: Duration = "period",
        /// Where in its period it begins.
        start: SineStart = "start",
    }
}

impl OptionValue for SineConfig {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut sine = Self::default();
        for (name, value) in json.entries()? {
            let Some(key) = Self::key(name) else {
                let reason = match brunt_spelling::question(name, Self::KEYS.iter().copied()) {
                    Some(question) => format!("unknown field: {question}"),
                    None => format!("unknown field: a sine has {}", Self::KEYS.join(", ")),
                };
                json.kept::<()>(Err(value.fault(reason)));
                continue;
            };
            json.kept(sine.read_key(key, &value));
        }
        Ok(sine)
    }

    fn print(&self) -> Value {
        let set = Self::KEYS.iter().filter(|key| self.is_set(key));
        set.map(|key| ((*key).to_string(), self.print_key(key))).collect()
    }
}

impl OptionValue for SineStart {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let named = |name: &str| Self::ALL.into_iter().find(|(known, _)| *known == name);
        let read = json.value().as_str().and_then(named);
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        read.map(|(_, start)| start).ok_or_else(|| json.expected(&format!("one of {names}")))
    }

    fn print(&self) -> Value {
        let found = Self::ALL.into_iter().find(|(_, start)| start == self);
        found.map_or(Value::Null, |(name, _)| name.into())
    }
}

/// The reader of files for options: from a path as it was written to the text, or the reason for none.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The executor that follows the rates of the file `name`, or the file's fault with its line.
pub(crate) fn executor_of_file(
    name: &str,
    read: Option<ReadFile<'_>>,
    (pre_allocated_vus, max_vus): (u64, u64),
) -> Result<Executor, String> {
    if name.is_empty() {
        return Err("names no file".into());
    }
    let Some(read) = read else { return Err("files cannot be read here".into()) };
    let curve = Curve::parse(&read(name)?)
        .map_err(|wrong| format!("{name}:{}: {}", wrong.line, wrong.fault))?;
    curve.executor(pre_allocated_vus, max_vus).map_err(|wrong| format!("{name} {wrong}"))
}
