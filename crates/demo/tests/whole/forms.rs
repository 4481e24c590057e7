//! The form application: cookies, tokens in forms and in multipart bodies, redirects, files, its truth.

use std::time::Duration;

use brunt_demo::{Demo, DemoConfig, DemoHandle, FormConfig};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{Answer, Client};

fn serve(change: impl FnOnce(&mut FormConfig)) -> DemoHandle {
    let mut config = DemoConfig::fast();
    change(&mut config.forms);
    Demo::start(config).unwrap()
}

/// A client with the one cookie, that knows the token of the page that it saw last.
struct Browser {
    client: Client,
    cookie: String,
    token: String,
    name: &'static str,
}

impl Browser {
    fn new(demo: &DemoHandle) -> Self {
        Self {
            client: Client::new(demo.addr()),
            cookie: String::new(),
            token: String::new(),
            name: "javax.faces.ViewState",
        }
    }

    fn logged_in(demo: &DemoHandle) -> Self {
        let mut browser = Self::new(demo);
        browser.get("/app/login.xhtml");
        browser.log_in();
        browser
    }

    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let cookie = self.cookie.clone();
        let mut headers = headers.to_vec();
        if !cookie.is_empty() {
            headers.push(("Cookie", &cookie));
        }
        let answer = self.client.send(method, path, &headers, body);
        if let Some(cookie) = answer.header("set-cookie") {
            let (pair, attributes) = cookie.split_once("; ").unwrap();
            assert_eq!(attributes, "HttpOnly; Path=/app");
            pair.clone_into(&mut self.cookie);
        }
        if let Some(token) = self.token_in(&answer) {
            self.token = token;
        }
        answer
    }

    fn token_in(&self, answer: &Answer) -> Option<String> {
        let text = answer.text();
        let token = between(&text, &format!("{}:1\" value=\"", self.name), "\"")
            .or_else(|| between(&text, &format!("{}:0\"><![CDATA[", self.name), "]]>"))?;
        Some(token.replace("&#43;", "+"))
    }

    fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_with(path, fields, &[])
    }

    fn post_with(&mut self, path: &str, fields: &[(&str, &str)], more: &[(&str, &str)]) -> Answer {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields).append_pair(self.name, &self.token);
        let mut headers =
            vec![("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")];
        headers.extend(more);
        self.send("POST", path, &headers, body.finish().as_bytes())
    }

    fn log_in(&mut self) -> Answer {
        let fields = [
            ("form", "form"),
            ("form:user", "ada"),
            ("form:password", "secret"),
            ("form:submit", "Log in"),
        ];
        self.post("/app/login.xhtml", &fields)
    }

    fn upload(&mut self, token: &str, file: &[u8]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in [("form_field_1", "one"), ("form_field_2", "two"), (self.name, token)]
        {
            body.extend(part(&format!("name=\"{name}\""), value.as_bytes()));
        }
        let head =
            "name=\"form:file\"; filename=\"data.bin\"\r\nContent-Type: application/octet-stream";
        body.extend(part(head, file));
        body.extend(b"--frontier--\r\n");
        let content_type = [("Content-Type", "multipart/form-data; boundary=frontier")];
        self.send("POST", "/app/upload.xhtml", &content_type, &body)
    }

    fn stats(&mut self) -> Value {
        self.client.get("/_demo/stats").json()["forms"].take()
    }
}

fn part(head: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--frontier\r\nContent-Disposition: form-data; {head}\r\n\r\n");
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(begin)? + begin.len()..];
    rest.find(end).map(|end| &rest[..end])
}

fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// All nine steps.
fn journey(browser: &mut Browser, file: &[u8]) {
    assert_eq!(browser.get("/app/login.xhtml").status, 200);
    let to_orders = browser.log_in();
    let location = to_orders.header("location").map(str::to_owned);
    assert_eq!((to_orders.status, location.as_deref()), (302, Some("/app/orders.xhtml")));
    let orders = browser.get("/app/orders.xhtml").text();
    let link = between(&orders, "href=\"/app/order.xhtml?id=", "\"").unwrap().to_owned();
    let ajax = [("Faces-Request", "partial/ajax")];
    let found = browser.post_with("/app/orders.xhtml", &[("form:filter", "anvil")], &ajax);
    assert_eq!(found.header("content-type"), Some("text/xml; charset=UTF-8"));
    let order = browser.get(&format!("/app/order.xhtml?id={link}")).text();
    let version = between(&order, "name=\"form:version\" value=\"", "\"").unwrap();
    let fields = [("form:version", version), ("form:quantity", "12"), ("form:note", "")];
    assert_eq!(browser.post("/app/order.xhtml", &fields).status, 302);
    assert_eq!(browser.get("/app/upload.xhtml").status, 200);
    let token = browser.token.clone();
    let told = browser.upload(&token, file).text();
    assert_eq!(between(&told, "form:result:sha256\">", "<"), Some(hash(file).as_str()));
    let gone = browser.post("/app/logout.xhtml", &[("logout", "logout")]);
    assert_eq!((gone.status, gone.header("location")), (302, Some("/app/login.xhtml")));
    assert_eq!(browser.get("/app/orders.xhtml").status, 302);
}

/// Every byte, and lines that look like a boundary.
fn file() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    bytes.extend(b"\r\n--frontie\r\n\r\n--\r\n");
    bytes
}

#[test]
fn many_users_make_the_journey_at_the_same_time() {
    for change in [
        (|_: &mut FormConfig| {}) as fn(&mut FormConfig),
        |config| (config.client_state, config.one_time) = (true, true),
        |config| (config.html_entities, config.views) = (true, 1),
    ] {
        let demo = serve(change);
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    let mut browser = Browser::new(&demo);
                    (0..3).for_each(|_| journey(&mut browser, &file()));
                });
            }
        });
        let stats = Browser::new(&demo).stats();
        assert_eq!(stats["journeys"], json!({ "begun": 15, "done": 15 }));
        let refused = stats["tokens"]["refused"].as_object().unwrap();
        assert!(refused.values().all(|count| *count == 0), "{stats}");
        assert_eq!(stats["uploads"]["bytes"], 15 * file().len());
        assert_eq!((&stats["sessions"]["now"], &stats["no_session"]), (&json!(0), &json!(15)));
    }
}

#[test]
fn a_replay_of_what_was_recorded_fails_at_the_first_post() {
    let demo = serve(|_| {});
    let recorded = {
        let mut browser = Browser::new(&demo);
        browser.get("/app/login.xhtml");
        browser.token
    };
    let mut replay = Browser::new(&demo);
    assert_eq!(replay.get("/app/login.xhtml").status, 200);
    replay.token.clone_from(&recorded);
    let refused = replay.log_in();
    assert_eq!(refused.status, 500);
    assert!(refused.text().contains("ViewExpiredException"), "{}", refused.text());
    assert_eq!(refused.header("content-type"), Some("text/html; charset=UTF-8"));
    assert_eq!(replay.stats()["tokens"]["refused"]["foreign"], 1);
}

#[test]
fn a_token_is_encoded_in_forms_and_not_in_multipart() {
    let demo = serve(|_| {});
    let mut browser = Browser::new(&demo);
    browser.get("/app/login.xhtml");
    assert!(["+", "/", "="].iter().all(|letter| browser.token.contains(letter)));
    // As it is, its `+` becomes a blank.
    let body =
        format!("form=form&form:user=ada&form:password=secret&{}={}", browser.name, browser.token);
    let content_type = [("Content-Type", "application/x-www-form-urlencoded")];
    let raw = browser.send("POST", "/app/login.xhtml", &content_type, body.as_bytes());
    assert_eq!(raw.status, 500);
    assert_eq!(browser.log_in().status, 302);
    browser.get("/app/upload.xhtml");
    let token = browser.token.clone();
    let encoded = token.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    assert_eq!(browser.upload(&encoded, b"x").status, 500);
    assert_eq!(browser.stats()["tokens"]["refused"]["malformed"], 2);
    let told = browser.upload(&token, b"x");
    assert_eq!(told.status, 200);
    // The page after it has a token that goes on.
    assert_ne!(browser.token, token);
    let token = browser.token.clone();
    assert_eq!(browser.upload(&token, b"").status, 200);
}

