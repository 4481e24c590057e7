//! curl commands, as developers copy them from browsers and pages.
//!
//! The text may have many commands, comments, a prompt, other commands (left out, counted), or be a page of Markdown, of which the
//! fenced blocks are read. The quoting is that of bash; that of cmd is known by its carets.
//!
//! A variable of the shell (`$TOKEN`, `${ID:-7}`) has the value that the text gives it (`export ID=7`), or the environment. It is a
//! secret if its name tells so, or an input. One without a value is sent as its own name, which a note tells; in a host that is an
//! error. `$(…)` is an error.

mod command;
mod flags;
mod windows;
mod words;

use crate::draft::Ledger;
use crate::error::Error;
use crate::session::{Session, Surroundings};

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    /// A template: variables of the shell are in it.
    text: String,
    /// From 1.
    line: usize,
}

/// A command.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Word>,
    /// The text of `<<EOF`.
    input: Option<String>,
}

/// Reads all curl commands of a text.
///
/// # Errors
/// The text has no curl command, or is written for PowerShell; a command has an unknown flag, no URL, or names a file that can't be read.
/// Each error has the line.
pub fn read(text: &str, surroundings: &Surroundings) -> Result<Session, Error> {
    let text = crate::template::plain(text.trim_start_matches('\u{FEFF}'));
    refuse_powershell(&text)?;
    let text = fenced(&text);
    let mut ledger = Ledger::default();
    let commands = if windows::is_cmd(&text) {
        windows::commands(&text)
    } else {
        words::commands(&text, &mut ledger, surroundings)?
    };
    let mut session = Session::default();
    "curl commands".clone_into(&mut session.recording.origin);
    let mut others = 0;
    for command in commands {
        let Some(first) = command.words.first() else { continue };
        let name = first.text.rsplit(['/', '\\']).next().unwrap_or_default();
        if !matches!(name, "curl" | "curl.exe") {
            others += 1;
            continue;
        }
        command::requests(&command, &mut session, &mut ledger, surroundings)?;
    }
    if session.recording.exchanges.is_empty() {
        let what = "no curl command is in the text; a command begins with curl".to_owned();
        return Err(Error::Curl { line: 1, what });
    }
    if others > 0 {
        session.recording.left_out.push(("commands that are not curl".to_owned(), others));
    }
    Ok(session.finish(ledger))
}

/// An error for what is known to be PowerShell.
fn refuse_powershell(text: &str) -> Result<(), Error> {
    for (index, line) in text.lines().enumerate() {
        let lower = line.trim().to_ascii_lowercase();
        let is_cmdlet = ["invoke-webrequest", "invoke-restmethod", "$session = new-object"]
            .iter()
            .any(|start| lower.starts_with(start));
        let is_continued = lower.starts_with("curl") && lower.ends_with(" `");
        if is_cmdlet || is_continued {
            let what = "this is PowerShell, which is not read; copy it from the browser as cURL (bash) or cURL (cmd)";
            return Err(Error::Curl { line: index + 1, what: what.to_owned() });
        }
    }
    Ok(())
}

/// Of a page of Markdown the lines in fences, the others empty; any other text as it is.
fn fenced(text: &str) -> String {
    if !text.lines().any(|line| line.trim_start().starts_with("```")) {
        return text.to_owned();
    }
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
