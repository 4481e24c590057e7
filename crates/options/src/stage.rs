//! Stages as they are written.

use std::time::Duration;

use brunt_schedule::duration;
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
        for (name, value) in json.entries()? {
            match Self::key(name) {
                Some(key) => stage.read_key(key, &value)?,
                None => json.note_unknown(name),
            }
        }
        Ok(stage)
    }

    /// `30s:10`: the duration and the target; the target may be missing.
    fn parse(text: &str, place: Place) -> Result<Self, String> {
        let (time, target) = match text.split_once(':') {
            Some((time, target)) if !time.trim().is_empty() => (time.trim(), Some(target.trim())),
            None if !text.trim().is_empty() => (text.trim(), None),
            _ => {
                return Err(format!("expected duration:target such as 30s:10, got {text:?}"));
            }
        };
        let duration = match place {
            Place::Flag => duration::parse_with_unit(time),
            Place::Variable => duration::parse(time),
        };
        let duration = duration.map_err(|error| format!("{error}, got {text:?}"))?;
        let target = target.map(str::parse).transpose().map_err(|_| {
            format!("expected duration:target with a whole number as target, got {text:?}")
        })?;
        Ok(Self { duration: Some(duration), target })
    }

    fn print(&self) -> Value {
        let duration = self.duration.as_ref().map_or(Value::Null, OptionValue::print);
        json!({ "duration": duration, "target": self.target })
    }
}