#[test]
fn a_multipart_body_that_is_none_is_told_with_its_place() {
    let demo = serve(|_| {});
    let mut browser = Browser::logged_in(&demo);
    let content_type = [("Content-Type", "multipart/form-data; boundary=frontier")];
    let answer = browser.send("POST", "/app/upload.xhtml", &content_type, b"--frontier\n");
    assert_eq!((answer.status, &answer.json()["offset"]), (400, &json!(10)));
    let json = [("Content-Type", "application/json")];
    assert_eq!(browser.send("POST", "/app/upload.xhtml", &json, b"{}").status, 500);
    assert_eq!(browser.stats()["tokens"]["refused"]["missing"], 1);
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let mut config = DemoConfig::fast();
    config.max_body = 10_000;
    let demo = Demo::start(config).unwrap();
    let mut browser = Browser::logged_in(&demo);
    browser.get("/app/upload.xhtml");
    let token = browser.token.clone();
    assert_eq!(browser.upload(&token, &[0; 9000]).status, 200);
    let token = browser.token.clone();
    assert_eq!(browser.upload(&token, &[0; 10_000]).status, 413);
}

#[test]
fn the_client_can_keep_the_state() {
    let demo = serve(|config| config.client_state = true);
    let mut browser = Browser::logged_in(&demo);
    let mut sizes = vec![browser.token.len()];
    for page in ["orders", "upload"] {
        browser.get(&format!("/app/{page}.xhtml"));
        sizes.push(browser.token.len());
    }
    assert!(sizes.iter().all(|size| (2000..=20_000).contains(size)), "{sizes:?}");
    let stats = browser.stats();
    assert_eq!((&stats["views"]["now"], &stats["sessions"]["now"]), (&json!(0), &json!(1)));
    let demo = serve(|_| {});
    let stats = Browser::logged_in(&demo).stats();
    assert_eq!(stats["views"]["now"], 1);
}

#[test]
fn names_are_those_of_the_newer_family_with_jakarta() {
    let demo = serve(|config| config.jakarta = true);
    let mut browser = Browser::new(&demo);
    browser.name = "jakarta.faces.ViewState";
    let page = browser.get("/app/login.xhtml").text();
    assert!(!page.contains("javax") && page.contains("/app/jakarta.faces.resource/"), "{page}");
    browser.name = "javax.faces.ViewState";
    let refused = browser.log_in();
    let exception = "jakarta.faces.application.ViewExpiredException";
    assert!(refused.status == 500 && refused.text().contains(exception), "{}", refused.text());
    browser.name = "jakarta.faces.ViewState";
    assert_eq!(browser.log_in().status, 302);
}

