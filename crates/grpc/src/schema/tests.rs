use super::*;

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/field_mask.proto";
service S { rpc M(All) returns (All); rpc Both(stream All) returns (stream All); }
enum Kind { ZERO = 0; ONE = 1; }
message Inner { string label = 1; int64 size = 2; Inner inner = 3; }
message All {
  double d = 1; float f = 2; int32 i = 3; int64 l = 4; sint32 s = 5; fixed64 x = 6;
  bool b = 7; string text = 8; bytes raw = 9; Kind kind = 10; Inner inner = 11;
  repeated int32 numbers = 12; repeated string words = 13; map<string, int32> counts = 14;
  map<int32, Inner> by_number = 15;
  oneof choice { string left = 16; int32 right = 17; }
  optional int32 maybe = 18;
  google.protobuf.Value value = 19; google.protobuf.Struct tree = 20;
  google.protobuf.Timestamp at = 21; google.protobuf.Duration took = 22; google.protobuf.Any any = 23;
  google.protobuf.Int64Value boxed = 24; google.protobuf.FieldMask mask = 25;
  repeated int32 loose = 26 [packed = false]; google.protobuf.ListValue list = 27;
}
"#;

fn compile(text: &'static str) -> Result<Schema, SchemaError> {
    let source = move |name: &str| (name == "t.proto").then(|| Ok(text.to_owned()));
    Schema::compile(&["t.proto".to_owned()], Box::new(source))
}

fn schema() -> Schema {
    compile(PROTO).unwrap()
}

/// JSON to bytes and back; what equals the empty message is left out.
fn echo(schema: &Schema, text: &str) -> Result<String, String> {
    let method = schema.find("/t.S/M").unwrap();
    let mut bytes = Vec::new();
    schema.encode(method, text, &mut bytes).map_err(|error| error.to_string())?;
    let empty = schema.decode(method, &[]).unwrap();
    let shown = schema.decode(method, &bytes).map_err(|error| error.to_string())?;
    let parse = |text: &str| -> Vec<String> {
        // Members of the outermost object, for texts without commas in strings.
        let mut parts = vec![String::new()];
        let mut depth = 0;
        for letter in text[1..text.len() - 1].chars() {
            depth += i32::from("{[".contains(letter)) - i32::from("}]".contains(letter));
            if letter == ',' && depth == 0 {
                parts.push(String::new());
            } else {
                parts.last_mut().unwrap().push(letter);
            }
        }
        parts
    };
    let empty = parse(&empty);
    let kept: Vec<_> = parse(&shown).into_iter().filter(|part| !empty.contains(part)).collect();
    Ok(kept.join(","))
}

#[test]
fn methods_are_found_by_their_paths() {
    let schema = schema();
    let paths: Vec<_> = schema.methods().iter().map(|method| method.path.as_str()).collect();
    assert_eq!(paths, ["/t.S/M", "/t.S/Both"]);
    let method = schema.find("/t.S/Both").unwrap();
    assert_eq!((&*method.package, &*method.service, &*method.name), ("t", "S", "Both"));
    assert!(method.is_client_stream && method.is_server_stream);
    assert!(schema.find("t.S/M").is_none());
}

#[test]
fn fields_without_presence_are_always_there() {
    let schema = schema();
    let method = schema.find("/t.S/M").unwrap();
    assert_eq!(
        schema.decode(method, &[]).unwrap(),
        r#"{"d":0,"f":0,"i":0,"l":"0","s":0,"x":"0","b":false,"text":"","raw":"","kind":"ZERO","inner":null,"numbers":[],"words":[],"counts":{},"byNumber":{},"value":null,"tree":null,"at":null,"took":null,"any":null,"boxed":null,"mask":null,"loose":[],"list":null}"#
    );
}

