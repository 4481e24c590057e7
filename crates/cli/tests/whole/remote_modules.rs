//! Modules from `https://` addresses, served by a TLS server of the test's own.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{Brunt, brunt};

/// The answer at a path: a status, and a body or a `Location`.
type Pages = BTreeMap<&'static str, (u16, &'static str)>;

/// A server on loopback, which ends with the test's process.
pub(crate) struct Server {
    address: SocketAddr,
    certificate: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(pages: &[(&'static str, u16, &'static str)]) -> Self {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows them")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("key and certificate belong together");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let pages: Pages =
            pages.iter().map(|&(path, status, body)| (path, (status, body))).collect();
        let (config, log) = (Arc::new(config), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that does not trust us hangs up; that is its right.
                let _ = answer(stream, &config, &pages, &log);
            }
        });
        Self { address, certificate: made.cert.pem(), asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }

    /// `brunt run` with the server's certificate among the trusted ones.
    pub(crate) fn run(&self, flags: &str, script: &str) -> Brunt {
        let call = brunt(&format!("run -q --no-summary --log-format raw {flags} s.js"))
            .file("ca.pem", &self.certificate)
            .file("s.js", script.replace("HOST", &self.url("")));
        let trusted = call.path("ca.pem").display().to_string();
        call.env("SSL_CERT_FILE", &trusted)
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().expect("nobody panicked"))
    }
}

