//! The parts of a run file that pages get, and their sizes.

use serde_json::{Value, json};

use super::*;
use crate::exchange::{Evidence, Exchange, Why};
use crate::varint::{take, take_signed};

/// An exchange with bodies that nothing makes shorter.
fn exchange(size: usize) -> Exchange {
    let mut word = 0x9e37_79b9_7f4a_7c15_u64 ^ size as u64;
    let body = std::iter::repeat_with(|| {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        b'!' + (word % 90) as u8
    });
    let body: Vec<u8> = body.take(size).collect();
    Exchange {
        at: START,
        method: "GET".into(),
        name: "/a".into(),
        code: 1500,
        url: "http://a/".into(),
        request_body: Some(body.clone()),
        request_size: 1 << 20,
        response_body: Some(body),
        response_size: size as u64,
        status: 500,
        ..Exchange::default()
    }
}

fn added(numbers: std::ops::Range<u64>, size: usize) -> Extras {
    let added = numbers.map(|number| (number, Why::Failure, exchange(size))).collect();
    Extras { evidence: Evidence { added, removed: Vec::new() }, ..Extras::default() }
}

/// A second with a request, and whatever else.
fn second(play: &mut Play, at: u64, extras: Extras) {
    let tags = [("name", "/a"), ("method", "GET"), ("status", "500"), ("error_code", "1500")];
    play.add(0, "http_reqs", &tags, 1.0, START);
    play.add(0, "http_req_failed", &tags, 1.0, START);
    play.add(0, "my_trend", &tags, at as f64, START);
    let mut frame = play.cores[0].take_frame();
    frame.at = START + at * SECOND - 1;
    play.ledger.absorb(&frame);
    play.writer.frame(&frame);
    play.writer.tick(START + at * SECOND + SECOND / 2, extras);
}

fn facts(document: &[u8]) -> Value {
    read_document(document).0.remove(0)
}

#[test]
fn a_part_has_what_is_new_and_nothing_else() {
    let mut play = Play::new(1);
    second(&mut play, 1, added(0..1, 10_000));
    let mut file = open(play.folder.path());
    let mut live = page::Page::live(&file);
    let told = |live: &mut page::Page, file: &mut RunFile| {
        file.refresh().unwrap();
        facts(&live.news(file).unwrap())
    };
    let first = facts(&live.everything(&file).unwrap());
    let part = &first["exchanges"][0]["request"];
    assert_eq!((part["body"].as_str().unwrap().len(), &part["cut"]), (4096, &json!(true)));
    assert_eq!(first["sources"][0]["path"], "play.js");
    assert_eq!(first["failures"].as_array().map(Vec::len), Some(1));

    play.add(0, "my_rate", &[], 1.0, START);
    play.tick(0, START + 2 * SECOND - 1);
    play.writer.tick(START + 2 * SECOND + SECOND / 2, Extras::default());
    let quiet = told(&mut live, &mut file);
    for key in ["exchanges", "sources", "failures", "scenarios", "checks", "groups", "dropped"] {
        assert!(quiet.get(key).is_none(), "{key}: {quiet}");
    }
    assert!(quiet["run"].is_object() && quiet["time"]["slices"] == 2);

    second(&mut play, 3, added(1..2, 10_000));
    let more = told(&mut live, &mut file);
    assert_eq!(more["exchanges"].as_array().map(Vec::len), Some(2));
    assert!(more["failures"].is_array() && more.get("sources").is_none());
    // A late comer gets everything.
    let late = facts(&live.so_far(&file).unwrap());
    assert_eq!(late["exchanges"], more["exchanges"]);
    assert!(late["sources"].is_array() && late["scenarios"].is_array());

    // Many of them wait for their turn, and do not come each second.
    second(&mut play, 4, added(2..102, 10_000));
    assert_eq!(told(&mut live, &mut file)["exchanges"].as_array().map(Vec::len), Some(102));
    second(&mut play, 5, added(102..103, 10_000));
    let part = {
        file.refresh().unwrap();
        live.news(&file).unwrap()
    };
    assert!(part.len() < 8_000 && facts(&part).get("exchanges").is_none(), "{}", part.len());
    // One that comes late sees the new one already; then the others get it, too, as places name it.
    assert_eq!(
        facts(&live.so_far(&file).unwrap())["exchanges"].as_array().map(Vec::len),
        Some(103)
    );
    second(&mut play, 6, Extras::default());
    let next = told(&mut live, &mut file);
    assert_eq!(next["exchanges"].as_array().map(Vec::len), Some(103));
    second(&mut play, 7, added(103..104, 10_000));
    assert!(told(&mut live, &mut file).get("exchanges").is_none());
    // The end waits for nothing.
    let folder = play.end(Duration::from_secs(7)).0;
    let ended = open(folder.path());
    assert_eq!(facts(&live.news(&ended).unwrap())["exchanges"].as_array().map(Vec::len), Some(104));
}

