//! `k6/net/grpc` against the demo target's gRPC port.

use crate::support::{brunt, repository};

/// Runs a script beside the descriptions of the demo target; returns its console lines.
fn lines(script: &str) -> Vec<String> {
    let proto = |name: &str| {
        let path = repository("crates/demo/proto").join(name);
        std::fs::read_to_string(path).expect("a description of the demo target")
    };
    let told = brunt("run --quiet --demo --log-format json t.js")
        .file("t.js", script)
        .file("hello.proto", proto("hello.proto"))
        .file("brunt/demo.proto", proto("brunt/demo.proto"))
        .told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    let mut lines = Vec::new();
    for line in told.stderr.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert_ne!(line["level"], "error", "{line}");
        lines.push(line["msg"].as_str().unwrap_or_default().to_owned());
    }
    lines
}

#[test]
fn calls_come_back_with_messages_metadata_and_status() {
    let told = lines(
        "import grpc from 'k6/net/grpc';
         const client = new grpc.Client();
         console.log(client.load([], 'hello.proto').length, client.load(null, 'brunt/demo.proto').length);
         export default function () {
           client.connect(__ENV.DEMO_GRPC, { plaintext: true });
           const hello = client.invoke('hello.HelloService/SayHello', { greeting: 'x' });
           console.log(JSON.stringify(hello));
           const echo = (metadata) => client.invoke('brunt.demo.Echo/Unary', { aString: 'é', numbers: [1, 2] }, { metadata });
           const mine = echo({ 'x-a': 'b', 'x-b-bin': new Uint8Array([104, 105]) });
           console.log(mine.message.aString, mine.message.numbers.join(), mine.headers['x-a'][0], mine.trailers['tx-b-bin'][0]);
           const failed = echo({ 'demo-status': '5', 'demo-message': 'no % here', 'demo-details': 'why' });
           console.log(+failed.status, failed.error.message, failed.error.details[0].aString);
         }",
    );
    // Init code runs for each VM, also after the VUs.
    assert_eq!(told[0], "4 4");
    let told: Vec<_> = told.iter().filter(|line| *line != "4 4").collect();
    assert_eq!(
        told[told.len() - 3..],
        [
            r#"{"message":{"reply":"hello x"},"error":null,"headers":{"content-type":["application/grpc"]},"trailers":{},"status":0}"#,
            "é 1,2 b hi",
            "5 no % here why",
        ]
    );
}

#[test]
fn what_goes_wrong_in_the_middle_is_a_status() {
    let told = lines(
        "import grpc from 'k6/net/grpc';
         const client = new grpc.Client();
         client.load([], 'brunt/demo.proto');
         export default function () {
           client.connect(__ENV.DEMO_GRPC, { plaintext: true });
           const echo = (metadata, more) => {
             const r = client.invoke('brunt.demo.Echo/Unary', { aString: 'x' }, { metadata, ...more });
             console.log(+r.status, r.error && r.error.message);
           };
           echo({ 'demo-reset': '8' });
           echo({ 'demo-goaway': '11' });
           echo({});
           echo({ 'demo-size': '5000000' });
           echo({ 'demo-garbage': '1' });
           echo({ 'demo-delay': '5000' }, { timeout: '50ms' });
           echo({});
           client.close();
           client.connect(__ENV.DEMO_GRPC, { plaintext: true, maxReceiveSize: 10, maxSendSize: 2 });
           echo({});
         }",
    );
    let expected = [
        "1 stream terminated by RST_STREAM with error code: CANCEL",
        "14 closing transport due to: connection error: desc = \"error reading from server: EOF\", received prior goaway: \
         code: ENHANCE_YOUR_CALM",
        "0 null",
        "8 grpc: received message larger than max (5000005 vs. 4194304)",
        "13 grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data",
        "4 context deadline exceeded",
        "0 null",
        "8 trying to send message larger than max (3 vs. 2)",
    ];
    assert_eq!(told, expected);
}

#[test]
fn streams_bring_messages_errors_and_an_end() {
    let told = lines(
        "import { Client, Stream } from 'k6/net/grpc';
         const client = new Client();
         client.load([], 'hello.proto', 'brunt/demo.proto');
         const run = (method, params, messages) => new Promise((resolve) => {
           const stream = new Stream(client, method, params);
           const seen = [];
           stream.on('data', (d) => seen.push(d.reply || d.aString.length));
           stream.on('error', (e) => seen.push(`${+e.code} ${e.message}`));
           stream.on('end', () => { console.log(seen.join('; ')); resolve(); });
           messages.forEach((m) => stream.write(m));
           stream.end();
         });
         export default async function () {
           client.connect(__ENV.DEMO_GRPC, { plaintext: true });
           await run('hello.HelloService/BidiHello', {}, [{ greeting: 'a' }, { greeting: 'b' }]);
           await run('hello.HelloService/LotsOfGreetings', {}, [{ greeting: 'a' }, { greeting: 'b' }]);
           await run('brunt.demo.Echo/Down', { metadata: { 'demo-repeat': '3', 'demo-size': '200000' } }, [{}]);
           await run('brunt.demo.Echo/Both', { metadata: { 'demo-status': '7' } }, [{ aString: 'x' }]);
           await run('brunt.demo.Echo/Both', {}, [{ nope: 'x' }]);
           const big = 'y'.repeat(10000);
           await run('brunt.demo.Echo/Up', {}, Array.from({ length: 3000 }, () => ({ aString: big })));
         }",
    );
    let expected = [
        "hello a; hello b",
        "hello a, b",
        "200000; 200000; 200000",
        "1; 7 as you wish",
        "2 can't serialise request object to protocol buffer: proto: (line 1:2): unknown field \"nope\"",
        "10000",
    ];
    assert_eq!(told, expected);
}

