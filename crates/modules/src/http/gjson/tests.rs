//! The answers of k6 1.8.1.

use super::get;

const ROOMS: &str = r#"{"a.b":1,"rooms":[{"name":"attic","floor":3,"has":["bed","lamp"]},
    {"name":"cellar","floor":-1},{"name":"study","floor":2}]}"#;

fn found(json: &str, path: &str) -> String {
    get(json, path).map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned)
}

#[test]
fn paths_indexes_and_wildcards_find_what_k6_finds() {
    let json = r#"{"b":1,"a":{"x":[1,2,{"y":"z"}]},"n":null,"u":"\u00e9\n", "e":[], "o" : { } }"#;
    for (path, wanted) in [
        ("b", "1"),
        ("a.x.0", "1"),
        ("a.x.#", "3"),
        ("a.x.2.y", r#""z""#),
        ("a.x.#.y", r#"["z"]"#),
        ("n", "null"),
        ("*", "1"),
        ("a.*", r#"[1,2,{"y":"z"}]"#),
        ("a|x|0", "1"),
        ("{b,n}", r#"{"b":1,"n":null}"#),
        ("[b,a.x.0]", "[1,1]"),
        ("a.x.-1", "-"),
        ("a.x.9", "-"),
        ("b.c", "-"),
        ("zz", "-"),
        ("", "-"),
        ("..#", "1"),
        ("..0.b", "1"),
        ("e.#", "0"),
        ("e.#.x", "[]"),
        ("o", "{ }"),
        ("o.x", "-"),
        ("@keys", r#"["b","a","n","u","e","o"]"#),
        ("a.@values", r#"[[1,2,{"y":"z"}]]"#),
        ("a.x.@reverse", r#"[{"y":"z"},2,1]"#),
        ("a.x|@reverse|0.y", r#""z""#),
        ("u|@tostr", r#""\"\\u00e9\\n\"""#),
        (r#"!"x""#, r#""x""#),
        ("!5", "5"),
        (r#"{"k":!"x","j":b}"#, r#"{"k":"x","j":1}"#),
        ("@nosuch", "-"),
    ] {
        assert_eq!(found(json, path), wanted, "{path}");
    }
}

#[test]
fn queries_find_what_k6_finds() {
    for (path, wanted) in [
        (r"a\.b", "1"),
        (r#"rooms.#(name=="attic").floor"#, "3"),
        ("rooms.#(floor<3)#.name", r#"["cellar","study"]"#),
        ("rooms.#(floor<3).name", r#""cellar""#),
        ("rooms.#[floor<3].name", r#""cellar""#),
        (r#"rooms.#(name%"*u*").name"#, r#""study""#),
        (r#"rooms.#(name!%"a*").name"#, r#""cellar""#),
        (r#"rooms.#(has.#(=="lamp"))#.name"#, r#"["attic"]"#),
        ("rooms.#.name", r#"["attic","cellar","study"]"#),
        ("rooms.#.has", r#"[["bed","lamp"]]"#),
        ("rooms.#(floor>9)", "-"),
        ("rooms.#(floor>9)#", "[]"),
        ("rooms.@reverse.0.name", r#""study""#),
        (r#"rooms.#(name!="attic")#.name"#, r#"["cellar","study"]"#),
        ("rooms.#.floor|#", "3"),
        ("rooms.#(floor<=2)#.floor", "[-1,2]"),
        ("rooms.#.{name,floor}|1", r#"{"name":"cellar","floor":-1}"#),
        ("rooms.#(floor==3)#|0.name", r#""attic""#),
        ("rooms.0|@keys", r#"["name","floor","has"]"#),
        (r#"{"x":rooms.0.name,"y":a\.b}"#, r#"{"x":"attic","y":1}"#),
        ("roo*.0.name", r#""attic""#),
        ("r?oms.0.floor", "3"),
        ("rooms.#(has)#.floor", "[3]"),
        ("rooms.#(", "-"),
        ("rooms.#(a", "-"),
    ] {
        assert_eq!(found(ROOMS, path), wanted, "{path}");
    }
}

#[test]
fn modifiers_change_values_as_in_k6() {
    for (json, path, wanted) in [
        ("[1,[2,3],[[4]]]", "@flatten", "[1,2,3,[4]]"),
        ("[1,[2,3],[[4]]]", r#"@flatten:{"deep":true}"#, "[1,2,3,4]"),
        (r#"[{"a":1},{"a":2,"b":3},5]"#, "@join", r#"{"a":2,"b":3}"#),
        (r#"[{"a":1},{"a":2}]"#, r#"@join:{"preserve":true}"#, r#"{"a":1,"a":2}"#),
        (r#"{"a":[1,2],"b":[3]}"#, "@group", r#"[{"a":1,"b":3},{"a":2}]"#),
        (r#"{"s":"{\"x\":1}"}"#, "s.@fromstr.x", "1"),
        (r#"{"a":1,"b":2}"#, "@reverse", r#"{"b":2,"a":1}"#),
        (r#"[true,false,"x",3]"#, "#(==true)#", "[true]"),
        ("[1,5,9]", "#(>=5)#", "[5,9]"),
        (r#"[{"v":0},{"v":1},{}]"#, "#(v==~true)#", r#"[{"v":1}]"#),
    ] {
        assert_eq!(found(json, path), wanted, "{path}");
    }
}

#[test]
fn a_path_that_nests_without_end_finds_nothing() {
    assert_eq!(found(ROOMS, &"@this|".repeat(100_000)), "-");
    assert_eq!(found(ROOMS, &"{".repeat(100_000)), "-");
    assert_eq!(found(ROOMS, &"*.".repeat(100_000)), "-");
    let dug = found("1", &"@dig:".repeat(10_000));
    assert!(dug.len() < 200 && dug.starts_with("[["), "{dug}");
}