/// The first column of a series, slice by slice of the page.
fn column(document: &[u8], series: u64) -> Vec<(u64, i64)> {
    let mut bytes = document.strip_prefix(b"BRNP\x01").unwrap();
    while let Some((kind, mut rest)) = bytes.split_first() {
        let size = take(&mut rest).unwrap() as usize;
        let (mut payload, after) = rest.split_at(size);
        bytes = after;
        if *kind != 2 || take(&mut payload).unwrap() != series {
            continue;
        }
        let [first, n] = [0; 2].map(|_| take(&mut payload).unwrap());
        let (mode, mut column) = payload.split_first().unwrap();
        let mut before = 0;
        let number = |place: u64| {
            let number = take_signed(&mut column).unwrap();
            before = if *mode == 4 { before + number } else { number };
            (first + place, before)
        };
        assert!([1, 4].contains(mode), "{mode}");
        return (0..n).map(number).collect();
    }
    Vec::new()
}

#[test]
fn a_part_is_made_of_new_slices_alone() {
    let mut info = info(Duration::from_hours(1));
    info.name = "long".into();
    let mut play = Play::of(1, registry(), &info);
    second(&mut play, 1, Extras::default());
    let mut file = open(play.folder.path());
    let mut live = page::Page::live(&file);
    let first = live.everything(&file).unwrap();
    let all = facts(&first);
    assert_eq!(all["time"]["width"], 5000);
    let place = |name: &str| {
        let of = |one: &Value| all["metrics"][one[0].as_u64().unwrap() as usize]["name"] == name;
        all["series"].as_array().unwrap().iter().position(of).unwrap() as u64
    };
    let (count, trend) = (place("http_reqs"), place("my_trend"));
    assert_eq!(column(&first, count), [(0, 1)]);
    for at in 2..=7_u64 {
        second(&mut play, at, Extras::default());
        file.refresh().unwrap();
        // If it looked at what it told before, it would find nothing there.
        let sql = Connection::open(play.path()).unwrap();
        sql.execute("UPDATE series SET tags = '{}', metric = metric WHERE id = 1", []).unwrap();
        sql.execute("DELETE FROM slice WHERE n < ?1", [at as i64 - 1]).unwrap();
        drop(sql);
        let part = live.news(&file).unwrap();
        let (slice, values) = if at <= 5 { (0, at) } else { (1, at - 5) };
        assert_eq!(column(&part, count), [(slice, values as i64)], "{at}");
        assert_eq!(column(&part, trend), [(slice, values as i64)], "{at}");
        assert_eq!(facts(&part)["series"], json!([]), "{at}");
    }
}

#[test]
fn exchanges_merge_no_slices_of_a_saved_page() {
    let mut play = Play::new(1);
    second(&mut play, 1, added(0..100, 20_000));
    for at in 2..=300 {
        second(&mut play, at, Extras::default());
    }
    let folder = play.end(Duration::from_mins(5)).0;
    let file = open(folder.path());
    let weighed = std::cell::Cell::new(0);
    let saved = page::saved(&file, |document| {
        weighed.set(weighed.get() + 1);
        document.len() as u64
    });
    let saved = saved.unwrap();
    let documents = read_document(&saved).0;
    assert_eq!(documents[0]["time"]["width"], 1000, "{} bytes", saved.len());
    assert_eq!(documents[0]["failures"][0]["exchanges"].as_array().map(Vec::len), Some(100));
    let part = &documents[1]["exchanges"][99]["request"];
    assert_eq!((part["body"].as_str().unwrap().len(), &part["cut"]), (8192, &json!(true)));
    assert_eq!(part["size"], 1 << 20);
    assert_eq!(documents[1]["sources"][0]["path"], "play.js");
    assert!(saved.len() < 2_500_000, "{}", saved.len());
    assert!(weighed.get() <= 6, "{}", weighed.get());
}

#[test]
fn a_page_that_is_too_heavy_is_made_twice_or_thrice_not_with_each_width() {
    let mut play = Play::new(1);
    for at in 1..=5_u64 {
        second(&mut play, at * 200, Extras::default());
    }
    let folder = play.end(Duration::from_secs(1000)).0;
    let file = open(folder.path());
    let made = std::cell::Cell::new(0);
    let saved = page::saved(&file, |document| {
        made.set(made.get() + usize::from(read_document(document).0.len() > 1));
        // As if each second weighed 30 kB.
        let width =
            read_document(document).0.first().and_then(|facts| facts["time"]["width"].as_u64());
        width.map_or(0, |width| 30_000_000_000 / width)
    });
    let width = facts(&saved.unwrap())["time"]["width"].as_u64().unwrap();
    assert_eq!((width, made.get()), (5000, 2));
}

