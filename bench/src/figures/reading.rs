//! `brunt report`: how many records it reads in a second, and what memory that takes.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use brunt_records::decode;
use brunt_records::encode::Encoder;
use brunt_records::record::{Record, Timestamp};

use super::Bench;
use crate::process::{self, Spent};
use crate::report::{Figure, Verdict, failed_row, median, short, spread};

/// The least work of a Go program.
const GO: &str = include_str!("../../peers/decode.go");

/// The longest that one reading may take.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Default)]
struct Rounds {
    rate: Vec<f64>,
    cpu: Vec<f64>,
    rss_mb: Vec<f64>,
}

impl Rounds {
    fn take(&mut self, count: u64, took: Duration, spent: Option<&Spent>) {
        self.rate.push(count as f64 / took.as_secs_f64() / 1e6);
        if let Some(spent) = spent {
            self.cpu.push(spent.cpu.as_secs_f64() * 1e9 / count as f64);
            self.rss_mb.push(spent.rss_peak_kb as f64 / 1024.0);
        }
    }

    fn row(&self, name: &str, count: u64) -> Vec<String> {
        let shown = |values: &[f64]| if values.is_empty() { "-".into() } else { spread(values) };
        let count = count.to_string();
        vec![name.into(), count, shown(&self.rate), shown(&self.cpu), shown(&self.rss_mb)]
    }
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let many = bench.settings.records;
    // A smaller file, to see that memory does not grow with the number; its reading must last for some samples of it.
    let fewer = many / 4;
    let [many_file, few_file] = [(many, "many.gob"), (fewer, "few.gob")].map(|(count, name)| {
        let file = bench.file(name);
        write(&file, count).map(|()| file)
    });
    let (many_file, few_file) = (many_file?, few_file?);
    let go = go_decoder(bench);
    let [mut report, mut few, mut decoding, mut gos]: [Rounds; 4] = Default::default();
    for _ in 0..bench.settings.rounds {
        for (file, count, rounds) in [(&many_file, many, &mut report), (&few_file, fewer, &mut few)]
        {
            let mut command = process::command(&bench.settings.brunt, None);
            command.arg("report").arg(file);
            let began = Instant::now();
            let spent = process::run(command, LIMIT)?;
            ensure!(spent.code == Some(0), "brunt report: {}", process::tail(&spent.stderr));
            ensure!(spent.stdout.contains(&format!(" {count}, ")), "it saw {count} records");
            rounds.take(count, began.elapsed(), Some(&spent));
        }
        let began = Instant::now();
        ensure!(decoded(&many_file)? == many, "all records are decoded");
        decoding.take(many, began.elapsed(), None);
        if let Ok(program) = &go {
            let mut command = process::command(program, None);
            command.arg(&many_file);
            let began = Instant::now();
            let spent = process::run(command, LIMIT)?;
            ensure!(
                spent.stdout.trim() == many.to_string(),
                "Go: {}",
                process::tail(&spent.stderr)
            );
            gos.take(many, began.elapsed(), Some(&spent));
        }
    }
    fs::remove_file(&many_file)?;

    let ratio = median(&report.rate).zip(median(&gos.rate)).map(|(ours, theirs)| ours / theirs);
    let growth = median(&report.rss_mb).zip(median(&few.rss_mb)).map(|(many, few)| many / few);
    let mut rows = vec![
        report.row("brunt report", many),
        few.row("brunt report", fewer),
        decoding.row("our library, decoding alone", many),
    ];
    rows.push(match &go {
        Ok(_) => gos.row("Go's encoding/gob, decoding alone", many),
        Err(error) => failed_row(&format!("Go's encoding/gob: {error:#}")),
    });
    Ok(vec![Figure {
        title: format!("Reports of {} million records", short(many as f64 / 1e6)),
        method: format!(
            "A gob file of records as `brunt attack` writes them, {} rounds. The Go program \
             (bench/peers/decode.go) only decodes, which a report made in Go has to do before anything else. \
             Wall-clock rate; CPU and memory of the process.",
            bench.settings.rounds
        ),
        header: vec!["reader", "records", "million/s", "CPU ns/record", "peak RSS MB"],
        rows,
        verdicts: vec![
            Verdict::at_least("at least 3 × the rate of decoding in Go", ratio, 3.0),
            Verdict::at_most("memory flat: at most 1.2 × that for a quarter of them", growth, 1.2),
        ],
    }])
}

/// Writes records like those of an attack at 10 000/s.
fn write(file: &Path, count: u64) -> anyhow::Result<()> {
    let mut encoder = Encoder::gob(BufWriter::new(File::create(file)?));
    let mut record = Record {
        method: "GET".into(),
        url: "http://127.0.0.1:8080/products/1234".into(),
        ..Record::default()
    };
    let start = 1_790_000_000_000_000_000;
    for seq in 0..count {
        // Latencies of many sizes, some failures; no two runs differ.
        let dice = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let due = start + seq * 100_000;
        record.seq = seq;
        record.code = if dice % 100 == 0 { 503 } else { 200 };
        record.error =
            if dice % 100 == 0 { "503 Service Unavailable".into() } else { String::new() };
        record.planned = Some(due);
        record.timestamp = Timestamp::from_unix_ns(due + dice % 50_000);
        record.latency = 200_000 + dice * 100;
        record.bytes_in = 512;
        encoder.encode(&record)?;
    }
    std::io::Write::flush(encoder.get_mut())?;
    Ok(())
}

fn decoded(file: &Path) -> anyhow::Result<u64> {
    let mut decoder = decode::open(File::open(file)?, "records")?;
    let mut record = Record::default();
    let mut count = 0;
    while decoder.next_into(&mut record)? {
        count += 1;
    }
    Ok(count)
}

/// The Go program, if there is Go.
fn go_decoder(bench: &Bench) -> anyhow::Result<PathBuf> {
    let (source, program) = (bench.file("decode.go"), bench.file("decode"));
    fs::write(&source, GO)?;
    let output = Command::new("go").arg("build").arg("-o").args([&program, &source]).output();
    let output = output.context("install Go to compare with it")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(program)
}
