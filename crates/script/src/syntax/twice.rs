//! Functions that a module declares twice. The grammar forbids it at the top level of modules; k6 lets the last one win, as in
//! other code, and people paste a function twice into a long script.

use std::collections::HashMap;

use oxc_ast::ast::{Declaration, ExportDefaultDeclarationKind, Function, Program, Statement};
use oxc_span::Span;

use super::canvas::Canvas;

/// A function at top level that another one may replace.
struct Declared<'a> {
    name: &'a str,
    /// All of its statement, with `export` before it.
    span: Span,
    /// The part of the statement that has to stay, if it is an export.
    rest: Option<String>,
}

/// The text without the functions that later ones of their name replace: a semicolon is in their place. `None`: there are none.
pub(super) fn last_of_each(text: &str, program: &Program<'_>) -> Option<String> {
    let functions: Vec<_> = program.body.iter().filter_map(declared).collect();
    let mut last = HashMap::with_capacity(functions.len());
    for function in &functions {
        last.insert(function.name, function.span.start);
    }
    if last.len() == functions.len() {
        return None;
    }
    let mut canvas = Canvas::new(text);
    for function in functions.iter().filter(|function| last[function.name] != function.span.start) {
        canvas.blank_span(function.span);
        // It stood between two statements: without a semicolon, they could be one (`a = b`, and in a later line `(c)`).
        canvas.put(function.span.start, function.rest.as_deref().unwrap_or(";"));
    }
    canvas.finish().map(|(code, _)| code)
}

fn declared<'a>(statement: &'a Statement<'_>) -> Option<Declared<'a>> {
    let (function, span, exported) = match statement {
        Statement::FunctionDeclaration(function) => (&**function, function.span, None),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::FunctionDeclaration(function) => (&**function, export.span, Some("")),
            _ => return None,
        },
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                (&**function, export.span, Some(" as default"))
            }
            _ => return None,
        },
        _ => return None,
    };
    let name = plain_name(function)?;
    let rest = exported.map(|as_what| format!("export{{{name}{as_what}}};"));
    // The name may have been written with escapes; then there need not be room for what stays.
    let has_room =
        rest.as_ref().is_none_or(|rest| rest.is_ascii() && rest.len() <= span.size() as usize);
    has_room.then_some(Declared { name, span, rest })
}

/// The name of a function that is neither async nor a generator: those are not declared twice in k6 either.
fn plain_name<'a>(function: &'a Function<'_>) -> Option<&'a str> {
    let is_plain = !function.r#async && !function.generator && function.body.is_some();
    function.id.as_ref().filter(|_| is_plain).map(|id| id.name.as_str())
}
