//! The quoting of cmd, as browsers copy commands for it: carets first, then quotes and backslashes.

use super::{Command, Word};

/// Whether a text is written for cmd: outside of quotes, a caret is before a quote or at the end of a line.
pub(super) fn is_cmd(text: &str) -> bool {
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '^') if matches!(chars.peek(), Some('"' | '\n' | '\r')) => return true,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(own), c) if own == c => quote = None,
            _ => {}
        }
    }
    false
}

/// A character, its line, and whether a caret was before it.
type Unit = (char, usize, bool);

/// The text without carets, cut into commands at `&` and ends of lines.
fn uncaret(text: &str) -> Vec<Vec<Unit>> {
    let mut commands = vec![Vec::new()];
    let (mut line, mut is_quoted) = (1, false);
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '^' if !is_quoted => {
                // A caret at the end of a line takes the end away, and makes the next character, even an end, literal.
                let mut next = chars.next();
                if next == Some('\n') {
                    line += 1;
                    if chars.peek() == Some(&'\n') {
                        next = chars.next();
                    } else {
                        continue;
                    }
                }
                if let Some(next) = next {
                    commands.last_mut().expect("there is one").push((next, line, true));
                    line += usize::from(next == '\n');
                }
            }
            '"' => {
                is_quoted = !is_quoted;
                commands.last_mut().expect("there is one").push((c, line, false));
            }
            '\n' => {
                line += 1;
                is_quoted = false;
                commands.push(Vec::new());
            }
            '&' if !is_quoted => commands.push(Vec::new()),
            _ => commands.last_mut().expect("there is one").push((c, line, false)),
        }
    }
    commands
}

/// The words of a command. Chrome doubles each backslash, so each pair is one.
fn words(units: &[Unit]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut is_quoted, mut is_word) = (false, false);
    let mut at = 0;
    while let Some(&(c, line, is_escaped)) = units.get(at) {
        let next = units.get(at + 1).map(|unit| unit.0);
        if c.is_whitespace() && !is_quoted {
            is_word = false;
            at += 1;
            continue;
        }
        if !is_word {
            words.push(Word { text: String::new(), line });
            is_word = true;
        }
        let word = &mut words.last_mut().expect("one was pushed").text;
        match (c, next) {
            ('\\', Some(two @ ('\\' | '"'))) => {
                word.push(two);
                at += 1;
            }
            ('"', Some('"')) if is_quoted && !is_escaped => {
                word.push('"');
                at += 1;
            }
            ('"', _) => is_quoted = !is_quoted,
            _ => word.push(c),
        }
        at += 1;
    }
    words
}

/// All commands.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let units = uncaret(text);
    units.iter().map(|units| Command { words: words(units), input: None }).collect()
}
