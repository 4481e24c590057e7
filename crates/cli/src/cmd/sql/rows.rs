//! Rows for people and programs: a table, CSV, JSON lines in an array.

use std::fmt::Write as _;

use brunt_sql::{Cell, Columns, Moment};
use serde_json::Value;

/// The forms.
pub(super) const FORMS: [&str; 3] = ["table", "csv", "json"];

/// Rows of a table that are read before its columns get their widths.
const MEASURED: usize = 1000;

/// Wider cells of a table are not padded for.
const WIDTH_MAX: usize = 60;

/// Writes the rows of one result. It keeps at most a thousand, and hands out text as it goes.
pub(super) struct Writer {
    form: Form,
    columns: Columns,
    /// Rows of a table whose widths are not known yet.
    waiting: Vec<Vec<String>>,
    widths: Vec<usize>,
    rows: u64,
    /// The row that is being read, as texts or as JSON.
    texts: Vec<Option<String>>,
    values: Vec<Value>,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Csv,
    Json,
}

impl Writer {
    /// Of one of [`FORMS`]; a table if it is none of them.
    pub(super) fn new(form: &str, columns: Columns) -> Self {
        let form = match form {
            "csv" => Form::Csv,
            "json" => Form::Json,
            _ => Form::Table,
        };
        let mut text = String::new();
        match form {
            Form::Csv => {
                line_of_csv(&mut text, columns.iter().map(|column| Some(column.name.as_str())));
            }
            Form::Json => text.push('['),
            Form::Table => {}
        }
        Self {
            form,
            columns,
            waiting: Vec::new(),
            widths: Vec::new(),
            rows: 0,
            texts: Vec::new(),
            values: Vec::new(),
            text,
        }
    }

    /// The next value of a row.
    pub(super) fn cell(&mut self, index: usize, cell: Cell<'_>) {
        let type_name = self.columns.get(index).map_or("", |column| &column.type_name);
        match self.form {
            Form::Json => self.values.push(json(cell, type_name)),
            Form::Table | Form::Csv => self.texts.push(shown(cell, type_name)),
        }
    }

    /// The row is whole.
    pub(super) fn end_row(&mut self) {
        self.rows += 1;
        match self.form {
            Form::Csv => {
                line_of_csv(&mut self.text, self.texts.iter().map(Option::as_deref));
                self.texts.clear();
            }
            Form::Json => {
                self.text.push_str(if self.rows > 1 { ",\n " } else { "\n " });
                let names = self.columns.iter().map(|column| column.name.clone());
                // A name that comes twice keeps its last value, as in the module.
                let object: serde_json::Map<String, Value> =
                    names.zip(self.values.drain(..)).collect();
                // Writing to a String can't fail.
                let _ = write!(self.text, "{}", Value::Object(object));
            }
            Form::Table => {
                let cells = self.texts.drain(..);
                let cells =
                    cells.map(|cell| cell.map_or_else(|| "NULL".to_owned(), |cell| line(&cell)));
                self.waiting.push(cells.collect());
                if !self.widths.is_empty() || self.waiting.len() == MEASURED {
                    self.flush_table();
                }
            }
        }
    }

    /// How many rows there were.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The text so far, which it forgets.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The rest.
    pub(super) fn finish(&mut self) -> String {
        match self.form {
            Form::Table => self.flush_table(),
            Form::Json => self.text.push_str(if self.rows > 0 { "\n]\n" } else { "]\n" }),
            Form::Csv => {}
        }
        self.take()
    }

    fn flush_table(&mut self) {
        let width = |text: &str| text.chars().count().min(WIDTH_MAX);
        if self.widths.is_empty() {
            let names: Vec<String> = self.columns.iter().map(|column| line(&column.name)).collect();
            self.widths = names.iter().map(|name| width(name)).collect();
            for row in &self.waiting {
                for (most, cell) in self.widths.iter_mut().zip(row) {
                    *most = (*most).max(width(cell));
                }
            }
            line_of_table(&mut self.text, &names, &self.widths);
            let rules: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
            line_of_table(&mut self.text, &rules, &self.widths);
        }
        for row in std::mem::take(&mut self.waiting) {
            line_of_table(&mut self.text, &row, &self.widths);
        }
    }
}

fn line_of_table(text: &mut String, cells: &[String], widths: &[usize]) {
    let start = text.len();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if index > 0 {
            text.push_str("  ");
        }
        text.push_str(cell);
        let gap = width.saturating_sub(cell.chars().count());
        text.extend(std::iter::repeat_n(' ', gap));
    }
    text.truncate(start + text[start..].trim_end_matches(' ').len());
    text.push('\n');
}

/// Without signs that would leave the line, or command the terminal.
fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            char if char.is_control() => {
                // Writing to a String can't fail.
                let _ = write!(line, "\\x{:02x}", u32::from(char));
            }
            char => line.push(char),
        }
    }
    line
}

/// NULL is empty; an empty text has quotes.
fn line_of_csv<'a>(text: &mut String, cells: impl Iterator<Item = Option<&'a str>>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            text.push(',');
        }
        match cell {
            None => {}
            Some(cell) if cell.is_empty() || cell.contains([',', '"', '\n', '\r']) => {
                text.push('"');
                text.push_str(&cell.replace('"', "\"\""));
                text.push('"');
            }
            Some(cell) => text.push_str(cell),
        }
    }
    text.push('\n');
}

