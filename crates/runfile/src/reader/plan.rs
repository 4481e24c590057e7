//! The plan of a run, as its file tells it: for those who ask which part of it was steady.

use std::time::Duration;

use super::RunFile;
use crate::error::RunFileError;
use crate::info::{ScenarioInfo, Source, StageInfo};

impl RunFile {
    /// The scenarios with their stages, in the order of the plan.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn scenarios(&self) -> Result<Vec<ScenarioInfo>, RunFileError> {
        let mut scenarios = Vec::new();
        let mut ids = Vec::new();
        let rows = self.rows(
            "SELECT id, name, executor, text, started, ended FROM scenario ORDER BY id",
            [],
            |row| {
                let info = ScenarioInfo {
                    name: row.get(1)?,
                    executor: row.get(2)?,
                    text: row.get(3)?,
                    start: micros(row.get(4)?),
                    end: micros(row.get(5)?),
                    stages: Vec::new(),
                };
                Ok((row.get::<_, i64>(0)?, info))
            },
        )?;
        for (id, info) in rows {
            ids.push(id);
            scenarios.push(info);
        }
        let stages = self.rows(
            "SELECT scenario, started, ended, \"from\", \"to\" FROM stage ORDER BY scenario, n",
            [],
            |row| {
                let (start, end) = (micros(row.get(1)?), micros(row.get(2)?));
                let stage = StageInfo { start, end, from: row.get(3)?, to: row.get(4)? };
                Ok((row.get::<_, i64>(0)?, stage))
            },
        )?;
        for (scenario, stage) in stages {
            if let Some(place) = ids.iter().position(|id| *id == scenario) {
                scenarios[place].stages.push(stage);
            }
        }
        Ok(scenarios)
    }

    /// The files of the test, the script first; their texts are missing where `--no-source` left them out.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn sources(&self) -> Result<Vec<Source>, RunFileError> {
        self.rows("SELECT path, text FROM source ORDER BY rowid", [], |row| {
            Ok(Source { path: row.get(0)?, text: row.get(1)? })
        })
    }

    /// The URLs of the exchanges that were kept, each once.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn kept_urls(&self) -> Result<Vec<String>, RunFileError> {
        self.rows("SELECT DISTINCT url FROM exchange ORDER BY url", [], |row| row.get(0))
    }
}

fn micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}
