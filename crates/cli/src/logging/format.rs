//! The four looks of a log line. Log collectors parse them, so they are k6's to the letter.

use std::{
    fmt::Write as _,
    time::{Duration, Instant, SystemTime},
};

use log::Level;

use super::entry::Entry;

/// `--log-format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// logfmt in files and pipes, coloured columns on a terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// The message alone.
    Raw,
    /// vegeta's: `2026/11/22 16:09:12 message`, in local time.
    Dated,
}

impl Format {
    /// k6 takes every word that it doesn't know for `text`; we do too.
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "json" => Self::Json,
            "raw" => Self::Raw,
            _ => Self::Text,
        }
    }

    /// The format that an unknown word was perhaps meant to name.
    pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
        brunt_spelling::nearest(word, ["text", "json", "raw"])
    }
}

/// On a terminal the message is padded to this width, so that fields stand below each other.
const MESSAGE_WIDTH: usize = 44;

/// Turns entries into text for one destination.
pub(super) struct Formatter {
    format: Format,
    /// The destination is a terminal that may be coloured.
    colored: bool,
    started: Instant,
    zone: jiff::tz::TimeZone,
}

impl Formatter {
    pub(super) fn new(format: Format, colored: bool) -> Self {
        Self { format, colored, started: Instant::now(), zone: jiff::tz::TimeZone::system() }
    }

    /// Appends the line with its end to `out`. `hide_source` leaves the field `source` out.
    pub(super) fn write(&self, entry: &Entry, hide_source: bool, out: &mut String) {
        match (self.format, self.colored) {
            (Format::Text, false) => self.logfmt(entry, hide_source, out),
            (Format::Text, true) => self.colored(entry, hide_source, out),
            (Format::Json, _) => self.json(entry, hide_source, out),
            (Format::Raw, _) => {
                out.push_str(&with_more(entry));
            }
            (Format::Dated, _) => self.dated(entry, out),
        }
        out.push('\n');
    }

    /// `time="…" level=info msg="…" key=value`
    fn logfmt(&self, entry: &Entry, hide_source: bool, out: &mut String) {
        let level = level_name(entry.level);
        // Writing to a String can't fail.
        let _ = write!(out, "time=\"{}\" level={level}", rfc3339(entry.at, &self.zone));
        if !entry.message.is_empty() {
            out.push_str(" msg=");
            push_quoted(&entry.message, out);
        }
        for (name, value) in &entry.fields {
            if hide_source && name == "source" {
                continue;
            }
            let _ = write!(out, " {name}=");
            push_quoted(&value.text(), out);
        }
    }

    fn dated(&self, entry: &Entry, out: &mut String) {
        let moment = jiff::Timestamp::try_from(entry.at).unwrap_or_default();
        let moment = moment.to_zoned(self.zone.clone());
        // Writing to a String can't fail.
        let _ = write!(out, "{} {}", moment.strftime("%Y/%m/%d %H:%M:%S"), entry.message);
        for (name, value) in &entry.fields {
            let _ = write!(out, " {name}=");
            push_quoted(&value.text(), out);
        }
    }

    /// `INFO[0003] message    key=value`, with the blanks at the end that k6 leaves there.
    fn colored(&self, entry: &Entry, hide_source: bool, out: &mut String) {
        let (word, color) = match entry.level {
            Level::Error => ("ERRO", 31),
            Level::Warn => ("WARN", 33),
            Level::Info => ("INFO", 36),
            Level::Debug => ("DEBU", 37),
            Level::Trace => ("TRAC", 37),
        };
        let seconds = self.started.elapsed().as_secs();
        let message = entry.message.trim_end_matches('\n');
        let _ = write!(out, "\x1b[{color}m{word}\x1b[0m[{seconds:04}] {message:<MESSAGE_WIDTH$} ");
        for (name, value) in &entry.fields {
            if hide_source && name == "source" {
                continue;
            }
            let _ = write!(out, " \x1b[{color}m{name}\x1b[0m=");
            push_quoted(&value.text(), out);
        }
    }

    /// Keys in alphabetical order; `<`, `>` and `&` escaped, as Go's encoder does.
    fn json(&self, entry: &Entry, hide_source: bool, out: &mut String) {
        let mut object = std::collections::BTreeMap::new();
        for (name, value) in &entry.fields {
            if !(hide_source && name == "source") {
                object.insert(name.as_str(), value.json());
            }
        }
        object.insert("level", level_name(entry.level).into());
        object.insert("msg", entry.message.as_str().into());
        object.insert("time", rfc3339(entry.at, &self.zone).into());
        let text = serde_json::to_string(&object).expect("strings and numbers are always JSON");
        for c in text.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(out, "\\u{:04x}", c as u32);
                }
                c => out.push(c),
            }
        }
    }
}

pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warn => "warning",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    }
}

