//! Records of a CSV file. `csv-core` splits lines into fields; it takes whatever comes. k6 is stricter: this file tells it
//! where lines end (`\n` or `\r\n`, in quotes too), checks the quotes of a record before it is copied, and counts fields.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr;

/// A record that breaks the rules. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CsvError {
    /// A quote within a field that does not begin with one.
    #[error("{0}bare \" in non-quoted-field")]
    BareQuote(Place),
    /// A quoted field goes on after its quote, or never ends.
    #[error("{0}extraneous or missing \" in quoted-field")]
    Quote(Place),
    /// Fewer or more fields than the first record has.
    #[error("record on line {line}: wrong number of fields")]
    FieldCount { line: u64 },
}

/// Where a record breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The first line of the record.
    start: u64,
    line: u64,
    column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.start != self.line {
            write!(f, "record on line {}; ", self.start)?;
        }
        write!(f, "parse error on line {}, column {}: ", self.line, self.column)
    }
}

/// How far a file was read.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    at: usize,
    /// Lines before `at`.
    count: u64,
}

impl Lines {
    /// The next line without its end, and whether it had one.
    fn next<'a>(&mut self, data: &'a [u8]) -> Option<(&'a [u8], bool)> {
        let rest = data.get(self.at..).filter(|rest| !rest.is_empty())?;
        self.count += 1;
        let end = memchr(b'\n', rest);
        self.at = end.map_or(data.len(), |end| self.at + end + 1);
        let line = &rest[..end.unwrap_or(rest.len())];
        Some((line.strip_suffix(b"\r").unwrap_or(line), end.is_some()))
    }
}

/// The record that was read last, and where in a file the next begins.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    reader: Reader,
    delimiter: u8,
    lines: Lines,
    /// Fields of the first record.
    width: Option<usize>,
    /// The texts of its fields, one behind the other, and where each ends. Both have room for more.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// How much of `text` and `ends` is of this record.
    filled: (usize, usize),
}

impl Cursor {
    /// A reader of fields that `delimiter` separates.
    pub(super) fn new(delimiter: u8) -> Self {
        let reader =
            ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build();
        Self {
            reader,
            delimiter,
            lines: Lines::default(),
            width: None,
            text: Vec::new(),
            ends: Vec::new(),
            filled: (0, 0),
        }
    }

