//! All that knows JavaScript's grammar. Nothing outside of this folder touches oxc's syntax tree,
//! since oxc promises no stable interface.

mod blank;
mod canvas;
mod decorate;
mod facts;
mod lower;
pub(crate) mod option;
mod parse;
#[cfg(test)]
mod tests;
mod top_level;
mod twice;
mod types;

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_span::{SourceType, Span};

pub use facts::TAKES_METHODS;

use crate::{
    exports::Exports,
    graph::{Format, ImportKind, Names},
    lines::Lines,
    positions::{Shift, unshift_offset},
    source_map::SourceMap,
    syntax::{
        blank::Blanked,
        canvas::Canvas,
        facts::Facts,
        parse::{bind, parse},
        top_level::awaits,
        types::first_type,
    },
};

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// JavaScript alone.
    JavaScript,
    /// TypeScript, if there are types in it or it can't be read otherwise; else JavaScript. (An
    /// import that is never used stays in the one and goes in the other.) So k6 takes `.ts` files
    /// and standard input, but that it reads `new Map<string>(x)` as two comparisons.
    TypeScript,
}

/// A text ready for the engine.
pub(crate) struct Prepared {
    /// The code; none if it is the text itself.
    pub(crate) code: Option<String>,
    /// Where lines of the code are longer than those of the text.
    pub(crate) shifts: Vec<Shift>,
    /// From the code to the text, if it was generated anew.
    pub(crate) generated: Option<SourceMap>,
    pub(crate) format: Format,
    pub(crate) imports: Vec<FoundImport>,
    pub(crate) identifiers: BTreeSet<String>,
    pub(crate) has_top_level_await: bool,
    pub(crate) is_open: bool,
    pub(crate) declares_require: bool,
    pub(crate) exports: Exports,
}

/// An import in the text that was parsed last: the author's, or generated code.
pub(crate) struct FoundImport {
    pub(crate) specifier: String,
    pub(crate) kind: ImportKind,
    pub(crate) names: Names,
    /// Where the specifier's literal begins, in bytes.
    pub(crate) offset: u32,
    /// Whether attributes say that it is JSON.
    pub(crate) is_json: bool,
}

/// The fault of a text. Places are in bytes of the author's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// Makes JavaScript of a text and tells what is to be known about it.
///
/// # Errors
/// The first fault in the text.
pub(crate) fn prepare(text: &str, language: Language) -> Result<Prepared, Fault> {
    match language {
        Language::TypeScript => typescript(text),
        Language::JavaScript => javascript(text).map_err(|reason| match reason {
            Reason::Meaning(fault) => fault,
            Reason::Grammar(fault) => type_in(text).unwrap_or(fault),
        }),
    }
}

/// Why a text is no JavaScript.
enum Reason {
    /// It can't be parsed; it may be something else.
    Grammar(Fault),
    /// It can be, and contradicts itself.
    Meaning(Fault),
}

fn javascript(text: &str) -> Result<Prepared, Reason> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, SourceType::mjs()).map_err(Reason::Grammar)?;
    if let Some(fault) = parsed.fault {
        return Err(Reason::Grammar(fault));
    }
    if let Some(span) = first_type(&parsed.program) {
        return Err(Reason::Grammar(is_a_type(span)));
    }
    if let Some(code) = twice::last_of_each(text, &parsed.program) {
        let prepared = javascript(&code)?;
        return Ok(Prepared { code: Some(prepared.code.unwrap_or(code)), ..prepared });
    }
    match decorate::without_decorators(text, &parsed.program) {
        Err(fault) => return Err(Reason::Meaning(fault)),
        Ok(Some((code, shifts))) => {
            return match javascript(&code) {
                Ok(prepared) => {
                    let code = Some(prepared.code.unwrap_or(code));
                    Ok(Prepared { code, shifts, ..prepared })
                }
                Err(Reason::Grammar(fault) | Reason::Meaning(fault)) => {
                    let start = unshift_offset(&shifts, fault.start);
                    Err(Reason::Meaning(Fault { start, ..fault }))
                }
            };
        }
        Ok(None) => {}
    }
    let (scoping, fault) = bind(&parsed.program);
    let facts = Facts::of(&parsed.program, &scoping);
    if let Some(fault) = fault.or(facts.fault) {
        return Err(Reason::Meaning(fault));
    }
    let mut canvas = Canvas::new(text);
    for attributes in facts.attributes {
        canvas.blank_span(attributes);
    }
    if text.starts_with("#!") {
        // CommonJS is wrapped, and then it is no longer the first line's start.
        canvas.put(0, "//");
    }
    Ok(Prepared {
        code: canvas.finish().map(|(code, _)| code),
        shifts: Vec::new(),
        generated: None,
        format: parsed.format,
        imports: facts.imports,
        identifiers: facts.identifiers.into_iter().map(str::to_owned).collect(),
        has_top_level_await: parsed.format == Format::Esm && awaits(&parsed.program),
        is_open: facts.is_open,
        declares_require: facts.declares_require,
        exports: parsed.exports,
    })
}

