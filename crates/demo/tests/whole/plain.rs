//! The plain routes.

use std::io::Read;
use std::time::{Duration, Instant};

use brunt_demo::{Demo, DemoConfig, DemoHandle};
use serde_json::json;

use crate::client::Client;

fn start() -> (DemoHandle, Client) {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let client = Client::new(demo.addr());
    (demo, client)
}

#[test]
fn health_and_echo_keep_the_connection() {
    let (_demo, mut client) = start();
    assert_eq!(client.get("/").text(), "ok");
    assert_eq!(client.get("/ping").text(), "ok");
    let large = vec![b'x'; 3_000_000];
    let empty = client.send("POST", "/", &[], &large);
    assert_eq!((empty.status, empty.body.len()), (200, 0));
    // A body that the server has no use for is taken all the same.
    assert_eq!(client.send("POST", "/status/201", &[], &large).status, 201);
    let head = client.send("HEAD", "/", &[], b"");
    assert_eq!(head.header("content-length"), Some("2"));
    assert_eq!(client.get("/_demo/stats").json()["connections"]["total"], 1);
}

#[test]
fn status_delay_and_redirects() {
    let (_demo, mut client) = start();
    assert_eq!(client.get("/status/418").status, 418);
    assert_eq!(client.get("/status/204").status, 204);
    assert_eq!(client.get("/status/99").status, 400);
    let begin = Instant::now();
    assert_eq!(client.get("/delay/30").status, 200);
    assert!(begin.elapsed() >= Duration::from_millis(30));
    let hop = client.get("/redirect/2?status=307");
    assert_eq!((hop.status, hop.header("location")), (307, Some("/redirect/1?status=307")));
    let hop = client.get("/redirect/1?absolute=1");
    assert_eq!(hop.header("location"), Some("http://demo/redirect/0?absolute=1"));
    assert_eq!(client.get("/redirect/0").text(), "ok");
    assert_eq!(client.get("/redirect-to?url=%2Fping").header("location"), Some("/ping"));
    assert_eq!(client.get("/redirect-to?url=a%0Ab").status, 400);
}

#[test]
fn each_coding_decodes_to_its_document() {
    let (_demo, mut client) = start();
    for path in ["gzip", "br", "deflate", "zstd"] {
        let answer = client.get(&format!("/{path}"));
        assert_eq!(answer.header("content-encoding"), Some(path));
        let mut plain = Vec::new();
        let coded = answer.body.as_slice();
        match path {
            "gzip" => flate2::read::GzDecoder::new(coded).read_to_end(&mut plain),
            "br" => brotli::Decompressor::new(coded, 4096).read_to_end(&mut plain),
            "deflate" => flate2::read::ZlibDecoder::new(coded).read_to_end(&mut plain),
            _ => zstd::Decoder::new(coded).unwrap().read_to_end(&mut plain),
        }
        .unwrap();
        let document: serde_json::Value = serde_json::from_slice(&plain).unwrap();
        assert_eq!(document["coding"], path);
        assert_eq!(document["items"].as_array().unwrap().len(), 30);
    }
}

#[test]
fn cookies_are_set_shown_and_deleted() {
    let (_demo, mut client) = start();
    let set = client.get("/cookies/set?a=1&b=x%20y&max-age=60&httponly");
    assert_eq!((set.status, set.header("location")), (302, Some("/cookies")));
    assert_eq!(set.header("set-cookie"), Some("a=1; path=/; max-age=60; httponly"));
    let shown = client.send("GET", "/cookies", &[("Cookie", "a=1; b=x y")], b"");
    assert_eq!(shown.json(), json!({ "cookies": { "a": "1", "b": "x y" } }));
    let gone = client.get("/cookies/delete?a&redirect=0");
    assert_eq!((gone.status, gone.header("set-cookie")), (200, Some("a=; path=/; max-age=0")));
}

#[test]
fn access_needs_the_right_credentials() {
    let (_demo, mut client) = start();
    let refused = client.get("/basic/ada/secret");
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Basic realm="));
    let headers = [("Authorization", "Basic YWRhOnNlY3JldA==")];
    assert_eq!(client.send("GET", "/basic/ada/secret", &headers, b"").json()["user"], "ada");
    assert_eq!(client.send("GET", "/basic/ada/other", &headers, b"").status, 401);
    assert_eq!(client.send("GET", "/bearer", &headers, b"").status, 401);
    let headers = [("Authorization", "Bearer t0ken")];
    assert_eq!(client.send("GET", "/bearer", &headers, b"").json()["token"], "t0ken");
    for (path, scheme) in [("/digest/ada/secret", "Digest realm="), ("/ntlm/ada/secret", "NTLM")] {
        for headers in
            [&headers[..], &[("Authorization", "NTLM AAAA")], &[("Authorization", "Digest x")]]
        {
            let refused = client.send("GET", path, headers, b"");
            assert_eq!(refused.status, 401);
            assert!(refused.header("www-authenticate").unwrap().starts_with(scheme));
        }
    }
    let hello = [("Authorization", "NTLM TlRMTVNTUAABAAAAAAAAAA==")];
    let challenged = client.send("GET", "/ntlm/ada/secret", &hello, b"");
    assert!(challenged.header("www-authenticate").unwrap().starts_with("NTLM TlRMTVNTUAACAAAA"));
    assert_eq!(client.get("/digest/ada").status, 400);
}

