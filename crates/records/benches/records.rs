//! The cost of ten million records, piece by piece: `cargo bench -p brunt-records`.

use brunt_records::{Encoder, Format, Record, Summary, Timestamp, decode};
use divan::{Bencher, black_box, counter::ItemsCount};

const COUNT: u64 = 10_000;

fn main() {
    divan::main();
}

fn records() -> Vec<Record> {
    (0..COUNT)
        .map(|seq| Record {
            attack: "bench".to_owned(),
            seq,
            code: 200,
            timestamp: Timestamp::from_unix_ns(1_795_287_541_000_000_000 + seq * 1_000_000),
            latency: 1_000_000 + seq * 7_919 % 9_000_000,
            bytes_in: 146,
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/ok".to_owned(),
            planned: Some(1_795_287_541_000_000_000 + seq * 1_000_000),
            ..Record::default()
        })
        .collect()
}

fn encoded(format: Format) -> Vec<u8> {
    let mut encoder = Encoder::new(format, Vec::new());
    for record in records() {
        encoder.encode(&record).expect("memory takes all");
    }
    encoder.into_inner()
}

#[divan::bench(args = ["gob", "json", "csv"])]
fn encode(bencher: Bencher<'_, '_>, format: &str) {
    let format = Format::named(format).expect("a format");
    let records = records();
    bencher.counter(ItemsCount::new(COUNT)).bench(|| {
        let mut encoder = Encoder::new(format, Vec::with_capacity(4 << 20));
        for record in &records {
            encoder.encode(record).expect("memory takes all");
        }
        encoder
    });
}

#[divan::bench(args = ["gob", "json", "csv"])]
fn decode_into_one_record(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = encoded(Format::named(format).expect("a format"));
    bencher.counter(ItemsCount::new(COUNT)).bench(|| {
        let mut decoder = decode::open(&bytes[..], "bench").expect("it was written by us");
        let mut record = Record::default();
        while decoder.next_into(&mut record).expect("it was written by us") {
            black_box(&record);
        }
    });
}

#[divan::bench]
fn add_to_a_summary(bencher: Bencher<'_, '_>) {
    let records = records();
    bencher.counter(ItemsCount::new(COUNT)).bench(|| {
        let mut summary = Summary::default();
        for record in &records {
            summary.add(record);
        }
        summary
    });
}
