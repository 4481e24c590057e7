//! Statements that are only types, and the parts of imports and exports that are.

use oxc_ast::ast::{
    BindingIdentifier, Declaration, ExportDefaultDeclarationKind, ExportSpecifier,
    IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind,
    ModuleExportName, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_semantic::{Reference, SymbolFlags};
use oxc_span::{GetSpan, Span};

use super::Blanker;

impl Blanker<'_, '_> {
    /// Whether nothing of a statement is left without types.
    ///
    /// Imports of names that are never used as values go, as in esbuild (which k6 uses) and
    /// TypeScript itself, since such a name may be a type.
    pub(super) fn is_erased(&self, statement: &Statement<'_>) -> bool {
        match statement {
            Statement::ImportDeclaration(it) => {
                is_type(it.import_kind)
                    || it.specifiers.as_ref().is_some_and(|specifiers| {
                        specifiers.iter().all(|specifier| !self.is_kept(specifier))
                    })
            }
            Statement::ExportNamedDeclaration(it) => {
                is_type(it.export_kind) || self.are_all_types(&it.specifiers)
            }
            Statement::ExportFromDeclaration(it) => {
                is_type(it.export_kind) || self.are_all_types(&it.specifiers)
            }
            Statement::ExportAllDeclaration(it) => is_type(it.export_kind),
            Statement::ExportDeclaration(it) => self.is_type_declaration(&it.declaration, true),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                    function.is_typescript_syntax()
                }
                ExportDefaultDeclarationKind::ClassDeclaration(class) => class.declare,
                ExportDefaultDeclarationKind::Identifier(name) => self.is_local_type(name),
                _ => false,
            },
            Statement::TSNamespaceExportDeclaration(_) => true,
            _ => statement
                .as_declaration()
                .is_some_and(|declaration| self.is_type_declaration(declaration, false)),
        }
    }

    fn is_type_declaration(&self, declaration: &Declaration<'_>, is_exported: bool) -> bool {
        match declaration {
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::FunctionDeclaration(it) => it.is_typescript_syntax(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => it.declare,
            Declaration::TSNamespaceDeclaration(it) => is_type_namespace(it),
            Declaration::TSImportEqualsDeclaration(it) => {
                is_type(it.import_kind) || (!is_exported && !self.is_used(&it.id))
            }
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => true,
        }
    }

    /// Blanks what an import names that is never used as a value.
    pub(super) fn trim_import(&mut self, it: &ImportDeclaration<'_>) {
        let specifiers = it.specifiers.as_ref().map_or(&[][..], |all| all.as_slice());
        let mut previous_end = None;
        for specifier in specifiers {
            let span = specifier.span();
            if !self.is_kept(specifier) {
                let is_namespace =
                    matches!(specifier, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_));
                match previous_end {
                    // `a, * as b`: the comma before it goes too.
                    Some(end) if is_namespace => self.canvas.blank(end, span.end),
                    _ => self.blank_with_comma(span),
                }
            }
            previous_end = Some(span.end);
        }
    }

    /// Blanks the types that an export names.
    pub(super) fn trim_exports(&mut self, specifiers: &[ExportSpecifier<'_>]) {
        for specifier in specifiers {
            if self.is_type_export(specifier) {
                self.blank_with_comma(specifier.span);
            }
        }
    }

    /// Blanks one of a list of names. (The last may leave a comma before it; that is allowed.)
    fn blank_with_comma(&mut self, span: Span) {
        let next = self.canvas.token(span.end);
        let end = if self.canvas.starts_with(next, ",") { next + 1 } else { span.end };
        self.canvas.blank(span.start, end);
    }

    fn is_kept(&self, specifier: &ImportDeclarationSpecifier<'_>) -> bool {
        match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(it) => {
                !is_type(it.import_kind) && self.is_used(&it.local)
            }
            ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => self.is_used(&it.local),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => self.is_used(&it.local),
        }
    }

    /// Whether an imported name is used as a value, and is not shadowed by one in the same file.
    fn is_used(&self, id: &BindingIdentifier<'_>) -> bool {
        let Some(symbol) = id.symbol_id.get() else {
            return true;
        };
        if (self.scoping.symbol_flags(symbol) - SymbolFlags::Import).is_value() {
            return false;
        }
        !self.scoping.get_resolved_references(symbol).all(Reference::is_type)
    }

    fn are_all_types(&self, specifiers: &[ExportSpecifier<'_>]) -> bool {
        !specifiers.is_empty() && specifiers.iter().all(|it| self.is_type_export(it))
    }

    fn is_type_export(&self, specifier: &ExportSpecifier<'_>) -> bool {
        is_type(specifier.export_kind)
            || matches!(&specifier.local,
                ModuleExportName::IdentifierReference(name) if self.is_local_type(name))
    }

    /// Whether a name means a type, an interface or something ambient of the same file.
    fn is_local_type(&self, name: &IdentifierReference<'_>) -> bool {
        let Some(reference) = name.reference_id.get() else {
            return false;
        };
        let reference = self.scoping.get_reference(reference);
        let Some(symbol) = reference.symbol_id() else {
            return false;
        };
        let flags = self.scoping.symbol_flags(symbol);
        reference.is_type() || (flags.is_ambient() && !flags.is_import())
    }
}

fn is_type(kind: ImportOrExportKind) -> bool {
    kind == ImportOrExportKind::Type
}

/// Whether a namespace has no code.
fn is_type_namespace(it: &TSNamespaceDeclaration<'_>) -> bool {
    if it.declare {
        return true;
    }
    match &it.body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_type_namespace(inner),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => {
            block.directives.is_empty()
                && block.body.iter().all(|statement| match statement {
                    Statement::ExportDeclaration(export) => is_type_only(&export.declaration),
                    other => other.as_declaration().is_some_and(is_type_only),
                })
        }
    }
}

fn is_type_only(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
        Declaration::TSNamespaceDeclaration(it) => is_type_namespace(it),
        other => other.declare(),
    }
}
