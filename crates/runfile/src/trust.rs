//! The verdict on the run: the tables `verdict` and `finding`.

use std::time::Duration;

use brunt_verdict::{Finding, Level, Verdict};
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

/// Writes it. Once, at the end of a run.
pub(crate) fn write(connection: &Connection, verdict: &Verdict) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO verdict VALUES (?1)", [verdict.level().text()])?;
    for finding in &verdict.findings {
        let micros = |moment: Duration| moment.as_micros() as i64;
        let numbers: Map<String, Value> =
            finding.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        connection.execute(
            "INSERT INTO finding VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                finding.name,
                finding.level.text(),
                finding.stretch.map(|stretch| micros(stretch.0)),
                finding.stretch.map(|stretch| micros(stretch.1)),
                finding.evidence,
                Value::Object(numbers).to_string(),
                finding.touches,
                finding.advice,
            ],
        )?;
    }
    Ok(())
}

/// Reads it: none before the end of the run, and none in files of older versions, which lack the tables.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Option<Verdict>> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('verdict', 'finding')";
    let tables: i64 = connection.query_row(query, [], |row| row.get(0))?;
    if tables < 2 {
        return Ok(None);
    }
    let looked: i64 = connection.query_row("SELECT count(*) FROM verdict", [], |row| row.get(0))?;
    if looked == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare(
        "SELECT name, level, started, ended, evidence, numbers, touches, advice FROM finding ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        let moment = |place: usize| -> rusqlite::Result<Option<Duration>> {
            let micros = row.get::<_, Option<i64>>(place)?.and_then(|it| u64::try_from(it).ok());
            Ok(micros.map(Duration::from_micros))
        };
        let numbers: Map<String, Value> =
            serde_json::from_str(&row.get::<_, String>(5)?).unwrap_or_default();
        Ok(Finding {
            name: row.get(0)?,
            // A level of a newer Brunt is at least worth a look.
            level: Level::parse(&row.get::<_, String>(1)?).unwrap_or(Level::Doubtful),
            stretch: moment(2)?.zip(moment(3)?),
            evidence: row.get(4)?,
            values: numbers
                .into_iter()
                .filter_map(|(name, value)| Some((name, value.as_f64()?)))
                .collect(),
            touches: row.get(6)?,
            advice: row.get(7)?,
        })
    })?;
    let findings = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Some(Verdict::new(findings)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(read(&connection).unwrap(), None);
        connection.execute_batch(TABLES).unwrap();
        assert_eq!(read(&connection).unwrap(), None);
        let finding = |name: &str, level, stretch| Finding {
            name: name.to_owned(),
            level,
            stretch,
            evidence: "<b>".into(),
            values: vec![("share".into(), 0.25)],
            touches: "all".into(),
            advice: "none".into(),
        };
        let stretch = Some((Duration::from_millis(5), Duration::from_secs(2)));
        let verdict = Verdict::new(vec![
            finding("late-starts", Level::Doubtful, None),
            finding("cpu-throttled", Level::Invalid, stretch),
        ]);
        write(&connection, &verdict).unwrap();
        assert_eq!(read(&connection).unwrap(), Some(verdict));
    }
}
