//! From the words of a curl command to its requests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::flags::{self, Effect};
use super::{Command, Word};
use crate::draft::{Content, Draft, Ledger, Part, Value, basic};
use crate::error::Error;
use crate::multipart;
use crate::session::{Session, Surroundings};

/// The largest file that becomes a part of a body in memory.
const FILE_MAX: u64 = 64 << 20;

/// A part of what `-d` and its kin send.
enum Datum {
    Text(String),
    Bytes(Vec<u8>),
    /// As it is: it stays a file if it is alone.
    File(PathBuf, u64),
}

/// The request that is put together.
#[derive(Default)]
struct Sketch {
    urls: Vec<Word>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Headers that are taken away: `-H 'Accept:'`.
    without: Vec<String>,
    data: Vec<Datum>,
    parts: Vec<Part>,
    queries: Vec<String>,
    upload: Option<(PathBuf, u64)>,
    user: Option<String>,
    is_get: bool,
    is_head: bool,
    is_json: bool,
    is_literal: bool,
    has_other_auth: bool,
}

/// Reads a command.
struct Reader<'a> {
    command: &'a Command,
    session: &'a mut Session,
    ledger: &'a mut Ledger,
    surroundings: &'a Surroundings<'a>,
    sketch: Sketch,
}

/// Adds the requests of a command to the session.
pub(super) fn requests(
    command: &Command,
    session: &mut Session,
    ledger: &mut Ledger,
    surroundings: &Surroundings,
) -> Result<(), Error> {
    let sketch = Sketch::default();
    let mut reader = Reader { command, session, ledger, surroundings, sketch };
    reader.words()
}

fn fault(line: usize, what: impl Into<String>) -> Error {
    Error::Curl { line, what: what.into() }
}

