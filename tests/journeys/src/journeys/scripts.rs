//! Through pages whose scripts send what the pages hold.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::browser::Browser;
use crate::user::User;

/// A cart whose address is in a data attribute; its lines have versions.
pub(super) fn rails_fetch(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    let page = browser.open(&format!("{}/session/new", origins[0]));
    browser.think(2100);
    let form = page.form(".new_session").set("session[name]", user.name);
    let form = form.set("session[password]", user.password).add("commit", "Log in");
    let _ = browser.submit(form).must_have("table");
    browser.step("fill the cart");
    let page = browser.open("/cart");
    let now = browser.milliseconds();
    let ask = browser.fetch("GET", &format!("/recent.json?_={now}"));
    let _ = browser.send(ask).must_be(200);
    browser.think(1700);
    let token = page.attribute("meta[name=csrf-token]", "content");
    let cart = page.attribute("[data-controller=cart]", "data-cart-url-value");
    let item: u64 = page.attribute("li", "data-item").parse().expect("an id");
    let with =
        |ask: crate::Ask| ask.header("X-CSRF-Token", &token).header("Accept", "application/json");
    let ask = with(browser.fetch("POST", &format!("{cart}/lines")));
    let added = browser.send(ask.json(&json!({ "item_id": item, "quantity": 1 }))).must_be(201);
    let mut line = added.json()["line"].clone();
    for quantity in [2, 3] {
        browser.think(1300);
        let path = format!("{cart}/lines/{}", line["id"]);
        let body = json!({ "quantity": quantity, "lock_version": line["lock_version"] });
        let ask = with(browser.fetch("PUT", &path)).json(&body);
        line = browser.send(ask).must_be(200).json()["line"].clone();
    }
    browser.step("check out");
    browser.think(1900);
    let ask = with(browser.fetch("POST", &format!("{cart}/checkout")));
    let order = browser.send(ask.json(&json!({ "note": user.text }))).must_be(200);
    let page = browser.open(&order.leaf("/redirect")).must_have("header form");
    browser.step("log out");
    let _ = browser.submit(page.form("header form")).must_have(".new_session");
}

/// Parts of texts, texts of parts, texts in another coding.
pub(super) fn joins(browser: &mut Browser, origins: &[String], user: &User) {
    let xsrf = |browser: &Browser| {
        let cookie = format!("x={}", browser.cookie("XSRF-TOKEN"));
        let decoded = form_urlencoded::parse(cookie.as_bytes()).next();
        decoded.map_or(String::new(), |(_, value)| value.into_owned())
    };
    let ok = |page: crate::Page| {
        assert_eq!(page.json()["ok"], true, "{}", page.text);
        page
    };
    browser.step("log in");
    browser.open(&format!("{}/", origins[0]));
    browser.think(1500);
    let token = xsrf(browser);
    let body = json!({ "user": user.name, "password": user.password });
    let ask = browser.fetch("POST", "/api/login").header("X-XSRF-TOKEN", &token).json(&body);
    let key = ok(browser.send(ask)).leaf("/apiKey");
    browser.step("work");
    let desk = browser.open("/desk");
    browser.think(1400);
    let config: Value = serde_json::from_str(&desk.attribute("#config", "value")).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let ticket = text(&config["ticket"]);
    let parts: Vec<&str> = ticket.split('|').collect();
    let token = xsrf(browser);
    let ask = browser.fetch("POST", &format!("/api/tickets/{}", parts[0]));
    let ask = ask.header("X-XSRF-TOKEN", &token).header("X-Signature", &format!("v1={}", parts[2]));
    let opened = ok(browser.send(ask.json(&json!({ "csrf": config["csrf"], "text": user.text }))));
    browser.think(1100);
    let basic = BASE64_STANDARD.encode(format!("{}:{key}", user.name));
    // The cursor comes percent-encoded and goes into the query as it is.
    let ask = browser.fetch("GET", &format!("/api/history?cursor={}", opened.leaf("/next")));
    ok(browser.send(ask.header("Authorization", &format!("Basic {basic}"))));
    let proof = format!("{}:{}:{}", parts[0], user.name, parts[2]);
    let ask = browser.fetch("POST", "/api/close").header("X-XSRF-TOKEN", &token);
    ok(browser.send(ask.json(&json!({ "proof": proof }))));
}

