//! Decorators and `accessor` fields, which the engine does not know.
//!
//! They are translated where they stand, so that no line moves: the expressions of a member's
//! decorators become a static block before it, those of a class arguments of a call around it.
//! The meaning of decorating is in `decorate/runtime.js`, which goes behind the last line.
//!
//! ```text
//! @sealed class A {              const $0 = runtime(); let A; A = $0.constructed([sealed], class {
//!   @bound greet() {}      ->      static{$0.member(this, 0, "method", false, "greet", [bound])} greet() {}
//! }                              });
//! ```
//!
//! Decorators are ECMAScript's (`(value, context)`). Decorators of TypeScript's older kind
//! (`(target, key, descriptor)`) are known by their parameters when they are called.

use std::fmt::Write as _;

use oxc_ast::ast::{
    AccessorProperty, BindingPattern, Class, ClassElement, Declaration, Decorator,
    ExportDefaultDeclarationKind, Expression, MethodDefinition, MethodDefinitionKind, Program,
    PropertyDefinition, PropertyKey, Statement, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::{Fault, canvas::Canvas};
use crate::positions::Shift;

const RUNTIME: &str = include_str!("decorate/runtime.js");

/// The text without decorators, and what was put in; none if it has none.
///
/// # Errors
/// A decorator that can't be translated.
pub(super) fn without_decorators(
    text: &str,
    program: &Program<'_>,
) -> Result<Option<(String, Vec<Shift>)>, Fault> {
    if !text.contains('@') && !text.contains("accessor") {
        return Ok(None);
    }
    let mut translator = Translator {
        text,
        canvas: Canvas::new(text),
        statement: None,
        assigned: None,
        classes: 0,
        class: None,
        fault: None,
    };
    translator.visit_program(program);
    if let Some(fault) = translator.fault {
        return Err(fault);
    }
    if translator.classes > 0 {
        translator.canvas.insert(text.len() as u32, format!("\n{RUNTIME}"));
    }
    Ok(translator.canvas.finish())
}

struct Translator<'t> {
    text: &'t str,
    canvas: Canvas<'t>,
    /// The statement that the class which comes next is, or exports.
    statement: Option<ClassStatement>,
    /// The name of a class without one, from the target of its assignment.
    assigned: Option<(Span, String)>,
    /// How many classes were translated.
    classes: usize,
    class: Option<TranslatedClass>,
    fault: Option<Fault>,
}

/// A statement that is a class.
#[derive(Clone, Copy)]
struct ClassStatement {
    span: Span,
    class: Span,
    is_default: bool,
}

/// The class whose members are visited.
#[derive(Clone)]
struct TranslatedClass {
    /// The constant with its runtime.
    name: String,
    /// How many of its members were translated.
    members: usize,
}

/// The facts about a decorated member.
struct Member<'m, 'a> {
    decorators: &'m [Decorator<'a>],
    kind: &'static str,
    is_static: bool,
    key: &'m PropertyKey<'a>,
    is_computed: bool,
}

impl<'a> VisitJs<'a> for Translator<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let class = match it {
            Statement::ClassDeclaration(class) => Some((class, false)),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::ClassDeclaration(class) => Some((class, false)),
                _ => None,
            },
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::ClassDeclaration(class) => Some((class, true)),
                _ => None,
            },
            _ => None,
        };
        self.statement = class.map(|(class, is_default)| ClassStatement {
            span: it.span(),
            class: class.span,
            is_default,
        });
        walk_js::walk_statement(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(id), Some(Expression::ClassExpression(class))) =
            (&it.id, &it.init)
        {
            self.assigned = Some((class.span, id.name.to_string()));
        }
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let statement = self.statement.take().filter(|statement| statement.class == it.span);
        let outer = self.class.take();
        if is_decorated(it) {
            let name = format!("__decorators{}", self.classes);
            self.classes += 1;
            self.class = Some(TranslatedClass { name: name.clone(), members: 0 });
            let end = self.open(it, statement, &name);
            let has_members = it.body.body.iter().any(|member| !decorators(member).is_empty());
            if has_members {
                let at = it.body.span.start + 1;
                self.canvas.insert(at, format!("#{name}={name}.before(this);"));
            }
            walk_js::walk_class(self, it);
            self.canvas.insert(it.span.end, end);
        } else {
            self.class = Some(TranslatedClass { name: String::new(), members: 0 });
            walk_js::walk_class(self, it);
        }
        self.class = outer;
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::MethodDefinition(method) => self.method(method),
            ClassElement::PropertyDefinition(property) => self.property(property),
            ClassElement::AccessorProperty(accessor) => self.accessor(accessor),
            _ => walk_js::walk_class_element(self, it),
        }
    }
}