#[test]
fn certificates_are_looked_at_and_shown() {
    let told = lines(
        "import grpc from 'k6/net/grpc';
         import http from 'k6/http';
         const client = new grpc.Client();
         export const options = { hosts: { 'elsewhere.test': '127.0.0.1' } };
         const tell = (run) => { try { console.log(run()); } catch (e) { console.log(e.message); } };
         export default function () {
           tell(() => client.connect(__ENV.DEMO_GRPC, { timeout: '2s' }));
           tell(() => client.connect('127.0.0.1:1', { plaintext: true }));
           tell(() => client.connect('no.such.invalid:1', { plaintext: true, timeout: '5s' }).length);
           tell(() => client.connect(`elsewhere.test:${__ENV.DEMO_GRPC.split(':')[1]}`, { plaintext: true, reflect: true }));
           tell(() => client.invoke('hello.HelloService/SayHello', {}).message.reply);
           // A server of HTTP/1.1 is none of gRPC.
           tell(() => client.connect(__ENV.DEMO_URL.slice(7), { plaintext: true, timeout: '2s' }));
           tell(() => client.connect(__ENV.DEMO_GRPC, { plaintext: true, reflect: true, reflectMetadata: { 'demo-refuse': '1' } }));
         }",
    );
    let begin = "connection error: desc = \"";
    let late = "context deadline exceeded: ";
    let failed = format!("{late}{begin}transport: authentication handshake failed");
    assert!(told[0].starts_with(&failed), "{told:?}");
    assert_eq!(
        told[1],
        format!(
            "{begin}transport: error while dialing: dial tcp 127.0.0.1:1: connect: connection refused\""
        )
    );
    assert!(told[2].contains("lookup"), "{told:?}");
    assert_eq!(told[3..5], ["true", "hello there"]);
    let failed = format!("{late}{begin}error reading server preface");
    assert!(told[5].starts_with(&failed), "{told:?}");
    assert_eq!(
        told[6],
        "can't list services: rpc error: code = Unimplemented desc = unknown service \
         grpc.reflection.v1alpha.ServerReflection"
    );
}

#[test]
fn a_broken_description_ends_the_test_with_its_place() {
    let told = brunt("run --quiet t.js")
        .file(
            "t.js",
            "import grpc from 'k6/net/grpc';
             new grpc.Client().load([], 'broken.proto');
             export default function () {}",
        )
        .file("broken.proto", "syntax = \"proto3\";\nmessage {\n")
        .told();
    assert_eq!(told.code, 107, "{}", told.stderr);
    assert!(told.stderr.contains("broken.proto"), "{}", told.stderr);
}

#[test]
fn calls_and_streams_are_counted_with_their_tags() {
    let script = "import { Client, Stream } from 'k6/net/grpc';
         const client = new Client();
         client.load([], 'hello.proto');
         export const options = { iterations: 2, thresholds: { grpc_req_duration: ['max<60000'] } };
         export default function () {
           client.connect(__ENV.DEMO_GRPC, { plaintext: true });
           client.invoke('hello.HelloService/SayHello', {}, { tags: { mine: 'a' } });
           const stream = new Stream(client, 'hello.HelloService/BidiHello');
           stream.write({ greeting: 'x' });
           stream.end();
         }";
    let mut run = brunt("run --quiet --demo --out json=out.json t.js").file("t.js", script).file(
        "hello.proto",
        std::fs::read_to_string(repository("crates/demo/proto/hello.proto")).unwrap(),
    );
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    let out = run.read("out.json");
    let points = |name: &str| -> Vec<serde_json::Value> {
        let lines = out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
        lines
            .filter(|line: &serde_json::Value| line["metric"] == name && line["type"] == "Point")
            .collect()
    };
    assert_eq!(points("grpc_req_duration").len(), 4);
    for name in ["grpc_streams", "grpc_streams_msgs_sent", "grpc_streams_msgs_received"] {
        assert_eq!(points(name).len(), 2, "{name}");
    }
    let first = &points("grpc_req_duration")[0]["data"]["tags"];
    let text = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("service"), "hello.HelloService");
    assert_eq!(text("method"), "SayHello");
    assert_eq!(text("name"), "/hello.HelloService/SayHello");
    assert!(text("url").ends_with("/hello.HelloService/SayHello"), "{first}");
    assert_eq!((text("status"), text("mine")), ("0".to_owned(), "a".to_owned()));
    let sent: f64 = points("data_sent").iter().filter_map(|p| p["data"]["value"].as_f64()).sum();
    assert!(sent > 200.0, "{sent}");
    assert!(told.stdout.contains("GRPC"), "{}", told.stdout);
}

#[test]
fn a_script_may_write_many_messages_before_it_reads_any() {
    let told = lines(
        "import grpc from 'k6/net/grpc';
         const client = new grpc.Client();
         client.load([], 'brunt/demo.proto');
         export default function () {
           client.connect(__ENV.DEMO_GRPC, { plaintext: true });
           const stream = new grpc.Stream(client, 'brunt.demo.Echo/Both');
           let count = 0;
           stream.on('data', () => count++);
           stream.on('end', () => console.log('end', count));
           const aString = 'x'.repeat(1000);
           for (let i = 0; i < 5000; i++) stream.write({ aString });
           stream.end();
         }",
    );
    assert!(told.iter().any(|line| line == "end 5000"), "{told:?}");
}
