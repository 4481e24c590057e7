//! Records of a CSV file, read by the rules of Go's `encoding/csv`: RFC 4180, empty lines skipped, quotes strict, as many
//! fields in each record as in the first.

use memchr::memchr;

/// A record that breaks the rules. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CsvError {
    /// A quote within a field that does not begin with one.
    #[error("{}bare \" in non-quoted-field", place(*.start, *.line, *.column))]
    BareQuote { start: u64, line: u64, column: usize },
    /// A quoted field goes on after its quote, or never ends.
    #[error("{}extraneous or missing \" in quoted-field", place(*.start, *.line, *.column))]
    Quote { start: u64, line: u64, column: usize },
    /// Fewer or more fields than the first record has.
    #[error("record on line {line}: wrong number of fields")]
    FieldCount { line: u64 },
}

fn place(start: u64, line: u64, column: usize) -> String {
    if start == line {
        format!("parse error on line {line}, column {column}: ")
    } else {
        format!("record on line {start}; parse error on line {line}, column {column}: ")
    }
}

/// Where in a file the next record begins.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    delimiter: Vec<u8>,
    at: usize,
    /// Lines before `at`.
    lines: u64,
    /// Fields of the first record.
    width: Option<usize>,
}

/// A line without its end, and whether it had one.
struct Line<'a> {
    text: &'a [u8],
    ended: bool,
}

impl Cursor {
    pub(super) fn new(delimiter: char) -> Self {
        Self { delimiter: delimiter.to_string().into_bytes(), at: 0, lines: 0, width: None }
    }

    fn line<'a>(&mut self, data: &'a [u8]) -> Option<Line<'a>> {
        let rest = data.get(self.at..).filter(|rest| !rest.is_empty())?;
        self.lines += 1;
        let end = memchr(b'\n', rest);
        self.at = end.map_or(data.len(), |end| self.at + end + 1);
        let text = &rest[..end.unwrap_or(rest.len())];
        let ended = end.is_some();
        Some(Line { text: text.strip_suffix(b"\r").unwrap_or(text), ended })
    }

    /// The fields of the next record, put into `fields`; `false` at the end of the data.
    pub(super) fn next(
        &mut self,
        data: &[u8],
        fields: &mut Vec<Vec<u8>>,
    ) -> Result<bool, CsvError> {
        fields.clear();
        let line = loop {
            match self.line(data) {
                None => return Ok(false),
                Some(line) if line.text.is_empty() => {}
                Some(line) => break line,
            }
        };
        let start = self.lines;
        self.fields(data, line, fields)?;
        match self.width {
            Some(width) if width != fields.len() => Err(CsvError::FieldCount { line: start }),
            Some(_) => Ok(true),
            None => {
                self.width = Some(fields.len());
                Ok(true)
            }
        }
    }

    fn find_delimiter(&self, text: &[u8]) -> Option<usize> {
        match self.delimiter[..] {
            [one] => memchr(one, text),
            _ => text.windows(self.delimiter.len()).position(|window| window == self.delimiter),
        }
    }

    fn fields<'a>(
        &mut self,
        data: &'a [u8],
        mut line: Line<'a>,
        fields: &mut Vec<Vec<u8>>,
    ) -> Result<(), CsvError> {
        let start = self.lines;
        let mut whole = line.text;
        let mut rest = line.text;
        loop {
            let column = whole.len() - rest.len() + 1;
            let Some(quoted) = rest.strip_prefix(b"\"") else {
                let end = self.find_delimiter(rest);
                let field = &rest[..end.unwrap_or(rest.len())];
                if let Some(at) = memchr(b'"', field) {
                    let column = column + at;
                    return Err(CsvError::BareQuote { start, line: self.lines, column });
                }
                fields.push(field.to_vec());
                let Some(end) = end else { return Ok(()) };
                rest = &rest[end + self.delimiter.len()..];
                continue;
            };
            let mut field = Vec::new();
            rest = quoted;
            loop {
                if let Some(end) = memchr(b'"', rest) {
                    field.extend_from_slice(&rest[..end]);
                    let after = &rest[end + 1..];
                    if let Some(more) = after.strip_prefix(b"\"") {
                        field.push(b'"');
                        rest = more;
                    } else if after.is_empty() {
                        fields.push(field);
                        return Ok(());
                    } else if let Some(more) = after.strip_prefix(&self.delimiter[..]) {
                        fields.push(field);
                        rest = more;
                        break;
                    } else {
                        let column = whole.len() - after.len();
                        return Err(CsvError::Quote { start, line: self.lines, column });
                    }
                    continue;
                }
                // The field goes on in the next line.
                field.extend_from_slice(rest);
                if line.ended {
                    field.push(b'\n');
                }
                let (column, at) = (whole.len() + 1 + usize::from(line.ended), self.lines);
                let Some(next) = self.line(data) else {
                    return Err(CsvError::Quote { start, line: at, column });
                };
                line = next;
                whole = line.text;
                rest = line.text;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str, delimiter: char) -> Result<Vec<Vec<String>>, CsvError> {
        let (mut cursor, mut fields, mut records) =
            (Cursor::new(delimiter), Vec::new(), Vec::new());
        while cursor.next(data.as_bytes(), &mut fields)? {
            let text = |field: &Vec<u8>| String::from_utf8(field.clone()).unwrap();
            records.push(fields.iter().map(text).collect());
        }
        Ok(records)
    }

    #[test]
    fn records_are_those_of_rfc_4180() {
        let cases: [(&str, &[&[&str]]); 9] = [
            ("a,b\nc,d\n", &[&["a", "b"], &["c", "d"]]),
            ("a,b\r\nc,d", &[&["a", "b"], &["c", "d"]]),
            ("\n\r\na,,\n\n", &[&["a", "", ""]]),
            ("\"a\",\"b,c\"\n", &[&["a", "b,c"]]),
            ("\"a\"\"b\",\"\"\n", &[&["a\"b", ""]]),
            ("\"a\nb\",c\n\"\n\n\",d", &[&["a\nb", "c"], &["\n\n", "d"]]),
            ("\"a\r\nb\",c", &[&["a\nb", "c"]]),
            (" a , b \n", &[&[" a ", " b "]]),
            ("", &[]),
        ];
        for (data, expected) in cases {
            assert_eq!(read(data, ',').unwrap(), expected, "{data:?}");
        }
        assert_eq!(read("a→b\n", '→').unwrap(), [["a", "b"]]);
        assert_eq!(read("a;\"b;c\"", ';').unwrap(), [["a", "b;c"]]);
    }

    #[test]
    fn what_breaks_the_rules_is_told_with_its_place() {
        let cases = [
            ("a\nb,c", "record on line 2: wrong number of fields"),
            ("x,a\"b", "parse error on line 1, column 4: bare \" in non-quoted-field"),
            (
                "\"a\"b,c",
                "parse error on line 1, column 3: extraneous or missing \" in quoted-field",
            ),
            (
                "x\n\"a\nb",
                "record on line 2; parse error on line 3, column 2: extraneous or missing \" in quoted-field",
            ),
        ];
        for (data, expected) in cases {
            assert_eq!(read(data, ',').unwrap_err().to_string(), expected, "{data:?}");
        }
    }
}