fn answer(
    stream: TcpStream,
    config: &Arc<ServerConfig>,
    pages: &Pages,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.trim() != "" {
        line.clear();
        stream.read_line(&mut line)?;
    }
    let (status, body) = *pages.get(path.as_str()).unwrap_or(&(404, ""));
    asked.lock().expect("nobody panicked").push(path);
    let location = if status / 100 == 3 { format!("Location: {body}\r\n") } else { String::new() };
    let length = body.len();
    write!(
        stream.get_mut(),
        "HTTP/1.1 {status} X\r\n{location}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    stream.get_mut().conn.send_close_notify();
    stream.get_mut().flush()
}

const LIBRARY: (&str, u16, &str) = (
    "/lib/1.0.0/index.js?_k6=1",
    200,
    "import { check } from 'k6'; import { part } from './part.js'; \
     export const both = () => part + typeof check; export const where = import.meta.resolve('./x.txt');",
);

#[test]
fn remote_modules_import_what_is_beside_them() {
    let server = Server::start(&[
        LIBRARY,
        ("/lib/1.0.0/part.js?_k6=1", 302, "/moved.js"),
        ("/moved.js", 200, "export const part = 'part-';"),
        (
            "/cjs.js",
            200,
            "module.exports = { n: require('./leaf.js').leaf, f: function () { throw new Error('far'); } };",
        ),
        ("/leaf.js", 200, "exports.leaf = 5;"),
    ]);
    let script = "import { both, where } from 'HOST/lib/1.0.0/index.js';
        import cjs from 'HOST/cjs.js';
        export default function () { console.log(both(), where.endsWith('/lib/1.0.0/x.txt'), cjs.n); cjs.f(); }";
    let mut call = server.run("", script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("part-function true 5"), "{told:?}");
    let frame = format!("({}:1:", server.url("/cjs.js"));
    assert!(told.stderr.contains(&frame), "{told:?}");
    let asked = server.asked();
    // Servers that do not know the mark are asked again without it.
    assert!(asked.contains(&"/cjs.js?_k6=1".to_owned()) && asked.contains(&"/leaf.js".to_owned()));
    // All that was fetched is kept.
    let told = call.told();
    assert_eq!((told.code, server.asked()), (0, Vec::new()), "{told:?}");
}

#[test]
fn the_source_map_of_a_remote_module_leads_to_its_sources() {
    // Line 1 of what is fetched comes from line 3 of b.ts.
    let server = Server::start(&[
        (
            "/lib/m.js?_k6=1",
            200,
            "export const f = () => { throw new Error('far'); };\n//# sourceMappingURL=m.js.map\n",
        ),
        (
            "/lib/m.js.map?_k6=1",
            200,
            r#"{"version":3,"sources":["src/b.ts"],"names":[],"mappings":"AAEA"}"#,
        ),
        (
            "/none.js?_k6=1",
            200,
            "export const g = 'still there';\n//# sourceMappingURL=none.js.map\n",
        ),
    ]);
    let script = "import { f } from 'HOST/lib/m.js'; import { g } from 'HOST/none.js';
        export default function () { console.log(g); f(); }";
    let told = server.run("", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    let place = server.url("/lib/src/b.ts:3:");
    assert!(told.stderr.contains(&place), "{told:?}");
    assert!(told.stderr.contains("still there"), "{told:?}");
    assert!(told.stderr.contains("Couldn't load source map"), "{told:?}");
}

#[test]
fn what_cannot_be_fetched_is_told_at_its_import() {
    let server = Server::start(&[LIBRARY, ("/bad.js", 200, "let a = ;")]);
    for (script, part) in [
        ("import 'HOST/nope.js';", "the server answered 404"),
        (
            "import 'HOST/lib/1.0.0/index.js';",
            "part.js\" can't be fetched: the server answered 404",
        ),
        ("import 'HOST/bad.js';", "/bad.js:1:9"),
        ("import 'http://localhost/x.js';", "remote modules need https"),
        ("import 'https://127.0.0.1:1/x.js';", "connection refused"),
        ("import 'host.example/x.js';", "write \"https://host.example/x.js\""),
    ] {
        let told = server.run("", &format!("{script}\nexport default () => {{}}")).told();
        assert_eq!(told.code, 107, "{told:?}");
        assert!(told.stderr.contains(part), "no {part:?} in {told:?}");
    }
}

#[test]
fn remote_modules_may_be_forbidden_and_may_not_read_files() {
    let server = Server::start(&[("/evil.js", 200, "import 'file:///etc/passwd';")]);
    let script = "import 'HOST/evil.js'; export default () => {};";
    let told = server.run("--no-remote-modules", script).told();
    assert_eq!((told.code, server.asked()), (107, Vec::new()), "{told:?}");
    assert!(told.stderr.contains("remote modules are forbidden"), "{told:?}");
    let told = server.run("", script).told();
    assert!(told.code == 107 && told.stderr.contains("but no files"), "{told:?}");
}

#[test]
fn a_server_that_nobody_trusts_gives_no_modules() {
    let server = Server::start(&[LIBRARY]);
    let told = brunt("run -q s.js")
        .file("s.js", format!("import '{}'; export default () => {{}};", server.url("/x.js")))
        .told();
    assert!(told.code == 107 && told.stderr.contains("x509: unknown authority"), "{told:?}");
}

#[test]
fn a_script_itself_may_be_remote() {
    let server = Server::start(&[
        ("/s.js", 200, "import { part } from './part.js'; export default () => console.log(part);"),
        ("/part.js", 200, "export const part = 'remote';"),
    ]);
    let call = brunt("run -q --no-summary --log-format raw").file("ca.pem", &server.certificate);
    let trusted = call.path("ca.pem").display().to_string();
    let told = call.env("SSL_CERT_FILE", &trusted).word(server.url("/s.js")).told();
    assert_eq!((told.code, told.stderr.as_str()), (0, "remote\n"), "{told:?}");
}

#[test]
fn a_proxy_that_is_none_is_named_with_its_variable() {
    let script = "import x from 'https://modules.test/x.js'; export default () => x";
    let mut call = brunt("run s.js").file("s.js", script).env("HTTPS_PROXY", "nonsense://p.test");
    let told = call.told();
    assert_eq!(told.code, 107, "{told:?}");
    let wrong =
        "HTTPS_PROXY is \\\"nonsense://p.test\\\": only http://, https:// and socks5:// proxies";
    assert!(told.error().contains(wrong) && told.error().contains("s.js:1:15"), "{told:?}");
}
