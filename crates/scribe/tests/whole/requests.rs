//! Requests of all kinds.

use brunt_correlate::plan::{Finder, Made, MadeKind, PathStep, Piece, Place, Secret};
use brunt_scribe::Content;
use brunt_traffic::{Body, Resource};

use crate::session::{Change as _, Journey, iteration, literal, value};

#[test]
fn a_programs_calls_are_objects_and_names() {
    let mut journey = Journey::new();
    let fetch = Resource::Fetch;
    let made = MadeKind::Uuid;
    journey
        .send(0, "POST", "/anything/login", fetch)
        .answer(200, "application/json", r#"{"url":"tok-1","id":12}"#)
        .body("application/json", r#"{"user":"ada","tags":["a","it's"],"n":1}"#);
    journey
        .send(3200, "POST", "/anything/items/12", fetch)
        .answer(200, "application/json", "{}")
        .body("application/json", r#"{"id":12,"text":"line\nline ${x}","key":"0f"}"#);
    journey.send(3300, "DELETE", "/anything/items/12?x=a%20b&y", fetch).answer(
        200,
        "application/json",
        r#"{"method":"DELETE"}"#,
    );
    journey.send(3400, "GET", "/status/404", fetch).answer(404, "text/plain", "");
    for exchange in &mut journey.recording.exchanges {
        exchange.sends("accept", "application/json").sends("x-requested-with", "XMLHttpRequest");
    }
    let token =
        journey.extract(0, "token", "tok-1", Finder::Json(vec![PathStep::Key("url".to_owned())]));
    let id = journey.extract(0, "id", "12", Finder::Url);
    journey.recording.exchanges[1].sends("authorization", "Bearer tok-1");
    journey.put(1, Place::Header(6), vec![literal("Bearer "), value(token)]);
    journey.put(1, Place::Json(vec![PathStep::Key("id".to_owned())]), vec![value(id)]);
    journey.put(1, Place::Json(vec![PathStep::Key("key".to_owned())]), vec![Piece::Made(0)]);
    journey.put(1, Place::Segment(2), vec![value(id)]);
    journey.put(2, Place::Segment(2), vec![value(id)]);
    journey.plan.made.push(Made {
        name: "key".to_owned(),
        recorded: "0f".to_owned(),
        kind: made,
        first: 1,
    });
    let script = journey.script("calls");
    insta::assert_snapshot!(iteration(&script), @r###"
    export default function () {
      group('POST /anything/login', () => {
        let res = http.post(
          `${BASE}/anything/login`,
          JSON.stringify({ user: 'ada', tags: ['a', "it's"], n: 1 }),
          { headers: { ...headers, 'Content-Type': 'application/json' } },
        );
        check(res, {
          'POST /anything/login is 200': (r) => r.status === 200,
          'has "url"': (r) => (r.body || '').includes('"url"'),
        });
        // From the answer to POST /anything/login: JSON url.
        const token = found('token', () => res.json().url);
        // From the answer to POST /anything/login: its URL.
        const id = found('id', () => res.url);

        think(3.18);

        const key = uuid();
        res = http.post(
          `${BASE}/anything/items/${id}`,
          JSON.stringify({ id: Number(id), text: 'line\nline ${x}', key }),
          {
            headers: { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
            tags: { name: '/anything/items/{id}' },
          },
        );
        check(res, { 'POST /anything/items/{id} is 200': (r) => r.status === 200 });

        res = http.del(`${BASE}/anything/items/${id}?x=a%20b&y`, null, {
          headers,
          tags: { name: '/anything/items/{id}?x=a%20b&y' },
        });
        check(res, {
          'DELETE /anything/items/{id} is 200': (r) => r.status === 200,
          'has "method"': (r) => (r.body || '').includes('"method"'),
        });

        res = http.get(`${BASE}/status/404`, { headers, responseCallback: http.expectedStatuses(404) });
        check(res, { 'GET /status/404 is 404': (r) => r.status === 404 });
      });
    }
    "###);
}

#[test]
fn parts_and_bodies_are_taken_apart() {
    let mut journey = Journey::new();
    let fetch = Resource::Fetch;
    let part = |name: &str, more: &str, body: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{body}\r\n")
    };
    let file = |name: &str| format!("; filename=\"{name}\"\r\nContent-Type: image/png");
    let upload = part("a", "", "1") + &part("file", &file("dot ü.png"), "PNG") + "--x--\r\n";
    let twice = part("file", &file("dot.png"), "PNG")
        + &part("file", &file("b.png"), "PNG2")
        + &part("a", "", "ü")
        + "--x--\r\n";
    journey
        .send(0, "POST", "/anything/upload", fetch)
        .body("multipart/form-data; boundary=x", &upload);
    journey
        .send(30, "POST", "/upload/detect", fetch)
        .body("multipart/form-data; boundary=x", &twice);
    journey
        .send(60, "POST", "/anything/form", fetch)
        .body("application/x-www-form-urlencoded", "a=1&a=2&b=x%26y");
    journey
        .send(90, "POST", "/anything/form", fetch)
        .body("application/x-www-form-urlencoded", "a=1&b=2&a=3+4");
    journey.send(120, "PUT", "/anything/xml", fetch).body("text/xml", "<a>\n`${b}`</a>");
    journey
        .send(150, "POST", "/anything/absent", fetch)
        .sends("content-type", "application/pdf")
        .request
        .body = Body::Absent { why: "the HAR file has no bodies".to_owned(), size: Some(9) };
    let script = journey.script("bodies");
    insta::assert_snapshot!(iteration(&script), @r###"
    export default function () {
      group('POST /anything/upload', () => {
        let res = http.post(
          `${BASE}/anything/upload`,
          { a: '1', file: http.file(dotFile, 'dot ü.png', 'image/png') },
          { headers },
        );
        check(res, { 'POST /anything/upload is 200': (r) => r.status === 200 });

        const body = multipart([
          ['file', http.file(dotFile, 'dot.png', 'image/png')],
          ['file', http.file(bFile, 'b.png', 'image/png')],
          ['a', 'ü'],
        ]);
        res = http.post(`${BASE}/upload/detect`, body.data, {
          headers: { ...headers, 'Content-Type': body.type },
        });
        check(res, { 'POST /upload/detect is 200': (r) => r.status === 200 });

        res = http.post(`${BASE}/anything/form`, { a: ['1', '2'], b: 'x&y' }, { headers });
        check(res, { 'POST /anything/form is 200': (r) => r.status === 200 });

        res = http.post(`${BASE}/anything/form`, 'a=1&b=2&a=3%204', {
          headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        });
        check(res, { 'POST /anything/form is 200': (r) => r.status === 200 });

        res = http.put(`${BASE}/anything/xml`, '<a>\n`${b}`</a>', {
          headers: { ...headers, 'Content-Type': 'text/xml' },
        });
        check(res, { 'PUT /anything/xml is 200': (r) => r.status === 200 });

        // The recording has no body here (the HAR file has no bodies): put the right bytes into the file.
        res = http.post(`${BASE}/anything/absent`, request6File, {
          headers: { ...headers, 'Content-Type': 'application/pdf' },
        });
        check(res, { 'POST /anything/absent is 200': (r) => r.status === 200 });
      });
    }
    "###);
    let script = journey.write();
    let paths: Vec<_> = script.files.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(paths, ["script.js", "bodies/dot ü.png", "bodies/b.png", "bodies/request-6.bin"]);
    let lines: Vec<u32> = script.calls.iter().map(|call| call.line).collect();
    let text = crate::session::text(&script);
    let lines_with_calls: Vec<u32> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.contains("http.p"))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(lines, lines_with_calls);
}

#[test]
fn odd_sessions_are_scripts_as_well() {
    let empty = Journey::new();
    assert!(empty.script("empty").contains("export default function () {\n}\n"));
    let mut journey = Journey::new();
    // Names that are no names, texts that end literals, a socket without messages, an answer that never came.
    let name = "`${x}`\u{2028}'\"\\</script>";
    journey.step(0, name);
    let page = journey.page(0, "/a%20b/%E4?q=%60$%7Bx%7D`&=&&x", &format!("<title>{name}</title>"));
    journey
        .send(10, "PROPFIND", "/", Resource::Other)
        .body("application/json", "{\"__proto__\":1,\"a\":[]}");
    let silent = journey.send(20, "GET", "/gone", Resource::Fetch);
    (silent.response, silent.failure) = (None, Some("the server hung up".to_owned()));
    journey.send(30, "GET", "wss://[::1]:9/x", Resource::WebSocket);
    let finder = Finder::Between { left: "`${".to_owned(), right: String::new(), nth: 1 };
    let odd = journey.extract(page, "class", "x", finder);
    journey.put(1, Place::Query(7), vec![value(odd)]);
    journey.put(1, Place::Segment(0), vec![literal("$"), value(odd), literal("{`")]);
    let script = journey.script("odd");
    assert_eq!(script, journey.script("odd"));
    insta::assert_snapshot!(iteration(&script), @r###"
    export default async function () {
      group('`${x}`\u2028\'"\\<\/script>', () => {
        let res = http.get(`${BASE}/a%20b/%E4?q=%60$%7Bx%7D\`&=&&x`, { headers });
        check(res, { 'GET /a%20b/%E4 is 200': (r) => r.status === 200 });
        // From the answer to GET /a%20b/%E4: the text behind `${.
        const class2 = found('class2', () => between(res.body, '`${', '', 1));

        res = http.request(
          'PROPFIND',
          `${BASE}/%24${class2}%7B%60`,
          JSON.stringify({ ['__proto__']: 1, a: [] }),
          { headers: { ...headers, 'Content-Type': 'application/json' }, tags: { name: '/%24{class2}%7B%60' } },
        );
        check(res, { 'PROPFIND /%24{class2}%7B%60 is 200': (r) => r.status === 200 });
      });

      // A socket: 0 messages go out, 0 come in.
      await new Promise((resolve) => {
        const socket = new WebSocket(`${OTHER.replace('http', 'ws')}/x`, null, { headers });
        const received = [];
        const timer = setTimeout(() => socket.close(), 30000);
        socket.onopen = () => {
          socket.close();
        };
        socket.onmessage = (event) => {
          received.push(event.data);
        };
        socket.onclose = () => {
          clearTimeout(timer);
          check(received, { '/x: 0 messages': (all) => all.length >= 0 });
          resolve();
        };
        socket.onerror = (event) => {
          console.error(event.error);
        };
      });
    }
    "###);
    assert_eq!(journey.write().notes, ["requests that got no answer are not in the script: 1"]);
}

#[test]
fn secrets_are_in_their_file_alone() {
    let mut journey = Journey::new();
    let secret = "correct horse";
    journey.plan.secrets.push(Secret { name: "pass word".to_owned(), recorded: secret.to_owned() });
    let page = format!("<title>{secret}</title><h1>You are {secret}</h1>");
    journey.page(0, &format!("/{secret}?p={secret}"), &page);
    journey
        .send(10, "POST", "/in", Resource::Fetch)
        .body("text/plain", &format!("a {secret} b"))
        .sends("x-key", secret);
    let script = journey.write();
    for (path, content) in &script.files {
        let (Content::Bytes(bytes) | Content::Secret(bytes)) = content else { continue };
        let shows = String::from_utf8_lossy(bytes).contains("horse");
        assert_eq!(shows, path.ends_with("secrets.env"), "{}", path.display());
    }
    assert!(
        matches!(&script.files[1].1, Content::Secret(bytes) if bytes == b"pass_word=correct horse\n")
    );
}