fn typescript(text: &str) -> Result<Prepared, Fault> {
    let allocator = Allocator::default();
    let mut parsed = match parse(&allocator, text, SourceType::ts()) {
        Ok(parsed) if parsed.fault.is_some() || first_type(&parsed.program).is_some() => parsed,
        other => {
            return javascript(text).map_err(|reason| match (other, reason) {
                (Err(fault), _) | (Ok(_), Reason::Grammar(fault) | Reason::Meaning(fault)) => fault,
            });
        }
    };
    // The parser finds faults that only TypeScript's checker minds. They count if what is left
    // without the types is no JavaScript.
    let (scoping, _) = bind(&parsed.program);
    if let Blanked::Done(canvas) = blank::blank(text, &parsed.program, &scoping) {
        let (code, shifts) = canvas.finish().unwrap_or_else(|| (text.to_owned(), Vec::new()));
        match javascript(&code) {
            Ok(prepared) => {
                let shifts = compose(text, shifts, &prepared.shifts);
                let code = Some(prepared.code.unwrap_or(code));
                return Ok(Prepared { code, shifts, ..prepared });
            }
            Err(Reason::Meaning(fault)) => {
                let start = unshift_offset(&shifts, fault.start);
                return Err(Fault { start, ..fault });
            }
            Err(Reason::Grammar(_)) => {}
        }
    }
    if let Some(fault) = parsed.fault {
        return Err(fault);
    }
    let (code, map) = lower::lower(&allocator, &mut parsed.program);
    match javascript(&code) {
        Ok(prepared) => Ok(Prepared {
            code: Some(prepared.code.unwrap_or(code)),
            generated: Some(map),
            ..prepared
        }),
        Err(Reason::Grammar(fault) | Reason::Meaning(fault)) => {
            let (line, column) = Lines::of(&code).locate(&code, fault.start);
            let (line, column) = map.nearest(line, column);
            Err(Fault { start: Lines::of(text).offset(text, line, column), length: 0, ..fault })
        }
    }
}

/// The shifts of two changes as those of one: `second` was made to what `first` gave.
fn compose(text: &str, first: Vec<Shift>, second: &[Shift]) -> Vec<Shift> {
    if second.is_empty() {
        return first;
    }
    let lines = Lines::of(text);
    let moved = second.iter().map(|shift| {
        let offset = unshift_offset(&first, shift.offset);
        let (line, column) = lines.locate_bytes(offset);
        Shift { offset, line, column, ..*shift }
    });
    let mut all: Vec<_> = moved.collect();
    all.splice(0..0, first);
    all.sort_by_key(|shift| shift.offset);
    all
}

/// The fault of a text that is no JavaScript, if it is TypeScript.
fn type_in(text: &str) -> Option<Fault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, SourceType::ts()).ok()?;
    let span = first_type(&parsed.program)?;
    parsed.fault.is_none().then(|| is_a_type(span))
}

fn is_a_type(span: Span) -> Fault {
    Fault {
        message: "this is TypeScript, not JavaScript".to_owned(),
        help: Some("give the file a name that ends with .ts".to_owned()),
        start: span.start,
        length: span.size(),
    }
}
