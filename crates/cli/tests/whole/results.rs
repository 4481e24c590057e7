//! `brunt encode`, `report` and `plot`, as shells meet them.

use std::{io::Write as _, process::Command};

use crate::support::{Told, brunt};

/// Hits in JSON, each 10 ms after the one before; each tenth failed.
fn hits(count: u64) -> String {
    let line = |n: u64| {
        let (code, error) =
            if n % 10 == 9 { (500, "500 Internal Server Error") } else { (200, "") };
        format!(
            "{{\"attack\":\"a\",\"seq\":{n},\"code\":{code},\"timestamp\":\"2026-11-21T18:59:{:02}.{:02}Z\",\
             \"latency\":{},\"bytes_in\":5,\"error\":\"{error}\",\"body\":null,\"method\":\"GET\",\
             \"url\":\"http://127.0.0.1/\",\"headers\":{{\"A\":[\"1\"]}},\"planned\":{}}}\n",
            n / 100,
            n % 100,
            1_000_000 * (1 + n % 5),
            1_795_287_541_000_000_000 + n * 10_000_000,
        )
    };
    (0..count).map(line).collect()
}

fn said(line: &str, stdin: &str) -> Told {
    brunt(line).stdin(stdin).told()
}

#[test]
fn a_report_is_vegetas_and_more() {
    let told = said("report", &hits(100));
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(lines[0], "Requests      [total, rate, throughput]         100, 101.01, 90.45");
    assert_eq!(lines[1], "Duration      [total, attack, wait]             995ms, 990ms, 5ms");
    assert!(
        lines[2].starts_with("Latencies     [min, mean, 50, 90, 95, 99, max]  1ms, 3ms, 3ms, 5ms")
    );
    assert_eq!(lines[6], "Status Codes  [code:count]                      200:90  500:10  ");
    assert_eq!(lines[7..9], ["Error Set:", "500 Internal Server Error"]);
    assert!(told.stdout.contains("\nOutcome ") && told.stdout.contains("\nSchedule "));
    let told = said("report -type=hist[0,3ms]", &hits(100));
    assert!(
        told.stdout.contains("[3ms,  +Inf]") || told.stdout.contains("[3ms,   +Inf]"),
        "{told:?}"
    );
}

#[test]
fn what_goes_wrong_is_told_as_vegeta_does() {
    let told = said("report missing.bin", "");
    let (moment, message) = told.stderr.split_at("2026/11/22 16:09:12".len());
    let shape: String =
        moment.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
    assert_eq!((told.code, shape.as_str()), (1, "0000/00/00 00:00:00"), "{told:?}");
    assert!(
        message.starts_with(" cannot open missing.bin: ") && message.ends_with('\n'),
        "{told:?}"
    );
    let told = said("--log-format json report missing.bin", "");
    assert!(told.stderr.starts_with('{'), "{told:?}");
    let told = said("dump", "");
    assert_eq!(told.code, 1);
    assert!(told.stderr.contains("vegeta dropped the command dump: use brunt encode"), "{told:?}");
}

#[test]
fn records_go_round_through_all_formats() {
    let json = hits(30);
    let dir = brunt("encode -to gob -output x.gob in.json").file("in.json", &json);
    let mut call = dir;
    assert_eq!(call.told().code, 0);
    let gob = std::fs::read(call.path("x.gob")).unwrap();
    let told = brunt("encode x.gob").file("x.gob", &gob).told();
    assert_eq!(told.code, 0);
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let back: Vec<_> = told.stdout.lines().map(value).collect();
    assert_eq!(back.len(), 30);
    for (line, back) in json.lines().zip(&back) {
        for (key, of_line) in value(line).as_object().unwrap() {
            if key != "timestamp" {
                assert_eq!(&back[key], of_line, "{key}");
            }
        }
    }
    let csv = brunt("encode -to csv x.gob").file("x.gob", &gob).told().stdout;
    assert_eq!(csv.lines().count(), 30);
    let again = said("encode -to=csv", &csv).stdout;
    assert_eq!(again, csv);
}

#[test]
fn several_files_count_together() {
    let told = brunt("report -group-by=name a.json b.json")
        .file("a.json", hits(10))
        .file("b.json", hits(20).replace("\"a\"", "\"b\""))
        .told();
    assert!(told.stdout.contains("throughput]         30, "), "{told:?}");
    assert!(told.stdout.contains("\nb     20 "), "{told:?}");
}

