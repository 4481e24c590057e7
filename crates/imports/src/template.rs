//! Texts with variables in them.
//!
//! A template is a `String` in which a character of the private plane 15 is a variable: U+F0000 the first one of the table, and so
//! on. So a template can be split, parsed as JSON or decoded like any text, and its variables come through.

use brunt_correlate::MadeKind;

/// The first of the characters that are variables.
const FIRST: u32 = 0xF_0000;

/// The most variables that a source may have.
pub(crate) const VARIABLES_MAX: usize = 0xFFFE;

/// A variable of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// As the source names it.
    pub(crate) name: String,
    /// Its value, which is sent in the recording.
    pub(crate) value: String,
    pub(crate) kind: Kind,
}

/// How the script gets a variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A column of the data file.
    Input,
    /// From the file of secrets.
    Secret,
    /// Made by the client.
    Made(MadeKind),
    /// By index in the plan's extractions.
    Value(usize),
}

/// The variables of a source.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Variable>);

impl Table {
    /// The character of a new variable, as text; the value itself beyond [`VARIABLES_MAX`].
    pub(crate) fn add(&mut self, variable: Variable) -> String {
        // Each made value is another one.
        if !matches!(variable.kind, Kind::Made(_))
            && let Some(index) = self.0.iter().position(|own| *own == variable)
        {
            return mark(index);
        }
        if self.0.len() == VARIABLES_MAX {
            return variable.value;
        }
        self.0.push(variable);
        mark(self.0.len() - 1)
    }

    /// The variable of a character.
    pub(crate) fn of(&self, c: char) -> Option<(usize, &Variable)> {
        let index = u32::from(c).checked_sub(FIRST)? as usize;
        Some((index, self.0.get(index)?))
    }

    /// The text with the values of its variables.
    pub(crate) fn resolve(&self, template: &str) -> String {
        self.resolve_with(template, str::to_owned)
    }

    /// The text with the values of its variables, which are encoded for their place.
    pub(crate) fn resolve_with(&self, template: &str, encode: impl Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(template.len());
        for c in template.chars() {
            match self.of(c) {
                Some((_, variable)) => out.push_str(&encode(&variable.value)),
                None => out.push(c),
            }
        }
        out
    }

    /// The text in which inputs with one of these characters are their values: they are several parts of it, not one.
    pub(crate) fn spell_out(&self, template: &str, special: &[char]) -> String {
        self.spell_out_if(template, |c| special.contains(&c))
    }

    /// The same for characters that a condition tells.
    pub(crate) fn spell_out_if(&self, template: &str, is_special: impl Fn(char) -> bool) -> String {
        let mut out = String::with_capacity(template.len());
        for c in template.chars() {
            match self.of(c) {
                Some((_, own)) if own.kind == Kind::Input && own.value.chars().any(&is_special) => {
                    out.push_str(&own.value);
                }
                _ => out.push(c),
            }
        }
        out
    }

    /// Whether there is a variable in the text.
    pub(crate) fn is_in(&self, template: &str) -> bool {
        template.chars().any(|c| self.of(c).is_some())
    }
}

/// The character of a variable, as text.
fn mark(index: usize) -> String {
    char::from_u32(FIRST + index as u32).map(String::from).unwrap_or_default()
}

/// A foreign text in which no character is taken for a variable.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if u32::from(c) >= FIRST { '\u{FFFD}' } else { c }).collect()
}
