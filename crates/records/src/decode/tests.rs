use proptest::prelude::*;

use super::*;
use crate::{Encoder, Rotation, Timestamp};

fn sample(seq: u64) -> Record {
    Record {
        attack: "a1".to_owned(),
        seq,
        code: 200,
        timestamp: Timestamp::from_unix_ns(1_795_287_541_895_402_269 + seq).in_zone(60),
        latency: 5_369_817 + seq,
        bytes_out: 3,
        bytes_in: 146,
        error: String::new(),
        body: b"hello, world".to_vec(),
        method: "GET".to_owned(),
        url: "http://127.0.0.1:8080/ok?x=\"1\",2".to_owned(),
        headers: vec![
            ("Content-Type".to_owned(), vec!["text/html; charset=utf-8".to_owned()]),
            ("Set-Cookie".to_owned(), vec!["a=1".to_owned(), "b=2".to_owned()]),
        ],
        planned: Some(1_795_287_541_895_000_000 + seq),
    }
}

fn written(format: Format, records: &[Record]) -> Vec<u8> {
    let mut encoder = Encoder::new(format, Vec::new());
    for record in records {
        encoder.encode(record).unwrap();
    }
    encoder.into_inner()
}

fn read(bytes: &[u8]) -> (Vec<Record>, Option<DecodeError>) {
    let mut records = Vec::new();
    let decoder = match open(bytes, "x") {
        Ok(decoder) => decoder,
        Err(error) => return (records, Some(error)),
    };
    for record in decoder {
        match record {
            Ok(record) => records.push(record),
            Err(error) => return (records, Some(error)),
        }
    }
    (records, None)
}

/// The record without the fields that CSV has no column for.
fn without_extras(mut record: Record) -> Record {
    record.planned = None;
    record.timestamp = Timestamp::from_unix_ns(record.timestamp.unix_ns());
    record
}

#[test]
fn every_format_is_found_and_loses_nothing() {
    let records: Vec<Record> = (0..5).map(sample).collect();
    for format in [Format::Gob, Format::Json, Format::Csv] {
        let bytes = written(format, &records);
        assert_eq!(open(&bytes[..], "x").unwrap().format(), format);
        let (back, error) = read(&bytes);
        assert!(error.is_none(), "{error:?}");
        match format {
            Format::Csv => {
                let expected: Vec<_> = records.iter().cloned().map(without_extras).collect();
                assert_eq!(back, expected);
            }
            _ => assert_eq!(back, records),
        }
    }
}

#[test]
fn what_is_no_format_is_told_with_its_name() {
    for bytes in
        [&b""[..], b"hello", b"\n\n", b"{\"seq\":", b"1,2,3\n", &[0xf8; 40], b"\x05\x81\x81"]
    {
        let error = open(bytes, "nonsense.bin").unwrap_err();
        assert_eq!(error.to_string(), "encode: can't detect encoding of \"nonsense.bin\"");
    }
}

#[test]
fn a_cut_gives_all_records_before_it() {
    let records: Vec<Record> = (0..3).map(sample).collect();
    for format in [Format::Gob, Format::Json, Format::Csv] {
        let bytes = written(format, &records);
        let two = written(format, &records[..2]).len();
        for cut in two + 1..bytes.len() - 1 {
            let (back, error) = read(&bytes[..cut]);
            // A last row of CSV can be whole without its line end, or seem to be.
            if let Some(error) = error {
                assert_eq!(back.len(), 2, "{format:?} {cut}");
                assert!(error.is_truncated(), "{format:?} {cut}: {error}");
                let text = error.to_string();
                assert_eq!(text, format!("x ends within record 3, which begins at byte {two}"));
            } else {
                assert_eq!((format, back.len()), (Format::Csv, 3), "{cut}");
            }
        }
    }
}

#[test]
fn a_last_line_without_its_end_is_read() {
    let json =
        br#"{"seq":1,"timestamp":"2026-11-21T18:59:01Z","extra":[1],"body":null,"headers":null}"#;
    let (records, error) = read(json);
    assert!(error.is_none());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].seq, 1);
}

#[test]
fn a_bad_record_in_the_middle_is_told_with_its_place() {
    let good = written(Format::Json, &[sample(0)]);
    let mut bytes = good.clone();
    bytes.extend(b"{\"seq\":1,\n\"code\":2}\n");
    let (records, error) = read(&bytes);
    assert_eq!(records.len(), 1);
    let text = error.unwrap().to_string();
    assert!(text.starts_with(&format!("x: record 2, at byte {}: ", good.len())), "{text}");

    let good = written(Format::Csv, &[sample(0)]);
    let mut bytes = good.clone();
    bytes.extend(b"1,2,3,4,5,,,a,x,GET,u,\n1,2,3\n");
    let text = read(&bytes).1.unwrap().to_string();
    assert!(text.ends_with("column 9 (sequence number): \"x\" is not a number"), "{text}");
    let mut bytes = good.clone();
    bytes.extend(b"1,2,3\n");
    let text = read(&bytes).1.unwrap().to_string();
    assert!(text.ends_with("wrong number of fields: 3, not 12"), "{text}");
}