#[test]
fn what_cannot_be_done_is_told_with_vegetas_codes() {
    for (line, stdin, code, part) in [
        ("report", "", 1, "encode: can't detect encoding of \"stdin\""),
        ("plot", "nonsense\n", 1, "encode: can't detect encoding of \"stdin\""),
        ("report nope.bin", "", 1, "cannot open nope.bin"),
        ("encode -to xml", "", 1, "encode: unknown encoding \"xml\""),
        ("report -type nope", "", 1, "unknown report type"),
        ("report -type=plot", "", 1, "use brunt plot"),
        ("report -type=hist", "", 1, "bad buckets: ''"),
        ("report -type=hist[x]", "", 1, "invalid duration"),
        ("report -output nowhere/x", "", 1, "cannot write"),
        ("plot -threshold=2", "", 1, "lttb: min threshold is 3"),
    ] {
        let told = said(line, stdin);
        assert_eq!(told.code, code, "{line}: {told:?}");
        assert!(told.stderr.contains(part), "{line}: {told:?}");
        assert!(told.stdout.is_empty(), "{line}: {told:?}");
    }
    for (line, part) in [
        ("report -nope", "flag provided but not defined: -nope\n"),
        ("report -every 5", "invalid value \"5\" for flag -every: parse error\n"),
        ("report -threshold p99", "for flag -threshold: bad threshold \"p99\""),
        ("report -group-by x", "for flag -group-by: use url, method, name or status"),
        ("encode -to", "flag needs an argument: -to\n"),
    ] {
        let told = brunt(line).told();
        assert_eq!(told.code, 2, "{line}: {told:?}");
        assert!(told.stderr.contains(part), "{line}: {told:?}");
        assert!(told.stderr.contains("See brunt "), "{line}: {told:?}");
    }
    let told = brunt("plot -h").told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    assert!(told.stdout.contains("  -title string\n"), "{told:?}");
    assert!(brunt("help report").told().stdout.contains("  -every duration\n"));
}

#[test]
fn what_was_read_before_the_damage_counts() {
    let all = hits(10);
    let cut = &all[..all.len() - 30];
    let told = said("report", cut);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("throughput]         9, "), "{told:?}");
    assert!(told.stderr.contains("record 10"), "{told:?}");

    let broken = format!("{all}{{\"seq\":\n1}}\n{all}");
    let told = said("report", &broken);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.stdout.contains("throughput]         10, "), "{told:?}");
    assert!(told.stderr.contains("stdin: record 11, at byte "), "{told:?}");
    let told = said("encode", &broken);
    assert_eq!((told.code, told.stdout.lines().count()), (1, 10));
}

#[test]
fn thresholds_decide_the_exit_code() {
    let told = brunt("report -threshold p99<=5ms -threshold success>95%").stdin(hits(100)).told();
    assert_eq!(told.code, 99, "{told:?}");
    assert_eq!(told.stderr, "✓ p99<=5ms: 5ms\n✗ success>95%: 90.00%\n");
    let told = said("report -threshold=waited.max<6ms", &hits(100));
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let binary = env!("CARGO_BIN_EXE_brunt");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.json"), hits(20_000)).unwrap();
    let script = format!("{binary} encode in.json; echo $? > code");
    let mut shell = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(shell.stdout.take());
    shell.wait().unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("code")).unwrap(), "0\n");
}

#[test]
fn a_live_report_comes_in_time_and_ends_with_the_signal() {
    for command in ["report -every 50ms pipe", "encode pipe"] {
        let mut call = brunt(command);
        let pipe = call.path("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut running = call.start();
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        writer.write_all(hits(3).as_bytes()).unwrap();
        // No more records come, and none of these is kept back.
        if command.starts_with("report") {
            for _ in 0..3 {
                running.line_with("throughput]         3, ");
            }
        } else {
            running.line_with("\"seq\":2");
        }
        running.signal("INT");
        let told = running.wait();
        assert_eq!(told.code, 0, "{told:?}");
        assert!(!told.stdout.contains('\x1b'), "escape codes are for terminals: {told:?}");
        drop(writer);
    }
}

#[test]
fn a_plot_is_one_page() {
    let told = brunt("plot -title <Mine> a.json b.json")
        .file("a.json", hits(50))
        .file("b.json", hits(50))
        .told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    let page = told.stdout;
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>&lt;Mine&gt;</title>"));
    let told = said("report -type=html", &hits(50));
    assert!(told.stdout.starts_with("<!doctype html>"));
}