/// As text; nothing is NULL.
fn shown(cell: Cell<'_>, type_name: &str) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match cell {
        Cell::Null => return None,
        Cell::Bool(value) => value.to_string(),
        Cell::Int(value) => value.to_string(),
        Cell::UInt(value) => value.to_string(),
        Cell::Float(value) => float(value),
        Cell::Single(value) => value.to_string(),
        Cell::Text(bytes) => text(bytes),
        Cell::Raw(bytes) => std::str::from_utf8(bytes).map_or_else(|_| hex(bytes), str::to_owned),
        Cell::Bytes(bytes) => hex(bytes),
        Cell::Time(moment) => time(moment, type_name),
    })
}

fn json(cell: Cell<'_>, type_name: &str) -> Value {
    match cell {
        Cell::Bool(value) => Value::Bool(value),
        Cell::Int(value) => Value::from(value),
        Cell::UInt(value) => Value::from(value),
        // Infinity and NaN have no number in JSON.
        Cell::Float(value) if !value.is_finite() => Value::from(value.to_string()),
        Cell::Float(value) => Value::from(value),
        Cell::Single(value) => value.to_string().parse::<f64>().map_or(Value::Null, Value::from),
        other => shown(other, type_name).map_or(Value::Null, Value::from),
    }
}

fn float(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        format!("{value:?}")
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn time(moment: Moment, type_name: &str) -> String {
    let nanos = i32::try_from(moment.nanos).unwrap_or_default();
    let Ok(timestamp) = jiff::Timestamp::new(moment.unix_seconds, nanos) else {
        return format!("{}s since 1970", moment.unix_seconds);
    };
    let offset =
        jiff::tz::Offset::from_seconds(moment.offset_seconds).unwrap_or(jiff::tz::Offset::UTC);
    let civil = offset.to_datetime(timestamp);
    if type_name.eq_ignore_ascii_case("date") {
        return civil.date().to_string();
    }
    let zone = if moment.offset_seconds == 0 { String::new() } else { offset.to_string() };
    if type_name.eq_ignore_ascii_case("time") || type_name.eq_ignore_ascii_case("timetz") {
        return format!("{}{zone}", civil.time());
    }
    format!("{} {}{zone}", civil.date(), civil.time())
}

#[cfg(test)]
mod tests {
    use brunt_sql::{Column, Kind};

    use super::*;

    fn columns(names: &[&str]) -> Columns {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            type_name: String::new(),
            kind: Kind::Text,
            nullable: None,
            length: None,
            decimals: None,
            table: String::new(),
        };
        names.iter().map(column).collect::<Vec<_>>().into()
    }

    fn written(form: &str) -> String {
        let mut writer = Writer::new(form, columns(&["id", "name"]));
        for row in
            [[Cell::Int(1), Cell::Text(b"a \"b\",\n\x1b[2J")], [Cell::Float(1.5), Cell::Null]]
        {
            row.into_iter().enumerate().for_each(|(index, cell)| writer.cell(index, cell));
            writer.end_row();
        }
        let mut text = writer.take();
        text.push_str(&writer.finish());
        text
    }

    #[test]
    fn tables_are_aligned_and_command_no_terminal() {
        let table = "id   name\n───  ───────────────\n1    a \"b\",\\n\\x1b[2J\n1.5  NULL\n";
        assert_eq!(written("table"), table);
        assert_eq!(Writer::new("table", columns(&["a"])).finish(), "a\n─\n");
    }

    #[test]
    fn csv_and_json_hold_all_of_a_value() {
        assert_eq!(written("csv"), "id,name\n1,\"a \"\"b\"\",\n\x1b[2J\"\n1.5,\n");
        let json: Value = serde_json::from_str(&written("json")).unwrap();
        assert_eq!(json[0]["name"], "a \"b\",\n\x1b[2J");
        assert_eq!((&json[1]["id"], &json[1]["name"]), (&Value::from(1.5), &Value::Null));
        assert_eq!(Writer::new("json", columns(&["a"])).finish(), "[]\n");
    }

    #[test]
    fn values_are_shown_as_databases_show_them() {
        let moment =
            Moment { unix_seconds: 1_709_210_096, nanos: 500_000_000, offset_seconds: 3600 };
        for (cell, type_name, expected) in [
            (Cell::Time(moment), "TIMESTAMPTZ", "2024-02-29 13:34:56.5+01"),
            (Cell::Time(moment), "DATE", "2024-02-29"),
            (Cell::Time(moment), "TIMETZ", "13:34:56.5+01"),
            (Cell::Bytes(b"\0\xff"), "", "0x00ff"),
            (Cell::Raw(b"1.10"), "", "1.10"),
            (Cell::Float(3.0), "", "3"),
            (Cell::Float(1e300), "", "1e300"),
            (Cell::Single(1.1), "", "1.1"),
        ] {
            assert_eq!(shown(cell, type_name).unwrap(), expected);
        }
    }
}
