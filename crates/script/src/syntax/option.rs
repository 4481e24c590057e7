//! The place of an option in a text, so that messages can point at it.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, AssignmentTarget, Declaration, Expression, ObjectPropertyKind, Program, Statement,
    VariableDeclaration,
};
use oxc_parser::Parser;
use oxc_span::{GetSpan as _, SourceType, Span};

/// Names lead to names so often; a circle of them ends here.
const STEPS_MOST: usize = 64;

/// The place of the value at `path`, from the export `options` on: `scenarios.browse.stages[1].target`. If the way is
/// lost (a value that is computed), the last key on it. Nothing if there are no `options`.
pub(crate) fn in_script(text: &str, path: &str) -> Option<Span> {
    let allocator = Allocator::default();
    let result = Parser::new(&allocator, text, SourceType::ts().with_module(true)).parse();
    let program = &result.program;
    Way { program, steps: 0 }.follow(exported(program)?, path, None)
}

/// The same in a text that is JSON.
pub(crate) fn in_json(text: &str, path: &str) -> Option<Span> {
    const BEFORE: &str = "(";
    let allocator = Allocator::default();
    let code = format!("{BEFORE}{text}\n)");
    let result = Parser::new(&allocator, &code, SourceType::mjs()).parse();
    let Some(Statement::ExpressionStatement(statement)) = result.program.body.first() else {
        return None;
    };
    let program = &result.program;
    let span = Way { program, steps: 0 }.follow(&statement.expression, path, None)?;
    let before = BEFORE.len() as u32;
    Some(Span::new(span.start.saturating_sub(before), span.end.saturating_sub(before)))
}

/// The value of the export `options`.
fn exported<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Expression<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(variables) => declared_in(variables, "options"),
            _ => None,
        },
        Statement::ExportNamedDeclaration(export) => {
            let is_it = |name: &str| name == "options";
            let found = export.specifiers.iter().find(|one| is_it(one.exported.name().as_str()))?;
            declared(program, found.local.name().as_str())
        }
        // `module.exports.options = …`, `exports.options = …`
        Statement::ExpressionStatement(statement) => match &statement.expression {
            Expression::AssignmentExpression(assignment) => match &assignment.left {
                AssignmentTarget::StaticMemberExpression(member)
                    if member.property.name.as_str() == "options" =>
                {
                    Some(&assignment.right)
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The value of a name of the top level.
fn declared<'p, 'a>(program: &'p Program<'a>, name: &str) -> Option<&'p Expression<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::VariableDeclaration(variables) => declared_in(variables, name),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(variables) => declared_in(variables, name),
            _ => None,
        },
        _ => None,
    })
}

fn declared_in<'p, 'a>(
    variables: &'p VariableDeclaration<'a>,
    name: &str,
) -> Option<&'p Expression<'a>> {
    let is_it = |found: Option<&str>| found == Some(name);
    let mut all = variables.declarations.iter();
    all.find(|one| is_it(one.id.get_identifier_name().as_ref().map(oxc_ast::ast::Ident::as_str)))?
        .init
        .as_ref()
}

struct Way<'p, 'a> {
    program: &'p Program<'a>,
    steps: usize,
}

