//! The guide's page about the file: its queries run, and its decoder reads every histogram.

use super::*;

/// The guide's page about the file: every query in it runs.
#[test]
fn the_queries_of_the_guide_run() {
    let mut play = Play::new(1);
    for at in 1..=3 {
        let tags = [("name", "/a"), ("method", "GET"), ("status", "200"), ("scenario", "one")];
        for metric in [
            "http_req_duration",
            "http_reqs",
            "http_req_failed",
            "iterations",
            "iteration_duration",
        ] {
            play.add(0, metric, &tags, 1.25, START);
        }
        play.tick(0, START + at * SECOND - 1);
    }
    let folder = play.end(Duration::from_secs(3)).0;
    let mut sql = Connection::open(folder.path().join("a.brunt")).unwrap();
    // Of a test on several machines alone.
    crate::agent::write(&mut sql, &[crate::AgentRow::default()]).unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/run-file.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 12, "{}", blocks.len());
    for query in blocks {
        let mut statement = sql.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let rows = statement.query_map([], |_| Ok(())).unwrap().collect::<Result<Vec<_>, _>>();
        rows.unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    // And every table is told of.
    let mut tables = sql.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    for table in tables.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        let table = table.unwrap();
        assert!(page.contains(&format!("| `{table}` |")), "{table} is not in the guide");
    }
}

/// A histogram as the guide tells it, written anew: exact values, or bins by key.
fn decoded(blob: &[u8]) -> (Vec<f64>, Vec<(u32, u64)>) {
    let unpacked;
    let bytes = if blob[0] == 0 {
        &blob[1..]
    } else {
        unpacked = zstd::stream::decode_all(&blob[1..]).unwrap();
        &unpacked[..]
    };
    let (form, mut rest) = bytes.split_first().unwrap();
    let mut varint = || {
        let (mut number, mut shift) = (0_u64, 0);
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    };
    let (mut values, mut bins) = (Vec::new(), Vec::new());
    match form {
        0 => {
            values = bytes[1..]
                .chunks(8)
                .map(|eight| f64::from_le_bytes(eight.try_into().unwrap()))
                .collect();
        }
        1 => {
            let mut key = 0;
            while let Some(step) = varint() {
                key += u32::try_from(step >> 1).unwrap();
                bins.push((key, if step & 1 == 1 { varint().unwrap() } else { 1 }));
            }
        }
        form => {
            let scale = if *form == 2 { 1e6 } else { 1.0 };
            let zigzag = varint().unwrap();
            let mut number = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            values.push(number as f64 / scale);
            while let Some(step) = varint() {
                number += step as i64;
                values.push(number as f64 / scale);
            }
        }
    }
    (values, bins)
}

/// The key of a value's bin, as the guide tells it.
fn key(value: f64) -> u32 {
    let bits = value.to_bits();
    let sorted = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (sorted >> 42) as u32
}

#[test]
fn a_stretch_by_sql_and_the_guides_decoder_is_the_stretch_of_the_report() {
    let mut play = Play::new(1);
    let mut random = fastrand::Rng::with_seed(11);
    let mut all: Vec<(u64, f64)> = Vec::new();
    for tick in 1..=60u64 {
        // The first three seconds are few values, the rest makes bins of them.
        for _ in 0..if tick <= 30 { 100 } else { 400 } {
            let value = (random.f64() * 1e9).round() / 1e6;
            play.add(0, "my_trend", &[("name", "a")], value, START);
            all.push(((tick * SECOND / 10 - 1) / SECOND, value));
        }
        play.tick(0, START + tick * SECOND / 10 - 1);
    }
    let folder = play.end(Duration::from_secs(6)).0;
    let file = open(folder.path());
    let sql = Connection::open(folder.path().join("a.brunt")).unwrap();
    for (from, to) in [(0, 3), (1, 2), (2, 5), (0, 6)] {
        let stretch = file.slices(Some(Duration::from_secs(from)), Some(Duration::from_secs(to)));
        let summary = file.summary(&stretch, false).unwrap();
        let Values::Trend(trend) = &summary.metric("my_trend").unwrap().values else {
            panic!("a trend")
        };
        let query = "SELECT sum(count), sum(sum), min(min), max(max) FROM slice JOIN series ON series.id = series
                     JOIN metric ON metric.id = metric WHERE name = 'my_trend' AND n >= ?1 AND n < ?2";
        let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(i64, f64, f64, f64)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        };
        let (count, sum, min, max) = sql.query_row(query, [from as i64, to as i64], row).unwrap();
        let mut own: Vec<f64> =
            all.iter().filter(|(n, _)| (from..to).contains(n)).map(|(_, value)| *value).collect();
        own.sort_by(f64::total_cmp);
        assert_eq!((count as usize, min, max), (own.len(), own[0], own[own.len() - 1]));
        assert_eq!((trend.count(), trend.min(), trend.max()), (count as u64, min, max));
        assert!((trend.sum() - sum).abs() < 1e-9 * sum, "{} {sum}", trend.sum());
        let blobs = "SELECT histogram FROM slice JOIN series ON series.id = series JOIN metric ON metric.id = metric
                     WHERE name = 'my_trend' AND n >= ?1 AND n < ?2";
        let mut statement = sql.prepare(blobs).unwrap();
        let blobs =
            statement.query_map([from as i64, to as i64], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        let mut bins: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
        let mut exact = Vec::new();
        for blob in blobs {
            let (values, binned) = decoded(&blob.unwrap());
            for value in &values {
                *bins.entry(key(*value)).or_default() += 1;
            }
            exact.extend(values);
            for (key, count) in binned {
                *bins.entry(key).or_default() += count;
            }
        }
        assert_eq!(trend.distribution().buckets(), bins.into_iter().collect::<Vec<_>>());
        if exact.len() == own.len() {
            exact.sort_by(f64::total_cmp);
            assert_eq!(exact, own);
            let place = 0.95 * (own.len() - 1) as f64;
            let (low, high) = (own[place.floor() as usize], own[place.ceil() as usize]);
            assert_eq!(trend.percentile(95.0), low + (high - low) * place.fract());
        }
    }
}
