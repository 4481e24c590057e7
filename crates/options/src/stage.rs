//! Stages as they are written.

use std::time::Duration;

use brunt_duration::wait;
use serde_json::{Value, json};

use crate::error::Fault;
use crate::json::Json;
use crate::value::{Entry, OptionValue, Place, record};

record! {
    /// A stage as it is written: both fields may be missing, which is an error only when it is used.
    pub struct StageConfig {
        /// How long the change takes.
        duration: Duration = "duration",
        /// VUs, or iterations per time unit.
        target: i64 = "target",
    }
}

impl Entry for StageConfig {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut stage = Self::default();
        if json.is_null() {
            return Ok(stage);
        }
        for (name, value) in json.entries()? {
            match Self::key(name) {
                Some(key) => {
                    json.kept(stage.read_key(key, &value));
                }
                None if json.is_in_scenario() => {
                    let reason = match brunt_spelling::question(name, Self::KEYS.iter().copied()) {
                        Some(question) => format!("unknown field: {question}"),
                        None => format!("unknown field: a stage has {}", Self::KEYS.join(", ")),
                    };
                    json.kept::<()>(Err(value.fault(reason)));
                }
                None => json.note_unknown(name),
            }
        }
        Ok(stage)
    }

    /// `30s:10`: the duration and the target. The target may be missing, which is told when the stage is
    /// used; in a variable so may the duration, and then the stage is passed over.
    fn parse(text: &str, place: Place) -> Result<Self, String> {
        let (time, target) = match text.split_once(':') {
            Some((time, target)) => (time, Some(target).filter(|target| !target.is_empty())),
            None => (text, None),
        };
        let duration = match (time, place) {
            ("", Place::Variable) => None,
            ("", Place::Flag) => {
                return Err(format!("expected duration:target such as 30s:10, got {text:?}"));
            }
            _ => Some(wait::parse(time).map_err(|error| format!("{error}, got {text:?}"))?),
        };
        let target = target.map(str::parse).transpose().map_err(|_| {
            format!("expected duration:target with a whole number as target, got {text:?}")
        })?;
        Ok(Self { duration, target })
    }

    fn print(&self) -> Value {
        let duration = self.duration.as_ref().map_or(Value::Null, OptionValue::print);
        json!({ "duration": duration, "target": self.target })
    }
}