#[test]
fn flaky_and_ratelimit_refuse_their_share() {
    let (_demo, mut client) = start();
    let failed = (0..200).filter(|_| client.get("/flaky?p=0.5&status=500").status == 500).count();
    assert!((60..140).contains(&failed), "{failed}");
    let statuses: Vec<u16> =
        (0..4).map(|_| client.get("/ratelimit?limit=3&per=1m&key=k").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429]);
    let refused = client.get("/ratelimit?limit=3&per=1m&key=k");
    assert_eq!(refused.header("retry-after"), Some("60"));
}

#[test]
fn bodies_stream_both_ways() {
    let (_demo, mut client) = start();
    let chunked = client.get("/chunked?n=3&size=7");
    assert_eq!(chunked.header("transfer-encoding"), Some("chunked"));
    assert_eq!(chunked.text(), "abcdefgabcdefgabcdefg");
    let events = client.get("/sse?n=2&every=1").text();
    assert!(events.ends_with("id: 2\nevent: tick\ndata: {\"n\":2}\n\n"), "{events}");
    let lines = client.get("/stream?n=3&every=1&size=80");
    assert_eq!(lines.header("transfer-encoding"), Some("chunked"));
    assert_eq!((lines.body.len(), lines.text().lines().count()), (240, 3));
    let source = client.get("/source?bytes=3000001&chunk=100000");
    assert_eq!(source.body.len(), 3_000_001);
    assert_eq!(source.header("content-length"), Some("3000001"));
    let sink = client.send("POST", "/sink", &[], b"abc").json();
    assert_eq!(sink["bytes"], 3);
    let sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sink["sha256"], sha);
}

#[test]
fn requests_are_told_back() {
    let (_demo, mut client) = start();
    let headers = [("X-One", "1"), ("Content-Type", "application/x-www-form-urlencoded")];
    let told = client.send("POST", "/anything/here?q=1&q=2", &headers, b"a=1&b=%C3%A4").json();
    assert_eq!(told["method"], "POST");
    assert_eq!(told["url"], "http://demo/anything/here?q=1&q=2");
    assert_eq!(told["args"], json!({ "q": ["1", "2"] }));
    assert_eq!(told["form"], json!({ "a": "1", "b": "ä" }));
    assert_eq!(told["headers"]["X-One"], "1");
    let told = client.send("PUT", "/anything", &[], br#"{"a":[1]}"#).json();
    assert_eq!(told["json"], json!({ "a": [1] }));
    assert_eq!(client.get("/headers").json()["headers"]["Host"], "demo");
}

#[test]
fn documents_are_there_to_parse() {
    let (_demo, mut client) = start();
    assert_eq!(client.get("/json?n=3").json()["items"].as_array().unwrap().len(), 3);
    assert!(client.get("/html").text().contains("<form id=\"login\""));
    let query = r#"{"query":"query($n: Int) { items(first: $n) { name } }","variables":{"n":1}}"#;
    assert_eq!(client.post("/graphql", query).json()["data"]["items"][0]["name"], "bellows 1");
}

#[test]
fn uploads_are_taken_strictly() {
    let (_demo, mut client) = start();
    let kind = [("Content-Type", "multipart/form-data; boundary=b")];
    let body = b"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nabc\r\n--b--\r\n";
    let taken = client.send("POST", "/upload/detect", &kind, body).json();
    let part = &taken["parts"][0];
    assert_eq!(
        (&part["name"], &part["filename"], &part["bytes"]),
        (&json!("f"), &json!("x"), &json!(3))
    );
    assert!(part["sha256"].as_str().unwrap().starts_with("ba7816bf"));
    let refused = client.send("POST", "/upload/detect", &kind, &body[..body.len() - 6]);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["offset"], body.len() - 6);
    assert_eq!(client.get("/upload/detect").status, 405);
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let config = DemoConfig { max_body: 1000, ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    let large = vec![b'x'; 1001];
    assert_eq!(client.send("POST", "/anything", &[], &large).status, 413);
    assert_eq!(client.send("POST", "/sink", &[], &large).json()["bytes"], 1001);
}
