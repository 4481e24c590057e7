//! The options of `parse()` and `Parser`.

use brunt_quickjs::{JsResult, Name, Value};

static DELIMITER: Name = Name::new("delimiter");
static SKIP_FIRST_LINE: Name = Name::new("skipFirstLine");
static FROM_LINE: Name = Name::new("fromLine");
static TO_LINE: Name = Name::new("toLine");
static AS_OBJECTS: Name = Name::new("asObjects");

/// Which records are read, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) delimiter: u8,
    pub(super) skip_first_line: bool,
    /// The number of the first record, from 0.
    pub(super) from_line: u64,
    /// The number of the last record.
    pub(super) to_line: Option<u64>,
    pub(super) as_objects: bool,
}

impl Options {
    /// Reads them; the inner error says which make no sense.
    ///
    /// # Errors
    /// The exception of reading the object.
    pub(super) fn read<'js>(object: &Value<'js>) -> JsResult<'js, Result<Self, String>> {
        let mut options = Self {
            delimiter: b',',
            skip_first_line: false,
            from_line: 0,
            to_line: None,
            as_objects: false,
        };
        if !object.is_object() {
            return Ok(Ok(options));
        }
        let delimiter = object.get(&DELIMITER)?;
        if !delimiter.is_nullish() {
            let text = delimiter.to_string_lossy()?;
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                // k6 counts bytes.
                (Some('"' | '\r' | '\n'), None) => {
                    let reason =
                        "failed to read record; reason: csv: invalid field or comment delimiter";
                    return Ok(Err(reason.to_owned()));
                }
                (Some(one), None) if one.is_ascii() => options.delimiter = one as u8,
                _ => return Ok(Err(uninterpreted("delimiter must be a single character"))),
            }
        }
        let line = |name: &'static Name| -> JsResult<'js, Option<i64>> {
            let value = object.get(name)?;
            if value.is_nullish() { Ok(None) } else { value.to_integer().map(Some) }
        };
        let (from, to) = (line(&FROM_LINE)?, line(&TO_LINE)?);
        options.skip_first_line = object.get(&SKIP_FIRST_LINE)?.truthy();
        options.as_objects = object.get(&AS_OBJECTS)?.truthy();
        Ok(options.with_lines(from, to))
    }

    fn with_lines(mut self, from: Option<i64>, to: Option<i64>) -> Result<Self, String> {
        // As in k6, 0 is no limit.
        let to = to.filter(|to| *to != 0);
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(uninterpreted("fromLine must be less than or equal to toLine"));
        }
        let line = |line: i64, name: &str| {
            u64::try_from(line).map_err(|_| {
                impossible(&format!(
                    "the '{name}' option must be greater than or equal to 0; got {line}"
                ))
            })
        };
        self.from_line = line(from.unwrap_or(0), "fromLine")?;
        self.to_line = to.map(|to| line(to, "toLine")).transpose()?;
        let clash = match (self.skip_first_line, self.from_line > 0) {
            (true, _) => "'skipFirstLine' is true",
            (_, true) => "'fromLine' is set to a value greater than 0",
            _ => return Ok(self),
        };
        if self.as_objects {
            let message = format!("the 'header' option cannot be enabled when {clash}");
            return Err(impossible(&message));
        }
        Ok(self)
    }
}

fn uninterpreted(reason: &str) -> String {
    format!("failed to interpret the provided Parser options; reason: {reason}")
}

/// Options that together make no parser.
pub(super) fn impossible(reason: &str) -> String {
    format!("failed to create a new parser; reason: {reason}")
}
