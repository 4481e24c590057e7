//! Words of commands, quoted as bash has it.

use std::collections::HashMap;

use super::{Command, Word};
use crate::draft::Ledger;
use crate::error::Error;
use crate::name;
use crate::session::Surroundings;
use crate::template::{Kind, Variable};

/// Reads a text of commands.
struct Lexer<'a> {
    chars: Vec<char>,
    at: usize,
    line: usize,
    ledger: &'a mut Ledger,
    surroundings: &'a Surroundings<'a>,
    /// Variables that the text itself sets.
    set: HashMap<String, String>,
    commands: Vec<Command>,
    command: Command,
    /// The word that is read, if one has begun.
    word: Option<Word>,
    /// Behind a pipe: words belong to other programs.
    is_piped: bool,
    /// The next word is a file of a redirection.
    is_redirected: bool,
    /// Ends of texts that begin behind this line, and whether their variables are replaced, and their tabs taken.
    heredocs: Vec<(String, bool, bool)>,
}

/// All commands of a text.
pub(super) fn commands(
    text: &str,
    ledger: &mut Ledger,
    surroundings: &Surroundings,
) -> Result<Vec<Command>, Error> {
    let mut lexer = Lexer {
        chars: text.replace("\r\n", "\n").chars().collect(),
        at: 0,
        line: 1,
        ledger,
        surroundings,
        set: HashMap::new(),
        commands: Vec::new(),
        command: Command::default(),
        word: None,
        is_piped: false,
        is_redirected: false,
        heredocs: Vec::new(),
    };
    lexer.run()?;
    Ok(lexer.commands)
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied()?;
        self.at += 1;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn fault(line: usize, what: impl Into<String>) -> Error {
        Error::Curl { line, what: what.into() }
    }

    fn push(&mut self, text: &str) {
        let line = self.line;
        self.word.get_or_insert_with(|| Word { text: String::new(), line }).text.push_str(text);
    }

    fn run(&mut self) -> Result<(), Error> {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '\n' => {
                    self.end_command();
                    self.read_heredocs()?;
                }
                '&' if self.peek() == Some('>') => {
                    self.end_word();
                    self.redirection('>');
                }
                ';' | '&' => self.end_command(),
                '|' => {
                    self.end_word();
                    if self.peek() == Some('|') {
                        self.end_command();
                    } else {
                        self.is_piped = true;
                    }
                }
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '>' | '<' => {
                    // `2>file`: the number belongs to it.
                    let is_number = |word: &Word| matches!(word.text.as_str(), "1" | "2");
                    if self.word.as_ref().is_some_and(is_number) {
                        self.word = None;
                    }
                    self.end_word();
                    self.redirection(c);
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar(true)?,
                '`' => return Err(self.substitution()),
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
        self.end_command();
        Ok(())
    }

    fn substitution(&self) -> Error {
        Self::fault(self.line, "$(…) is not run; write its output in its place")
    }

    fn redirection(&mut self, c: char) {
        let is_here = c == '<' && self.peek() == Some('<');
        while self.peek().is_some_and(|c| matches!(c, '>' | '<' | '&')) {
            self.at += 1;
        }
        if !is_here {
            self.is_redirected = true;
            return;
        }
        let is_tabbed = self.peek() == Some('-');
        self.at += usize::from(is_tabbed);
        while self.peek() == Some(' ') {
            self.at += 1;
        }
        let (mut end, mut is_plain) = (String::new(), false);
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !";|&<>".contains(*c)) {
            self.at += 1;
            if matches!(c, '\'' | '"' | '\\') {
                is_plain = true;
            } else {
                end.push(c);
            }
        }
        self.heredocs.push((end, !is_plain, is_tabbed));
    }

    fn read_heredocs(&mut self) -> Result<(), Error> {
        for (end, has_variables, is_tabbed) in std::mem::take(&mut self.heredocs) {
            let begun = self.line;
            let mut text = String::new();
            loop {
                if self.at >= self.chars.len() {
                    let what =
                        format!("the text of <<{end} has no end; put {end} on a line of its own");
                    return Err(Self::fault(begun, what));
                }
                let mut line = String::new();
                while let Some(c) = self.next().filter(|c| *c != '\n') {
                    line.push(c);
                }
                let line = if is_tabbed { line.trim_start_matches('\t') } else { &line };
                if line == end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if has_variables {
                text = self.expand(&text)?;
            }
            if let Some(command) = self.commands.last_mut() {
                command.input = Some(text);
            }
        }
        Ok(())
    }

    /// A text with its variables replaced, as between double quotes.
    fn expand(&mut self, text: &str) -> Result<String, Error> {
        let (chars, at, line) = (std::mem::take(&mut self.chars), self.at, self.line);
        let word = self.word.take();
        (self.chars, self.at) = (text.chars().collect(), 0);
        let mut outcome = Ok(());
        while let Some(c) = self.next() {
            match c {
                '$' => outcome = outcome.and(self.dollar(false)),
                '\\' if self.peek().is_some_and(|c| "$`\\".contains(c)) => {
                    let c = self.next().unwrap_or_default();
                    self.push(c.encode_utf8(&mut [0; 4]));
                }
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
        let text = self.word.take().map(|word| word.text).unwrap_or_default();
        (self.chars, self.at, self.line, self.word) = (chars, at, line, word);
        outcome.map(|()| text)
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_redirected) || self.is_piped {
            return;
        }
        if self.command.words.is_empty() {
            // A prompt, a keyword, an assignment.
            if matches!(word.text.as_str(), "$" | "%" | ">" | "export" | "time" | "sudo") {
                return;
            }
            if let Some((name, value)) = word.text.split_once('=') {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if !name.is_empty() && name.chars().all(is_name) {
                    self.set.insert(name.to_owned(), value.to_owned());
                    return;
                }
            }
        }
        self.command.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        (self.is_piped, self.is_redirected) = (false, false);
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    fn single(&mut self) -> Result<(), Error> {
        let begun = self.line;
        self.push("");
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
                None => return Err(Self::fault(begun, "a ' has no end; quotes come in pairs")),
            }
        }
    }

    fn double(&mut self) -> Result<(), Error> {
        let begun = self.line;
        self.push("");
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('`') => return Err(self.substitution()),
                Some('$') => self.dollar(false)?,
                Some('\\') => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c.encode_utf8(&mut [0; 4])),
                    Some(c) => {
                        self.push("\\");
                        self.push(c.encode_utf8(&mut [0; 4]));
                    }
                },
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
                None => return Err(Self::fault(begun, "a \" has no end; quotes come in pairs")),
            }
        }
    }

    /// Behind a `$`; a string in the manner of C if `is_free` of quotes.
    fn dollar(&mut self, is_free: bool) -> Result<(), Error> {
        match self.peek() {
            Some('\'') if is_free => {
                self.at += 1;
                self.ansi()
            }
            Some('"') if is_free => {
                self.at += 1;
                self.double()
            }
            Some('(') => Err(self.substitution()),
            Some('{') => {
                let begun = self.line;
                self.at += 1;
                let mut inside = String::new();
                loop {
                    match self.next() {
                        Some('}') => break,
                        Some(c) if inside.len() < 10_000 => inside.push(c),
                        _ => return Err(Self::fault(begun, "a ${ has no end; add the }")),
                    }
                }
                let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
                let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
                if name.is_empty() || (!rest.is_empty() && default.is_none()) {
                    let what =
                        format!("${{{inside}}} is not read; ${{NAME}} and ${{NAME:-value}} are");
                    return Err(Self::fault(begun, what));
                }
                self.variable(name, default);
                Ok(())
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.at += 1;
                }
                self.variable(&name, None);
                Ok(())
            }
            _ => {
                self.push("$");
                Ok(())
            }
        }
    }

    fn variable(&mut self, name: &str, default: Option<&str>) {
        let own = self.set.get(name).cloned();
        // A value that the text makes of other variables has theirs.
        if let Some(own) = own.as_ref().filter(|own| self.ledger.table.is_in(own)) {
            self.push(&own.clone());
            return;
        }
        let value = own
            .or_else(|| {
                (self.surroundings.variable)(name).map(|value| crate::template::plain(&value))
            })
            .or_else(|| default.map(str::to_owned));
        let is_secret = name::is_secret_outside(name);
        let value = value.filter(|value| !value.is_empty()).unwrap_or_else(|| {
            let place = if is_secret { "file of secrets" } else { "data file" };
            self.ledger.note(format!(
                "the variable {name} has no value here: set it before converting, or write it into the {place}"
            ));
            name.to_owned()
        });
        let kind = if is_secret { Kind::Secret } else { Kind::Input };
        let mark = self.ledger.table.add(Variable { name: name.to_owned(), value, kind });
        self.push(&mark);
    }

    /// `$'…'`: escapes of C.
    fn ansi(&mut self) -> Result<(), Error> {
        let begun = self.line;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let c = match self.next() {
                Some('\'') => break,
                Some('\\') => self.next(),
                Some(c) => {
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                None => return Err(Self::fault(begun, "a $' has no end; quotes come in pairs")),
            };
            match c {
                Some('n') => bytes.push(b'\n'),
                Some('t') => bytes.push(b'\t'),
                Some('r') => bytes.push(b'\r'),
                Some('a') => bytes.push(7),
                Some('b') => bytes.push(8),
                Some('e' | 'E') => bytes.push(27),
                Some('f') => bytes.push(12),
                Some('v') => bytes.push(11),
                Some(c @ ('\\' | '\'' | '"' | '?')) => bytes.push(c as u8),
                Some('x') => bytes.push(self.number(16, 2).unwrap_or_default() as u8),
                Some(kind @ ('u' | 'U')) => {
                    let mut code =
                        self.number(16, if kind == 'u' { 4 } else { 8 }).unwrap_or_default();
                    // Chrome writes code units of UTF-16: two of them may be one character.
                    if (0xD800..0xDC00).contains(&code) && self.is_unit() {
                        self.at += 2;
                        let low = self.number(16, 4).unwrap_or_default();
                        if (0xDC00..0xE000).contains(&low) {
                            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                        }
                    }
                    let c = char::from_u32(code).unwrap_or('\u{FFFD}');
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some('0'..='7') => {
                    self.at -= 1;
                    bytes.push(self.number(8, 3).unwrap_or_default() as u8);
                }
                Some(c) => {
                    bytes.push(b'\\');
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => return Err(Self::fault(begun, "a $' has no end; quotes come in pairs")),
            }
        }
        let text = crate::template::plain(&String::from_utf8_lossy(&bytes));
        self.push(&text);
        Ok(())
    }

    fn is_unit(&self) -> bool {
        self.peek() == Some('\\') && self.chars.get(self.at + 1) == Some(&'u')
    }

    /// A number of at most this many digits.
    fn number(&mut self, radix: u32, digits: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = Some(value.unwrap_or(0_u32).wrapping_mul(radix).wrapping_add(digit));
            self.at += 1;
        }
        value
    }
}
