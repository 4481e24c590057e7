//! Facts about a JavaScript program.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, BigIntLiteral, BindingIdentifier, BindingProperty,
    CallExpression, Declaration, ExportAllDeclaration, ExportFromDeclaration, Expression, Function,
    IdentifierName, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier,
    ImportExpression, Program, RegExpLiteral, Statement, StaticMemberExpression, StringLiteral,
    WithClause,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::{ScopeFlags, Scoping};
use oxc_span::Span;

use rustc_hash::FxHashSet;

use super::{Fault, FoundImport};
use crate::graph::{ImportKind, Names};

/// The mark among the identifiers of a program that takes methods of a response away from it:
/// `const { json } = response`, `const read = response.json`. Such a program needs them bound.
pub const TAKES_METHODS: &str = "{methods}";

const METHODS: [&str; 4] = ["json", "html", "submitForm", "clickLink"];

/// String literals up to this many bytes may be the name of something.
const NAME_MAX: usize = 40;

/// Gathered in one walk over a program.
pub(super) struct Facts<'a, 's> {
    scoping: &'s Scoping,
    pub(super) imports: Vec<FoundImport>,
    pub(super) identifiers: FxHashSet<&'a str>,
    pub(super) is_open: bool,
    pub(super) declares_require: bool,
    /// `with { type: 'json' }`, to be blanked: the engine loads a module anew for each set of
    /// attributes, and does not know `assert`.
    pub(super) attributes: Vec<Span>,
    pub(super) fault: Option<Fault>,
    /// The member that the call which is being visited calls.
    callee: Option<Span>,
}

impl<'a, 's> Facts<'a, 's> {
    pub(super) fn of(program: &Program<'a>, scoping: &'s Scoping) -> Self {
        let mut facts = Self {
            scoping,
            imports: Vec::new(),
            identifiers: FxHashSet::default(),
            is_open: false,
            declares_require: program.body.iter().any(declares_require),
            attributes: Vec::new(),
            fault: None,
            callee: None,
        };
        facts.visit_program(program);
        facts.imports.sort_by_key(|import| import.offset);
        facts
    }

    fn import(&mut self, source: &StringLiteral<'_>, kind: ImportKind, names: Names) {
        self.imports.push(FoundImport {
            specifier: source.value.to_string(),
            kind,
            names,
            offset: source.span.start,
            is_json: false,
        });
    }

    fn static_import(
        &mut self,
        source: &StringLiteral<'a>,
        with: Option<&WithClause<'a>>,
        kind: ImportKind,
        names: Names,
    ) {
        self.import(source, kind, names);
        let Some(with) = with else { return };
        self.attributes.push(Span::new(source.span.end, with.span.end));
        for attribute in &with.with_entries {
            let key = attribute.key.as_arena_str();
            match (key.as_str(), attribute.value.value.as_str()) {
                ("type", "json") => {
                    if let Some(import) = self.imports.last_mut() {
                        import.is_json = true;
                    }
                }
                (key, value) => self.fail(
                    attribute.span,
                    format!("the import attribute {key}: \"{value}\" is not supported"),
                    "the only known attribute is type: \"json\"",
                ),
            }
        }
    }

    fn fail(&mut self, span: Span, message: String, help: &str) {
        self.fault.get_or_insert(Fault {
            message,
            help: Some(help.to_owned()),
            start: span.start,
            length: span.size(),
        });
    }

    /// Whether an identifier is the global of that name, not something declared in the file.
    fn is_global(&self, identifier: &IdentifierReference<'_>) -> bool {
        identifier
            .reference_id
            .get()
            .is_none_or(|reference| self.scoping.get_reference(reference).symbol_id().is_none())
    }

    /// `require(x)` and `import(x)`.
    fn call(&mut self, kind: ImportKind, argument: Option<&Expression<'a>>) {
        match argument {
            Some(Expression::StringLiteral(source)) => self.import(source, kind, Names::All),
            Some(Expression::TemplateLiteral(template)) if template.expressions.is_empty() => {
                let cooked = template.quasis.first().and_then(|quasi| quasi.value.cooked);
                self.imports.push(FoundImport {
                    specifier: cooked.map(|text| text.to_string()).unwrap_or_default(),
                    kind,
                    names: Names::All,
                    offset: template.span.start,
                    is_json: false,
                });
            }
            _ => self.is_open = true,
        }
    }
}