/// The state of a page in its script; a file goes to a signed address.
pub(super) fn spa(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    let page = browser.open(&format!("{}/", origins[0]));
    browser.think(1700);
    let state = |page: &crate::Page| {
        let csrf = page.between("\"csrf\":\"", "\"").replace("\\u002F", "/");
        (csrf, page.attribute("#root", "data-visit"))
    };
    let (csrf, visit) = state(&page);
    let body = json!({ "user": user.name, "password": user.password });
    let ask = browser.fetch("POST", "/api/login").json(&body);
    let ask = ask.header("X-Csrf", &csrf).header("X-Visit", &visit);
    let _ = browser.send(ask).must_be(200);
    browser.step("upload");
    let page = browser.open("/");
    browser.think(2600);
    let (csrf, visit) = state(&page);
    let with = |ask: crate::Ask| ask.header("X-Csrf", &csrf).header("X-Visit", &visit);
    let cart = page.between("\"cart\":{\"id\":\"", "\"");
    let path = format!("/api/carts/{cart}/uploads");
    let ask = with(browser.fetch("POST", &path)).json(&json!({ "name": user.title, "size": 22 }));
    let upload = browser.send(ask).must_be(201);
    let ask = browser.fetch("PUT", &upload.leaf("/upload/url"));
    let ask = ask.header("x-amz-meta-owner", &upload.leaf("/upload/headers/x-amz-meta-owner"));
    let stored = browser.send(ask.bytes("text/plain", b"twenty-two plain bytes")).must_be(200);
    browser.think(400);
    let ask = with(browser.fetch("PUT", &format!("{path}/{}", upload.leaf("/upload/id"))));
    let done = json!({ "etag": stored.header("etag"), "state": "uploaded" });
    let _ = browser.send(ask.json(&done)).must_be(200);
    browser.step("log out");
    let ask = with(browser.fetch("POST", "/api/logout")).json(&json!({}));
    let _ = browser.send(ask).must_be(200);
}

/// A conversation over a WebSocket, and a request about one of its messages.
pub(super) fn chat(browser: &mut Browser, origins: &[String], user: &User) {
    let json_of = |text: &str| serde_json::from_str::<Value>(text).expect("messages are JSON");
    browser.step("log in");
    browser.open(&format!("{}/", origins[0]));
    browser.think(1500);
    let body = json!({ "user": user.name, "password": user.password });
    let ask = browser.fetch("POST", "/api/login").json(&body);
    let _ = browser.send(ask).must_be(200);
    browser.step("chat");
    let ask = browser.fetch("POST", "/api/tickets").json(&json!({ "room": "general" }));
    let ticket = browser.send(ask).must_be(200).leaf("/ticket");
    let mut talk = browser.talk(&format!("/chat?ticket={ticket}"));
    let welcome = browser.hear(&mut talk);
    let join = json!({ "type": "join", "member": json_of(&welcome)["member"], "room": "general" });
    browser.say(&mut talk, &join.to_string());
    let joined = browser.hear(&mut talk);
    browser.think(2300);
    let say = json!({ "type": "say", "receipt": json_of(&joined)["receipt"], "text": user.text });
    browser.say(&mut talk, &say.to_string());
    let said = browser.hear(&mut talk);
    browser.think(1800);
    let say = json!({ "type": "say", "receipt": json_of(&said)["receipt"], "text": user.title });
    browser.say(&mut talk, &say.to_string());
    let said = browser.hear(&mut talk);
    browser.hang_up(talk);
    browser.step("pin the message");
    let message = json_of(&said)["id"].as_str().expect("an id").to_owned();
    let ask = browser.fetch("POST", &format!("/api/messages/{message}/pin")).json(&json!({}));
    let _ = browser.send(ask).must_be(200);
    let ask = browser.fetch("POST", "/api/logout").json(&json!({}));
    let _ = browser.send(ask).must_be(200);
}

/// A file that is made while events tell how far it is.
pub(super) fn export(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    let page = browser.open(&format!("{}/", origins[0]));
    browser.think(1600);
    let form = page.form("form").set("Input.Name", user.name);
    let page = browser.submit(form.set("Input.Password", user.password)).must_have("select");
    browser.step("export");
    browser.think(1900);
    let token = page.attribute("input[name=__RequestVerificationToken]", "value");
    let ask = browser.fetch("POST", "/exports").json(&json!({ "kind": "csv" }));
    let ask = ask.header("RequestVerificationToken", &token);
    let events = browser.send(ask).must_be(202).leaf("/events");
    let told = browser.events(&events);
    let file: Value =
        serde_json::from_str(&told.between("event: ready\ndata: ", "\n")).expect("JSON");
    let (job, key) = (file["job"].as_str(), file["key"].as_str());
    let (job, key) = (job.expect("a job"), key.expect("a key"));
    let _ = browser.open(&format!("/exports/{job}/file?key={key}")).must_be(200);
}