#[test]
fn a_stream_of_gob_after_another_is_read_on() {
    let mut bytes = written(Format::Gob, &[sample(0)]);
    bytes.extend(written(Format::Gob, &[sample(1)]));
    assert_eq!(read(&bytes).0, [sample(0), sample(1)]);
}

#[test]
fn content_can_be_left_out() {
    let bytes = written(Format::Gob, &[sample(0), sample(1)]);
    let mut decoder = open(&bytes[..], "x").unwrap();
    decoder.leave_out_content();
    let bare = |seq| Record { body: Vec::new(), headers: Vec::new(), ..sample(seq) };
    let records: Vec<Record> = decoder.map(Result::unwrap).collect();
    assert_eq!(records, [bare(0), bare(1)]);
}

#[test]
fn a_length_that_lies_takes_no_memory() {
    let mut bytes = written(Format::Gob, &[sample(0)]);
    bytes.extend([0xfc, 0x7f, 0xff, 0xff, 0xff, 1]);
    let text = read(&bytes).1.unwrap().to_string();
    assert!(text.ends_with("it claims to have 2147483647 bytes"), "{text}");
}

#[test]
fn inputs_take_turns() {
    let one = written(Format::Gob, &[sample(0), sample(1), sample(2)]);
    let two = written(Format::Json, &[sample(10)]);
    let three = &two[..two.len() - 9];
    let mut three_records = two.clone();
    three_records.extend(three);
    let decoders = vec![
        open(&one[..], "one").unwrap(),
        open(&two[..], "two").unwrap(),
        open(&three_records[..], "three").unwrap(),
    ];
    let mut rotation = Rotation::new(decoders);
    let mut record = Record::default();
    let mut seen = Vec::new();
    let mut errors = 0;
    loop {
        match rotation.next_into(&mut record) {
            Ok(Some(index)) => seen.push((index, record.seq)),
            Ok(None) => break,
            Err(error) => {
                assert!(error.is_truncated());
                errors += 1;
            }
        }
    }
    assert_eq!(seen, [(0, 0), (1, 10), (2, 10), (0, 1), (0, 2)]);
    assert_eq!(errors, 1);
}

proptest! {
    #[test]
    fn records_come_back_as_they_were(
        attack in ".{0,20}", error in ".{0,40}", url in ".{0,40}", seq: u64, code: u16,
        ns in 0..i64::MAX as u64, latency in 0..i64::MAX as u64, bytes_in: u64,
        body in proptest::collection::vec(any::<u8>(), 0..50),
        headers in proptest::collection::btree_map(
            "[A-Z][a-z]{0,9}", proptest::collection::vec("[!-~]{1,9}", 1..3), 0..4),
        planned in proptest::option::of(1..i64::MAX as u64), zone in proptest::option::of(1_i16..700),
    ) {
        let mut timestamp = Timestamp::from_unix_ns(ns);
        if let Some(zone) = zone {
            timestamp = timestamp.in_zone(zone);
        }
        let record = Record {
            attack, seq, code, timestamp, latency, bytes_in, error, body, url, planned,
            headers: headers.into_iter().collect(),
            ..sample(1)
        };
        for format in [Format::Gob, Format::Json] {
            let (back, error) = read(&written(format, &[record.clone(), record.clone()]));
            prop_assert!(error.is_none());
            prop_assert_eq!(back, vec![record.clone(), record.clone()]);
        }
        let (back, error) = read(&written(Format::Csv, std::slice::from_ref(&record)));
        prop_assert!(error.is_none());
        prop_assert_eq!(back, vec![without_extras(record)]);
    }

    #[test]
    fn nonsense_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..900) {
        let _ = read(&bytes);
        let mut stream = written(Format::Gob, &[sample(0), sample(1)]);
        let at = at % stream.len();
        let end = (at + bytes.len()).min(stream.len());
        stream[at..end].copy_from_slice(&bytes[..end - at]);
        let _ = read(&stream);
    }
}

/// Written by Go's own `encoding/gob` from a struct with the fields of vegeta's results: 20 records, each tenth failed.
const GO: &[u8] = include_bytes!("go.gob");

#[test]
fn what_go_writes_is_read() {
    let (records, error) = read(GO);
    assert!(error.is_none());
    assert_eq!(records.len(), 20);
    assert_eq!(records[0].timestamp, Timestamp::from_unix_ns(1_795_283_941_895_402_269));
    assert_eq!(records[1].timestamp.zone_minutes(), Some(60));
    let failed = &records[13];
    assert_eq!((failed.seq, failed.code, failed.latency), (13, 404, 1_102_947));
    assert_eq!((failed.error.as_str(), &failed.body[..]), ("404 Not Found", &b"nope"[..]));
    let mut headers = failed.headers.clone();
    headers.sort();
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    assert_eq!(
        headers,
        [
            ("Content-Type".to_owned(), values(&["text/plain"])),
            ("X".to_owned(), values(&["1", "2"]))
        ]
    );
}