impl<'p, 'a> Way<'p, 'a> {
    /// `last` is the key on which the way came to `value`.
    fn follow(
        &mut self,
        value: &'p Expression<'a>,
        path: &str,
        last: Option<Span>,
    ) -> Option<Span> {
        self.steps += 1;
        let path = path.strip_prefix('.').unwrap_or(path);
        let value = value.get_inner_expression();
        let here = Some(last.unwrap_or_else(|| value.span()));
        if self.steps > STEPS_MOST {
            return here;
        }
        match value {
            // A short value is underlined itself; a long one by its key.
            Expression::ObjectExpression(_) | Expression::ArrayExpression(_) if path.is_empty() => {
                here
            }
            _ if path.is_empty() => Some(value.span()),
            Expression::Identifier(name) => match declared(self.program, name.name.as_str()) {
                Some(value) => self.follow(value, path, last),
                None => here,
            },
            // `Object.freeze({…})`
            Expression::CallExpression(call) => match call.arguments.first() {
                Some(Argument::ObjectExpression(_)) => {
                    let first = call.arguments[0].as_expression();
                    first.and_then(|first| self.follow(first, path, last)).or(here)
                }
                _ => here,
            },
            Expression::ArrayExpression(list) => {
                let index = path.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let Some((index, rest)) = index else { return here };
                let item = index.parse::<usize>().ok().and_then(|at| list.elements.get(at));
                match item.and_then(|item| item.as_expression()) {
                    Some(item) => {
                        // An item has no key; its own beginning is underlined.
                        let start = item.span().start;
                        self.follow(item, rest, Some(Span::new(start, start + 1)))
                    }
                    None => here,
                }
            }
            Expression::ObjectExpression(object) => {
                // Keys may have dots: the longest that fits is meant. Of two alike, the later holds.
                let mut best: Option<(usize, &Expression<'a>, Span)> = None;
                for property in &object.properties {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                    let Some(name) = property.key.static_name() else { continue };
                    let length = name.len();
                    if begins_with(path, &name) && best.is_none_or(|(most, ..)| length >= most) {
                        best = Some((length, &property.value, property.key.span()));
                    }
                }
                if let Some((length, value, key)) = best {
                    return self.follow(value, &path[length..], Some(key));
                }
                for property in &object.properties {
                    let ObjectPropertyKind::SpreadProperty(spread) = property else { continue };
                    let found = self.follow(&spread.argument, path, None);
                    if found.is_some_and(|found| found != spread.argument.span()) {
                        return found;
                    }
                }
                here
            }
            _ => here,
        }
    }
}

/// Whether the path begins with this key, whatever its case.
fn begins_with(path: &str, key: &str) -> bool {
    let rest = match path.get(..key.len()) {
        Some(start) if start.eq_ignore_ascii_case(key) => &path[key.len()..],
        _ => return false,
    };
    rest.is_empty() || rest.starts_with(['.', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'t>(text: &'t str, path: &str) -> Option<&'t str> {
        in_script(text, path).map(|span| &text[span.start as usize..span.end as usize])
    }

    #[test]
    fn values_are_found_by_their_path() {
        let text = "import http from 'k6/http';\nconst stages = [{ target: 1 }, { target: 'x' }];\n\
            export const options: Options = {\n  vus: 'many', ...{ rps: 'a lot' },\n  scenarios: { browse: { executor: 'e', stages } },\n  \
            thresholds: { 'http_reqs{a:b.c}': ['x<5', { threshold: 'y' }] },\n} satisfies Options;\n\
            export default function () {}";
        for (path, found) in [
            ("vus", "'many'"),
            ("VUs", "'many'"),
            ("rps", "'a lot'"),
            ("scenarios.browse.executor", "'e'"),
            ("scenarios.browse.stages[1].target", "'x'"),
            ("scenarios.browse.duration", "browse"),
            ("thresholds.http_reqs{a:b.c}[0]", "'x<5'"),
            ("thresholds.http_reqs{a:b.c}[1].threshold", "'y'"),
            ("thresholds.http_reqs{a:b.c}", "'http_reqs{a:b.c}'"),
        ] {
            assert_eq!(at(text, path), Some(found), "{path}");
        }
    }

    #[test]
    fn every_way_to_export_is_known_and_circles_end() {
        for text in [
            "export let options = { vus: 'x' };",
            "const o = { vus: 'x' }; export { o as options };",
            "const o = { vus: 'x' }; export const options = o;",
            "module.exports.options = { vus: 'x' };",
            "export const options = Object.freeze({ vus: 'x' });",
        ] {
            assert_eq!(at(text, "vus"), Some("'x'"), "{text}");
        }
        assert_eq!(at("export default 1", "vus"), None);
        let circle = "const a = b; const b = a; export const options = a;";
        assert_eq!(at(circle, "vus"), Some("a"));
    }

    #[test]
    fn json_has_places_too() {
        let text = "{\n  \"tags\": { \"a\": 1 }\n}\n";
        let span = in_json(text, "tags.a").unwrap();
        assert_eq!(&text[span.start as usize..span.end as usize], "1");
        assert_eq!(in_json("", "a"), None);
    }
}
