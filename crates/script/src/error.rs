//! The faults of a script before it runs.

use std::fmt;

use crate::{lines::Lines, picture::picture};

/// The kind of a [`ScriptError`]; the command line chooses its exit code by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The main script is not there. (k6 exits with 255 here, with 107 for all others.)
    EntryMissing,
    /// An imported file is not there.
    Missing,
    /// The path leads to a directory.
    Directory,
    /// The file is there and cannot be read.
    Unreadable,
    /// The file is larger, or its modules are more, than [`MAX_FILE`](crate::MAX_FILE) and
    /// [`MAX_MODULES`](crate::MAX_MODULES) allow.
    TooLarge,
    /// The bytes of the file are not UTF-8.
    NotUtf8,
    /// The file is not JavaScript, or TypeScript.
    Syntax,
    /// A JSON module that is not JSON.
    Json,
    /// An import of a name that the ES module does not export.
    Export,
    /// A remote module that can't be had.
    Remote,
    /// An import of a package name, as in Node.js.
    Bare,
    /// An import by a URL that is neither `file:` nor remote, or that is no URL at all.
    Scheme,
}

/// A script, or something that it imports, cannot be loaded.
///
/// All fields are plain data; [`fmt::Display`] prints message and place on one line, and
/// [`ScriptError::picture`] draws the source line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct ScriptError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The file that is to be mended: for an import that leads nowhere, the importing one.
    pub url: String,
    /// Line in that file, from 1; 0 if the file as a whole is meant.
    pub line: u32,
    /// Column in that line in UTF-16 units, from 1; 0 if the file as a whole is meant.
    pub column: u32,
    /// How many UTF-16 units are wrong, from `column` on; may be 0.
    pub length: u32,
    /// The text of that line as its author wrote it, without its end.
    pub source_line: String,
    /// One sentence without a full stop.
    pub message: String,
    /// The remedy, if we know one.
    pub help: Option<String>,
}

impl ScriptError {
    /// An error that concerns a file as a whole.
    pub(crate) fn whole(kind: ErrorKind, url: &str, message: String) -> Self {
        Self {
            kind,
            url: url.to_owned(),
            line: 0,
            column: 0,
            length: 0,
            source_line: String::new(),
            message,
            help: None,
        }
    }

    /// An error at `length` bytes from byte `offset` on of `source`.
    pub(crate) fn at(
        kind: ErrorKind,
        url: &str,
        source: &str,
        (offset, length): (u32, u32),
        message: String,
    ) -> Self {
        let lines = Lines::of(source);
        let offset = offset.min(source.len() as u32);
        let (line, column) = lines.locate(source, offset);
        let (end_line, end_column) =
            lines.locate(source, offset.saturating_add(length).min(source.len() as u32));
        let source_line = lines.content(source, line).to_owned();
        // A fault that runs over lines is underlined to the end of its first.
        let end = if end_line == line {
            end_column
        } else {
            source_line.encode_utf16().count() as u32 + 1
        };
        Self {
            line,
            column,
            length: end.saturating_sub(column),
            source_line,
            ..Self::whole(kind, url, message)
        }
    }

    pub(crate) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// The code frame: line number, source line and carets, without colours and without a line
    /// end. Empty if the file as a whole is meant.
    ///
    /// ```text
    ///    |
    ///  3 | const b = ;
    ///    |           ^
    /// ```
    pub fn picture(&self) -> String {
        if self.line == 0 {
            return String::new();
        }
        picture(self.line, self.column, self.length, &self.source_line)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = crate::resolve::path_of(&self.url).map(|path| path.display().to_string());
        let is_named = path.is_some_and(|path| self.message.contains(&format!("\"{path}\"")))
            || self.message.contains(&self.url);
        if self.line == 0 && is_named {
            f.write_str(&self.message)
        } else if self.line == 0 {
            write!(f, "{} ({})", self.message, self.url)
        } else {
            write!(f, "{} ({}:{}:{})", self.message, self.url, self.line, self.column)
        }
    }
}

/// A specifier that names nothing Brunt could load. See [`resolve`](crate::resolve).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ResolveError {
    /// [`ErrorKind::Remote`], [`ErrorKind::Bare`] or [`ErrorKind::Scheme`].
    pub kind: ErrorKind,
    /// One sentence without a full stop; names the specifier.
    pub message: String,
    /// The remedy.
    pub help: String,
}
