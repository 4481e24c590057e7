//! Scripts of several files, as they are loaded.

use brunt_script::{
    Entry, ErrorKind, Format, Graph, ImportKind, InMemory, Loader, Module, Names, Resolved,
    ScriptError,
};

fn load(files: &InMemory, path: &str) -> Result<Graph, ScriptError> {
    Loader::new(files).load(Entry::Path(path.into()))
}

fn graph(files: &InMemory) -> Graph {
    load(files, "/t/main.js").unwrap_or_else(|error| panic!("{error}\n{}", error.picture()))
}

fn single(path: &str, text: &str) -> Module {
    let files = InMemory::new().with(path, text);
    let mut graph = load(&files, path).unwrap_or_else(|error| panic!("{error}"));
    graph.modules.remove(0)
}

/// The author's place of the first occurrence of something in a module's code.
fn place(module: &Module, needle: &str) -> (u32, u32) {
    let at = module.code.find(needle).expect(needle);
    let line = module.code[..at].matches('\n').count() + 1;
    let column = at - module.code[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
    let place = module.positions.author(line as u32, column as u32);
    (place.line, place.column)
}

#[test]
fn the_graph_has_every_file_once_and_the_entry_first() {
    let files = InMemory::new()
        .with("/t/main.js", "import http from 'k6/http';\nimport { a } from './a.js';\nexport * from '../lib/b.js';\nexport default function () {}\n")
        .with("/t/a.js", "import './main.js';\nexport const a = 1;")
        .with("/lib/b.js", "export { a as b } from '/t/a.js';\nimport c, { d as e } from './c.cjs';\nc(e);")
        .with("/lib/c.cjs", "module.exports = require('./d.json');")
        .with("/lib/d.json", "{\"d\": 1}");
    let graph = graph(&files);
    assert_eq!(graph.entry, "file:///t/main.js");
    let found: Vec<_> = graph.modules.iter().map(|it| (&*it.url, it.format)).collect();
    assert_eq!(
        found,
        [
            ("file:///t/main.js", Format::Esm),
            ("file:///t/a.js", Format::Esm),
            ("file:///lib/b.js", Format::Esm),
            ("file:///lib/c.cjs", Format::CommonJs),
            ("file:///lib/d.json", Format::Json),
        ]
    );
    let main = &graph.modules[0].imports;
    assert_eq!(main[0].resolved, Resolved::Builtin("k6/http".to_owned()));
    assert_eq!(main[0].names, Names::Only(vec!["default".to_owned()]));
    assert_eq!((main[1].line, main[1].column), (2, 19));
    assert_eq!((main[2].kind, &main[2].names), (ImportKind::ReExport, &Names::All));
    let b = &graph.module("file:///lib/b.js").expect("b").imports;
    assert_eq!(b[0].names, Names::Only(vec!["a".to_owned()]));
    assert_eq!(b[1].names, Names::Only(vec!["default".to_owned(), "d".to_owned()]));
    assert_eq!(graph.modules[3].imports[0].kind, ImportKind::Require);
    assert!(!graph.is_open);
}

#[test]
fn the_format_is_told_by_the_text() {
    for (text, format) in [
        ("export default 1;", Format::Esm),
        ("import 'k6';", Format::Esm),
        ("await 0;", Format::Esm),
        ("const x = await (f());", Format::Esm),
        ("for await (const x of y) {}", Format::Esm),
        ("import.meta.resolve('./x');", Format::Esm),
        ("", Format::CommonJs),
        ("exports.x = 1;", Format::CommonJs),
        ("import('./x.js');", Format::CommonJs),
        ("if (x) return; else f();", Format::CommonJs),
        ("var await = 1; with (a) {} var x = 010;", Format::CommonJs),
        ("async function f() { await 0 }", Format::CommonJs),
        ("let x = 1 <!-- y", Format::CommonJs),
        ("function await(x) {} await (1);", Format::CommonJs),
    ] {
        assert_eq!(single("/x.js", text).format, format, "{text}");
    }
}

#[test]
fn top_level_await_is_told_apart_from_that_of_functions() {
    for (text, expected) in [
        ("await 0;", true),
        ("export const x = [await 0];", true),
        ("for await (const x of y) {}", true),
        ("export default async function () { await 0; for await (const x of y) {} }", false),
        ("export const f = async () => { await 0 };", false),
        ("export class A { async m() { await 0 } }", false),
    ] {
        assert_eq!(single("/x.js", text).has_top_level_await, expected, "{text}");
    }
}

#[test]
fn commonjs_is_wrapped_and_keeps_its_places() {
    let module = single("/x.js", "'use strict'; boom();\n  bang(); // end");
    insta::assert_snapshot!(module.code, @r"
    (function(module, exports, require) { 'use strict'; 'use strict'; boom();
      bang(); // end
    })
    ");
    assert_eq!(place(&module, "boom"), (1, 15));
    assert_eq!(place(&module, "bang"), (2, 3));
    assert_eq!(place(&module, "(function"), (1, 1));
}

#[test]
fn commonjs_may_have_a_require_of_its_own() {
    for text in ["const require = 1;", "let { require } = x;", "class require {}"] {
        let module = single("/x.js", text);
        assert!(module.code.starts_with("(function(module, exports) { 'use strict'; "), "{text}");
    }
    let module = single("/x.js", "var require = 1; boom();");
    assert!(module.code.starts_with("(function(module, exports, require) { 'use strict'; "));
    assert_eq!(place(&module, "boom"), (1, 18));
}

#[test]
fn a_hashbang_and_a_byte_order_mark_do_no_harm() {
    let module = single("/x.js", "\u{feff}#!/usr/bin/env k6\nexports.a = 1;");
    assert_eq!(&*module.source, "#!/usr/bin/env k6\nexports.a = 1;");
    assert!(module.code.contains("{ 'use strict'; ///usr/bin/env k6\n"));
    let module = single("/x.js", "#!/usr/bin/env k6\nexport default 1;");
    assert_eq!(&*module.code, "///usr/bin/env k6\nexport default 1;");
}

#[test]
fn plain_modules_are_not_copied() {
    let module = single("/x.js", "export default 1;\r\n");
    assert!(std::sync::Arc::ptr_eq(&module.code, &module.source));
    assert!(module.positions.is_told_as_is());
}

#[test]
fn columns_of_the_author_count_utf16_units() {
    let module = single("/x.js", "export const s = '日本😀'; boom();");
    assert_eq!(place(&module, "boom"), (1, 26));
    let module = single("/x.ts", "const s: 'é' = '日本😀'; boom();");
    assert_eq!(place(&module, "boom"), (1, 24));
}

#[test]
fn typescript_keeps_its_places_whatever_is_put_in() {
    let module = single(
        "/x.ts",
        "enum Color { Red }\nexport function f(c: Color): void {\n\tboom(c as any);\n}\n",
    );
    assert_eq!(place(&module, "boom"), (3, 2));
    let module = single(
        "/x.ts",
        "export class A {\n  constructor(private a: number) { boom(a); }\n  f() { bang(<any>{}); bong() }\n}",
    );
    assert_eq!(place(&module, "boom"), (2, 36));
    assert_eq!(place(&module, "bang"), (3, 9));
    assert_eq!(place(&module, "bong"), (3, 24));
}

#[test]
fn only_typescript_files_and_standard_input_may_have_types() {
    for path in ["/x.ts", "/x.mts", "/x.cts", "/x.TS"] {
        assert_eq!(single(path, "export const a: number = 1;").format, Format::Esm);
    }
    let files = InMemory::new().with("/x.js", "export const a: number = 1;").with("/a.js", "");
    assert_eq!(load(&files, "/x.js").expect_err("types").kind, ErrorKind::Syntax);
    let text = "import './a.js';\nexport default (x: number) => x;";
    let graph = Loader::new(&files).load(Entry::Stdin(text.into())).expect("stdin");
    assert_eq!(graph.entry, "file:///-");
    assert_eq!(graph.modules[1].url, "file:///a.js");
}

#[test]
fn import_attributes_are_blanked() {
    let files = InMemory::new()
        .with("/t/main.js", "import a from './a.json' with { type: 'json' };\nexport { default as b } from './b.txt' assert { type: \"json\" }\nexport default a;")
        .with("/t/a.json", "\u{feff}[1]")
        .with("/t/b.txt", "{}");
    let graph = graph(&files);
    insta::assert_snapshot!(graph.modules[0].code.replace(' ', "·"), @r"
    import·a·from·'./a.json'······················;
    export·{·default·as·b·}·from·'./b.txt'························
    export·default·a;
    ");
    assert!(graph.modules[0].imports[0].is_json);
    assert_eq!(graph.modules[1].format, Format::Json);
    assert_eq!(&*graph.modules[1].code, "[1]");
    assert_eq!(graph.modules[2].format, Format::Json);
}

#[test]
fn what_may_never_be_asked_for_is_loaded_if_it_can_be() {
    let files = InMemory::new()
        .with(
            "/t/main.js",
            "const a = require('./a.js'), b = import(`./b.js`);\ntry { require('crypto'); require('./none.js'); import('./bad.js') } catch {}\nexport default function () { require(name()) }",
        )
        .with("/t/a.js", "exports.a = 1;")
        .with("/t/b.js", "import './none.js';")
        .with("/t/bad.js", "let let;");
    let graph = graph(&files);
    let urls: Vec<_> = graph.modules.iter().map(|it| &*it.url).collect();
    assert_eq!(urls, ["file:///t/main.js", "file:///t/a.js", "file:///t/b.js"]);
    let imports = &graph.modules[0].imports;
    assert_eq!(imports[1].kind, ImportKind::Dynamic);
    assert_eq!(imports[2].resolved, Resolved::Nowhere);
    assert_eq!(imports[3].resolved, Resolved::Local("file:///t/none.js".to_owned()));
    assert!(graph.is_open);
}

#[test]
fn a_require_that_the_file_declares_is_not_ours() {
    let module = single("/x.js", "(function (require) { require('./a.js') })(f);");
    assert_eq!(module.imports, []);
}

#[test]
fn single_modules_can_be_loaded_at_run_time() {
    let files = InMemory::new().with("/a.js", "exports.a = 1;").with("/b.json", "[");
    let loader = Loader::new(&files);
    assert_eq!(loader.load_one("file:///a.js").expect("a").format, Format::CommonJs);
    assert_eq!(loader.load_one("file:///b.json").expect_err("b").kind, ErrorKind::Json);
    assert_eq!(loader.load_one("file:///c.js").expect_err("c").kind, ErrorKind::Missing);
    assert_eq!(loader.load_one("https://h/c.js").expect_err("d").kind, ErrorKind::Remote);
}

#[test]
fn every_name_is_gathered() {
    let files = InMemory::new()
        .with("/t/main.js", "import './a.js';\nconst { WeakRef: R } = globalThis;\nnew (global['Date'])(); x.prop; 'not a name'; label: for (;;) {}")
        .with("/t/a.js", "eval('1'); /re/.test(1n); async () => {}; export {}");
    let graph = graph(&files);
    for name in
        ["WeakRef", "R", "globalThis", "Date", "prop", "eval", "RegExp", "BigInt", "Promise", "x"]
    {
        assert!(graph.identifiers.contains(name), "{name}");
    }
    for name in ["Map", "not a name", "Proxy"] {
        assert!(!graph.identifiers.contains(name), "{name}");
    }
}

#[test]
fn a_bundle_leads_to_its_sources() {
    // Made of one source, whose line 3 column 5 begins the bundle's line 1.
    let map = r#"{"version":3,"sources":["../src/a.ts"],"names":[],"mappings":"AAEI"}"#;
    let files = InMemory::new()
        .with("/t/main.js", "exports.default = boom();\n//# sourceMappingURL=main.js.map\n")
        .with("/t/main.js.map", map);
    let graph = graph(&files);
    let place = graph.modules[0].positions.author(1, 60);
    assert_eq!((place.url, place.line, place.column), (Some("file:///src/a.ts"), 3, 5));
    let place = graph.modules[0].positions.author(2, 4);
    assert_eq!((place.url, place.line, place.column), (None, 2, 4));
    let place = graph.modules[0].positions.told(1, 60);
    assert_eq!((place.url, place.line, place.column), (Some("file:///src/a.ts"), 3, 4));
}

#[test]
fn relative_paths_and_dots_become_one_url() {
    let files = InMemory::new().with("/t/a b.js", "import '../t/x.js';").with("/t/x.js", "");
    let graph = load(&files, "t/../t/./a b.js").expect("loads");
    assert_eq!(graph.entry, "file:///t/a%20b.js");
    assert_eq!(graph.modules[1].url, "file:///t/x.js");
}

#[test]
fn the_disk_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.js");
    std::fs::write(&path, "import './lib/a.js';").expect("written");
    std::fs::create_dir(folder.path().join("lib")).expect("created");
    std::fs::write(folder.path().join("lib/a.js"), "export const a = 1;").expect("written");
    let loader = Loader::new(&brunt_script::Disk);
    let graph = loader.load(Entry::Path(path)).expect("loads");
    assert_eq!(graph.modules.len(), 2);
    let error = loader.load(Entry::Path(folder.path().join("lib"))).expect_err("a folder");
    assert_eq!(error.kind, ErrorKind::Directory);
    let error = loader.load(Entry::Path(folder.path().join("none.js"))).expect_err("nothing");
    assert_eq!(error.kind, ErrorKind::EntryMissing);
}

#[test]
fn nesting_without_end_is_refused_and_much_of_it_is_not() {
    let nested = |depth: usize| {
        let text = format!("export const x = {}{};", "[".repeat(depth), "]".repeat(depth));
        load(&InMemory::new().with("/x.js", text), "/x.js")
    };
    assert!(nested(2_000).is_ok());
    assert_eq!(nested(100_000).expect_err("too deep").kind, ErrorKind::Syntax);
    let chain = format!("export const x = {}1;", "1 + ".repeat(20_000));
    assert!(load(&InMemory::new().with("/x.js", chain), "/x.js").is_ok());
}

#[test]
fn an_import_of_a_name_that_is_not_exported_is_shown_where_it_stands() {
    let with = |main: &str| {
        InMemory::new()
            .with("/t/main.js", main)
            .with("/t/a.js", "export const { a, x: [b = 1, ...c] } = f(); export default class {}\nexport * from './b.ts'; export * as ns from './b.ts'; let q; export { q as r, q as 'odd name' };")
            .with("/t/b.ts", "export enum E { A }\nexport namespace N { export const z = 1 }\nexport interface I {}\nexport * from './a.js'; export async function* g() {}")
            .with("/t/c.cjs", "module.exports = 1")
            .with("/t/stars.js", "export * from 'k6/http'; export * from './c.cjs'; export { a as default } from './a.js';")
    };
    graph(&with(
        "import d, { a, b, c, E, N, ns, r, g, 'odd name' as odd } from './a.js'; import k, { any } from './c.cjs'; import s, { thing } from './stars.js'; export { E } from './b.ts'; import * as all from './b.ts'; import './b.ts'; const { nope } = await import('./b.ts');",
    ));
    let error = load(&with("\n  import { a, nope } from './a.js';"), "/t/main.js").unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (ErrorKind::Export, 2, 27));
    assert_eq!(error.message, "\"./a.js\" does not export \"nope\"");
    assert_eq!(error.help.as_deref(), Some("it exports a, b, c, default, ns, odd name, r"));
    let error = load(&with("import { odd_name } from './a.js';"), "/t/main.js").unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean \"odd name\"?"));
    let error = load(&with("export { default } from './b.ts';"), "/t/main.js").unwrap_err();
    assert_eq!(error.message, "\"./b.ts\" has no default export");
}