impl Reader<'_> {
    fn words(&mut self) -> Result<(), Error> {
        let words = &self.command.words;
        let first = words.first().map_or(1, |word| word.line);
        let mut at = 1;
        let mut only_urls = false;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.text.as_str();
            if only_urls || !text.starts_with('-') || text == "-" {
                self.sketch.urls.push(word.clone());
            } else if text == "--" {
                only_urls = true;
            } else if let Some(name) = text.strip_prefix("--") {
                let (name, own) = match name.split_once('=') {
                    Some((name, value)) if flags::long(name).is_some() => (name, Some(value)),
                    _ => (name, None),
                };
                let Some(flag) = flags::long(name) else {
                    let name: String = name.chars().take_while(|c| *c != '=').take(40).collect();
                    let what =
                        format!("--{name} is no flag of curl that is known here; take it out");
                    return Err(fault(word.line, what));
                };
                let value = match own {
                    Some(value) if flag.has_value => value.to_owned(),
                    _ if flag.has_value => {
                        let value = words.get(at).ok_or_else(|| {
                            fault(word.line, format!("--{name} has no value; write one behind it"))
                        })?;
                        at += 1;
                        value.text.clone()
                    }
                    _ => String::new(),
                };
                self.flag(flag, &format!("--{name}"), value, word.line)?;
            } else {
                let letters: Vec<char> = text.chars().skip(1).collect();
                let mut index = 0;
                while let Some(&letter) = letters.get(index) {
                    index += 1;
                    let Some(flag) = flags::short(letter) else {
                        let what =
                            format!("-{letter} is no flag of curl that is known here; take it out");
                        return Err(fault(word.line, what));
                    };
                    let mut value = String::new();
                    if flag.has_value {
                        value = letters[index..].iter().collect();
                        index = letters.len();
                        if value.is_empty() {
                            let next = words.get(at).ok_or_else(|| {
                                let what = format!("-{letter} has no value; write one behind it");
                                fault(word.line, what)
                            })?;
                            at += 1;
                            value.clone_from(&next.text);
                        }
                    }
                    self.flag(flag, &format!("-{letter}"), value, word.line)?;
                }
            }
        }
        self.finish(first)
    }

    fn flag(
        &mut self,
        flag: &flags::Flag,
        shown: &str,
        value: String,
        line: usize,
    ) -> Result<(), Error> {
        let sketch = &mut self.sketch;
        match flag.effect {
            Effect::Url => sketch.urls.push(Word { text: value, line }),
            Effect::Method => sketch.method = Some(value),
            Effect::Header => self.header(&value, line)?,
            Effect::Data | Effect::DataBinary => {
                let datum = match value.strip_prefix('@') {
                    None => Datum::Text(value),
                    Some("-") => Datum::Text(self.input(flag.effect == Effect::Data, line)?),
                    Some(path) if flag.effect == Effect::Data => {
                        let mut bytes = self.file(path, shown, line)?;
                        bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
                        Datum::Bytes(bytes)
                    }
                    Some(path) => {
                        let (path, size) = self.named(path, shown, line)?;
                        Datum::File(path, size)
                    }
                };
                self.sketch.data.push(datum);
            }
            Effect::DataRaw => sketch.data.push(Datum::Text(value)),
            Effect::DataUrlencode => {
                let text = self.urlencoded(&value, shown, line)?;
                self.sketch.data.push(Datum::Text(text));
            }
            Effect::UrlQuery => {
                let text = match value.strip_prefix('+') {
                    Some(raw) => raw.to_owned(),
                    None => self.urlencoded(&value, shown, line)?,
                };
                self.sketch.queries.push(text);
            }
            Effect::Json => {
                sketch.is_json = true;
                let datum = match value.strip_prefix('@') {
                    None => Datum::Text(value),
                    Some("-") => Datum::Text(self.input(false, line)?),
                    Some(path) => {
                        let (path, size) = self.named(path, shown, line)?;
                        Datum::File(path, size)
                    }
                };
                self.sketch.data.push(datum);
            }
            Effect::Form => self.form(&value, shown, line)?,
            Effect::FormString => {
                let (name, text) = value.split_once('=').ok_or_else(|| {
                    fault(line, format!("{shown} wants NAME=VALUE"))
                })?;
                let (name, value) = (name.to_owned(), Value::Text(text.to_owned()));
                let headers = Vec::new();
                sketch.parts.push(Part { name, filename: None, kind: None, headers, value });
            }
            Effect::Get => sketch.is_get = true,
            Effect::Head => sketch.is_head = true,
            Effect::User => sketch.user = Some(value),
            Effect::Bearer => {
                sketch.headers.push(("Authorization".to_owned(), format!("Bearer {value}")));
            }
            Effect::Agent => sketch.headers.push(("User-Agent".to_owned(), value)),
            Effect::Cookie if value.contains('=') => {
                sketch.headers.push(("Cookie".to_owned(), value));
            }
            Effect::Cookie if value.is_empty() => {}
            Effect::Cookie => {
                let what = "names a file of cookies, which is not read; the script keeps its own cookies";
                self.ledger.note(format!("line {line}: {shown} {what}"));
            }
            Effect::Referer => {
                let value = value.trim_end_matches(";auto").to_owned();
                if !value.is_empty() {
                    sketch.headers.push(("Referer".to_owned(), value));
                }
            }
            Effect::Upload if value == "-" || value == "." => {
                let text = self.input(false, line)?;
                self.sketch.data.push(Datum::Text(text));
                self.sketch.method.get_or_insert_with(|| "PUT".to_owned());
            }
            Effect::Upload => {
                let named = self.named(&value, shown, line)?;
                self.sketch.upload = Some(named);
            }
            Effect::Range => {
                sketch.headers.push(("Range".to_owned(), format!("bytes={value}")));
            }
            Effect::Next => {
                self.finish(line)?;
            }
            Effect::Compressed => {
                let value = "gzip, deflate, br, zstd".to_owned();
                sketch.headers.push(("Accept-Encoding".to_owned(), value));
            }
            Effect::GlobOff => sketch.is_literal = true,
            Effect::OtherAuth => {
                sketch.has_other_auth = true;
                self.ledger.note(format!(
                    "line {line}: {shown} is not in the script: add auth: 'digest' or 'ntlm' to the request's parameters, and the user to its URL"
                ));
            }
            Effect::Insecure => self.ledger.note(
                "-k is an option of the script: insecureSkipTLSVerify: true, if certificates are to go unchecked",
            ),
            Effect::Noted(what) => self.ledger.note(format!("line {line}: {shown} {what}")),
            Effect::Nothing => {}
            Effect::Refused(what) => return Err(fault(line, format!("{shown} {what}"))),
        }
        Ok(())
    }

    fn header(&mut self, value: &str, line: usize) -> Result<(), Error> {
        if let Some(path) = value.strip_prefix('@') {
            let text = String::from_utf8_lossy(&self.file(path, "-H", line)?).into_owned();
            for line_of_file in text.lines().filter(|line| !line.trim().is_empty()) {
                if !line_of_file.starts_with('@') {
                    self.header(&crate::template::plain(line_of_file), line)?;
                }
            }
            return Ok(());
        }
        if let Some((name, value)) = value.split_once(':') {
            let (name, value) = (name.trim(), value.trim());
            // HTTP/2's own, in commands of browsers: they say the URL again.
            if name.is_empty() {
                return Ok(());
            }
            if value.is_empty() {
                self.sketch.without.push(name.to_owned());
            } else {
                self.sketch.headers.push((name.to_owned(), value.to_owned()));
            }
        } else if let Some(name) = value.strip_suffix(';') {
            self.sketch.headers.push((name.trim().to_owned(), String::new()));
        } else {
            return Err(fault(line, "a header has no colon; write -H 'Name: value'"));
        }
        Ok(())
    }

    /// The text that the shell gives to the command.
    fn input(&self, is_stripped: bool, line: usize) -> Result<String, Error> {
        let Some(input) = &self.command.input else {
            let what = "the body comes from standard input, which is not in the text; name a file or use <<EOF";
            return Err(fault(line, what));
        };
        Ok(if is_stripped { input.replace(['\r', '\n'], "") } else { input.clone() })
    }

    fn named(&self, path: &str, shown: &str, line: usize) -> Result<(PathBuf, u64), Error> {
        let path = self.ledger.table.resolve(path);
        let whole = self.surroundings.folder.join(Path::new(&path));
        match std::fs::metadata(&whole) {
            Ok(metadata) if metadata.is_file() => Ok((whole, metadata.len())),
            Ok(_) => Err(fault(line, format!("{shown}: {path:?} is not a regular file; name one"))),
            Err(error) => {
                let what = format!(
                    "{shown}: the file {path:?} can't be read ({error}); put it there or correct the path"
                );
                Err(fault(line, what))
            }
        }
    }

    fn file(&self, path: &str, shown: &str, line: usize) -> Result<Vec<u8>, Error> {
        let (whole, size) = self.named(path, shown, line)?;
        if size > FILE_MAX {
            let what = format!(
                "{shown}: the file {path:?} is larger than 64 MiB; use --data-binary @FILE alone or a smaller one"
            );
            return Err(fault(line, what));
        }
        std::fs::read(whole).map_err(|error| {
            fault(line, format!("{shown}: the file {path:?} can't be read: {error}"))
        })
    }

    /// `content`, `=content`, `name=content`, `@file`, `name@file`.
    fn urlencoded(&self, value: &str, shown: &str, line: usize) -> Result<String, Error> {
        let (name, content) = match value.find(['=', '@']) {
            Some(at) if value[at..].starts_with('=') => (&value[..at], value[at + 1..].to_owned()),
            Some(at) => {
                let bytes = self.file(&value[at + 1..], shown, line)?;
                (&value[..at], crate::template::plain(&String::from_utf8_lossy(&bytes)))
            }
            None => ("", value.to_owned()),
        };
        let mut out = String::new();
        if !name.is_empty() {
            out = format!("{name}=");
        }
        // Inputs that are encoded are no longer what the data file has.
        let special = |c: char| !c.is_ascii_alphanumeric() && !"-._~".contains(c);
        let content = self.ledger.table.spell_out_if(&content, special);
        for c in content.chars() {
            if c.is_ascii_alphanumeric() || "-._~".contains(c) || self.ledger.table.of(c).is_some()
            {
                out.push(c);
            } else {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
        Ok(out)
    }

    fn form(&mut self, value: &str, shown: &str, line: usize) -> Result<(), Error> {
        let (name, rest) = value.split_once('=').ok_or_else(|| {
            fault(line, format!("{shown} wants NAME=VALUE, NAME=@FILE or NAME=<FILE"))
        })?;
        let (content, options) = split_form(rest);
        let mut part = Part {
            name: name.to_owned(),
            filename: None,
            kind: None,
            headers: Vec::new(),
            value: Value::Text(content.clone()),
        };
        for (key, value) in options {
            match key.as_str() {
                "type" => part.kind = Some(value),
                "filename" => part.filename = Some(value),
                "headers" => part.headers.push(value),
                _ => self.ledger.note(format!("line {line}: {shown}: ;{key}= has no effect")),
            }
        }
        if let Some(path) = content.strip_prefix('@') {
            let bytes = self.file(path, shown, line)?;
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            part.filename.get_or_insert_with(|| name.to_owned());
            part.kind.get_or_insert_with(|| multipart::kind_of(name).to_owned());
            part.value = Value::Bytes(bytes);
        } else if let Some(path) = content.strip_prefix('<') {
            let bytes = self.file(path, shown, line)?;
            part.value = match String::from_utf8(bytes) {
                Ok(text) => Value::Text(crate::template::plain(&text)),
                Err(error) => Value::Bytes(error.into_bytes()),
            };
        }
        self.sketch.parts.push(part);
        Ok(())
    }

    /// Ends a request: the command's end, or `--next`.
    fn finish(&mut self, line: usize) -> Result<(), Error> {
        let sketch = std::mem::take(&mut self.sketch);
        if sketch.urls.is_empty() {
            return Err(fault(line, "the command has no URL; write one"));
        }
        let mut draft = Draft { headers: sketch.headers.clone(), ..Draft::default() };
        let mut method = "GET";
        let mut query = sketch.queries.clone();
        if let Some((path, size)) = sketch.upload.clone() {
            (method, draft.body) = ("PUT", Content::File { path, size });
        } else if !sketch.parts.is_empty() {
            (method, draft.body) = ("POST", Content::Parts(sketch.parts.clone()));
        } else if !sketch.data.is_empty() {
            let content = self.content(&sketch, line)?;
            match content {
                Content::Text(text) if sketch.is_get || sketch.is_head => query.push(text),
                content => {
                    (method, draft.body) = ("POST", content);
                    if sketch.is_json {
                        draft.default_header("Content-Type", "application/json");
                        draft.default_header("Accept", "application/json");
                    }
                    draft.default_header("Content-Type", "application/x-www-form-urlencoded");
                }
            }
        }
        if sketch.is_head {
            method = "HEAD";
        }
        draft.method = sketch.method.clone().unwrap_or_else(|| method.to_owned());
        if let Some(user) = sketch.user.as_ref().filter(|_| !sketch.has_other_auth) {
            self.user(user, &mut draft, line);
        }
        draft.headers.retain(|(name, _)| {
            !sketch.without.iter().any(|without| without.eq_ignore_ascii_case(name))
        });
        for url in &sketch.urls {
            let mut draft = draft.clone();
            draft.url = self.url(url, &sketch)?;
            if !query.is_empty() {
                let query = query.join("&");
                let (before, fragment) = draft.url.split_once('#').unwrap_or((&draft.url, ""));
                let with = if before.contains('?') { '&' } else { '?' };
                draft.url = format!("{before}{with}{query}#{fragment}");
            }
            self.session.push(&draft, self.ledger, None).map_err(|what| fault(url.line, what))?;
        }
        Ok(())
    }

    fn user(&mut self, user: &str, draft: &mut Draft, line: usize) {
        if draft.header("authorization").is_some() {
            return;
        }
        if !user.contains(':') {
            self.ledger.note(format!(
                "line {line}: -u has no password: write it into the file of secrets as base64 of user:password"
            ));
        }
        let user = self.ledger.table.resolve(user);
        let (name, password) = user.split_once(':').unwrap_or((&user, ""));
        draft.headers.push(("Authorization".to_owned(), basic(name, password)));
        self.ledger.note("the secret basicCredentials is user:password in base64");
    }

    fn content(&self, sketch: &Sketch, line: usize) -> Result<Content, Error> {
        if let [Datum::File(path, size)] = sketch.data.as_slice()
            && !sketch.is_get
        {
            return Ok(Content::File { path: path.clone(), size: *size });
        }
        let mut text = String::new();
        let mut bytes = Vec::new();
        let mut is_text = true;
        for (index, datum) in sketch.data.iter().enumerate() {
            let read;
            let datum = match datum {
                Datum::File(path, _) => {
                    read = self.file(&path.display().to_string(), "--data-binary", line)?;
                    Ok(read.as_slice())
                }
                Datum::Bytes(bytes) => Ok(bytes.as_slice()),
                Datum::Text(text) => Err(text.as_str()),
            };
            let joint = if index == 0 || sketch.is_json { "" } else { "&" };
            text.push_str(joint);
            bytes.extend_from_slice(joint.as_bytes());
            match datum {
                Ok(own) => {
                    bytes.extend_from_slice(own);
                    match std::str::from_utf8(own) {
                        Ok(own) => text.push_str(&crate::template::plain(own)),
                        Err(_) => is_text = false,
                    }
                }
                Err(own) => {
                    bytes.extend_from_slice(self.ledger.table.resolve(own).as_bytes());
                    text.push_str(own);
                }
            }
        }
        Ok(if is_text { Content::Text(text) } else { Content::Bytes(bytes) })
    }

    fn url(&self, url: &Word, sketch: &Sketch) -> Result<String, Error> {
        let text = &url.text;
        let shown = self.ledger.table.resolve(text);
        if !sketch.is_literal && is_pattern(&shown) {
            let what = "the URL is a pattern ({a,b} or [1-9]), which is not expanded; write each URL, or -g if it is meant as it is";
            return Err(fault(url.line, what));
        }
        let end = text.find(['/', '?', '#']).unwrap_or(text.len());
        let is_host = |c: char| {
            self.ledger.table.of(c).is_some_and(|(_, variable)| variable.name == variable.value)
        };
        let authority = text.split_once("://").map_or(&text[..end], |(_, rest)| {
            rest.split(['/', '?', '#']).next().unwrap_or_default()
        });
        if let Some(variable) = authority.chars().find(|c| is_host(*c)) {
            let name = self.ledger.table.of(variable).map_or("", |(_, variable)| &variable.name);
            let what = format!(
                "the host is in the variable {name}, which has no value; set it before converting: export {name}=…"
            );
            return Err(fault(url.line, what));
        }
        Ok(if shown.contains("://") { text.clone() } else { format!("http://{text}") })
    }
}

/// The content of `-F` and its options behind `;`. Content between double quotes may have semicolons.
fn split_form(text: &str) -> (String, Vec<(String, String)>) {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars().peekable();
    let (mut is_quoted, mut is_begin) = (false, true);
    while let Some(c) = chars.next() {
        let piece = pieces.last_mut().expect("one is there");
        match c {
            '"' if is_quoted || is_begin => {
                is_quoted = !is_quoted;
                is_begin = false;
            }
            '\\' if is_quoted && matches!(chars.peek(), Some('"' | '\\')) => {
                piece.extend(chars.next());
            }
            ';' if !is_quoted => {
                // Only what is an option ends the content.
                let rest: String = chars.clone().take(20).collect();
                let rest = rest.trim_start();
                let is_option = ["type=", "filename=", "headers=", "encoder="]
                    .iter()
                    .any(|option| rest.starts_with(option));
                if is_option {
                    pieces.push(String::new());
                } else {
                    piece.push(c);
                }
                is_begin = is_option;
            }
            '@' | '<' | '=' | ' ' => {
                piece.push(c);
                is_begin |= piece.len() == 1 || c == '=';
            }
            c => {
                piece.push(c);
                is_begin = false;
            }
        }
    }
    let mut pieces = pieces.into_iter();
    let content = pieces.next().unwrap_or_default();
    let options = pieces.filter_map(|piece| {
        let (key, value) = piece.trim().split_once('=')?;
        Some((key.to_owned(), value.to_owned()))
    });
    (content, options.collect())
}

/// Whether curl would make several URLs of it.
fn is_pattern(url: &str) -> bool {
    let braces = url.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let is_list = braces.is_some_and(|(inside, _)| inside.contains(','));
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = authority.split_once('/').map_or("", |(_, path)| path);
    let brackets = path.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let is_range = brackets.is_some_and(|(inside, _)| {
        let ends = inside.split_once('-').filter(|(from, to)| !from.is_empty() && !to.is_empty());
        ends.is_some_and(|(from, to)| {
            from.chars().chain(to.chars()).all(|c| c.is_ascii_alphanumeric() || c == ':')
        })
    });
    is_list || is_range
}
