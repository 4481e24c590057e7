//! Types in classes.

use oxc_ast::ast::{
    AccessorPropertyType, Class, ClassElement, Decorator, Expression, MethodDefinition,
    MethodDefinitionKind, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType,
    PropertyKey, Statement,
};
use oxc_ast_visit::walk_js;
use oxc_span::{GetSpan, Span};

use super::Blanker;

impl Blanker<'_, '_> {
    /// `abstract class A<T> extends B<U> implements C {`, up to the brace.
    pub(super) fn class_head(&mut self, it: &Class<'_>) {
        let start = it.decorators.last().map_or(it.span.start, |last| last.span.end);
        let mut at = self.canvas.token(start);
        if it.r#abstract && self.canvas.starts_with(at, "abstract") {
            self.canvas.blank(at, at + "abstract".len() as u32);
            at = self.canvas.token(at + "abstract".len() as u32);
        }
        at += "class".len() as u32;
        if let Some(id) = &it.id {
            at = id.span.end;
        }
        if let Some(parameters) = &it.type_parameters {
            self.canvas.blank_span(parameters.span);
            at = parameters.span.end;
        }
        if let Some(heritage) = &it.heritage {
            self.arguments(heritage.type_arguments.as_deref());
            at = heritage.span().end;
        }
        if let Some(last) = it.implements.last() {
            self.canvas.blank(self.canvas.token(at), last.span.end);
        }
    }

    /// One member of a class.
    pub(super) fn member(&mut self, it: &ClassElement<'_>) {
        match it {
            ClassElement::TSIndexSignature(_) => self.erase(it.span()),
            ClassElement::StaticBlock(block) => walk_js::walk_static_block(self, block),
            ClassElement::MethodDefinition(method) => self.method(method),
            ClassElement::PropertyDefinition(property) => self.property(property),
            ClassElement::AccessorProperty(accessor) => {
                if accessor.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
                    self.erase(accessor.span);
                    return;
                }
                let start = decorators_end(accessor.span, &accessor.decorators);
                let after_key = self.modifiers(start, &accessor.key, accessor.computed);
                self.mark(after_key, accessor.definite);
                self.annotation(accessor.type_annotation.as_deref());
                walk_js::walk_accessor_property(self, accessor);
                self.close(accessor.span);
            }
        }
    }

    fn method(&mut self, it: &MethodDefinition<'_>) {
        let is_signature = it.value.body.is_none();
        if is_signature || it.r#type == MethodDefinitionType::TSAbstractMethodDefinition {
            self.erase(it.span);
            return;
        }
        let start = decorators_end(it.span, &it.decorators);
        let after_key = self.modifiers(start, &it.key, it.computed);
        self.mark(after_key, it.optional);
        walk_js::walk_method_definition(self, it);
        if it.kind == MethodDefinitionKind::Constructor {
            self.set_parameter_fields(it);
        }
    }

    fn property(&mut self, it: &PropertyDefinition<'_>) {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            self.erase(it.span);
            return;
        }
        let start = decorators_end(it.span, &it.decorators);
        let after_key = self.modifiers(start, &it.key, it.computed);
        self.mark(after_key, it.optional || it.definite);
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_property_definition(self, it);
        // A field called `get`, `set` or `static` would else swallow the next line.
        self.close(it.span);
    }

    /// Blanks the modifiers before a member's key that only TypeScript has. Returns where the key
    /// ends.
    fn modifiers(&mut self, start: u32, key: &PropertyKey<'_>, is_computed: bool) -> u32 {
        let key = key.span();
        let mut at = self.canvas.token(start);
        while at < key.start {
            let word = self.canvas.word(at);
            let end = at + word.len() as u32;
            match word {
                "public" | "private" | "protected" | "readonly" | "override" | "abstract"
                | "declare" => {
                    self.canvas.blank(at, end);
                    // The next token may be a `*` or a `[`, which the line before could go on with.
                    if at == start {
                        self.canvas.put(at, ";");
                    }
                }
                "static" | "async" | "get" | "set" | "accessor" => {}
                _ => break,
            }
            at = self.canvas.token(end);
        }
        if is_computed { self.canvas.token(key.end) + 1 } else { key.end }
    }

    /// `constructor(private x)` also declares a field `x`, before all others,
    pub(super) fn parameter_fields(&mut self, it: &Class<'_>) {
        let constructor = it.body.body.iter().find_map(|member| match member {
            ClassElement::MethodDefinition(method) => Some(&**method).filter(|method| {
                method.kind == MethodDefinitionKind::Constructor && method.value.body.is_some()
            }),
            _ => None,
        });
        let names = constructor.map(parameter_properties).unwrap_or_default();
        if !names.is_empty() {
            let fields: String = names.iter().flat_map(|name| [" ", name, ";"]).collect();
            self.canvas.insert(it.body.span.start + 1, fields);
        }
    }

    /// and sets `this.x`: at the start of the body, or after the call of `super`.
    fn set_parameter_fields(&mut self, it: &MethodDefinition<'_>) {
        let names = parameter_properties(it);
        let assignments: String =
            names.iter().flat_map(|name| [" this.", name, " = ", name, ";"]).collect();
        let Some(body) = it.value.body.as_deref().filter(|_| !assignments.is_empty()) else {
            return;
        };
        let super_call = body.statements.iter().find(|statement| is_super_call(statement));
        let at = match (super_call, body.directives.last()) {
            (Some(call), _) => call.span().end,
            (None, Some(directive)) => directive.span.end,
            (None, None) => body.span.start + 1,
        };
        // The semicolon ends a `super()` that has none.
        let separator = if at == body.span.start + 1 { "" } else { ";" };
        self.canvas.insert(at, format!("{separator}{assignments}"));
    }
}

/// Where a member begins behind its decorators.
fn decorators_end(span: Span, decorators: &[Decorator<'_>]) -> u32 {
    decorators.last().map_or(span.start, |last| last.span.end)
}

/// The parameters of a constructor that are fields as well.
fn parameter_properties<'a>(it: &MethodDefinition<'a>) -> Vec<&'a str> {
    let items = it.value.params.items.iter();
    items
        .filter(|item| item.accessibility.is_some() || item.readonly || item.r#override)
        .flat_map(|item| item.pattern.get_binding_identifiers())
        .map(|id| id.name.as_str())
        .collect()
}

fn is_super_call(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else {
        return false;
    };
    matches!(&statement.expression,
        Expression::CallExpression(call) if matches!(call.callee, Expression::Super(_)))
}
