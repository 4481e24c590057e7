//! Faults of options, each with its place in the file.

use std::path::PathBuf;

use brunt_options::{Layer, OptionsError};
use brunt_script::OptionPlace;

use crate::{diagnostic::Diagnostic, exit::Exit, failure::Failure};

/// More faults are not drawn; where nothing is drawn, the message names them all.
const DRAWN_MOST: usize = 20;

/// Where options were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Texts<'a> {
    /// URL and text of the main script; none for archives, whose options stand elsewhere.
    pub(crate) script: Option<(&'a str, &'a str)>,
    /// Path and text of the configuration file.
    pub(crate) config: Option<&'a (PathBuf, String)>,
}

impl Texts<'_> {
    fn place(&self, error: &OptionsError) -> Option<Diagnostic> {
        match (error.layer()?, self.script, self.config) {
            (Layer::Script, Some((url, text)), _) => {
                let place = OptionPlace::in_script(text, &error.path()?)?;
                Some(drawn(url.to_owned(), place))
            }
            (Layer::ConfigFile, _, Some((path, text))) => {
                let url = path.display().to_string();
                if let OptionsError::NotJson { line, column, .. } = error {
                    let line_text = text.lines().nth((*line as usize).saturating_sub(1));
                    return Some(Diagnostic {
                        url,
                        line: *line,
                        // serde counts bytes; at an end of line, the one before.
                        column: (*column).max(1),
                        text: line_text.map(str::to_owned),
                        ..Diagnostic::default()
                    });
                }
                Some(drawn(url, OptionPlace::in_json(text, &error.path()?)?))
            }
            _ => None,
        }
    }
}

fn drawn(url: String, place: OptionPlace) -> Diagnostic {
    Diagnostic {
        url,
        line: place.line,
        column: place.column,
        length: place.length,
        text: Some(place.source_line),
        ..Diagnostic::default()
    }
}

/// Adds a place; the faults of one place are put together below it.
fn draw(all: &mut Vec<Diagnostic>, next: Diagnostic) {
    let drawn: usize = all.iter().map(|one| one.notes.len()).sum();
    if drawn >= DRAWN_MOST {
        return;
    }
    let place = |one: &Diagnostic| (one.url.clone(), one.line, one.column);
    match all.last_mut() {
        Some(last) if last.help.is_none() && place(last) == place(&next) => {
            last.notes.extend(next.notes);
            last.help = next.help;
        }
        _ => all.push(next),
    }
}

/// The faults with their places, in the order of the files; those without a place come last.
fn in_order<'a>(
    error: &'a OptionsError,
    texts: Texts<'_>,
) -> Vec<(&'a OptionsError, Option<Diagnostic>)> {
    let mut all: Vec<_> = error.each().into_iter().map(|each| (each, texts.place(each))).collect();
    let mut files: Vec<String> = Vec::new();
    for (_, place) in &all {
        let url = place.as_ref().map(|place| &place.url);
        files.extend(url.filter(|url| !files.contains(url)).cloned());
    }
    all.sort_by_key(|(_, place)| match place {
        Some(place) => {
            let file = files.iter().position(|url| *url == place.url);
            (file.unwrap_or(usize::MAX), place.line, place.column)
        }
        None => (usize::MAX, 0, 0),
    });
    all
}

/// All of it as one failure, with the exit code that k6 has for it.
pub(crate) fn invalid_in(error: &OptionsError, texts: Texts<'_>) -> Failure {
    let exit = if error.is_of_configuration() { Exit::InvalidConfig } else { Exit::Other };
    let mut diagnostics = Vec::new();
    let mut hints = Vec::new();
    let is_one = error.each().len() == 1;
    let mut told = Vec::new();
    for (each, place) in in_order(error, texts) {
        let hint = match each {
            OptionsError::Threshold { hint, .. } => hint.clone(),
            _ => None,
        };
        let text = if is_one { each.to_string() } else { each.short() };
        match place {
            Some(place) => {
                let Diagnostic { url, line, column, .. } = &place;
                told.push(match each {
                    // It tells the line itself.
                    OptionsError::NotJson { .. } => format!("{url}: {text}"),
                    _ => format!("{text} ({url}:{line}:{column})"),
                });
                let notes = if is_one { Vec::new() } else { vec![text] };
                draw(&mut diagnostics, Diagnostic { notes, help: hint.clone(), ..place });
            }
            None if is_one => told.push(text),
            None => {
                let layer = each.layer().map_or_else(|| "options".to_owned(), |it| it.to_string());
                told.push(format!("{text} ({layer})"));
                let (notes, help) = (vec![text], hint.clone());
                draw(
                    &mut diagnostics,
                    Diagnostic { url: layer, notes, help, ..Diagnostic::default() },
                );
            }
        }
        hints.extend(hint);
    }
    let message = match told.as_slice() {
        [one] => one.clone(),
        all => format!("{} options are wrong: {}", all.len(), all.join("; ")),
    };
    let drawn: usize = diagnostics.iter().map(|one| one.notes.len()).sum();
    let short = (!is_one).then(|| match told.len() {
        all if all > drawn => format!("{all} options are wrong; the first {drawn} of them:"),
        all => format!("{all} options are wrong:"),
    });
    let failure = Failure { short, diagnostics, ..Failure::new(exit, anyhow::Error::msg(message)) };
    if hints.is_empty() { failure } else { failure.hint(hints.join("; ")) }
}

/// The same without texts.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` is given")]
pub(crate) fn invalid(error: OptionsError) -> Failure {
    invalid_in(&error, Texts::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_in_the_order_of_the_script() {
        let script = "export const options = {\n  vus: 'q',\n  scenarios: { a: { executor: 'constant-vus', vuss: 1 } },\n  \
                      batch: 'x',\n  duration: 'abc',\n};\n";
        let read = serde_json::json!({
            "vus": "q", "batch": "x", "duration": "abc",
            "scenarios": { "a": { "executor": "constant-vus", "vuss": 1 } },
        });
        let (_, errors) = brunt_options::Options::read_json(&read, Layer::Script);
        let error = OptionsError::all(errors).unwrap();
        let texts = Texts { script: Some(("file:///s.js", script)), ..Texts::default() };
        let failure = invalid_in(&error, texts);
        let lines: Vec<u32> = failure.diagnostics.iter().map(|one| one.line).collect();
        assert_eq!(lines, [2, 3, 4, 5]);
    }
}