#[test]
fn a_plus_is_an_entity_where_that_is_wanted() {
    for wanted in [false, true] {
        let demo = serve(|config| config.html_entities = wanted);
        let mut browser = Browser::new(&demo);
        let page = browser.get("/app/login.xhtml").text();
        assert_eq!(page.contains("&#43;"), wanted);
        assert_eq!(browser.log_in().status, 302);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own thread, no core")]
fn a_session_ends_when_it_is_not_used() {
    let demo = serve(|config| config.session_timeout = Duration::from_millis(1));
    let mut browser = Browser::new(&demo);
    browser.get("/app/login.xhtml");
    // At least as long as the session lives.
    std::thread::sleep(Duration::from_millis(2));
    let late = browser.log_in();
    assert_eq!((late.status, late.header("location")), (302, Some("/app/login.xhtml")));
    let stats = browser.stats();
    assert_eq!((&stats["sessions"]["now"], &stats["sessions"]["expired"]), (&json!(0), &json!(1)));
}

#[test]
fn cookies_of_other_servers_do_no_harm() {
    let demo = serve(|_| {});
    let mut browser = Browser::logged_in(&demo);
    browser.cookie = format!("JSESSIONID=node0abc; name=Zo\u{eb}; {}", browser.cookie);
    assert_eq!(browser.get("/app/orders.xhtml").status, 200);
}

#[test]
fn files_are_for_caches() {
    let demo = serve(|_| {});
    let mut browser = Browser::new(&demo);
    let page = browser.get("/app/login.xhtml").text();
    for (name, content_type, begin) in [
        ("theme.css?ln=demo&amp;v=1_0", "text/css", &b"/*"[..]),
        ("jsf.js?ln=javax.faces&amp;v=1_0", "text/javascript", b"//"),
        ("logo.png?ln=demo&amp;v=1_0", "image/png", b"\x89PNG"),
    ] {
        let path = format!("/app/javax.faces.resource/{name}");
        assert!(page.contains(&format!("\"{path}\"")), "{path}");
        let path = path.replace("&amp;", "&");
        let file = browser.get(&path);
        assert_eq!((file.status, file.header("content-type")), (200, Some(content_type)));
        assert_eq!(file.header("cache-control"), Some("max-age=86400"));
        assert!(file.body.starts_with(begin));
        let tag = file.header("etag").unwrap();
        let again = browser.send("GET", &path, &[("If-None-Match", tag)], b"");
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(tag)));
        assert_eq!(browser.send("POST", &path, &[], b"").status, 405);
    }
    assert_eq!(browser.get("/app/javax.faces.resource/other.css").status, 404);
    assert_eq!(browser.stats()["resources"], json!({ "sent": 3, "not_modified": 3 }));
}

#[test]
fn other_paths_and_methods_are_told() {
    let demo = serve(|_| {});
    let mut browser = Browser::new(&demo);
    let answer = browser.get("/app/");
    assert_eq!((answer.status, answer.header("location")), (302, Some("/app/login.xhtml")));
    assert_eq!(browser.get("/app/other.xhtml").status, 404);
    for (method, path, allowed) in [
        ("GET", "/app/logout.xhtml", "POST"),
        ("PUT", "/app/login.xhtml", "GET, HEAD, POST"),
        ("DELETE", "/app/orders.xhtml", "GET, HEAD, POST"),
    ] {
        let answer = browser.send(method, path, &[], b"");
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{path}");
    }
    let head = browser.send("HEAD", "/app/login.xhtml", &[], b"");
    assert!(head.status == 200 && head.body.is_empty() && !browser.cookie.is_empty());
    let page = browser.get("/app/login.xhtml");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let all = browser.client.get("/_demo/stats").json();
    assert_eq!(all["requests"]["by_route"]["/app/login.xhtml"], json!({ "200": 2, "405": 1 }));
    assert_eq!(all["requests"]["by_route"]["/app/*"], json!({ "302": 1, "404": 1 }));
}

#[test]
fn a_reset_ends_all_sessions() {
    let demo = serve(|_| {});
    let mut browser = Browser::logged_in(&demo);
    assert_eq!(browser.get("/app/orders.xhtml").status, 200);
    browser.client.post("/_demo/reset", "");
    assert_eq!(browser.get("/app/orders.xhtml").status, 302);
    let stats = browser.stats();
    assert_eq!((&stats["sessions"]["now"], &stats["tokens"]["given"]), (&json!(0), &json!(0)));
}

#[test]
fn a_setting_that_makes_no_sense_is_named() {
    let mut config = DemoConfig::fast();
    config.forms.views = 101;
    let error = Demo::start(config).unwrap_err();
    assert!(error.to_string().contains("--views: 101"), "{error}");
}
