//! Any text as the JSON of a gRPC message, and any bytes as a message.
//!
//! A message that can be read in one form can be written in the other, and from then on the JSON is the same at each turn.
#![no_main]

use std::sync::{Arc, LazyLock};

use brunt_grpc::{Method, Schema};
use libfuzzer_sys::fuzz_target;

/// A field of each kind, those that have a form of their own in JSON among them.
const PROTO: &str = r#"
syntax = "proto3";
package orchard;
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Ripeness { GREEN = 0; RIPE = 1; ROTTEN = -3; }

message Tree {
  double height = 1;
  float girth = 2;
  int32 a = 3;
  int64 b = 4;
  uint32 c = 5;
  uint64 d = 6;
  sint32 e = 7;
  sint64 f = 8;
  fixed32 g = 9;
  fixed64 h = 10;
  sfixed32 i = 11;
  sfixed64 j = 12;
  bool blooms = 13;
  string name = 14;
  bytes seed = 15;
  Ripeness ripeness = 16;
  Tree graft = 17;
  repeated int32 rings = 18;
  repeated string birds = 19;
  repeated Tree neighbours = 20;
  map<string, Tree> by_name = 21;
  map<int64, Ripeness> by_year = 22;
  map<bool, bytes> by_day = 23;
  oneof fate { string felled = 24; Tree grown = 25; google.protobuf.NullValue lost = 26; }
  optional int32 age = 27;
  google.protobuf.Timestamp planted = 28;
  google.protobuf.Duration watered = 29;
  google.protobuf.Struct notes = 30;
  google.protobuf.ListValue list = 31;
  google.protobuf.Value any_value = 32;
  google.protobuf.DoubleValue maybe_height = 33;
  google.protobuf.Int64Value maybe_count = 34;
  google.protobuf.StringValue maybe_name = 35;
  google.protobuf.BytesValue maybe_seed = 36;
  google.protobuf.BoolValue maybe_blooms = 37;
  string shown = 38 [json_name = "displayed \"as\""];
}

service Orchard { rpc Plant(Tree) returns (Tree); }
"#;

static ORCHARD: LazyLock<(Schema, Arc<Method>)> = LazyLock::new(|| {
    let source = |name: &str| (name == "orchard.proto").then(|| Ok(PROTO.to_owned()));
    let schema = Schema::compile(&["orchard.proto".to_owned()], Box::new(source));
    let schema = schema.expect("a sound description");
    let method = schema.find("/orchard.Orchard/Plant").expect("its method").clone();
    (schema, method)
});

fuzz_target!(|input: &[u8]| {
    let Some((&control, input)) = input.split_first() else { return };
    let (schema, method) = &*ORCHARD;
    let read = |bytes: &[u8]| schema.decode_request(method, bytes);
    let write = |text: &str| {
        let mut bytes = Vec::new();
        schema.encode(method, text, &mut bytes).map(|()| bytes)
    };
    let text = if control & 1 == 1 {
        let Ok(text) = std::str::from_utf8(input) else { return };
        let Ok(bytes) = write(text) else { return };
        read(&bytes).expect("a message that we wrote can be read")
    } else {
        let Ok(text) = read(input) else { return };
        text
    };
    serde_json::from_str::<serde_json::Value>(&text).expect("what is written is JSON");
    let bytes = write(&text).expect("JSON that we wrote can be read");
    let again = read(&bytes).expect("a message that we wrote can be read");
    assert_eq!(again, text);
});
