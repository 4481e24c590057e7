//! The agents of a test on several machines.

use super::RunFile;
use crate::agent::{self, AgentRow};
use crate::error::RunFileError;

impl RunFile {
    /// How each agent fared, by seat; none of a run on one machine, and none before the end.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn agents(&self) -> Result<Vec<AgentRow>, RunFileError> {
        if !self.has_table("agent")? {
            return Ok(Vec::new());
        }
        let query = "SELECT more FROM agent ORDER BY seat";
        let texts = self.rows(query, [], |row| row.get::<_, String>(0))?;
        Ok(texts.iter().filter_map(|text| agent::read(text)).collect())
    }
}
