use proptest::prelude::*;

use super::super::packet::push_text;
use super::super::zone;
use super::*;
use crate::cell::Moment;

fn columns(kinds: &[Kind]) -> Vec<Column> {
    let column = |kind: &Kind| Column {
        name: "a".to_owned(),
        type_name: String::new(),
        kind: *kind,
        nullable: None,
        length: None,
        decimals: None,
        table: String::new(),
    };
    kinds.iter().map(column).collect()
}

/// The values as Rust shows them.
fn shown(row: &[u8], kinds: &[Kind], is_binary: bool) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let sink = |_: usize, cell: Cell<'_>| {
        all.push(match cell {
            Cell::Raw(text) => format!("Raw({})", String::from_utf8_lossy(text)),
            other => format!("{other:?}"),
        });
        Ok::<(), ()>(())
    };
    let columns = columns(kinds);
    let read =
        if is_binary { read_binary(row, &columns, sink) } else { read_text(row, &columns, sink) };
    read.is_ok().then_some(all)
}

fn text_row(texts: &[&str]) -> Vec<u8> {
    let mut row = Vec::new();
    for text in texts {
        push_text(&mut row, text.as_bytes());
    }
    row
}

#[test]
fn a_row_of_texts_becomes_what_its_columns_say() {
    let mut row = text_row(&["-9223372036854775808", "18446744073709551615", "1.5", "0.1", "3.14"]);
    row.push(0xfb);
    row.extend(text_row(&["1970-01-02 00:00:00.25"]));
    let kinds = [
        Kind::Int,
        Kind::UInt,
        Kind::Float,
        Kind::Single,
        Kind::Raw,
        Kind::Raw,
        Kind::Time(zone::UTC),
    ];
    let moment = Moment { unix_seconds: 86_400, nanos: 250_000_000, offset_seconds: 0 };
    assert_eq!(
        shown(&row, &kinds, false).unwrap(),
        [
            "Int(-9223372036854775808)",
            "UInt(18446744073709551615)",
            "Float(1.5)",
            "Single(0.1)",
            "Raw(3.14)",
            "Null",
            &format!("Time({moment:?})"),
        ]
    );
}

#[test]
fn a_row_that_is_not_what_its_columns_promise_is_refused() {
    for (row, kinds) in [
        (text_row(&["1"]), &[Kind::Int, Kind::Int][..]),
        (text_row(&["1", "2"]), &[Kind::Int][..]),
        (text_row(&["1x"]), &[Kind::Int][..]),
        (text_row(&[""]), &[Kind::Int][..]),
        (text_row(&["9223372036854775808"]), &[Kind::Int][..]),
        (text_row(&["yesterday"]), &[Kind::Time(zone::UTC)][..]),
        (b"\xfc\xff\xffab".to_vec(), &[Kind::Raw][..]),
    ] {
        assert_eq!(shown(&row, kinds, false), None, "{row:?}");
    }
}

#[test]
fn a_binary_row_becomes_what_its_columns_say() {
    let kinds = [
        Kind::Own(form::I8),
        Kind::Own(form::U16),
        Kind::Own(form::I32),
        Kind::UInt,
        Kind::Raw,
        Kind::Own(form::DATE),
        Kind::Own(form::DATE_TIME + 3),
        Kind::Own(form::TIME + 6),
        Kind::Own(form::TIME),
    ];
    // The fifth column, bit 6, is NULL.
    let mut row = vec![0, 0x40, 0];
    row.extend(b"\xff\xe8\x07\xfe\xff\xff\xff\x05\0\0\0\0\0\0\0");
    row.extend(b"\x04\xea\x07\x0b\x1a");
    row.extend(b"\x0b\xea\x07\x0b\x1a\x0d\x0e\x0f\x40\xe2\x01\0");
    row.extend(b"\x0c\x01\x02\0\0\0\x01\x02\x03\x05\0\0\0");
    row.push(0);
    assert_eq!(
        shown(&row, &kinds, true).unwrap(),
        [
            "Int(-1)",
            "Int(2024)",
            "Int(-2)",
            "UInt(5)",
            "Null",
            "Raw(2026-11-26)",
            "Raw(2026-11-26 13:14:15.123)",
            "Raw(-49:02:03.000005)",
            "Raw(00:00:00)",
        ]
    );
    for end in 0..row.len() {
        assert_eq!(shown(&row[..end], &kinds, true), None, "cut after {end}");
    }
}

proptest! {
    #[test]
    fn numbers_come_back(number: i64, natural: u64) {
        let row = text_row(&[&number.to_string(), &natural.to_string()]);
        let all = shown(&row, &[Kind::Int, Kind::UInt], false);
        prop_assert_eq!(all.unwrap(), [format!("Int({number})"), format!("UInt({natural})")]);
    }

    #[test]
    fn no_bytes_make_it_panic(row: Vec<u8>, codes in prop::collection::vec(0..36u8, 0..6)) {
        let kind = |code: &u8| match code {
            30 => Kind::Int,
            31 => Kind::UInt,
            32 => Kind::Float,
            33 => Kind::Time(zone::UTC),
            34 => Kind::Bytes,
            35 => Kind::Raw,
            other => Kind::Own(*other),
        };
        let kinds: Vec<_> = codes.iter().map(kind).collect();
        shown(&row, &kinds, false);
        shown(&row, &kinds, true);
    }
}
