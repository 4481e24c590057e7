//! Values meet columns: arguments and literals become cells of rows.

use std::borrow::Cow;

use super::row::{cells, put_cell};
use super::statement::Scalar;
use super::table::{Column, Kind, Table};
use super::trouble::Trouble;

/// An argument of a prepared statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Argument {
    Null,
    Int(i64),
    /// Anything else, as text.
    Text(Box<[u8]>),
}

/// A value that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Default,
    Int(i64),
    Text(&'a [u8]),
}

pub(crate) fn value<'a>(scalar: &'a Scalar, args: &'a [Argument]) -> Result<Value<'a>, Trouble> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Default => Value::Default,
        Scalar::Int(value) => Value::Int(*value),
        Scalar::Text(text) => Value::Text(text.as_bytes()),
        Scalar::Argument(index) => match args.get(*index) {
            Some(Argument::Null) => Value::Null,
            Some(Argument::Int(value)) => Value::Int(*value),
            Some(Argument::Text(text)) => Value::Text(text),
            None => return Err(missing()),
        },
    })
}

fn missing() -> Trouble {
    Trouble::new(1210, "HY000", "Incorrect arguments to mysqld_stmt_execute")
}

/// A value that must be a count: of LIMIT, or seconds.
pub(crate) fn count(scalar: &Scalar, args: &[Argument]) -> Result<u64, Trouble> {
    let number = match value(scalar, args)? {
        Value::Int(number) => u64::try_from(number).ok(),
        Value::Text(text) => {
            std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok())
        }
        Value::Null | Value::Default => None,
    };
    number.ok_or_else(|| Trouble::unknown("LIMIT takes whole numbers from 0 on"))
}

impl Value<'_> {
    /// The number that the value is, or that its text is.
    pub(crate) fn number(self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(value),
            Value::Text(text) => number(text),
            Value::Null | Value::Default => None,
        }
    }
}

/// The number that a cell is.
pub(crate) fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// The text of a value for a column of a row that is written, checked; `None`: NULL. `row` counts from 1 on.
pub(crate) fn cell<'a>(
    column: &'a Column,
    value: Value<'a>,
    row: usize,
) -> Result<Option<Cow<'a, [u8]>>, Trouble> {
    let name = &column.name;
    let value = match (value, &column.default) {
        (Value::Default, Some(text)) => Value::Text(text),
        (Value::Default, None) if column.is_nullable => Value::Null,
        (Value::Default, None) => {
            let text = format!("Field '{name}' doesn't have a default value");
            return Err(Trouble::new(1364, "HY000", text));
        }
        (value, _) => value,
    };
    if value == Value::Null {
        if column.is_nullable {
            return Ok(None);
        }
        return Err(Trouble::new(1048, "23000", format!("Column '{name}' cannot be null")));
    }
    match column.kind {
        Kind::Int { .. } => integer(column, value, row).map(|value| Some(decimal(value))),
        Kind::Text { most } => {
            let text = match value {
                Value::Int(value) => decimal(value),
                Value::Text(text) => Cow::Borrowed(text),
                Value::Null | Value::Default => unreachable!("both were answered above"),
            };
            let Ok(characters) = std::str::from_utf8(&text) else {
                let text = format!("Incorrect string value for column '{name}' at row {row}");
                return Err(Trouble::new(1366, "HY000", text));
            };
            // Characters are counted only if there may be too many.
            if text.len() > most && characters.chars().count() > most {
                let text = format!("Data too long for column '{name}' at row {row}");
                return Err(Trouble::new(1406, "22001", text));
            }
            Ok(Some(text))
        }
    }
}

fn decimal(value: i64) -> Cow<'static, [u8]> {
    Cow::Owned(value.to_string().into_bytes())
}

/// The number of a value for a column of numbers.
pub(crate) fn integer(column: &Column, value: Value<'_>, row: usize) -> Result<i64, Trouble> {
    let Kind::Int { bits, unsigned } = column.kind else {
        unreachable!("only columns of numbers are asked")
    };
    let name = &column.name;
    let Some(number) = value.number() else {
        let shown = match value {
            Value::Text(text) => String::from_utf8_lossy(text).chars().take(64).collect(),
            _ => String::new(),
        };
        let text = format!("Incorrect integer value: '{shown}' for column '{name}' at row {row}");
        return Err(Trouble::new(1366, "HY000", text));
    };
    // A number above those of 64 signed bits is out of range, though BIGINT UNSIGNED would take it.
    let top = if unsigned { i128::from(u64::MAX >> (64 - bits)) } else { (1 << (bits - 1)) - 1 };
    let bottom = if unsigned { 0 } else { -top - 1 };
    if !(bottom..=top).contains(&i128::from(number)) {
        let text = format!("Out of range value for column '{name}' at row {row}");
        return Err(Trouble::new(1264, "22003", text));
    }
    Ok(number)
}

/// The row with some of its cells changed. Columns that were added after the row was written are NULL.
pub(crate) fn changed(table: &Table, row: &[u8], sets: &[(usize, Vec<u8>)], out: &mut Vec<u8>) {
    out.clear();
    let mut old = cells(row);
    let columns = table.columns.iter().enumerate().filter(|(index, _)| table.key != Some(*index));
    for (place, _) in columns.enumerate() {
        let cell = old.next().flatten();
        match sets.iter().find(|(set, _)| *set == place) {
            Some((_, new)) => out.extend_from_slice(new),
            None => put_cell(out, cell),
        }
    }
}
