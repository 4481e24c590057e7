//! Rows of arguments: CSV with a header, or a JSON value in each line.

use brunt_sql::{Args, Cell};
use serde_json::Value;

use super::script::place;

/// Rows of arguments, all of one width.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: Vec<String>,
    cells: Args,
}

/// A place in a file of arguments, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct RowsError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The fault.
    pub what: String,
}

/// The type of a column of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Text,
    Int,
    Float,
    Bool,
}

/// A field of CSV: its text, whether it was in quotes, and its first byte in the file.
struct Field {
    text: String,
    is_quoted: bool,
    at: usize,
}

impl Rows {
    /// Reads CSV. Its first line names the columns: `id:int,price:float,is_new:bool,name`; a column is text unless it says otherwise. An
    /// empty field without quotes is NULL in all columns but those of text, `\N` is NULL in those, too.
    ///
    /// # Errors
    /// A line with another number of fields, a field that is not of its type, an open quote.
    pub fn csv(text: &str) -> Result<Self, RowsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let wrong = |at: usize, what: String| {
            let (line, column) = place(text, at);
            RowsError { line, column, what }
        };
        let mut at = 0;
        let header = record(text, &mut at).map_err(|(at, what)| wrong(at, what))?;
        let header = header.ok_or_else(|| wrong(0, "the file is empty".to_owned()))?;
        let mut rows = Self::default();
        let mut types = Vec::new();
        for field in header {
            let (name, kind) = match field.text.rsplit_once(':') {
                None => (field.text.as_str(), Type::Text),
                Some((name, "text")) => (name, Type::Text),
                Some((name, "int")) => (name, Type::Int),
                Some((name, "float")) => (name, Type::Float),
                Some((name, "bool")) => (name, Type::Bool),
                Some((name, other)) => {
                    let what = format!(
                        "column {name:?} has the type {other:?}; there are text, int, float and bool"
                    );
                    return Err(wrong(field.at, what));
                }
            };
            let name = name.trim();
            if rows.columns.iter().any(|known| known == name) {
                return Err(wrong(field.at, format!("there are two columns {name:?}")));
            }
            rows.columns.push(name.to_owned());
            types.push(kind);
        }
        while let Some(fields) = record(text, &mut at).map_err(|(at, what)| wrong(at, what))? {
            if fields.len() != types.len() {
                let (have, want) = (fields.len(), types.len());
                let what = format!("the line has {have} fields, the header has {want}");
                return Err(wrong(fields[0].at, what));
            }
            for (index, field) in fields.iter().enumerate() {
                let cell = cell(field, types[index]).ok_or_else(|| {
                    let (text, name) = (&field.text, &rows.columns[index]);
                    let kind = match types[index] {
                        Type::Int => "whole number",
                        Type::Float => "number",
                        Type::Bool => "true or false",
                        Type::Text => unreachable!("all is text"),
                    };
                    wrong(field.at, format!("{text:?} in column {name:?} is no {kind}"))
                })?;
                rows.cells.push(cell);
            }
        }
        rows.not_empty()
    }

    /// Reads a JSON value per line: an array, or an object whose keys name the columns. The first line says which columns there are; an
    /// object may lack some, which are NULL. Arrays and objects inside are texts.
    ///
    /// # Errors
    /// A line that is no JSON, another number of values, an unknown key.
    pub fn json_lines(text: &str) -> Result<Self, RowsError> {
        let mut rows = Self::default();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |column: usize, what: String| RowsError { line: index + 1, column, what };
            let value: Value = serde_json::from_str(line).map_err(|error| {
                let text = error.to_string();
                let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
                wrong(error.column().max(1), text.to_owned())
            })?;
            rows.line(&value).map_err(|what| wrong(1, what))?;
        }
        rows.not_empty()
    }

    fn line(&mut self, value: &Value) -> Result<(), String> {
        let is_first = self.columns.is_empty();
        match value {
            Value::Array(values) => {
                if is_first {
                    self.columns = (1..=values.len()).map(|number| number.to_string()).collect();
                }
                let (have, want) = (values.len(), self.columns.len());
                if have != want {
                    return Err(format!("the array has {have} values, the first line has {want}"));
                }
                for value in values {
                    push(&mut self.cells, Some(value));
                }
            }
            Value::Object(object) => {
                if is_first {
                    self.columns = object.keys().cloned().collect();
                }
                if let Some(key) = object.keys().find(|key| !self.columns.contains(*key)) {
                    return Err(format!("the key {key:?} is not in the first line"));
                }
                for column in &self.columns {
                    push(&mut self.cells, object.get(column));
                }
            }
            _ => return Err("a line is an object or an array".to_owned()),
        }
        if self.columns.is_empty() { Err("there is no value".to_owned()) } else { Ok(()) }
    }

    fn not_empty(self) -> Result<Self, RowsError> {
        if self.is_empty() {
            let what = "there is no row of arguments".to_owned();
            return Err(RowsError { line: 1, column: 1, what });
        }
        Ok(self)
    }

    /// The names of the columns; `1`, `2`, … of arrays.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.columns.len()).unwrap_or_default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A value.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub(super) fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        self.cells.get(row * self.columns.len() + column)
    }
}

/// A value of JSON becomes an argument.
fn push(cells: &mut Args, value: Option<&Value>) {
    match value {
        None | Some(Value::Null) => cells.push(Cell::Null),
        Some(Value::Bool(value)) => cells.push(Cell::Bool(*value)),
        Some(Value::Number(number)) => cells.push(match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Cell::Int(value),
            (_, Some(value)) => Cell::UInt(value),
            _ => Cell::Float(number.as_f64().unwrap_or(f64::NAN)),
        }),
        Some(Value::String(text)) => cells.push(Cell::Text(text.as_bytes())),
        Some(other) => cells.push(Cell::Text(other.to_string().as_bytes())),
    }
}