impl<'a> Translator<'_> {
    fn fail(&mut self, span: Span, what: &str) {
        self.fault.get_or_insert(Fault {
            message: format!("{what} is not supported"),
            help: None,
            start: span.start,
            length: span.size(),
        });
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Writes the text before a decorated class. Returns the text after it.
    fn open(&mut self, it: &Class<'a>, statement: Option<ClassStatement>, name: &str) -> String {
        let Some(statement) = statement else {
            // An expression.
            self.canvas.insert(it.span.start, format!("(({name})=>"));
            let mut end = ")(__brunt_decorators())".to_owned();
            let assigned = self.assigned.take().filter(|(span, _)| *span == it.span);
            if let (None, Some((_, assigned))) = (&it.id, assigned) {
                let first = format!("static{{{name}.named(this,\"{assigned}\")}}");
                self.canvas.insert(it.body.span.start + 1, first);
            }
            if !it.decorators.is_empty() {
                self.canvas.insert(it.span.start, format!("{name}.constructed(["));
                self.list(&it.decorators, "],");
                end.insert(0, ')');
            }
            return end;
        };
        let (Some(first), Some(last)) = (it.decorators.first(), it.decorators.last()) else {
            let start = statement.span.start;
            self.canvas.insert(start, format!("const {name}=__brunt_decorators();"));
            return String::new();
        };
        let (first, last) = (first.span.start, last.span.end);
        let start = statement.span.start.min(first);
        let mut head = format!("const {name}=__brunt_decorators();");
        // The keywords of an export stand before the decorators or behind them.
        let class_at = self.class_keyword(it, last);
        let keywords = if first > start { (start, first) } else { (last, class_at) };
        let is_export = self.slice(Span::new(keywords.0, keywords.1)).contains("export");
        if is_export {
            self.canvas.blank(keywords.0, keywords.1);
        }
        let mut end = ");".to_owned();
        match (&it.id, statement.is_default) {
            (Some(id), true) => {
                let _ = write!(head, "let {0};{0}=", id.name);
                let _ = write!(end, "export{{{} as default}};", id.name);
            }
            (None, _) => head.push_str("export default "),
            (Some(id), false) if is_export => {
                let _ = write!(head, "export let {0};{0}=", id.name);
            }
            (Some(id), false) => {
                let _ = write!(head, "let {0};{0}=", id.name);
            }
        }
        if let Some(id) = &it.id {
            // Within the class its name is that of what the decorators make of it.
            self.canvas.blank_span(id.span);
            let first = format!("static{{{0}={name}.named(this,\"{0}\")}}", id.name);
            self.canvas.insert(it.body.span.start + 1, first);
        }
        let _ = write!(head, "{name}.constructed([");
        self.canvas.insert(start, head);
        self.list(&it.decorators, "],");
        end
    }

    /// The place of `class`, behind the last decorator.
    fn class_keyword(&self, it: &Class<'a>, last: u32) -> u32 {
        let mut at = self.canvas.token(last);
        while at < it.body.span.start && self.canvas.word(at) != "class" {
            let word = self.canvas.word(at).len() as u32;
            at = self.canvas.token(at + word.max(1));
        }
        at
    }

    /// Makes `a, b` of `@a @b`.
    fn list(&mut self, decorators: &[Decorator<'a>], end: &str) {
        for (index, decorator) in decorators.iter().enumerate() {
            self.canvas.blank(decorator.span.start, decorator.span.start + 1);
            let is_last = index + 1 == decorators.len();
            self.canvas.insert(decorator.span.end, if is_last { end } else { "," });
        }
    }

    /// The runtime of the class that is visited, and the number of its next member.
    fn next(&mut self) -> (String, usize) {
        let class = self.class.as_mut().expect("a member is in a class");
        class.members += 1;
        (class.name.clone(), class.members - 1)
    }

    /// The static block that decorates a member. Returns what its class' runtime is called, and
    /// the member's number.
    fn decorate(&mut self, it: &Member<'_, 'a>) -> (String, usize) {
        let (name, index) = self.next();
        let Some(first) = it.decorators.first() else { return (name, index) };
        let mut access = String::new();
        let key = match it.key {
            PropertyKey::StaticIdentifier(key) => format!("\"{}\"", key.name),
            PropertyKey::PrivateIdentifier(key) => {
                let key = key.name.as_str();
                let _ = write!(
                    access,
                    ",{{has:o=>#{key} in o,get:o=>o.#{key},set:(o,v)=>{{o.#{key}=v}}}}"
                );
                format!("\"#{key}\"")
            }
            key if it.is_computed => {
                let span = key.span();
                self.canvas.insert(span.start, format!("{name}.key({index},"));
                self.canvas.insert(span.end, ")");
                format!("{name}.keys[{index}]")
            }
            key => format!("String({})", self.slice(key.span())),
        };
        let (kind, is_static) = (it.kind, it.is_static);
        self.canvas.insert(
            first.span.start,
            format!("static{{{name}.member(this,{index},\"{kind}\",{is_static},{key},["),
        );
        self.list(it.decorators, &format!("]{access})}}"));
        (name, index)
    }

    fn method(&mut self, it: &MethodDefinition<'a>) {
        if let (false, PropertyKey::PrivateIdentifier(key)) = (it.decorators.is_empty(), &it.key) {
            self.fail(key.span, "a decorator of a private method");
        }
        if !it.decorators.is_empty() {
            let kind = match it.kind {
                MethodDefinitionKind::Get => "getter",
                MethodDefinitionKind::Set => "setter",
                _ => "method",
            };
            self.decorate(&Member {
                decorators: &it.decorators,
                kind,
                is_static: it.r#static,
                key: &it.key,
                is_computed: it.computed,
            });
        }
        walk_js::walk_method_definition(self, it);
    }

    fn property(&mut self, it: &PropertyDefinition<'a>) {
        if it.decorators.is_empty() {
            walk_js::walk_property_definition(self, it);
            return;
        }
        let (name, index) = self.decorate(&Member {
            decorators: &it.decorators,
            kind: "field",
            is_static: it.r#static,
            key: &it.key,
            is_computed: it.computed,
        });
        let value = it.value.as_ref().map(GetSpan::span);
        if let Some(value) = value {
            self.canvas.insert(value.start, format!("{name}.value({index},this,"));
        } else {
            let key = it.key.span().end;
            let at = if it.computed { self.canvas.token(key) + 1 } else { key };
            self.canvas.insert(at, format!("={name}.value({index},this,void 0)"));
        }
        walk_js::walk_property_definition(self, it);
        if let Some(value) = value {
            self.canvas.insert(value.end, ")");
        }
        let what = if it.r#static { "static " } else { "" };
        self.canvas
            .insert(it.span.end, format!(";{what}#{name}_{index}={name}.after({index},this);"));
    }

    /// `accessor x = 1` is a hidden field, and a pair of functions for it.
    fn accessor(&mut self, it: &AccessorProperty<'a>) {
        if it.computed || matches!(it.key, PropertyKey::PrivateIdentifier(_)) {
            self.fail(it.key.span(), "an accessor with a private or a computed name");
        }
        let (name, index) = self.decorate(&Member {
            decorators: &it.decorators,
            kind: "accessor",
            is_static: it.r#static,
            key: &it.key,
            is_computed: it.computed,
        });
        let key = it.key.span();
        let start = it.decorators.last().map_or(it.span.start, |last| last.span.end);
        let field = format!("#accessor{}_{index}", self.classes);
        let what = if it.r#static { "static " } else { "" };
        let written = self.slice(key).to_owned();
        self.canvas.blank(self.canvas.token(start), key.end);
        self.canvas.insert(
            key.end,
            format!(
                "{what}get {written}(){{return this.{field}}}{what}set {written}(v){{this.{field}=v}}{what}{field}"
            ),
        );
        let value: Option<&Expression<'_>> = it.value.as_ref();
        let is_decorated = !it.decorators.is_empty();
        match value {
            Some(value) if is_decorated => {
                self.canvas.insert(value.span().start, format!("{name}.value({index},this,"));
            }
            None if is_decorated => {
                self.canvas.insert(key.end, format!("={name}.value({index},this,void 0)"));
            }
            _ => {}
        }
        walk_js::walk_accessor_property(self, it);
        if let (Some(value), true) = (value, is_decorated) {
            self.canvas.insert(value.span().end, ")");
        }
        if is_decorated {
            self.canvas
                .insert(it.span.end, format!(";{what}#{name}_{index}={name}.after({index},this);"));
        }
    }
}

fn decorators<'m, 'a>(member: &'m ClassElement<'a>) -> &'m [Decorator<'a>] {
    match member {
        ClassElement::MethodDefinition(it) => &it.decorators,
        ClassElement::PropertyDefinition(it) => &it.decorators,
        ClassElement::AccessorProperty(it) => &it.decorators,
        _ => &[],
    }
}

fn is_decorated(class: &Class<'_>) -> bool {
    !class.decorators.is_empty()
        || class.body.body.iter().any(|member| !decorators(member).is_empty())
}
