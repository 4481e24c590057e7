//! TypeScript that is more than types: enums and namespaces.

use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_semantic::SemanticBuilder;
use oxc_transformer::{TransformOptions, Transformer};

use crate::source_map::SourceMap;

/// Generates JavaScript of a program that can't be blanked in place, and the map back.
///
/// Nothing but TypeScript is transformed; newer JavaScript stays for the engine to handle.
pub(super) fn lower<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
) -> (String, SourceMap) {
    let scoping = SemanticBuilder::new()
        // Room that oxc advises for its transformer, which adds scopes and names.
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(program)
        .semantic
        .into_scoping();
    let options = TransformOptions::default();
    // Its diagnostics are not asked for: what it could not transform will not parse afterwards.
    let _ = Transformer::new(allocator, Path::new("script.ts"), &options)
        .build_with_scoping(scoping, program);
    let options = CodegenOptions {
        source_map_path: Some(PathBuf::from("script.ts")),
        ..CodegenOptions::default()
    };
    let result = Codegen::new().with_options(options).build(program);
    let map = result.map.expect("a source map was asked for");
    (result.code, SourceMap::of_generated(&map))
}
