//! The text for the tokenizer. After each page of it, somebody is asked whether to go on.

use html5gum::{Readable as _, Reader, StringReader};

use super::ParseError;

/// The bytes between two questions: the parser takes a part of a millisecond for them.
const PAGE: usize = 64 << 10;

/// A text, and who is asked.
pub(super) struct Pages<'a, F> {
    text: StringReader<'a>,
    /// The bytes until the next question.
    left: usize,
    goes_on: F,
}

impl<'a, F: FnMut() -> bool> Pages<'a, F> {
    pub(super) fn new(text: &'a str, goes_on: F) -> Self {
        Self { text: text.to_reader(), left: PAGE, goes_on }
    }

    #[cold]
    fn turn(&mut self) -> Result<(), ParseError> {
        self.left = PAGE;
        if (self.goes_on)() { Ok(()) } else { Err(ParseError::Stopped) }
    }
}

/// The text in it never fails.
fn never<T>(read: Result<T, std::convert::Infallible>) -> T {
    let Ok(read) = read;
    read
}

#[allow(clippy::inline_always, reason = "each byte goes through them")]
impl<F: FnMut() -> bool> Reader for Pages<'_, F> {
    type Error = ParseError;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, ParseError> {
        if self.left == 0 {
            self.turn()?;
        }
        self.left -= 1;
        Ok(never(self.text.read_byte()))
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, ParseError> {
        // A few bytes, which need not count.
        Ok(never(self.text.try_read_string(text, case_sensitive)))
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, ParseError> {
        if self.left == 0 {
            self.turn()?;
        }
        let read = never(self.text.read_until(needle, buffer));
        self.left = self.left.saturating_sub(read.map_or(0, <[u8]>::len));
        Ok(read)
    }
}
