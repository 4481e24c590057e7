//! Files of earlier schemas.

use serde_json::Value;

use super::pages::read_document;
use super::*;
use crate::schema::{APPLICATION_ID, TABLES};

/// Tables that schema 1 did not have.
const NEW: [&str; 4] = ["threshold_breach", "health_error", "verdict", "finding"];

/// The file as schema 1 had it: without the tables that came later, without routes, without the settings that came later.
fn schema_1(new: &Path, old: &Path) {
    let connection = Connection::open(old).unwrap();
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.execute("ATTACH ?1 AS new", [new.to_str().unwrap()]).unwrap();
    let name_of = |table: &str| {
        let rest = table.trim().strip_prefix("CREATE TABLE ")?;
        Some(rest.split([' ', '(']).next().unwrap_or_default().to_owned())
    };
    let tables = TABLES.split(';').filter_map(|table| Some((name_of(table)?, table)));
    for (name, table) in tables.filter(|(name, _)| !NEW.contains(&name.as_str())) {
        connection.execute_batch(table).unwrap();
        connection
            .execute_batch(&format!("INSERT INTO main.\"{name}\" SELECT * FROM new.\"{name}\""))
            .unwrap();
    }
    connection.execute("UPDATE series SET tags = json_remove(tags, '$.route')", []).unwrap();
    for key in ["warmup", "routes", "failures", "hidesOwn"] {
        let path = format!("$.{key}");
        connection.execute("UPDATE run SET summary = json_remove(summary, ?1)", [path]).unwrap();
    }
}

/// A run of three seconds with requests that have routes, thresholds and a verdict, and the same as schema 1 had it.
fn old(kind: &str) -> tempfile::TempDir {
    let info = RunInfo { kind: kind.to_owned(), ..info(Duration::from_secs(3)) };
    let mut play = Play::of(1, registry(), &info);
    for second in 1..=3 {
        let tags = [("name", "/a"), ("method", "GET"), ("status", "500"), ("error_code", "1500")];
        let at = START + second * SECOND - 1;
        play.add(0, "http_reqs", &[&tags[..], &[(TagSet::ROUTE, "/a")]].concat(), 1.0, at);
        play.add(0, "http_req_failed", &tags, 1.0, at);
        play.add(0, "my_trend", &[("name", "a")], 5.0, at);
        play.add(0, "my_rate", &[], 1.0, at);
        play.tick(0, at);
    }
    let verdict = Some(brunt_verdict::Verdict::new(Vec::new()));
    play.writer.finish(Extras::default());
    let duration = Duration::from_secs(3);
    let end = End { duration, passed: Some(false), verdict, ..End::default() };
    play.writer.end(&end).unwrap();
    let folder = tempfile::tempdir().unwrap();
    schema_1(&play.folder.path().join("a.brunt"), &folder.path().join("a.brunt"));
    folder
}

#[test]
fn a_file_of_schema_1_has_all_its_numbers_and_no_verdict() {
    for kind in ["run", "attack"] {
        let folder = old(kind);
        let file = open(folder.path());
        assert_eq!((file.about().state, file.about().verdict.as_ref()), (State::Finished, None));
        let summary = file.summary(&file.slices(None, None), true).unwrap();
        assert_eq!(summary.metric("http_reqs").unwrap().values.get("count"), Some(3.0));
        let rate = summary.metric("my_rate").unwrap();
        assert!(!rate.thresholds[0].ok, "{rate:?}");
        assert!(summary.routes.is_empty(), "{:?}", summary.routes);
        let part = file.summary(&(1..2), true).unwrap();
        assert_eq!(part.metric("http_reqs").unwrap().values.get("count"), Some(1.0));
        assert_eq!(file.examples().unwrap().of(&summary.failures[0]), None);
        let document = page::Page::live(&file).everything(&file).unwrap();
        let (records, ..) = read_document(&document);
        let facts: &Value = &records[0];
        assert_eq!(facts["run"]["passed"], false, "{facts}");
        assert_eq!(facts["verdict"], serde_json::json!({}), "{facts}");
        assert_eq!(facts["thresholds"].as_array().unwrap().len(), 3, "{facts}");
    }
}
