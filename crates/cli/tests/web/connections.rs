//! Connections: reuse, names, blocks, proxies, TLS, pace.

use serde_json::{Value, json};

use crate::server::Server;
use crate::support::brunt;

#[test]
fn a_vu_keeps_its_connection_as_long_as_the_options_say() {
    let numbers = |option: &str| {
        let server = Server::start();
        let top =
            format!("export const options = {{ iterations: 2, {option} }};\nconst seen = [];");
        let body = "seen.push(http.get(B + '/connection').body, http.get(B + '/connection').body);\n\
                    if (__ITER === 0) return;\nout.seen = seen;";
        server.run_with(&top, body, |call| call).0["seen"].clone()
    };
    assert_eq!(numbers(""), json!(["1", "1", "1", "1"]));
    assert_eq!(numbers("noVUConnectionReuse: true"), json!(["1", "1", "2", "2"]));
    assert_eq!(numbers("noConnectionReuse: true"), json!(["1", "2", "3", "4"]));
}

#[test]
fn hosts_are_mapped_and_blocked() {
    let server = Server::start();
    let address = server.url.trim_start_matches("http://").to_owned();
    let top = format!(
        "export const options = {{ hosts: {{ 'a.test': '{address}', '*.wild.test': '{address}' }}, \
         blockHostnames: ['*.blocked.test', 'b.test'], blacklistIPs: ['127.0.9.0/24'] }};"
    );
    let (out, _) = server.run_with(
        &top,
        r"
        const shown = (url) => { const r = http.get(url); return [r.status, r.error_code, r.error]; };
        out.mapped = shown('http://a.test/echo');
        out.host = (http.get('http://x.WILD.test/echo').body.match(/Host: (.*)\r/) || [])[1];
        out.blocked = shown('http://x.blocked.test/');
        out.exact = shown('http://B.test/');
        out.black = shown('http://127.0.9.1:1/');
        ",
        |call| call,
    );
    assert_eq!(out["mapped"], json!([200, 0, ""]));
    assert_eq!(out["host"], "x.WILD.test");
    assert_eq!(out["blocked"][1], 1111);
    assert_eq!(out["exact"][1], 1111);
    assert_eq!(out["black"], json!([0, 1110, "ip is blacklisted"]));
}

#[test]
fn proxies_come_from_the_environment() {
    let server = Server::start();
    let line = |name: &str, except: &str| {
        let body = "out.line = http.get('http://far.test/x?y').body;";
        let (out, _) =
            server.run_with("", body, |call| call.env(name, &server.url).env("NO_PROXY", except));
        out["line"].as_str().map(|line| line.lines().next().unwrap_or_default().to_owned())
    };
    assert_eq!(line("HTTP_PROXY", "").as_deref(), Some("GET http://far.test/x?y HTTP/1.1"));
    assert_eq!(line("http_proxy", "").as_deref(), Some("GET http://far.test/x?y HTTP/1.1"));
    assert_eq!(line("HTTP_PROXY", "far.test"), None);
    assert_eq!(line("HTTPS_PROXY", ""), None);
}

#[test]
fn rps_spaces_the_requests_of_all_vus() {
    let server = Server::start();
    let out = server.run_with(
        "export const options = { rps: 20 };",
        "const from = Date.now(); for (let i = 0; i < 6; i++) http.get(B); out.took = Date.now() - from;",
        |call| call,
    );
    let took = out.0["took"].as_u64().expect("a number");
    // Five times 50 ms; what is much longer is no pace.
    assert!((200..20_000).contains(&took), "{took} ms");
}

#[test]
fn tls_is_checked_unless_told_otherwise() {
    let mut folder = brunt("demo --json --tls --listen 127.0.0.1:0 --seed 1");
    let mut demo = folder.start();
    let addresses: Value = serde_json::from_str(&demo.line()).expect("a line of JSON");
    let url = addresses["url"].as_str().expect("an address").replace("127.0.0.1", "localhost");
    let server = Server::start();
    let shown = |option: &str| {
        let top =
            format!("export const options = {{ hosts: {{ localhost: '127.0.0.1' }}, {option} }};");
        let body = "const r = http.get(__ENV.TLS_URL + '/');\n\
                    out.shown = [r.status > 0, r.error_code >= 1300 ? r.error_code : 0, r.tls_version, r.tls_cipher_suite.slice(0, 4), r.ocsp.status];";
        server.run_with(&top, body, |call| call.env("TLS_URL", &url)).0["shown"].clone()
    };
    assert_eq!(shown(""), json!([false, 1310, "", "", ""]));
    let insecure = "insecureSkipTLSVerify: true";
    assert_eq!(shown(insecure), json!([true, 0, "tls1.3", "TLS_", "unknown"]));
    assert_eq!(
        shown(&format!("{insecure}, tlsVersion: 'tls1.2'")),
        json!([true, 0, "tls1.2", "TLS_", "unknown"])
    );
    let plain = Server::start();
    let url = plain.url.replace("http:", "https:");
    let body = "const r = http.get(__ENV.TLS_URL + '/', { timeout: '2s' }); out.shown = [r.status, r.error_code > 0];";
    // A server that speaks no TLS waits for the end of a line that never comes: it is the timeout that ends this.
    let out = server.run_with("", body, |call| call.env("TLS_URL", &url)).0;
    assert_eq!(out["shown"], json!([0, true]));
}
