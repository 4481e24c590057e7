//! What k6 1.8.1 answered.

use super::get;

const FRIENDS: &str = r#"{"a.b":1,"friends":[{"first":"Dale","age":44,"nets":["ig","fb"]},
    {"first":"Roger","age":68},{"first":"Jane","age":47}]}"#;

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
        (r#"friends.#(first=="Dale").age"#, "44"),
        ("friends.#(age>45)#.first", r#"["Roger","Jane"]"#),
        ("friends.#(age>45).first", r#""Roger""#),
        ("friends.#[age>45].first", r#""Roger""#),
        (r#"friends.#(first%"D*").first"#, r#""Dale""#),
        (r#"friends.#(first!%"D*").first"#, r#""Roger""#),
        (r#"friends.#(nets.#(=="fb"))#.first"#, r#"["Dale"]"#),
        ("friends.#.first", r#"["Dale","Roger","Jane"]"#),
        ("friends.#.nets", r#"[["ig","fb"]]"#),
        ("friends.#(age>100)", "-"),
        ("friends.#(age>100)#", "[]"),
        ("friends.@reverse.0.first", r#""Jane""#),
        (r#"friends.#(first!="Dale")#.first"#, r#"["Roger","Jane"]"#),
        ("friends.#.age|#", "3"),
        ("friends.#(age<=47)#.age", "[44,47]"),
        ("friends.#.{first,age}|1", r#"{"first":"Roger","age":68}"#),
        ("friends.#(age==44)#|0.first", r#""Dale""#),
        ("friends.0|@keys", r#"["first","age","nets"]"#),
        (r#"{"x":friends.0.first,"y":a\.b}"#, r#"{"x":"Dale","y":1}"#),
        ("fri*.0.first", r#""Dale""#),
        ("frien?s.0.age", "44"),
        ("friends.#(nets)#.age", "[44]"),
        ("friends.#(", "-"),
        ("friends.#(a", "-"),
    ] {
        assert_eq!(found(FRIENDS, path), wanted, "{path}");
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
    assert_eq!(found(FRIENDS, &"@this|".repeat(100_000)), "-");
    assert_eq!(found(FRIENDS, &"{".repeat(100_000)), "-");
    assert_eq!(found(FRIENDS, &"*.".repeat(100_000)), "-");
    let dug = found("1", &"@dig:".repeat(10_000));
    assert!(dug.len() < 200 && dug.starts_with("[["), "{dug}");
}
