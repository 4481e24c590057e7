//! Targets from a source, one by one.

use std::io::BufRead;
use std::str::FromStr;

use super::lines::Lines;
use super::{Defaults, Target, TargetError, http, json};

/// How targets are written.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Request lines with headers.
    #[default]
    Http,
    /// One object a line.
    Json,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "http" => Ok(Self::Http),
            "json" => Ok(Self::Json),
            other => Err(format!("format {other:?} isn't one of [http, json]")),
        }
    }
}

/// Reads targets one by one; memory holds one at a time. After an error there are no more.
pub struct TargetReader<R> {
    lines: Lines<R>,
    format: Format,
    defaults: Defaults,
    is_over: bool,
}

impl<R: BufRead> TargetReader<R> {
    /// Reads `source`, whose targets get what `defaults` say.
    pub fn new(source: R, format: Format, defaults: Defaults) -> Self {
        Self { lines: Lines::new(source), format, defaults, is_over: false }
    }

    /// All targets; memory holds them all.
    ///
    /// # Errors
    /// The first; [`TargetError::None`] if there is no target.
    pub fn all(self) -> Result<Vec<Target>, TargetError> {
        let targets = self.collect::<Result<Vec<_>, _>>()?;
        if targets.is_empty() { Err(TargetError::None) } else { Ok(targets) }
    }
}

impl<R: BufRead> Iterator for TargetReader<R> {
    type Item = Result<Target, TargetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = match self.format {
            Format::Http => http::next(&mut self.lines, &self.defaults),
            Format::Json => json::next(&mut self.lines, &self.defaults),
        };
        self.is_over = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl<R> std::fmt::Debug for TargetReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TargetReader").field("format", &self.format).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], format: Format) -> (usize, Option<TargetError>) {
        let mut reader = TargetReader::new(bytes, format, Defaults::default());
        let count = reader.by_ref().take_while(Result::is_ok).count();
        assert!(reader.next().is_none(), "after an error there are no more");
        (count, reader.all().err())
    }

    #[test]
    fn bytes_that_are_no_text_are_told_with_their_line() {
        let mut reader =
            TargetReader::new(&b"GET http://a\n\n\xff\xfe"[..], Format::Http, Defaults::default());
        assert!(reader.next().expect("one target").is_ok());
        let error = reader.next().expect("an error").expect_err("no text");
        assert_eq!(error.to_string(), "line 3 is not UTF-8");
    }

    proptest! {
        #[test]
        fn any_bytes_are_targets_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes, Format::Http);
            read(&bytes, Format::Json);
        }

        #[test]
        fn any_lines_are_targets_or_an_error(
            lines in prop::collection::vec(
                "(GET|get|POST) (http://)?[a-z:@/%\\[\\]?# ]{0,12}|[A-Za-z-]{0,4}: ?[ -~]{0,6}|#.{0,3}|@/[a-z]{0,3}|\\{\"(method|url|body|header)\":.{0,9}|",
                0..8,
            )
        ) {
            let text = lines.join("\n");
            read(text.as_bytes(), Format::Http);
            read(text.as_bytes(), Format::Json);
        }
    }
}
