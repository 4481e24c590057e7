//! The agents of a test on several machines: the table `agent`.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Files of runs on one machine lack the table.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS agent (
  seat INTEGER PRIMARY KEY, host TEXT, version TEXT, cores INTEGER, share REAL NOT NULL,
  \"offset\" REAL NOT NULL, offset_bound REAL NOT NULL, late REAL,
  iterations INTEGER NOT NULL, requests INTEGER NOT NULL, failed INTEGER NOT NULL, p95 REAL, missed INTEGER NOT NULL,
  cpu REAL NOT NULL, lateness REAL, frames_sent INTEGER NOT NULL, frames_again INTEGER NOT NULL,
  frames_missing INTEGER NOT NULL, whole INTEGER NOT NULL, level TEXT, remarks TEXT NOT NULL, more TEXT NOT NULL
)";

/// How an agent fared. Its JSON is a seat of `agents.seats` in summaries.
///
/// Moments are seconds since the start of the run, times milliseconds, shares 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRow {
    /// From 1 on.
    pub seat: u32,
    /// Its segment, as `0:1/4`.
    pub segment: String,
    /// Its share of the load.
    pub share: f64,
    /// The machine's name; none if no agent came.
    pub host: Option<String>,
    /// A name that stays when its process is started anew.
    pub agent: Option<String>,
    /// The version of Brunt.
    pub version: Option<String>,
    /// Load cores.
    pub cores: Option<u32>,
    /// The time to add to its clock to have the leader's.
    pub offset_ms: f64,
    /// How wrong that may be.
    pub offset_bound_ms: f64,
    /// How much later than planned its scenarios began.
    pub late_ms: Option<f64>,
    /// Iterations that the leader has.
    pub iterations: u64,
    /// Requests, likewise.
    pub requests: u64,
    /// Failed ones among them.
    pub failed: u64,
    /// The 95th percentile of `http_req_duration`.
    pub http_req_duration_p95_ms: Option<f64>,
    /// Iterations that were due and could not start.
    pub missed: u64,
    /// The share of its cores that its process used in its busiest second.
    pub cpu_max: f64,
    /// The lateness of its iterations, 99th percentile.
    pub lateness_p99_ms: Option<f64>,
    /// Its states, each with the moment in which the leader heard of it.
    pub states: Vec<AgentStateAt>,
    /// Times in which it was out of touch.
    pub holes: Vec<AgentHole>,
    /// All its load was made, and all its measurements are there.
    pub whole: bool,
    /// Since when nothing is known of it, if it is not whole.
    pub missing_since_s: Option<f64>,
    /// The measurements that are known to be missing, by name: `iterations`, `requests`, `checks`, `values`.
    pub missing: Value,
    /// A sentence that says which results are missing and why, if it is not whole.
    pub sentence: Option<String>,
    /// How its frames went.
    pub frames: AgentFrames,
    /// The first different errors of its log.
    pub errors: Vec<String>,
    /// Whether its numbers can be trusted, as `verdict` of a run; null if it could not tell any more.
    pub verdict: Value,
    /// The things that are not as they should be, each in a few words.
    pub remarks: Vec<String>,
    /// Its numbers are far from those of the others.
    #[serde(rename = "outlier")]
    pub is_outlier: bool,
    /// The load of another agent that it makes; none for the seats of the plan.
    pub took_over: Option<AgentTakeOver>,
    /// The seat that makes its load since it was lost.
    pub taken_by: Option<u32>,
}

/// A load that was taken over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentTakeOver {
    /// The seat that made it before.
    pub seat: u32,
    /// From when on.
    pub from_s: f64,
}

/// A state of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStateAt {
    /// `seated`, `loading`, `ready`, `armed`, `running`, `leaving`, `finished`, `closed`.
    pub state: String,
    /// Negative before the start; none if the run did not start.
    pub at_s: Option<f64>,
}

/// A time in which an agent was out of touch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentHole {
    /// When the leader last heard of it.
    pub from_s: Option<f64>,
    /// When it was back; none if never.
    pub to_s: Option<f64>,
    /// It was given up meanwhile.
    pub lost: bool,
}

/// How the frames of an agent went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentFrames {
    /// Messages that it numbered.
    pub sent: u64,
    /// How often one was sent again.
    pub again: u64,
    /// How often two seconds became one, as too much waited.
    pub coarser: u64,
    /// Messages that the leader knows of and does not have.
    pub missing: u64,
}

impl AgentRow {
    /// `ok`, `doubtful`, `invalid`, as far as it is known.
    pub fn level(&self) -> Option<&str> {
        self.verdict.get("level")?.as_str()
    }
}

/// Writes all of them, in place of those that were there.
pub(crate) fn write(connection: &mut Connection, agents: &[AgentRow]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute(TABLE, [])?;
    transaction.execute("DELETE FROM agent", [])?;
    for row in agents {
        let remarks = row.remarks.join("; ");
        let more = serde_json::to_string(row).unwrap_or_default();
        transaction.execute(
            "INSERT INTO agent VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
            params![
                row.seat,
                row.host,
                row.version,
                row.cores,
                row.share,
                row.offset_ms,
                row.offset_bound_ms,
                row.late_ms,
                number(row.iterations),
                number(row.requests),
                number(row.failed),
                row.http_req_duration_p95_ms,
                number(row.missed),
                row.cpu_max,
                row.lateness_p99_ms,
                number(row.frames.sent),
                number(row.frames.again),
                number(row.frames.missing),
                row.whole,
                row.level(),
                remarks,
                more,
            ],
        )?;
    }
    transaction.commit()
}

/// SQLite's numbers are signed.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a row of the column `more`; parts that a newer Brunt wrote are left out.
pub(crate) fn read(text: &str) -> Option<AgentRow> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_are_read_as_they_were_written() {
        let mut connection = Connection::open_in_memory().unwrap();
        let row = |seat| AgentRow {
            seat,
            host: Some("<b>".into()),
            iterations: 3,
            verdict: json!({ "level": "invalid", "findings": [] }),
            states: vec![AgentStateAt { state: "running".into(), at_s: Some(-0.5) }],
            remarks: vec!["a".into(), "b".into()],
            ..AgentRow::default()
        };
        write(&mut connection, &[row(1)]).unwrap();
        write(&mut connection, &[row(1), row(2)]).unwrap();
        let all: Vec<String> = connection
            .prepare("SELECT more FROM agent ORDER BY seat")
            .and_then(|mut rows| rows.query_map([], |row| row.get(0))?.collect())
            .unwrap();
        let all: Vec<AgentRow> = all.iter().filter_map(|text| read(text)).collect();
        assert_eq!(all, [row(1), row(2)]);
        let query = "SELECT level || ' ' || remarks FROM agent WHERE seat = 2";
        let told: String = connection.query_row(query, [], |row| row.get(0)).unwrap();
        assert_eq!(told, "invalid a; b");
        assert_eq!(read("{\"seat\":4,\"of_tomorrow\":1}").map(|row| row.seat), Some(4));
    }
}