impl<'a> VisitJs<'a> for Facts<'a, '_> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let names = match &it.specifiers {
            None => Names::Only(Vec::new()),
            Some(specifiers) => names(specifiers),
        };
        self.static_import(&it.source, it.with_clause.as_deref(), ImportKind::Static, names);
        walk_js::walk_import_declaration(self, it);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        let names = it.specifiers.iter().map(|export| export.local.name().to_string()).collect();
        let with = it.with_clause.as_deref();
        self.static_import(&it.source, with, ImportKind::ReExport, Names::Only(names));
        walk_js::walk_export_from_declaration(self, it);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        let with = it.with_clause.as_deref();
        self.static_import(&it.source, with, ImportKind::ReExport, Names::All);
        walk_js::walk_export_all_declaration(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.identifiers.insert("Promise");
        self.call(ImportKind::Dynamic, Some(&it.source));
        walk_js::walk_import_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::Identifier(callee) = &it.callee
            && callee.name == "require"
            && self.is_global(callee)
        {
            let argument = it.arguments.first().and_then(|argument| argument.as_expression());
            self.call(ImportKind::Require, argument);
        }
        if let Expression::StaticMemberExpression(member) = &it.callee {
            self.callee = Some(member.span);
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if METHODS.contains(&it.property.name.as_str()) && self.callee != Some(it.span) {
            self.identifiers.insert(TAKES_METHODS);
        }
        walk_js::walk_static_member_expression(self, it);
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        if it.key.static_name().is_some_and(|name| METHODS.contains(&&*name)) {
            self.identifiers.insert(TAKES_METHODS);
        }
        walk_js::walk_binding_property(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.identifiers.insert(it.name.as_str());
    }

    fn visit_identifier_name(&mut self, it: &IdentifierName<'a>) {
        self.identifiers.insert(it.name.as_str());
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.identifiers.insert(it.name.as_str());
    }

    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        let value = it.value.as_str();
        let mut chars = value.chars();
        let is_name = value.len() <= NAME_MAX
            && chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
            && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
        if is_name {
            self.identifiers.insert(value);
        }
    }

    fn visit_reg_exp_literal(&mut self, _: &RegExpLiteral<'a>) {
        self.identifiers.insert("RegExp");
    }

    fn visit_big_int_literal(&mut self, _: &BigIntLiteral<'a>) {
        self.identifiers.insert("BigInt");
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.r#async {
            self.identifiers.insert("Promise");
        }
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if it.r#async {
            self.identifiers.insert("Promise");
        }
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.identifiers.insert("Promise");
        walk_js::walk_await_expression(self, it);
    }
}

fn names(specifiers: &[ImportDeclarationSpecifier<'_>]) -> Names {
    let mut names = Vec::with_capacity(specifiers.len());
    for specifier in specifiers {
        match specifier {
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => return Names::All,
            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                names.push("default".to_owned());
            }
            ImportDeclarationSpecifier::ImportSpecifier(it) => {
                names.push(it.imported.name().to_string());
            }
        }
    }
    Names::Only(names)
}

/// Whether a top-level statement is `const require = …` or the like, which can't be if `require`
/// is a parameter of the wrapper. (`var` and functions can.)
fn declares_require(statement: &Statement<'_>) -> bool {
    match statement.as_declaration() {
        Some(Declaration::VariableDeclaration(it)) => {
            !it.kind.is_var()
                && it.declarations.iter().any(|declarator| {
                    declarator
                        .id
                        .get_binding_identifiers()
                        .iter()
                        .any(|identifier| identifier.name == "require")
                })
        }
        Some(Declaration::ClassDeclaration(it)) => {
            it.id.as_ref().is_some_and(|id| id.name == "require")
        }
        _ => false,
    }
}