#[test]
fn what_is_sent_is_what_comes_back() {
    let schema = schema();
    for text in [
        r#""d":1.5,"f":0.1,"i":-5,"l":"9007199254740993","s":-1,"x":"18446744073709551615","b":true,"text":"ä","raw":"AQID","kind":"ONE""#,
        r#""inner":{"label":"a","size":"5","inner":null}"#,
        r#""numbers":[1,2,0,-7],"words":["a",""],"counts":{"":0,"a":2,"b":1}"#,
        r#""byNumber":{"-1":{"label":"","size":"0","inner":null},"2":{"label":"x","size":"0","inner":null}}"#,
        r#""left":"""#,
        r#""right":0,"maybe":0"#,
        r#""value":{"a":[null,true,1.5,"x",{}]}"#,
        r#""tree":{"a":{"b":1}},"list":[1,[],{}]"#,
        r#""at":"2024-02-29T12:00:00.500Z","took":"-1.500s","boxed":"0","mask":"aB.c""#,
        r#""any":{"@type":"x/t.Inner","label":"in","size":"0","inner":null}"#,
        r#""any":{"@type":"x/google.protobuf.Duration","value":"1s"}"#,
        r#""d":"NaN","f":"-Infinity","loose":[1,2]"#,
        r#""d":1e300,"f":1e-10"#,
    ] {
        assert_eq!(echo(&schema, &format!("{{{text}}}")).as_deref(), Ok(text));
    }
    // Other ways to say the same.
    for (said, meant) in [
        (r#"{"by_number":{"1":{}}}"#, r#""byNumber":{"1":{"label":"","size":"0","inner":null}}"#),
        (
            r#"{"l":7,"i":"1e2","raw":"_-8","kind":1}"#,
            r#""i":100,"l":"7","raw":"/+8=","kind":"ONE""#,
        ),
        (r#"{"kind":9,"d":"1e5"}"#, r#""d":100000,"kind":9"#),
        (r#"{"text":null,"inner":null,"numbers":null}"#, ""),
        (r#"{"at":"1970-01-01T01:00:00+01:00"}"#, r#""at":"1970-01-01T00:00:00Z""#),
    ] {
        assert_eq!(echo(&schema, said).as_deref(), Ok(meant), "{said}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let schema = schema();
    for (text, told) in [
        (r#"{"nope":1}"#, r#"proto: (line 1:2): unknown field "nope""#),
        (r#"{"text":5}"#, "proto: (line 1:9): invalid value for string field text: 5"),
        (r#"{"i":1.5}"#, "proto: (line 1:6): invalid value for int32 field i: 1.5"),
        (r#"{"i":3000000000}"#, "proto: (line 1:6): invalid value for int32 field i: 3000000000"),
        (r#"{"raw":"!!"}"#, r#"proto: (line 1:8): invalid value for bytes field raw: "!!""#),
        (r#"{"raw":{}}"#, "proto: (line 1:8): invalid value for bytes field raw: {"),
        (r#"{"kind":"X"}"#, r#"proto: (line 1:9): invalid value for enum field kind: "X""#),
        (r#"{"f":1e300}"#, "proto: (line 1:6): invalid value for float field f: 1e300"),
        (r#"{"numbers":5}"#, "proto: syntax error (line 1:12): unexpected token 5"),
        (r#"{"inner":[]}"#, "proto: syntax error (line 1:10): unexpected token ["),
        (
            r#"{"numbers":[null]}"#,
            "proto: (line 1:13): invalid value for int32 field numbers: null",
        ),
        (
            r#"{"counts":{"a":"x"}}"#,
            r#"proto: (line 1:16): invalid value for int32 field value: "x""#,
        ),
        (r#"{"byNumber":{"x":{}}}"#, r#"proto: (line 1:14): invalid value for int32 key: "x""#),
        (
            r#"{"left":"a","right":1}"#,
            r#"proto: (line 1:13): error parsing "right", oneof t.All.choice is already set"#,
        ),
        (r#"{"byNumber":{},"by_number":{}}"#, r#"proto: (line 1:16): duplicate field "by_number""#),
        (r#"{"at":"x"}"#, r#"proto: (line 1:7): invalid google.protobuf.Timestamp value "x""#),
        (r#"{"any":{"a":1}}"#, r#"proto: (line 1:8): missing "@type" field"#),
        (
            r#"{"any":{"@type":"n/x.Y"}}"#,
            r#"proto: (line 1:17): unable to resolve "n/x.Y": "not found""#,
        ),
        ("5", "proto: syntax error (line 1:1): unexpected token 5"),
        (r#"{"text":"#, "proto: (line 1:9): invalid value for string field text: "),
    ] {
        assert_eq!(echo(&schema, text).err().as_deref(), Some(told), "{text}");
    }
    let deep = format!("{}{}", r#"{"inner":"#.repeat(5000), "}".repeat(5000));
    assert!(echo(&schema, &deep).unwrap_err().contains("recursion"));
    let deep = format!("{{\"value\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(echo(&schema, &deep).is_err());
}

#[test]
fn later_values_replace_earlier_ones_and_messages_merge() {
    let schema = schema();
    let method = schema.find("/t.S/M").unwrap();
    // i = 1, i = 2; inner {label} and inner {size}; left, then right.
    let bytes =
        [0x18, 1, 0x18, 2, 0x5a, 3, 0x0a, 1, b'a', 0x5a, 2, 0x10, 9, 0x82, 1, 1, b'l', 0x88, 1, 4];
    let text = schema.decode(method, &bytes).unwrap();
    assert!(text.contains(r#""i":2,"#), "{text}");
    assert!(text.contains(r#""inner":{"label":"a","size":"9","inner":null}"#), "{text}");
    assert!(text.contains(r#""right":4"#) && !text.contains("left"), "{text}");
    for broken in [&[0x18][..], &[0x5a, 9, 1], &[0x42, 1, 0xff], &[0xff; 9]] {
        assert!(schema.decode(method, broken).is_err(), "{broken:?}");
    }
    let mut deep = Vec::new();
    for _ in 0..5000 {
        deep.splice(0..0, {
            let mut head = vec![0x1a];
            prost::encoding::encode_varint(deep.len() as u64, &mut head);
            head
        });
    }
    let mut outer = Vec::new();
    crate::wire::put_bytes(11, &deep, &mut outer);
    assert_eq!(schema.decode(method, &outer), Err(DecodeError::Depth));
}

#[test]
fn broken_files_are_told_with_their_place() {
    let wrong = |text: &'static str| compile(text).unwrap_err().to_string();
    let told = wrong("syntax = \"proto3\";\nmessage {");
    assert!(told.contains("t.proto") && told.contains(":2:"), "{told}");
    let told = wrong("syntax = \"proto3\"; message A { B b = 1; }");
    assert!(told.contains('B'), "{told}");
    let told = wrong("syntax = \"proto3\"; import \"no.proto\";");
    assert!(told.contains("no.proto"), "{told}");
    assert!(Schema::from_protoset(b"\xff\xff").is_err());
    assert!(Schema::from_protoset(b"").unwrap().methods().is_empty());
}

#[test]
fn of_map_entries_with_the_same_key_the_last_counts() {
    let schema = schema();
    let method = schema.find("/t.S/M").unwrap();
    let mut bytes = Vec::new();
    for (key, value) in [(b'b', 1), (b'a', 1), (b'b', 2), (b'a', 3)] {
        crate::wire::put_bytes(14, &[0x0a, 1, key, 0x10, value], &mut bytes);
    }
    let text = schema.decode(method, &bytes).unwrap();
    assert!(text.contains(r#""counts":{"a":3,"b":2}"#), "{text}");
}

#[test]
fn a_message_with_a_known_name_and_other_fields_is_one_like_others() {
    let source = |name: &str| {
        Some(Ok(match name {
            "t.proto" => {
                "syntax = \"proto3\"; import \"google/protobuf/wrappers.proto\";
                 service S { rpc M(A) returns (A); }
                 message A { google.protobuf.Int64Value v = 1; }"
            }
            "google/protobuf/wrappers.proto" => {
                "syntax = \"proto3\"; package google.protobuf; message Int64Value {}"
            }
            _ => return None,
        }
        .to_owned()))
    };
    let schema = Schema::compile(&["t.proto".to_owned()], Box::new(source)).unwrap();
    let method = schema.find("/S/M").unwrap();
    let mut bytes = Vec::new();
    schema.encode(method, r#"{"v":{}}"#, &mut bytes).unwrap();
    assert_eq!(schema.decode(method, &bytes).unwrap(), r#"{"v":{}}"#);
}
