//! Whether a program that was parsed as JavaScript has TypeScript in it.
//!
//! oxc's parser takes much of TypeScript (the modifiers of class members, for one) without being
//! told to. Other engines do not.

use oxc_ast::ast::{
    AccessorProperty, ArrowFunctionExpression, CallExpression, CatchParameter, Class, ClassElement,
    Declaration, ExportAllDeclaration, ExportDefaultDeclarationKind, ExportFromDeclaration,
    ExportNamedDeclaration, ExportSpecifier, FormalParameter, FormalParameterRest, Function,
    ImportDeclaration, ImportOrExportKind, ImportSpecifier, MethodDefinition, MethodDefinitionType,
    ModuleDeclaration, NewExpression, Program, PropertyDefinition, PropertyDefinitionType,
    TSAsExpression, TSInstantiationExpression, TSNonNullExpression, TSSatisfiesExpression,
    TSTypeAssertion, TaggedTemplateExpression, VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::ScopeFlags;
use oxc_span::{GetSpan, Span};

/// The first thing that is not JavaScript.
pub(super) fn first_type(program: &Program<'_>) -> Option<Span> {
    let mut finder = Finder { first: None };
    finder.visit_program(program);
    finder.first
}

struct Finder {
    first: Option<Span>,
}

impl Finder {
    fn check(&mut self, has_types: bool, span: Span) {
        if has_types {
            let first = self.first.get_or_insert(span);
            if span.start < first.start {
                *first = span;
            }
        }
    }
}

fn is_type(kind: ImportOrExportKind) -> bool {
    kind == ImportOrExportKind::Type
}

impl<'a> VisitJs<'a> for Finder {
    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.check(true, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.check(true, it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.check(true, it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.check(true, it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.check(true, it.span);
    }

    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        self.check(it.is_typescript_syntax(), it.span());
        walk_js::walk_declaration(self, it);
    }

    fn visit_module_declaration(&mut self, it: &ModuleDeclaration<'a>) {
        self.check(it.is_typescript_syntax(), it.span());
        walk_js::walk_module_declaration(self, it);
    }

    fn visit_export_default_declaration_kind(&mut self, it: &ExportDefaultDeclarationKind<'a>) {
        self.check(it.is_typescript_syntax(), it.span());
        walk_js::walk_export_default_declaration_kind(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.check(is_type(it.import_kind), it.span);
        walk_js::walk_import_declaration(self, it);
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        self.check(is_type(it.import_kind), it.span);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.check(is_type(it.export_kind), it.span);
        walk_js::walk_export_named_declaration(self, it);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.check(is_type(it.export_kind), it.span);
        walk_js::walk_export_from_declaration(self, it);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.check(is_type(it.export_kind), it.span);
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        self.check(is_type(it.export_kind), it.span);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.check(it.declare, it.span);
        walk_js::walk_variable_declaration(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.check(it.definite || it.type_annotation.is_some(), it.span);
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let has_types = it.is_typescript_syntax()
            || it.type_parameters.is_some()
            || it.this_param.is_some()
            || it.return_type.is_some();
        self.check(has_types, it.span);
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.check(it.type_parameters.is_some() || it.return_type.is_some(), it.span);
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.check(it.type_arguments.is_some(), it.span);
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.check(it.type_arguments.is_some(), it.span);
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.check(it.type_arguments.is_some(), it.span);
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.check(it.type_annotation.is_some(), it.span);
        walk_js::walk_catch_parameter(self, it);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.check(it.type_annotation.is_some(), it.span);
        walk_js::walk_formal_parameter_rest(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let has_types = it.type_annotation.is_some()
            || it.optional
            || it.accessibility.is_some()
            || it.readonly
            || it.r#override;
        self.check(has_types, it.span);
        walk_js::walk_formal_parameter(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let heritage = it.heritage.as_ref();
        let has_types = it.is_typescript_syntax()
            || it.type_parameters.is_some()
            || heritage.is_some_and(|heritage| heritage.type_arguments.is_some())
            || !it.implements.is_empty();
        self.check(has_types, it.span);
        walk_js::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.check(matches!(it, ClassElement::TSIndexSignature(_)), it.span());
        walk_js::walk_class_element(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        let has_types = it.r#type == MethodDefinitionType::TSAbstractMethodDefinition
            || it.r#override
            || it.optional
            || it.accessibility.is_some();
        self.check(has_types, it.span);
        walk_js::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        let has_types = it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
            || it.type_annotation.is_some()
            || it.declare
            || it.r#override
            || it.optional
            || it.definite
            || it.readonly
            || it.accessibility.is_some();
        self.check(has_types, it.span);
        walk_js::walk_property_definition(self, it);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        let has_types = it.r#override || it.definite || it.accessibility.is_some();
        self.check(has_types || it.type_annotation.is_some(), it.span);
        walk_js::walk_accessor_property(self, it);
    }
}