/// The message, and how often it was said: where there are no fields.
pub(super) fn with_more(entry: &Entry) -> String {
    match entry.more {
        0 => entry.message.clone(),
        more => format!("{} ({more} times more)", entry.message.trim_end()),
    }
}

/// Local time to the second: `2026-11-21T19:06:05+01:00`, `…Z` in UTC.
fn rfc3339(at: SystemTime, zone: &jiff::tz::TimeZone) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    brunt_moment::to_second(seconds, zone).unwrap_or_default()
}

/// A value bare if it consists of `A-Za-z0-9-._/@^+` only, else in quotes with Go's escapes.
fn push_quoted(text: &str, out: &mut String) {
    let bare = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'/' | b'@' | b'^' | b'+')
    };
    if text.bytes().all(bare) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0b' => out.push_str("\\v"),
            '\x0c' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c == '\x7f' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
        }
    }
    out.push('"');
}

/// Whether Go prints it as it is. The standard library keeps the table of printable characters but
/// only shows it through `escape_debug`; the leading `a` keeps it from escaping combining marks.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let mut pair = [b'a', 0, 0, 0, 0];
    let size = c.encode_utf8(&mut pair[1..]).len();
    let text = std::str::from_utf8(&pair[..=size]).expect("a char after an `a` is UTF-8");
    !c.is_whitespace() && text.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::{super::entry::Field, *};

    fn entry(level: Level, message: &str, fields: &[(&str, &str)]) -> Entry {
        Entry {
            at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_287_965),
            level,
            of_init: false,
            more: 0,
            message: message.to_owned(),
            fields: fields
                .iter()
                .map(|&(name, value)| (name.to_owned(), Field::Text(value.to_owned())))
                .collect(),
        }
    }

    fn written(format: Format, colored: bool, entry: &Entry) -> String {
        let mut formatter = Formatter::new(format, colored);
        formatter.zone = jiff::tz::TimeZone::UTC;
        let mut out = String::new();
        formatter.write(entry, false, &mut out);
        out
    }

    #[test]
    fn logfmt_quotes_only_what_needs_it() {
        let line = |message| {
            let out = written(Format::Text, false, &entry(Level::Info, message, &[]));
            out.trim_end()
                .strip_prefix("time=\"2026-11-21T19:06:05Z\" level=info")
                .unwrap()
                .to_owned()
        };
        // Each observed with k6 1.8.1.
        assert_eq!(line("plain"), " msg=plain");
        assert_eq!(line("two words"), " msg=\"two words\"");
        assert_eq!(line("a=b"), " msg=\"a=b\"");
        assert_eq!(line(""), "");
        assert_eq!(line("q\"uote"), " msg=\"q\\\"uote\"");
        assert_eq!(line("new\nline\ttab"), " msg=\"new\\nline\\ttab\"");
        assert_eq!(line("é ü <b>&"), " msg=\"é ü <b>&\"");
        assert_eq!(line("\u{1}\u{2028}"), " msg=\"\\x01\\u2028\"");
        assert_eq!(line("/a.b-c_d@e^f+9"), " msg=/a.b-c_d@e^f+9");
        assert_eq!(line("e\u{301} "), " msg=\"e\u{301} \"");
    }

    #[test]
    fn fields_follow_the_message() {
        let warning = entry(Level::Warn, "w", &[("executor", "constant-vus"), ("scenario", "a b")]);
        assert_eq!(
            written(Format::Text, false, &warning),
            "time=\"2026-11-21T19:06:05Z\" level=warning msg=w executor=constant-vus \
             scenario=\"a b\"\n"
        );
    }

    #[test]
    fn json_is_sorted_and_escapes_html() {
        let error = entry(Level::Error, "<b>&\u{2028}", &[("executor", "x"), ("zone", "\"")]);
        assert_eq!(
            written(Format::Json, false, &error),
            "{\"executor\":\"x\",\"level\":\"error\",\"msg\":\"\\u003cb\\u003e\\u0026\\u2028\",\
             \"time\":\"2026-11-21T19:06:05Z\",\"zone\":\"\\\"\"}\n"
        );
    }

    #[test]
    fn a_terminal_line_is_padded_and_coloured() {
        let info = entry(Level::Info, "hi there\n", &[("source", "console")]);
        let line = written(Format::Text, true, &info);
        let expected = format!(
            "\x1b[36mINFO\x1b[0m[0000] {:<44}  \x1b[36msource\x1b[0m=console\n",
            "hi there"
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn dated_lines_are_those_of_vegeta() {
        let error = entry(Level::Error, "open x: no such file", &[]);
        for colored in [false, true] {
            let line = written(Format::Dated, colored, &error);
            assert_eq!(line, "2026/11/21 19:06:05 open x: no such file\n");
        }
    }

    #[test]
    fn raw_is_the_message() {
        let info = entry(Level::Info, "hi \"x\"", &[("source", "console")]);
        assert_eq!(written(Format::Raw, true, &info), "hi \"x\"\n");
    }
}