fn cell(field: &Field, kind: Type) -> Option<Cell<'_>> {
    let text = field.text.as_str();
    let is_null = !field.is_quoted && (text == "\\N" || (text.is_empty() && kind != Type::Text));
    if is_null {
        return Some(Cell::Null);
    }
    Some(match kind {
        Type::Text => Cell::Text(text.as_bytes()),
        Type::Int => match text.parse() {
            Ok(value) => Cell::Int(value),
            Err(_) => Cell::UInt(text.parse().ok()?),
        },
        Type::Float => Cell::Float(text.parse().ok()?),
        Type::Bool => Cell::Bool(match text {
            "true" | "TRUE" | "True" | "t" | "1" => true,
            "false" | "FALSE" | "False" | "f" | "0" => false,
            _ => return None,
        }),
    })
}

/// The next line of CSV that is not empty: its fields.
fn record(text: &str, at: &mut usize) -> Result<Option<Vec<Field>>, (usize, String)> {
    let bytes = text.as_bytes();
    while matches!(bytes.get(*at), Some(b'\r' | b'\n')) {
        *at += 1;
    }
    if *at >= bytes.len() {
        return Ok(None);
    }
    let mut fields = Vec::new();
    loop {
        let from = *at;
        let mut field = Field { text: String::new(), is_quoted: false, at: from };
        if bytes.get(from) == Some(&b'"') {
            field.is_quoted = true;
            let mut start = from + 1;
            loop {
                let Some(length) = text[start..].find('"') else {
                    return Err((from, "a quote begins here and does not end".to_owned()));
                };
                field.text.push_str(&text[start..start + length]);
                start += length + 1;
                if bytes.get(start) != Some(&b'"') {
                    break;
                }
                field.text.push('"');
                start += 1;
            }
            *at = start;
            if !matches!(bytes.get(start), None | Some(b',' | b'\r' | b'\n')) {
                return Err((
                    start,
                    "a comma or the end of the line is missing behind the quote".to_owned(),
                ));
            }
        } else {
            let length = text[from..].find([',', '\r', '\n']).unwrap_or(text.len() - from);
            field.text.push_str(&text[from..from + length]);
            *at = from + length;
        }
        fields.push(field);
        if bytes.get(*at) != Some(&b',') {
            return Ok(Some(fields));
        }
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(rows: &Rows) -> Vec<Cell<'_>> {
        rows.cells.iter().collect()
    }

    #[test]
    fn columns_of_csv_are_text_unless_they_say_otherwise() {
        let text =
            "\u{feff}id:int, name ,f:float,b:bool\r\n1,\"a,\n\"\"b\"\"\",1.5,true\r\n\r\n,,\\N,\n";
        let rows = Rows::csv(text).unwrap();
        assert_eq!((rows.len(), rows.columns()[1].as_str()), (2, "name"));
        assert_eq!(
            cells(&rows),
            [
                Cell::Int(1),
                Cell::Text(b"a,\n\"b\""),
                Cell::Float(1.5),
                Cell::Bool(true),
                Cell::Null,
                Cell::Text(b""),
                Cell::Null,
                Cell::Null
            ]
        );
    }

    #[test]
    fn lines_of_json_keep_their_types() {
        let rows = Rows::json_lines("{\"b\":1,\"a\":\"x\"}\n\n{\"a\":null}\n{\"a\":[1],\"b\":1.5}")
            .unwrap();
        assert_eq!(rows.columns(), ["b", "a"]);
        assert_eq!(
            cells(&rows),
            [
                Cell::Int(1),
                Cell::Text(b"x"),
                Cell::Null,
                Cell::Null,
                Cell::Float(1.5),
                Cell::Text(b"[1]")
            ]
        );
        assert_eq!(Rows::json_lines("[true, 5]\n[false, 6]").unwrap().columns(), ["1", "2"]);
    }

    #[test]
    fn faults_have_their_place() {
        let csv = |text| Rows::csv(text).unwrap_err().to_string();
        assert_eq!(csv(""), "1:1: the file is empty");
        assert_eq!(csv("a,b\n"), "1:1: there is no row of arguments");
        assert_eq!(csv("a,b:int\n1,x\n"), "2:3: \"x\" in column \"b\" is no whole number");
        assert_eq!(csv("a\n\"x"), "2:1: a quote begins here and does not end");
        assert_eq!(csv("a\n1,2"), "2:1: the line has 2 fields, the header has 1");
        assert_eq!(csv("a,a\n1,2"), "1:3: there are two columns \"a\"");
        assert_eq!(
            csv("a:uuid\n1"),
            "1:1: column \"a\" has the type \"uuid\"; there are text, int, float and bool"
        );
        let json = |text| Rows::json_lines(text).unwrap_err().to_string();
        assert_eq!(json("{\"a\":1}\n{\"b\":1}"), "2:1: the key \"b\" is not in the first line");
        assert_eq!(json("[1]\n[1,2]"), "2:1: the array has 2 values, the first line has 1");
        assert!(json("[1]\n[1").starts_with("2:2: EOF"), "{}", json("[1]\n[1"));
        assert_eq!(json("7"), "1:1: a line is an object or an array");
        assert_eq!(json("{}"), "1:1: there is no value");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a,:int\"\n\r1\\\\N{}\\[\\] é]{0,40}") {
            let _ = Rows::csv(&text);
            let _ = Rows::json_lines(&text);
        }
    }
}