/// Reads a document of the page: JSON records, and chunks as (series, first slice, number of slices).
pub(super) fn read_document(
    document: &[u8],
) -> (Vec<serde_json::Value>, Vec<(u64, u64, u64)>, bool) {
    let mut bytes = document.strip_prefix(b"BRNP\x01").unwrap();
    let (mut facts, mut chunks, mut reset) = (Vec::new(), Vec::new(), false);
    while let Some((kind, mut rest)) = bytes.split_first() {
        let size = crate::varint::take(&mut rest).unwrap() as usize;
        let (mut payload, after) = rest.split_at(size);
        match kind {
            1 => facts.push(serde_json::from_slice(payload).unwrap()),
            2 => {
                let [series, first, n] = [0; 3].map(|_| crate::varint::take(&mut payload).unwrap());
                chunks.push((series, first, n));
            }
            _ => reset = true,
        }
        bytes = after;
    }
    (facts, chunks, reset)
}

#[test]
fn the_page_gets_all_that_is_in_the_file() {
    let mut play = Play::new(1);
    for at in 1..=3 {
        let tags = [
            ("name", "/a"),
            ("method", "GET"),
            ("status", "500"),
            ("scenario", "one"),
            ("error_code", "1500"),
        ];
        play.add(0, "http_req_duration", &tags, 1.25, START);
        play.add(0, "http_req_failed", &tags, 1.0, START);
        play.add(0, "my_trend", &[("name", "a")], 3.0, START);
        let check = play.cores[0].check("::g", "ok");
        play.cores[0].add_check(check, true);
        play.tick(0, START + at * SECOND - 1);
        let load = Load { vus_planned: Some(1), vus_active: 1, ..Load::default() };
        let event = Event { at: START, kind: "note".into(), text: "x".into(), scenario: None };
        let shortages = Shortages { ports: at, ..Shortages::default() };
        let cores = [(0, half())].into();
        let health = Some(Signals { cores, shortages, ..Signals::default() });
        let extras = Extras { load: vec![load], events: vec![event], health, ..Extras::default() };
        play.writer.tick(START + at * SECOND + SECOND / 2, extras);
    }
    let mut running = open(play.folder.path());
    let mut live = page::Page::live(&running);
    let (facts, chunks, reset) = read_document(&live.everything(&running).unwrap());
    assert!(reset && facts.len() == 1 && chunks.len() > 8);
    assert_eq!(facts[0]["run"]["state"], "running");
    assert_eq!(facts[0]["events"].as_array().unwrap().len(), 3);
    play.add(0, "my_trend", &[("name", "new")], 3.0, START);
    play.tick(0, START + 4 * SECOND - 1);
    play.writer.tick(START + 4 * SECOND + SECOND / 2, Extras::default());
    running.refresh().unwrap();
    let (more, new_chunks, reset) = read_document(&live.news(&running).unwrap());
    assert!(!reset && more[0]["events"].as_array().unwrap().is_empty());
    let series = facts[0]["series"].as_array().unwrap().len() as u64;
    assert_eq!(more[0]["series"].as_array().unwrap().len(), 1, "{}", more[0]["series"]);
    assert!(new_chunks.contains(&(series, 3, 1)), "{new_chunks:?}");
    drop(running);

    let folder = play.end(Duration::from_secs(4)).0;
    let file = open(folder.path());
    let (facts, chunks, _) = read_document(&page::saved(&file, |page| page.len() as u64).unwrap());
    let facts = &facts[0];
    assert_eq!(
        facts["time"],
        serde_json::json!({ "width": 1000, "slices": 4, "end": 4_000_000.0 })
    );
    assert_eq!(facts["run"]["state"], "finished");
    assert_eq!(facts["run"]["started"], "2023-11-14T22:13:20.000000Z");
    let failure = &facts["failures"][0];
    assert_eq!((&failure["code"], &failure["status"]), (&"1500".into(), &500.into()));
    assert_eq!((&failure["method"], &failure["route"]), (&"GET".into(), &"/a".into()));
    assert_eq!(facts["thresholds"][0]["of"]["tags"]["name"], "a");
    assert_eq!(facts["thresholds"][0]["limit"], 100.0);
    assert_eq!(facts["checks"][0]["name"], "ok");
    let metrics: Vec<&str> = facts["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for name in [
        "http_req_duration",
        "load.vus_active",
        "health.busy",
        "health.errors",
        "checks by name",
        "failures by kind",
        "thresholds",
    ] {
        assert!(metrics.contains(&name), "{name}: {metrics:?}");
    }
    // Each series that is named has its chunk, and no other.
    let series = facts["series"].as_array().unwrap().len() as u64;
    let told: std::collections::BTreeSet<u64> = chunks.iter().map(|(series, ..)| *series).collect();
    assert_eq!(told, (0..series).collect());
    assert!(told.contains(&facts["checks"][0]["series"].as_u64().unwrap()));
}
