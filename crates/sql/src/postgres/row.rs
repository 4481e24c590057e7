//! Rows as they came, read: the body of `DataRow`, values in text.

use super::clock;
use crate::cell::Cell;
use crate::column::{Column, Kind};

/// Gives the sink the values of a row.
#[inline]
pub(crate) fn read<E>(
    row: &[u8],
    columns: &[Column],
    mut sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), Option<E>> {
    let (count, mut rest) = row.split_first_chunk::<2>().ok_or(None)?;
    if usize::from(u16::from_be_bytes(*count)) != columns.len() {
        return Err(None);
    }
    let mut unhexed = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let (size, behind) = rest.split_first_chunk::<4>().ok_or(None)?;
        let Ok(size) = usize::try_from(i32::from_be_bytes(*size)) else {
            rest = behind;
            sink(index, Cell::Null).map_err(Some)?;
            continue;
        };
        let (text, behind) = behind.split_at_checked(size).ok_or(None)?;
        rest = behind;
        let cell = match column.kind {
            Kind::Int => Cell::Int(int(text).ok_or(None)?),
            Kind::Text => Cell::Text(text),
            Kind::Raw => Cell::Raw(text),
            Kind::Bool => Cell::Bool(text == b"t"),
            Kind::Bytes => {
                unhex(text, &mut unhexed).ok_or(None)?;
                sink(index, Cell::Bytes(&unhexed)).map_err(Some)?;
                continue;
            }
            Kind::Time(form) => clock::read(text, form).map_or(Cell::Raw(text), Cell::Time),
            _ => {
                let text = std::str::from_utf8(text).map_err(|_| None)?;
                Cell::Float(text.parse().map_err(|_| None)?)
            }
        };
        sink(index, cell).map_err(Some)?;
    }
    if rest.is_empty() { Ok(()) } else { Err(None) }
}

/// A whole number with a sign.
#[inline]
fn int(text: &[u8]) -> Option<i64> {
    let (digits, is_negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut sum = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum = sum * 10 + u64::from(digit);
    }
    if is_negative { 0_i64.checked_sub_unsigned(sum) } else { i64::try_from(sum).ok() }
}

/// The values of hexadecimal digits; 255 for all other bytes.
const DIGITS: [u8; 256] = {
    let (mut digits, mut value) = ([255; 256], 0);
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Fills `bytes` with the meaning of `\x0aff`, or of the older form with octal numbers.
fn unhex(text: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    bytes.clear();
    if let Some(digits) = text.strip_prefix(b"\\x") {
        let (pairs, rest) = digits.as_chunks::<2>();
        let mut seen = 0;
        bytes.extend(pairs.iter().map(|[high, low]| {
            let (high, low) = (DIGITS[usize::from(*high)], DIGITS[usize::from(*low)]);
            seen |= high | low;
            (high << 4) | (low & 15)
        }));
        return (seen < 16 && rest.is_empty()).then_some(());
    }
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        match *rest {
            [b'\\', ..] => {
                bytes.push(b'\\');
                rest = &rest[1..];
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = &rest[3..];
            }
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(kind: Kind) -> Column {
        Column {
            name: "c".to_owned(),
            type_name: String::new(),
            kind,
            nullable: None,
            length: None,
            decimals: None,
            table: String::new(),
        }
    }

    fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
        let mut row = (values.len() as u16).to_be_bytes().to_vec();
        for value in values {
            row.extend(value.map_or(-1, |value| value.len() as i32).to_be_bytes());
            row.extend(value.unwrap_or_default());
        }
        row
    }

    #[test]
    fn values_are_read_by_their_columns() {
        let kinds = [Kind::Int, Kind::Text, Kind::Bool, Kind::Bytes, Kind::Float, Kind::Raw];
        let columns: Vec<_> = kinds.map(column).into();
        let values: [Option<&[u8]>; 6] = [
            Some(b"-9223372036854775808"),
            None,
            Some(b"t"),
            Some(b"\\x00ff"),
            Some(b"1.5"),
            Some(b"1.10"),
        ];
        let mut told = Vec::new();
        let sink = |_, cell: Cell<'_>| -> Result<(), ()> {
            told.push(format!("{cell:?}"));
            Ok(())
        };
        read(&row(&values), &columns, sink).unwrap();
        assert_eq!(
            told.join(" "),
            "Int(-9223372036854775808) Null Bool(true) Bytes([0, 255]) Float(1.5) Raw([49, 46, 49, 48])"
        );
        let unhexed = |text: &[u8]| {
            let mut bytes = vec![1];
            unhex(text, &mut bytes).map(|()| bytes)
        };
        assert_eq!(unhexed(b"a\\\\b\\001").unwrap(), b"a\\b\x01");
        assert_eq!(unhexed(b"\\xDeadBEEF").unwrap(), b"\xde\xad\xbe\xef");
        assert_eq!((unhexed(b"\\x0"), unhexed(b"\\x0g"), unhexed(b"\\9")), (None, None, None));
        assert_eq!(int(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!((int(b"9223372036854775808"), int(b"-"), int(b"1x")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(row: Vec<u8>, kinds in proptest::collection::vec(0_u8..7, 0..5)) {
            let all = [Kind::Int, Kind::Text, Kind::Bool, Kind::Bytes, Kind::Float, Kind::Raw, Kind::Time(2)];
            let columns: Vec<_> = kinds.iter().map(|kind| column(all[usize::from(*kind)])).collect();
            let _ = read(&row, &columns, |_, _| Ok::<(), ()>(()));
        }
    }
}
