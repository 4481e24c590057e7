//! The messages for the author of a script.

use brunt_script::{Entry, ErrorKind, InMemory, Loader, ScriptError};

fn error(files: &InMemory) -> ScriptError {
    Loader::new(files).load(Entry::Path("/t/main.js".into())).expect_err("a fault")
}

fn main_only(text: &str) -> ScriptError {
    error(&InMemory::new().with("/t/main.js", text))
}

fn shown(error: &ScriptError) -> String {
    let help = error.help.as_deref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("{error}\n{}{help}", error.picture())
}

#[test]
fn a_script_that_is_not_there() {
    let found = error(&InMemory::new().with("/t/main.ts", ""));
    assert_eq!(found.kind, ErrorKind::EntryMissing);
    insta::assert_snapshot!(shown(&found), @r#"
    the script "/t/main.js" does not exist

    help: did you mean "main.ts"? Names are taken as they are written
    "#);
}

#[test]
fn an_import_of_nothing() {
    let files = InMemory::new()
        .with("/t/main.js", "import http from 'k6/http';\n\timport x from './lib/x';\n")
        .with("/t/lib/x.js", "");
    let found = error(&files);
    assert_eq!(found.kind, ErrorKind::Missing);
    insta::assert_snapshot!(shown(&found), @r#"
    the file "/t/lib/x" does not exist (file:///t/main.js:2:16)
       |
     2 | 	import x from './lib/x';
       | 	              ^^^^^^^^^
    help: did you mean "x.js"? Names are taken as they are written
    "#);
}

#[test]
fn an_import_of_a_folder() {
    let files =
        InMemory::new().with("/t/main.js", "export * from './lib';").with("/t/lib/index.js", "");
    insta::assert_snapshot!(shown(&error(&files)), @r#"
    "/t/lib" is a directory (file:///t/main.js:1:15)
       |
     1 | export * from './lib';
       |               ^^^^^^^
    help: did you mean "lib/index.js"? Names are taken as they are written
    "#);
}

#[test]
fn an_import_within_an_import() {
    let files = InMemory::new()
        .with("/t/main.js", "import './a.js';")
        .with("/t/a.js", "// é\nconst é = 1; import './b.js';");
    insta::assert_snapshot!(shown(&error(&files)), @r#"
    the file "/t/b.js" does not exist (file:///t/a.js:2:21)
       |
     2 | const é = 1; import './b.js';
       |                     ^^^^^^^^
    "#);
}

#[test]
fn imports_that_no_file_can_satisfy() {
    insta::assert_snapshot!(shown(&main_only("import _ from 'lodash';")), @r#"
    "lodash" is neither a built-in module nor a path (file:///t/main.js:1:15)
       |
     1 | import _ from 'lodash';
       |               ^^^^^^^^
    help: packages of npm can't be imported by their name: bundle "lodash" into the script, or into a file beside it, and import that by its path
    "#);
    insta::assert_snapshot!(shown(&main_only("import { x } from \"https://jslib.k6.io/k6-utils/1.4.0/index.js\";")), @r#"
    "https://jslib.k6.io/k6-utils/1.4.0/index.js" is remote, and can't be fetched here (file:///t/main.js:1:19)
       |
     1 | import { x } from "https://jslib.k6.io/k6-utils/1.4.0/index.js";
       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn syntax_errors() {
    insta::assert_snapshot!(shown(&main_only("const a = 1;\nconst b = ;\nexport default a;\n")), @r"
    Unexpected token (file:///t/main.js:2:11)
       |
     2 | const b = ;
       |           ^
    ");
    insta::assert_snapshot!(shown(&main_only("export default function () {\n  f(\n}\n")), @r"
    Unexpected token (file:///t/main.js:3:1)
       |
     3 | }
       | ^
    ");
    insta::assert_snapshot!(shown(&main_only("let a = 1;\nlet a = 2;\nexport {}")), @r"
    Identifier `a` has already been declared (file:///t/main.js:1:5)
       |
     1 | let a = 1;
       |     ^
    ");
    insta::assert_snapshot!(shown(&main_only("const a: number = 1;")), @"
    this is TypeScript, not JavaScript (file:///t/main.js:1:7)
       |
     1 | const a: number = 1;
       |       ^^^^^^^^^^^^^
    help: give the file a name that ends with .ts
    ");
    insta::assert_snapshot!(shown(&main_only("class A { private a = 1 }")), @"
    this is TypeScript, not JavaScript (file:///t/main.js:1:11)
       |
     1 | class A { private a = 1 }
       |           ^^^^^^^^^^^^^
    help: give the file a name that ends with .ts
    ");
    insta::assert_snapshot!(shown(&main_only("class A { @dec #m() {} }")), @"
    a decorator of a private method is not supported (file:///t/main.js:1:16)
       |
     1 | class A { @dec #m() {} }
       |                ^^
    ");
    insta::assert_snapshot!(shown(&main_only("import a from './a.css' with { type: 'css' };")), @r#"
    the import attribute type: "css" is not supported (file:///t/main.js:1:32)
       |
     1 | import a from './a.css' with { type: 'css' };
       |                                ^^^^^^^^^^^
    help: the only known attribute is type: "json"
    "#);
}

#[test]
fn a_syntax_error_in_an_imported_file_is_told_there() {
    let files = InMemory::new()
        .with("/t/main.js", "import './a.ts';")
        .with("/t/a.ts", "type A = 1;\nexport const x: A = y z;\n");
    insta::assert_snapshot!(shown(&error(&files)), @"
    Expected a semicolon or an implicit semicolon after a statement, but found none (file:///t/a.ts:2:22)
       |
     2 | export const x: A = y z;
       |                      ^
    help: Try inserting a semicolon here
    ");
}

#[test]
fn json_that_is_none() {
    let files = InMemory::new()
        .with("/t/main.js", "import a from './a.json';\nexport default a;")
        .with("/t/a.json", "{\n  \"ä\": 1,\n}\n");
    insta::assert_snapshot!(shown(&error(&files)), @"
    not valid JSON: key must be a string (file:///t/a.json:3:1)
       |
     3 | }
       | ^
    ");
}

#[test]
fn bytes_that_are_no_text() {
    let found = error(&InMemory::new().with("/t/main.js", b"let a;\nlet b = '\xff';".as_slice()));
    assert_eq!(found.kind, ErrorKind::NotUtf8);
    insta::assert_snapshot!(shown(&found), @"
    this is not UTF-8 text (file:///t/main.js:2:10)
       |
     2 | let b = '�';
       |          ^
    help: save the file in the UTF-8 encoding
    ");
}