    /// The fields of the record.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends[..self.filled.1].iter().map(move |&end| {
            let field = &self.text[begin..end];
            begin = end;
            field
        })
    }

    /// Reads the next record, past empty lines; `false` at the end of the data. Behind a mistake, the next record begins with the
    /// next line.
    pub(super) fn next(&mut self, data: &[u8]) -> Result<bool, CsvError> {
        self.filled = (0, 0);
        let (mut line, is_ended) = loop {
            match self.lines.next(data) {
                None => return Ok(false),
                Some((b"", _)) => {}
                Some(line) => break line,
            }
        };
        let start = self.lines.count;
        // Its lines are read once to look at the quotes, and once more.
        let mut lines = self.lines;
        if memchr(b'"', line).is_some() {
            self.check_quotes(data, (line, is_ended))?;
        }
        // A byte order mark at the very beginning is text in k6; the reader knows it by its three bytes together.
        loop {
            let (first, rest) = line.split_at(line.len().min(1));
            let is_whole =
                [first, rest, b"\n"].into_iter().any(|part| !part.is_empty() && self.feed(part));
            if is_whole {
                break;
            }
            let Some((next, _)) = lines.next(data) else {
                self.feed(b"");
                break;
            };
            line = next;
        }
        let count = self.filled.1;
        if *self.width.get_or_insert(count) == count {
            Ok(true)
        } else {
            Err(CsvError::FieldCount { line: start })
        }
    }

    /// Gives the reader more of the record; whether the record ends with it.
    fn feed(&mut self, mut input: &[u8]) -> bool {
        loop {
            let (text, ends) = self.filled;
            let (result, read, written, ended) =
                self.reader.read_record(input, &mut self.text[text..], &mut self.ends[ends..]);
            input = &input[read..];
            self.filled = (text + written, ends + ended);
            match result {
                ReadRecordResult::InputEmpty => return false,
                ReadRecordResult::OutputFull => self.text.resize(64 + self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(16 + self.ends.len() * 2, 0),
                ReadRecordResult::Record | ReadRecordResult::End => return true,
            }
        }
    }

    /// Looks at the quotes of the record that begins with this line, and goes on to the line where it ends or is wrong: a field is
    /// in quotes as a whole, each quote in it doubled, or has none.
    fn check_quotes(&mut self, data: &[u8], first: (&[u8], bool)) -> Result<(), CsvError> {
        let start = self.lines.count;
        let (mut line, mut is_ended) = first;
        // Where a field begins, then how far it was looked at.
        let mut at = 0;
        loop {
            if line.get(at) != Some(&b'"') {
                let end = memchr(self.delimiter, &line[at..]).map_or(line.len(), |end| at + end);
                if let Some(quote) = memchr(b'"', &line[at..end]) {
                    return Err(CsvError::BareQuote(self.place(start, at + quote)));
                }
                if end == line.len() {
                    return Ok(());
                }
                at = end + 1;
                continue;
            }
            at += 1;
            loop {
                let Some(quote) = memchr(b'"', &line[at..]) else {
                    let length = line.len() + usize::from(is_ended);
                    let next = self.lines.next(data);
                    (line, is_ended) =
                        next.ok_or_else(|| CsvError::Quote(self.place(start, length)))?;
                    at = 0;
                    continue;
                };
                at += quote + 1;
                match line.get(at) {
                    None => return Ok(()),
                    Some(b'"') => at += 1,
                    Some(byte) if *byte == self.delimiter => break,
                    Some(_) => return Err(CsvError::Quote(self.place(start, at - 1))),
                }
            }
            // The mark between it and the next one.
            at += 1;
        }
    }

    /// The place of a byte of the line that was read last, in a record that began with line `start`.
    fn place(&self, start: u64, at: usize) -> Place {
        Place { start, line: self.lines.count, column: at + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str, delimiter: u8) -> Result<Vec<Vec<String>>, CsvError> {
        let (mut cursor, mut records) = (Cursor::new(delimiter), Vec::new());
        while cursor.next(data.as_bytes())? {
            let text = |field: &[u8]| String::from_utf8(field.to_vec()).unwrap();
            records.push(cursor.fields().map(text).collect());
        }
        Ok(records)
    }

    #[test]
    fn records_are_those_of_rfc_4180() {
        let cases: [(&str, &[&[&str]]); 13] = [
            ("a,b\nc,d\n", &[&["a", "b"], &["c", "d"]]),
            ("a,b\r\nc,d", &[&["a", "b"], &["c", "d"]]),
            ("\n\r\na,,\n\n", &[&["a", "", ""]]),
            ("\"a\",\"b,c\"\n", &[&["a", "b,c"]]),
            ("\"a\"\"b\",\"\"\n", &[&["a\"b", ""]]),
            ("\"a\nb\",c\n\"\n\n\",d", &[&["a\nb", "c"], &["\n\n", "d"]]),
            ("\"a\r\nb\",c", &[&["a\nb", "c"]]),
            (" a , b \n", &[&[" a ", " b "]]),
            ("", &[]),
            // An end of a line is `\n`; `\r` elsewhere is text, but not the last byte of the file.
            ("a\rb,c\r\r\n", &[&["a\rb", "c\r"]]),
            ("a,\"b\"\r", &[&["a", "b"]]),
            ("\u{feff}a,b\n", &[&["\u{feff}a", "b"]]),
            ("\"\"\"\",\"\"\"a\"\"\"", &[&["\"", "\"a\""]]),
        ];
        for (data, expected) in cases {
            assert_eq!(read(data, b',').unwrap(), expected, "{data:?}");
        }
        assert_eq!(read("a;\"b;c\"", b';').unwrap(), [["a", "b;c"]]);
        let long = format!("{},\"{}\"\n", "x".repeat(10_000), "y\n".repeat(10_000));
        let fields = read(&long, b',').unwrap().remove(0);
        assert_eq!((fields[0].len(), fields[1].len()), (10_000, 20_000));
        assert_eq!(read(&"a,".repeat(5000), b',').unwrap()[0].len(), 5001);
    }

    #[test]
    fn a_record_that_is_wrong_is_not_copied() {
        let rest = "a line of text, with commas\n".repeat(10_000);
        for data in [format!("a,\"b{rest}"), format!("\"{rest}\"b,c\nd,e"), format!("a\"{rest}")] {
            let mut cursor = Cursor::new(b',');
            cursor.next(data.as_bytes()).unwrap_err();
            assert_eq!((cursor.text.capacity(), cursor.ends.capacity()), (0, 0), "{}", &data[..9]);
        }
    }

    #[test]
    fn behind_a_mistake_the_next_line_is_read() {
        let data = b"a,b\n\nc,d\"e,\"f\nx,y\n\"p\nq\"r,\"s\n\"z\",w\n\"v";
        let mut cursor = Cursor::new(b',');
        let mut told = Vec::new();
        for _ in 0..7 {
            let first = cursor.next(data).map(|more| {
                let first = cursor.fields().next().filter(|_| more).unwrap_or_default();
                String::from_utf8(first.to_vec()).unwrap()
            });
            told.push(first.unwrap_or_else(|mistake| mistake.to_string()));
        }
        let quote = "extraneous or missing \" in quoted-field";
        let bare = "parse error on line 3, column 4: bare \" in non-quoted-field".to_owned();
        let second = format!("record on line 5; parse error on line 6, column 2: {quote}");
        let last = format!("parse error on line 8, column 3: {quote}");
        let expected = ["a".to_owned(), bare, "x".to_owned(), second, "z".to_owned(), last];
        assert_eq!(told[..6], expected);
        assert_eq!(told[6], "");
    }

    #[test]
    fn what_breaks_the_rules_is_told_with_its_place() {
        let bare = "bare \" in non-quoted-field";
        let quote = "extraneous or missing \" in quoted-field";
        let cases = [
            ("a\nb,c", "record on line 2: wrong number of fields".to_owned()),
            ("x,a\"b", format!("parse error on line 1, column 4: {bare}")),
            ("\u{feff}\"a\"", format!("parse error on line 1, column 4: {bare}")),
            ("x,a\"b,\"c", format!("parse error on line 1, column 4: {bare}")),
            ("\"a\"b,c", format!("parse error on line 1, column 3: {quote}")),
            ("\"a\" ,c", format!("parse error on line 1, column 3: {quote}")),
            ("\"a\"\"b\"c\"", format!("parse error on line 1, column 6: {quote}")),
            ("\"a\nb\"c,\n", format!("record on line 1; parse error on line 2, column 2: {quote}")),
            ("x\n\"a\nb", format!("record on line 2; parse error on line 3, column 2: {quote}")),
            ("\"a", format!("parse error on line 1, column 3: {quote}")),
            ("\"a\n", format!("parse error on line 1, column 4: {quote}")),
            ("\"a\r\n\r\n", format!("record on line 1; parse error on line 2, column 2: {quote}")),
            ("\"", format!("parse error on line 1, column 2: {quote}")),
        ];
        for (data, expected) in cases {
            assert_eq!(read(data, b',').unwrap_err().to_string(), expected, "{data:?}");
        }
    }
}
