//! Whether a program waits at its top level, as only modules can.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Class, ForOfStatement, Function, Program,
    VariableDeclaration, VariableDeclarationKind,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::ScopeFlags;

/// Whether there is an `await`, a `for await` or an `await using` outside of all functions.
pub(super) fn awaits(program: &Program<'_>) -> bool {
    let mut finder = Finder { found: false };
    finder.visit_program(program);
    finder.found
}

struct Finder {
    found: bool,
}

impl<'a> VisitJs<'a> for Finder {
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, it: &Class<'a>) {
        // Its body may wait in computed keys alone, which no script does.
        if let Some(heritage) = &it.heritage {
            walk_js::walk_class_heritage(self, heritage);
        }
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.found = true;
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.found |= it.r#await;
        walk_js::walk_for_of_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.found |= it.kind == VariableDeclarationKind::AwaitUsing;
        walk_js::walk_variable_declaration(self, it);
    }
}
