//! Parsing, and finding out whether a text is a module.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_diagnostics::{Diagnostics, OxcDiagnostic, Severity};
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::SourceType;
use oxc_syntax::module_record::{ExportExportName, ModuleRecord};

use super::{Fault, top_level::awaits};
use crate::{exports::Exports, graph::Format};

/// A text that was understood as a whole, faults aside.
pub(super) struct Parsed<'a> {
    pub(super) program: Program<'a>,
    /// [`Format::Esm`] or [`Format::CommonJs`].
    pub(super) format: Format,
    /// Faults that the parser could read on from.
    pub(super) fault: Option<Fault>,
    pub(super) exports: Exports,
}

/// Brackets within brackets may go this deep. The parser is recursive; its stack
/// (`STACK` of the loader) suffices for this.
const DEEPEST: usize = 20_000;

/// Parses a text and tells its format as k6 does: it is an ES module if it has an import, an
/// export or a top-level await, else CommonJS.
///
/// # Errors
/// The first fault, if there is nothing to go on with.
pub(super) fn parse<'a>(
    allocator: &'a Allocator,
    text: &'a str,
    language: SourceType,
) -> Result<Parsed<'a>, Fault> {
    if let Some(start) = too_deep(text) {
        let message = format!("more than {DEEPEST} brackets within one another");
        return Err(Fault { message, help: None, start: start as u32, length: 1 });
    }
    let first = attempt(allocator, text, language.with_unambiguous(true));
    if first.is_module {
        return first.result();
    }
    // Without imports and exports, `await` is a fault at top level, or (as `await (x)`) a call.
    if text.contains("await") {
        let module = attempt(allocator, text, language.with_module(true));
        if module.fault.is_none() && awaits(&module.program) {
            return Ok(Parsed { format: Format::Esm, ..module.result()? });
        }
    }
    // `return` is a fault at top level as well, but not in CommonJS.
    if first.fault.is_some() {
        let script = attempt(allocator, text, language.with_commonjs(true));
        if script.fault.is_none() {
            return Ok(Parsed { format: Format::CommonJs, ..script.result()? });
        }
    }
    first.result()
}

/// Binds names, and finds the faults that no grammar can tell, like a name declared twice.
pub(super) fn bind(program: &Program<'_>) -> (Scoping, Option<Fault>) {
    // A program lives as long as its allocator, which the builder's signature asks for; the
    // borrow itself ends here.
    let result = SemanticBuilder::new_compiler().build(program);
    (result.semantic.into_scoping(), first_fault(&result.diagnostics))
}

struct Attempt<'a> {
    program: Program<'a>,
    is_module: bool,
    is_broken: bool,
    fault: Option<Fault>,
    exports: Exports,
}

impl<'a> Attempt<'a> {
    fn result(self) -> Result<Parsed<'a>, Fault> {
        match self.fault {
            Some(fault) if self.is_broken => Err(fault),
            fault => Ok(Parsed {
                program: self.program,
                format: if self.is_module { Format::Esm } else { Format::CommonJs },
                fault,
                exports: self.exports,
            }),
        }
    }
}

fn attempt<'a>(allocator: &'a Allocator, text: &'a str, kind: SourceType) -> Attempt<'a> {
    let result = Parser::new(allocator, text, kind).parse();
    Attempt {
        is_module: result.module_record.has_module_syntax,
        is_broken: result.panicked,
        fault: first_fault(&result.diagnostics),
        program: result.program,
        exports: exports(&result.module_record),
    }
}

fn exports(record: &ModuleRecord<'_>) -> Exports {
    let entries = record.local_export_entries.iter().chain(&record.indirect_export_entries);
    let names = entries.filter_map(|entry| match &entry.export_name {
        ExportExportName::Name(name) => Some(name.name.to_string()),
        ExportExportName::Default(_) => Some("default".to_owned()),
        ExportExportName::Null => None,
    });
    let stars = record.star_export_entries.iter().filter_map(|entry| {
        entry.module_request.as_ref().map(|specifier| specifier.name.to_string())
    });
    Exports { names: names.collect(), stars: stars.collect() }
}

/// The error that comes first in the text.
fn first_fault(diagnostics: &Diagnostics) -> Option<Fault> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(fault)
        .min_by_key(|fault| fault.start)
}

fn fault(diagnostic: &OxcDiagnostic) -> Fault {
    let label = diagnostic.labels.iter().find(|label| label.primary());
    let label = label.or_else(|| diagnostic.labels.first());
    Fault {
        message: diagnostic.message.trim_end_matches('.').to_owned(),
        help: diagnostic.help.as_ref().map(ToString::to_string),
        start: label.map_or(0, oxc_span::LabeledSpan::offset),
        length: label.map_or(0, oxc_span::LabeledSpan::len),
    }
}

/// Where brackets are too deep within one another. Brackets in strings and comments are counted
/// too, which errs on the safe side.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some(i);
        }
    }
    None
}
