//! Types blanked: the rest of the text stays, and stays in its place.

use super::*;

/// The rest of TypeScript, with every run of blanks as one.
fn left(text: &str) -> String {
    let prepared = match prepare(text, Language::TypeScript) {
        Ok(prepared) => prepared,
        Err(fault) => panic!("{text}: {fault:?}"),
    };
    assert!(prepared.generated.is_none(), "was lowered: {text}");
    let code = prepared.code.unwrap_or_else(|| text.to_owned());
    if prepared.shifts.is_empty() {
        assert_in_place(text, &code);
    }
    squeeze(&code)
}

fn squeeze(code: &str) -> String {
    let lines = code.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Nothing moved: each byte is what it was, or a blank, or one of the few that are put in.
fn assert_in_place(text: &str, code: &str) {
    assert_eq!(text.len(), code.len(), "{text}\n{code}");
    for (i, (was, is)) in text.bytes().zip(code.bytes()).enumerate() {
        let is_line_end = matches!(was, b'\n' | b'\r');
        assert!(
            was == is || (!is_line_end && b" ;()const".contains(&is)),
            "byte {i} of {text}\n{code}"
        );
    }
}

fn cases(cases: &[(&str, &str)]) {
    let wrong: Vec<_> = cases
        .iter()
        .map(|(text, expected)| (*text, left(text), *expected))
        .filter(|(_, left, expected)| left != expected)
        .map(|(text, left, expected)| {
            format!("{text}\n  left     {left:?}\n  expected {expected:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn annotations_go() {
    cases(&[
        ("let a: number = 1, b: string[];", "let a = 1, b ;"),
        ("let a: { x: number; y?: () => void } = f();", "let a = f();"),
        ("let a!: number;", "let a ;"),
        ("let a /* c */ ! : number;", "let a /* c */ ;"),
        ("function f(a: number, b?: string, ...c: any[]): void {}", "function f(a , b , ...c ) {}"),
        (
            "function f(a: number = 1, { b }: { b: number }, [c]: number[]) {}",
            "function f(a = 1, { b } , [c] ) {}",
        ),
        ("function f(this: Window, a: number) {}", "function f( a ) {}"),
        ("function f(this: Window) {}", "function f( ) {}"),
        ("function isA(x: unknown): x is A { return true }", "function isA(x ) { return true }"),
        ("function assertA(x: unknown): asserts x is A {}", "function assertA(x ) {}"),
        ("try {} catch (e: unknown) {}", "try {} catch (e ) {}"),
        ("for (const x of y as number[]) {}", "for (const x of y ) {}"),
        ("for (let i: number = 0; i < 1; i++) {}", "for (let i = 0; i < 1; i++) {}"),
        ("const f = async (a: number): Promise<void> => {};", "const f = async (a ) => {};"),
        (
            "const o = { m<T>(a: T): T { return a }, get x(): number { return 1 }, set x(v: number) {} };",
            "const o = { m (a ) { return a }, get x() { return 1 }, set x(v ) {} };",
        ),
    ]);
}

#[test]
fn generics_go() {
    cases(&[
        ("function f<T extends object = {}>(a: T) {}", "function f (a ) {}"),
        ("const f = <T,>(a: T) => a;", "const f = (a ) => a;"),
        ("f<number>(1); new F<string>(); new G<string>;", "f (1); new F (); new G ;"),
        ("tag<string>`x`;", "tag `x`;"),
        ("new Observable<never>(noop);", "new Observable (noop);"),
        ("const g = f<number>;", "const g = f ;"),
        ("a?.b<string>(1); a?.<T>(1);", "a?.b (1); a?. (1);"),
        ("new Map<string, Array<Set<number>>>();", "new Map ();"),
    ]);
}

#[test]
fn casts_go() {
    cases(&[
        ("a = b as any as string;", "a = b ;"),
        ("a = { x: 1 } satisfies X as const;", "a = { x: 1 } ;"),
        ("a!.b![0]!(c!);", "a .b [0] (c );"),
        ("a?.b!.c; (x as any).y = 1; (z!) = 2; x! += 1;", "a?.b .c; (x ).y = 1; (z ) = 2; x += 1;"),
        (
            "[a as any] = [1]; ({ b: (c as any) } = d); for ((e as any) of f);",
            "[a ] = [1]; ({ b: (c ) } = d); for ((e ) of f);",
        ),
        ("a = <any>b; c = <A><B>d; e = <const>['x'];", "a = b; c = d; e = ['x'];"),
        ("const f = (x: any) => (x as string).length;", "const f = (x ) => (x ).length;"),
        ("`${a as string}`;", "`${a }`;"),
    ]);
}

#[test]
fn a_cast_of_an_object_or_a_function_gets_parentheses() {
    cases(&[
        ("const f = () => <any>{ a: 1 };", "const f = () => ( { a: 1 });"),
        ("<any>function () {}.x;", "( function () {}.x);"),
        ("function f() { return <\nany>x }", "function f() { return (\nx) }"),
    ]);
}

#[test]
fn statements_of_types_go() {
    cases(&[
        ("interface A { a: number }", ";"),
        ("type A<T> = T extends string ? 1 : 2;", ";"),
        ("declare const a: number;", ";"),
        ("declare function f(): void;", ";"),
        ("declare class A { b(): void }", ";"),
        ("declare enum E { A }", ";"),
        ("declare const enum E { A }", ";"),
        ("declare module 'x' { export const y: number }", ";"),
        ("declare global { interface Window { x: number } }\nexport {}", ";\nexport {}"),
        ("declare namespace N { const x: number }", ";"),
        ("namespace N { export type A = 1; interface B {} }", ";"),
        ("function f(a: number): void;\nfunction f(a: any) {}", ";\nfunction f(a ) {}"),
        ("export as namespace X;", ";"),
        ("abstract class A {}", "class A {}"),
    ]);
}

#[test]
fn exports_of_types_go() {
    cases(&[
        ("export interface A {}\nexport const a = 1;", ";\nexport const a = 1;"),
        ("export type A = 1;", ";"),
        ("export declare const a: number;", ";"),
        ("export type { A } from './a.ts';\nexport type * from './b.ts';", ";\n;"),
        ("export { type A, b, type C } from './a.ts';", "export { b, } from './a.ts';"),
        ("export { type A } from './a.ts';", ";"),
        ("type A = 1; const b = 2; export { A, b };", "; const b = 2; export { b };"),
        ("interface A {} export default A;", "; ;"),
        ("export default interface A {}", ";"),
        (
            "export default function (a: number): void;\nexport default function (a: any) {}",
            ";\nexport default function (a ) {}",
        ),
        ("export default abstract class A<T> {}", "export default class A {}"),
        ("export default { vus: 1 } as Options;", "export default { vus: 1 } ;"),
        ("export const options: Options = { vus: 1 };", "export const options = { vus: 1 };"),
        ("export abstract class A {}", "export class A {}"),
    ]);
}

#[test]
fn imports_that_are_not_used_as_values_go() {
    cases(&[
        ("import type { A } from './a.ts';", ";"),
        ("import type A from './a.ts';\nlet a: A;", ";\nlet a ;"),
        ("import { A } from './a.ts';\nlet a: A;", ";\nlet a ;"),
        (
            "import { A, b } from './a.ts';\nlet a: A = b;",
            "import { b } from './a.ts';\nlet a = b;",
        ),
        (
            "import { b, A } from './a.ts';\nlet a: A = b;",
            "import { b, } from './a.ts';\nlet a = b;",
        ),
        (
            "import { b, type A } from './a.ts';\nlet a: A = b;",
            "import { b, } from './a.ts';\nlet a = b;",
        ),
        (
            "import A, { b } from './a.ts';\nlet a: A = b;",
            "import { b } from './a.ts';\nlet a = b;",
        ),
        (
            "import a, { B } from './a.ts';\nlet b: B = a;",
            "import a, { } from './a.ts';\nlet b = a;",
        ),
        ("import a, * as B from './a.ts';\nlet b: B.C = a;", "import a from './a.ts';\nlet b = a;"),
        (
            "import A, * as b from './a.ts';\nlet a: A = b;",
            "import * as b from './a.ts';\nlet a = b;",
        ),
        ("import { a } from './a.ts';\nlet b: typeof a;", ";\nlet b ;"),
        ("import {} from './a.ts';\nlet b: 1;", ";\nlet b ;"),
        ("import './a.ts';\nlet b: 1;", "import './a.ts';\nlet b ;"),
        (
            "import { a } from './a.ts';\nexport { a };\nlet b: 1;",
            "import { a } from './a.ts';\nexport { a };\nlet b ;",
        ),
        (
            "import { a } from './a.ts';\nexport default a;\nlet b: 1;",
            "import { a } from './a.ts';\nexport default a;\nlet b ;",
        ),
        (
            "import { a } from './a.ts';\nlet b: { a: number } = { a };",
            "import { a } from './a.ts';\nlet b = { a };",
        ),
    ]);
}

#[test]
fn a_typescript_file_that_is_javascript_keeps_unused_imports() {
    assert_eq!(left("import { a } from './a.ts';"), "import { a } from './a.ts';");
}

#[test]
fn imports_and_exports_of_typescripts_own_become_commonjs() {
    cases(&[
        (
            "import a = require('./a.js');\na.b();\nlet c: 1;",
            "const a = require('./a.js');\na.b();\nlet c ;",
        ),
        ("import a = require('./a.js');\nlet c: a.B;", ";\nlet c ;"),
        ("import a = b.c;\na();", "const a = b.c;\na();"),
        ("import type a = require('./a.js');", ";"),
        ("const a: number = 1;\nexport = { a };", "const a = 1;\nmodule.exports = { a };"),
    ]);
}

#[test]
fn classes_lose_their_types_and_keep_their_fields() {
    cases(&[
        ("class A<T> extends B<T> implements C<T>, D { }", "class A extends B { }"),
        ("class A implements C { }", "class A { }"),
        ("const A = class implements C { };", "const A = class { };"),
        ("class A extends (b as any)<T> { }", "class A extends (b ) { }"),
        (
            "class A { x: number; y?: string; z!: boolean; w: number = 1 }",
            "class A { x ; y ; z ; w = 1 }",
        ),
        (
            "class A { private a = 1; protected static b = 2; public readonly c = 3; override d() {} }",
            "class A { ; a = 1; ; static b = 2; ; c = 3; ; d() {} }",
        ),
        (
            "class A { static readonly a = 1; static override async b() {} }",
            "class A { static a = 1; static async b() {} }",
        ),
        (
            "class A { private get a(): number { return 1 } protected set a(v: number) {} }",
            "class A { ; get a() { return 1 } ; set a(v ) {} }",
        ),
        ("class A { declare x: number; [k: string]: any; }", "class A { ; ; }"),
        (
            "abstract class A { abstract a(): void; abstract b: number; c() {} }",
            "class A { ; ; c() {} }",
        ),
        (
            "class A { a(x: number): void; a(x: any) {} constructor(a: number); constructor(a: any) {} }",
            "class A { ; a(x ) {} ; constructor(a ) {} }",
        ),
        ("class A { a?(): void {} }", "class A { a () {} }"),
        (
            "class A { ['x']: number = 1; [y]?: string; #z: number = 2; static #w?: 1 }",
            "class A { ['x'] = 1; [y] ; #z = 2; static #w ; }",
        ),
        (
            "class A { readonly; private; declare = 1; static static: number }",
            "class A { readonly; private; declare = 1; static static ; }",
        ),
        (
            "class A { private async *a(): AsyncGenerator<number> {} }",
            "class A { ; async *a() {} }",
        ),
        ("class A { static { let x: number = 1 } }", "class A { static { let x = 1 } }"),
    ]);
}

#[test]
fn parameter_properties_are_declared_and_set() {
    cases(&[
        (
            "class A { constructor(private a: number, b: string, public readonly c = 1) { f() } }",
            "class A { a; c; constructor( a , b , c = 1) { this.a = a; this.c = c; f() } }",
        ),
        (
            "class A extends B { constructor(private a: number) { super(a); f() } }",
            "class A extends B { a; constructor( a ) { super(a);; this.a = a; f() } }",
        ),
        (
            "class A extends B { constructor(override a: number) {\nsuper(a)\nf() } }",
            "class A extends B { a; constructor( a ) {\nsuper(a); this.a = a;\nf() } }",
        ),
        (
            "class A { constructor(private a?: number) { 'use strict'; f() } }",
            "class A { a; constructor( a ) { 'use strict';; this.a = a; f() } }",
        ),
        (
            "class A { constructor(private a?: number); constructor(private a: any) {} }",
            "class A { a; ; constructor( a ) { this.a = a;} }",
        ),
    ]);
}

#[test]
fn a_line_end_still_ends_a_statement() {
    cases(&[
        ("const a = b as any\n(c)", "const a = b ;\n(c)"),
        ("let a: any\n(b as any)\n[c]", "let a ;\n(b )\n[c]"),
        ("a = b\ntype T = 1\n(c)", "a = b\n;\n(c)"),
        ("a = b\ninterface T {}\n[c]", "a = b\n;\n[c]"),
        ("a = b satisfies T\n`c`", "a = b ;\n`c`"),
        ("if (a) b as any\nelse c as any", "if (a) b ;\nelse c ;"),
        ("function f() { return a as any\n}", "function f() { return a ;\n}"),
        ("class A { a = 1\nprivate *b() {} }", "class A { a = 1\n; *b() {} }"),
        ("class A { a = 1\nprivate ['b'] = 2 }", "class A { a = 1\n; ['b'] = 2 }"),
        ("class A { a() {}\n[k: string]: any\n['b'] = 2 }", "class A { a() {}\n;\n['b'] = 2 }"),
        ("class A { get: number\nfoo() {} }", "class A { get ;\nfoo() {} }"),
        ("class A { a = b as any\n['c'] = 1 }", "class A { a = b ;\n['c'] = 1 }"),
        ("export default a as any\n(b)", "export default a ;\n(b)"),
        ("const a = f<number>\n;[b]", "const a = f\n;[b]"),
    ]);
}

#[test]
fn no_line_end_comes_before_an_arrow_or_after_async() {
    cases(&[
        ("const f = (a: number):\n  number => a;", "const f = (a\n) => a;"),
        ("const f = (a: number): {\n  x: 1\n} => a;", "const f = (a\n\n) => a;"),
        ("const f = (a: number)\n: number => a;", "const f = (a\n) => a;"),
        ("const f = async <\n  T\n>(a: T) => a;", "const f = async (\n\na ) => a;"),
        ("function g() { return <\n  T\n>(a: T) => a }", "function g() { return (\n\na ) => a }"),
    ]);
}

#[test]
fn enums_and_namespaces_are_lowered_with_a_map() {
    let text = "enum A { X = 1, Y }\n\nexport function f(a: A) {\n  return boom(a);\n}\n";
    let prepared = prepare(text, Language::TypeScript).unwrap_or_else(|fault| panic!("{fault:?}"));
    let code = prepared.code.expect("generated");
    let map = prepared.generated.expect("a map");
    let lines = Lines::of(&code);
    let at = code.find("boom").expect("the call is still there") as u32;
    let (line, column) = lines.locate(&code, at);
    assert_eq!(map.nearest(line, column), (4, 10));
    for text in [
        "const enum A { X }\nf(A.X);",
        "namespace N { export const a: number = 1 }\nf(N.a);",
        "export enum A { X = 'x' }",
        "export namespace N { export const a = 1; export namespace M { export const b = 2 } }",
    ] {
        let prepared = prepare(text, Language::TypeScript);
        assert!(prepared.is_ok_and(|it| it.generated.is_some()), "{text}");
    }
}

#[test]
fn crlf_and_multibyte_types_keep_their_bytes() {
    let text = "type É = '日本';\r\nconst x: 'ü' | É = 'ü'\r\n(0)\r\n";
    let prepared = prepare(text, Language::TypeScript).unwrap_or_else(|fault| panic!("{fault:?}"));
    let code = prepared.code.expect("blanked");
    assert_in_place(text, &code);
    assert_eq!(squeeze(&code), ";\nconst x = 'ü'\n(0)");
}

#[test]
fn a_fault_in_typescript_is_told_in_the_authors_text() {
    let fault = |text: &str| prepare(text, Language::TypeScript).err().expect(text);
    let text = "const a: number = ;";
    assert_eq!(fault(text).start, 18);
    let text = "const a: number = 1;\nlet a = 2;";
    assert_eq!(&text[fault(text).start as usize..][..1], "a");
    let text = "class A { constructor(private a: 1) {} } const b = 1; let b = 2;";
    let start = fault(text).start as usize;
    assert_eq!(&text[start..=start], "b");
    let text = "enum A { X }\nconst b = 1;\nlet b = 2;";
    assert!(fault(text).message.contains("`b`"), "{:?}", fault(text));
    let text = "class A { @d private x: number = 1; @d #m(): void {} }";
    assert_eq!(&text[fault(text).start as usize..][..2], "#m");
    let text = "class A { @d private x: number = 1; m(@d y: number) {} }";
    assert_eq!(&text[fault(text).start as usize..][..2], "@d");
}

#[test]
fn javascript_with_types_is_told_to_change_its_name() {
    let fault = prepare("let a: number;", Language::JavaScript).err().expect("a fault");
    assert_eq!(fault.message, "this is TypeScript, not JavaScript");
    let fault = prepare("let a = ;", Language::JavaScript).err().expect("a fault");
    assert_eq!(fault.message, "Unexpected token");
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    /// Statements whose ends and beginnings are all the ways in which blanking could go wrong.
    const STATEMENTS: [&str; 24] = [
        "const a: number = b as any",
        "(c as any)",
        "[d!]",
        "`e`",
        "type F<T> = {\n  g: T\n}",
        "interface H { i: 'é日😀' }",
        "let j: string | undefined",
        "declare const k: number;",
        "function l<T>(m?: T, ...n: T[]): T { return m! }",
        "function o(p: string): void",
        "class Q<T> extends R<T> implements S { private t = 1\nreadonly ['u']: number = 2\n[v: string]: any\nget: T\nw() {} }",
        "abstract class X { abstract y(): void; protected static async z(): Promise<void> {} }",
        "const aa = async <T,>(bb: T): Promise<T> => bb as T",
        "const cc = (dd: any):\n  dd is string => true",
        "ee<number>(1)",
        "ff = gg satisfies HH",
        "if (ii) jj as any; else kk as any",
        "for (const ll of mm as any[]) { nn! }",
        "/re/.test(oo!)",
        "++pp",
        "-qq!",
        "try { rr } catch (ss: unknown) {}",
        "const tt = { uu(this: any, vv: number): void {}, get ww(): any { return 1 } }",
        "import { Xx } from './xx.ts'",
    ];

    const ENDS: [&str; 3] = ["\n", "\r\n", ";\n"];

    /// If it is TypeScript, it is blanked and not lowered, and nothing moves.
    fn check(picks: &[(usize, usize)]) {
        let statements = picks.iter().map(|(pick, end)| [STATEMENTS[*pick], ENDS[*end]].concat());
        let text: String = statements.collect();
        // Some picks in a row are one statement, or none at all, in TypeScript too.
        if let Ok(prepared) = prepare(&text, Language::TypeScript) {
            assert!(prepared.generated.is_none(), "was lowered: {text}");
            let code = prepared.code.unwrap_or_else(|| text.clone());
            assert_in_place(&text, &code);
        }
    }

    /// All pairs, alone and around a function that is declared twice: the first of the two goes.
    #[test]
    fn all_pairs_of_statements_are_blanked() {
        let function =
            STATEMENTS.iter().position(|text| text.starts_with("function l")).expect("one");
        for first in 0..STATEMENTS.len() {
            for second in 0..STATEMENTS.len() {
                for end in 0..ENDS.len() {
                    check(&[(first, end), (second, 0)]);
                    check(&[(first, end), (function, end), (second, end), (function, 0)]);
                    check(&[(function, end), (first, end), (function, end), (second, 0)]);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn blanking_moves_nothing_and_leaves_as_many_statements(
            picks in proptest::collection::vec((0..STATEMENTS.len(), 0..3_usize), 1..8)
        ) {
            check(&picks);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            let _ = prepare(&text, Language::TypeScript);
        }

        #[test]
        fn no_row_of_tokens_makes_it_panic(
            tokens in proptest::collection::vec(
                prop::sample::select(vec![
                    "a", "b", "<", ">", "(", ")", "{", "}", "[", "]", ":", ";", ",", "=", "=>",
                    "!", "?", ".", "as", "class", "function", "type", "interface", "enum",
                    "namespace", "import", "export", "default", "from", "'x'", "abstract",
                    "declare", "private", "async", "await", "new", "return", "let", "*", "\n",
                    "`", "${", "/", "@", "extends", "implements", "constructor", "this", "require",
                ]),
                0..25,
            )
        ) {
            let _ = prepare(&tokens.join(" "), Language::TypeScript);
        }
    }
}

/// The rest of JavaScript.
fn javascript_left(text: &str) -> String {
    let prepared = prepare(text, Language::JavaScript).expect("is JavaScript");
    squeeze(&prepared.code.unwrap_or_else(|| text.to_owned()))
}

#[test]
fn of_functions_declared_twice_the_last_one_stays() {
    let cases = [
        (
            "function f() {} export const a = 1; function f() { 2 }",
            "; export const a = 1; function f() { 2 }",
        ),
        (
            "a = b\nfunction f() {}\n(c)\nfunction f() { 2 }\nexport {}",
            "a = b\n;\n(c)\nfunction f() { 2 }\nexport {}",
        ),
        ("export function f() { 1 }\nfunction f() { 2 }", "export{f};\nfunction f() { 2 }"),
        (
            "export default function f() { 1 }\nfunction f() { 2 }",
            "export{f as default};\nfunction f() { 2 }",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(javascript_left(text), expected);
    }
    for text in
        ["export const f = 1; function f() {}", "export {}; async function f() {} function f() {}"]
    {
        assert!(prepare(text, Language::JavaScript).is_err(), "{text}");
    }
}

#[test]
fn methods_that_are_taken_away_are_seen() {
    let takes = |text: &str| {
        let prepared = prepare(text, Language::JavaScript).expect("is JavaScript");
        prepared.identifiers.contains(crate::TAKES_METHODS)
    };
    for text in [
        "const { json } = f();",
        "const { json: read } = f();",
        "const read = r.json;",
        "g(r.html)",
        "(({ html }) => html)(r)",
    ] {
        assert!(takes(text), "{text}");
    }
    for text in [
        "r.json();",
        "r.json('a').b; r.html().find(r.json())",
        "const json = r.json();",
        "r?.json()",
        "const { a } = r;",
    ] {
        assert!(!takes(text), "{text}");
    }
}

/// The code for a text with decorators, without the runtime behind it.
fn decorated(text: &str) -> String {
    let prepared = prepare(text, Language::TypeScript).map_err(|fault| format!("{fault:?}"));
    let code = prepared.expect(text).code.expect("was changed");
    let (code, _) = code.split_once("\nfunction __brunt_decorators").expect("a runtime");
    code.to_owned()
}

#[test]
fn decorators_stay_where_they_stand() {
    let text = "@a\n@b(\n  1)\nexport class C<T> {\n  @c\n  private x: number = 1\n  @d @e static async m(): Promise<void> {}\n}\nnext();";
    let code = decorated(text);
    assert_eq!(code.lines().count(), text.lines().count(), "{code}");
    let line = |number: usize| code.lines().nth(number - 1).expect("as many lines");
    assert!(
        line(1).starts_with("const __decorators0=__brunt_decorators();export let C;C="),
        "{code}"
    );
    assert!(line(2).ends_with("b(") && line(3).ends_with("1)],"), "{code}");
    assert!(line(4).trim_start().starts_with("class "), "{code}");
    assert!(line(5).contains("member(this,0,\"field\",false,\"x\",[ c])}"), "{code}");
    assert!(line(6).contains("= __decorators0.value(0,this,1);#__decorators0_0="), "{code}");
    assert!(
        line(7).contains("member(this,1,\"method\",true,\"m\",[ d,  e])} static async m()"),
        "{code}"
    );
    assert_eq!(line(8), "});");
    assert_eq!(line(9), "next();");
}

#[test]
fn places_behind_decorators_are_the_authors() {
    let text = "class A { @d m(a: number) { oops } }\nlet a = 1;\nlet b = (2 as number);";
    let prepared = prepare(text, Language::TypeScript).map_err(|fault| format!("{fault:?}"));
    let prepared = prepared.expect(text);
    let code = prepared.code.expect("was changed");
    for word in ["oops", "let a", "let b"] {
        let offset = code.find(word).expect("is there") as u32;
        assert_eq!(unshift_offset(&prepared.shifts, offset), text.find(word).expect("is") as u32);
    }
}

#[test]
fn accessors_are_a_field_and_two_functions() {
    assert_eq!(
        left("class A { accessor x: number = 1; }"),
        "class A { get x(){return this.#accessor0_0}set x(v){this.#accessor0_0=v}#accessor0_0 = 1; }"
    );
}
