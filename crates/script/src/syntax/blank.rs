//! Types, blanked in place.
//!
//! TypeScript's additions to JavaScript are painted over with blanks, so that everything else keeps
//! its line and column and no source map is needed. Three things need care: where a blank leaves
//! two lines that JavaScript would read as one statement (a semicolon goes into the blank), where
//! a line end would appear in a place that must not have one (a parenthesis moves over it), and
//! where a word of code has to be put in (which moves the rest of that line, and is recorded).
//!
//! Enums and namespaces are code, not types: see [`lower`](super::lower).

mod class;
mod module;

use oxc_ast::ast::{
    ArrowFunctionExpression, CallExpression, CatchParameter, Class, ClassElement, Declaration,
    ExportDefaultDeclarationKind, ExportFromDeclaration, ExportNamedDeclaration, Expression,
    FormalParameter, FormalParameterRest, Function, ImportDeclaration, NewExpression, Program,
    Statement, TSAsExpression, TSEnumDeclaration, TSExportAssignment, TSImportEqualsDeclaration,
    TSInstantiationExpression, TSNamespaceDeclaration, TSNonNullExpression, TSSatisfiesExpression,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterInstantiation, TaggedTemplateExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::{ScopeFlags, Scoping};
use oxc_span::{GetSpan, Span};

use super::canvas::Canvas;

/// Walks over a TypeScript program and paints its types over.
pub(super) struct Blanker<'s, 't> {
    canvas: Canvas<'t>,
    scoping: &'s Scoping,
    needs_lowering: bool,
}

/// The result for a TypeScript program.
pub(super) enum Blanked<'t> {
    /// JavaScript, in place.
    Done(Canvas<'t>),
    /// It has an enum or a namespace.
    NeedsLowering,
}

/// Blanks all types of a program. `text` is what it was parsed from.
pub(super) fn blank<'t>(text: &'t str, program: &Program<'_>, scoping: &Scoping) -> Blanked<'t> {
    let mut blanker = Blanker { canvas: Canvas::new(text), scoping, needs_lowering: false };
    blanker.visit_program(program);
    if blanker.needs_lowering { Blanked::NeedsLowering } else { Blanked::Done(blanker.canvas) }
}

impl Blanker<'_, '_> {
    /// Removes a whole statement or class member. Its first character becomes a semicolon: it may
    /// have ended what is before it, and a semicolon of its own does no harm.
    fn erase(&mut self, span: Span) {
        self.canvas.blank_span(span);
        self.canvas.put(span.start, ";");
    }

    fn annotation(&mut self, annotation: Option<&TSTypeAnnotation<'_>>) {
        if let Some(annotation) = annotation {
            self.canvas.blank_span(annotation.span);
        }
    }

    fn arguments(&mut self, arguments: Option<&TSTypeParameterInstantiation<'_>>) {
        if let Some(arguments) = arguments {
            self.canvas.blank_span(arguments.span);
        }
    }

    /// Blanks the `?` or `!` that is the next token, if it is.
    fn mark(&mut self, after: u32, is_there: bool) {
        let at = self.canvas.token(after);
        if is_there && (self.canvas.starts_with(at, "?") || self.canvas.starts_with(at, "!")) {
            self.canvas.blank(at, at + 1);
        }
    }

    /// After a statement or a property that ended with a blank: the line end below it ended it,
    /// which need not be so without the type (`x as T` and then `(y)` in the next line).
    fn close(&mut self, span: Span) {
        if self.canvas.is_blank_until(span.end) && span.end > span.start {
            self.canvas.put(span.end - 1, ";");
        }
    }

    /// `expression as T` and the like, from the end of the expression on.
    fn rest(&mut self, expression: &Expression<'_>, span: Span) {
        self.canvas.blank(expression.span().end, span.end);
    }
}

impl<'a> VisitJs<'a> for Blanker<'_, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if self.is_erased(it) {
            self.erase(it.span());
            return;
        }
        walk_js::walk_statement(self, it);
        self.close(it.span());
    }

    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        walk_js::walk_declaration(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.trim_import(it);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.trim_exports(&it.specifiers);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.trim_exports(&it.specifiers);
    }

    fn visit_export_default_declaration_kind(&mut self, it: &ExportDefaultDeclarationKind<'a>) {
        walk_js::walk_export_default_declaration_kind(self, it);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        // `import a = require('b')` and `import a = b.c`. Both words have six characters.
        self.canvas.put(it.span.start, "const ");
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        let export_end = it.span.start + "export".len() as u32;
        self.canvas.blank(it.span.start, export_end);
        self.canvas.insert(it.span.start, "module.exports");
        walk_js::walk_ts_export_assignment(self, it);
    }

    fn visit_ts_enum_declaration(&mut self, _: &TSEnumDeclaration<'a>) {
        self.needs_lowering = true;
    }

    fn visit_ts_namespace_declaration(&mut self, _: &TSNamespaceDeclaration<'a>) {
        self.needs_lowering = true;
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.mark(it.id.span().end, it.definite);
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_catch_parameter(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(parameters) = &it.type_parameters {
            self.canvas.blank_span(parameters.span);
        }
        if let Some(this) = &it.this_param {
            let next = self.canvas.token(this.span.end);
            let comma = self.canvas.starts_with(next, ",");
            self.canvas.blank(this.span.start, if comma { next + 1 } else { this.span.end });
        }
        self.annotation(it.return_type.as_deref());
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let open = it.params.span.start;
        let close = it.params.span.end.saturating_sub(1);
        if let Some(parameters) = &it.type_parameters {
            let start = parameters.span.start;
            if self.canvas.has_line_end(start, open) {
                // No line end between `async` (or `return`) and the parameters.
                self.canvas.blank(start, open + 1);
                self.canvas.put(start, "(");
            } else {
                self.canvas.blank_span(parameters.span);
            }
        }
        if let Some(result) = &it.return_type {
            let end = result.span.end;
            if self.canvas.has_line_end(close, end) {
                // No line end between the parameters and `=>`.
                self.canvas.blank(close, end);
                self.canvas.put(end - 1, ")");
            } else {
                self.canvas.blank_span(result.span);
            }
        }
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let start = it.decorators.last().map_or(it.span.start, |last| last.span.end);
        let pattern = it.pattern.span();
        self.canvas.blank(start, pattern.start);
        self.mark(pattern.end, it.optional);
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter(self, it);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter_rest(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class_head(it);
        self.parameter_fields(it);
        walk_js::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.member(it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.arguments(it.type_arguments.as_deref());
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.arguments(it.type_arguments.as_deref());
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.arguments(it.type_arguments.as_deref());
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        walk_js::walk_ts_instantiation_expression(self, it);
        self.rest(&it.expression, it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        walk_js::walk_ts_as_expression(self, it);
        self.rest(&it.expression, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        walk_js::walk_ts_satisfies_expression(self, it);
        self.rest(&it.expression, it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        walk_js::walk_ts_non_null_expression(self, it);
        self.rest(&it.expression, it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let start = it.expression.span().start;
        self.canvas.blank(it.span.start, start);
        // `return <T>` with a line end in it, and `() => <T>{}`, would mean something else.
        let first = self.canvas.word(start);
        if self.canvas.has_line_end(it.span.start, start)
            || self.canvas.starts_with(start, "{")
            || matches!(first, "function" | "class" | "let" | "async")
        {
            self.canvas.put(it.span.start, "(");
            self.canvas.insert(it.span.end, ")");
        }
        walk_js::walk_ts_type_assertion(self, it);
    }
}
