//! A JSON API: access tokens live for a few requests, a refresh token is good once, and changes name the version that they change.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply};
use crate::dice::Dice;

/// Requests that an access token is good for.
const USES: u32 = 4;

#[derive(Debug, Default)]
struct Session {
    access: String,
    uses: u32,
    refresh: String,
    order: Option<u64>,
    tag: String,
    lines: Vec<u64>,
    keys: Vec<String>,
    deleted: bool,
    refreshed: bool,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Orders {
    dice: Dice,
    key: Vec<u8>,
    products: Vec<(u64, &'static str)>,
    sessions: Sessions<Session>,
    truth: Truth,
}

/// A JSON Web Token over these claims.
pub(crate) fn jwt(key: &[u8], claims: &Value) -> String {
    let head = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let text = format!("{head}.{}", BASE64_URL_SAFE_NO_PAD.encode(claims.to_string()));
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any size");
    let tag = mac.chain_update(&text).finalize().into_bytes();
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(tag))
}

impl Orders {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let names = ["anvil", "bellows", "chisel", "drill"];
        let products =
            names.iter().zip(1..).map(|(name, index)| (20 * index + dice.number(0..20), *name));
        let products = products.collect();
        let key = dice.bytes(32);
        Self { dice, key, products, sessions: Sessions::new(), truth: Truth::default() }
    }

    /// New tokens of a session.
    fn tokens(&mut self, id: &str, user: &str) -> Value {
        let claims = json!({
            "sub": user, "jti": self.dice.uuid(), "iat": 1_790_000_000, "exp": 1_790_000_300, "scope": "orders:write",
        });
        let access = jwt(&self.key, &claims);
        let refresh = self.dice.base64_url(48);
        let session = self.sessions.entry(id.to_owned()).or_default();
        (session.access, session.uses) = (access.clone(), 0);
        session.refresh.clone_from(&refresh);
        json!({ "tokenType": "Bearer", "accessToken": access, "expiresIn": 300, "refreshToken": refresh })
    }

    fn refuse(&mut self, call: &Call, status: u16, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::json(status, &json!({ "status": status, "title": why }))
    }

    fn order(&self, id: &str, status: u16) -> Reply {
        let session = &self.sessions[id];
        let order = session.order.unwrap_or_default();
        let lines: Vec<Value> = session.lines.iter().map(|line| json!({ "id": line })).collect();
        let body = json!({ "id": order, "state": "open", "lines": lines, "links": { "self": format!("/api/orders/{order}") } });
        Reply::json(status, &body).with("ETag", &session.tag)
    }

    fn change(&mut self, id: &str, call: &Call) -> Reply {
        let segments = call.segments();
        let wanted = segments.get(2).and_then(|order| order.parse::<u64>().ok());
        let (line, tag) = (self.dice.number(100..999), format!("\"{}\"", self.dice.hex(12)));
        let session = self.sessions.get_mut(id).expect("a session that was found");
        if wanted.is_none() || wanted != session.order {
            return self.refuse(call, 404, "no such order of this session");
        }
        if call.method != "GET" && call.header("if-match") != session.tag {
            return self.refuse(call, 412, "the order was changed in the meantime");
        }
        match (call.method.as_str(), &segments[3..]) {
            ("GET", []) => self.order(id, 200),
            ("PUT", []) => {
                session.tag = tag;
                self.order(id, 200)
            }
            ("POST", ["lines"]) => {
                let product = call.json()["productId"].as_u64();
                if self.products.iter().all(|(known, _)| Some(*known) != product) {
                    return self.refuse(call, 422, "no such product");
                }
                let key = call.header("idempotency-key").to_owned();
                if key.len() != 36 || session.keys.contains(&key) {
                    return self.refuse(call, 409, "this key was used before");
                }
                session.keys.push(key);
                session.lines.push(line);
                session.tag = tag;
                self.order(id, 201)
            }
            ("DELETE", ["lines", line]) => {
                let before = session.lines.len();
                session.lines.retain(|known| known.to_string() != *line);
                if session.lines.len() == before {
                    return self.refuse(call, 404, "no such line of this order");
                }
                session.tag = tag;
                self.order(id, 200)
            }
            ("DELETE", []) => {
                session.deleted = true;
                session.order = None;
                Reply { status: 204, headers: Vec::new(), body: Vec::new(), socket: None }
            }
            _ => self.refuse(call, 405, "no such request"),
        }
    }
}

impl App for Orders {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        if call.path == "/" {
            let html = format!(
                "{}<body>\n<div id=\"root\"></div>\n</body>\n</html>\n",
                head("Orders", "")
            );
            return Reply::page(html);
        }
        let json = call.json();
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        if call.path == "/api/login" {
            if !knows(&text("user"), &text("password")) {
                return self.refuse(call, 401, "wrong password");
            }
            let id = self.dice.hex(32);
            let tokens = self.tokens(&id, &text("user"));
            return Reply::json(200, &tokens).with("X-Session", &id);
        }
        let id = call.header("x-session").to_owned();
        let Some(session) = self.sessions.get_mut(&id) else {
            return self.refuse(call, 401, "no session");
        };
        if call.path == "/api/token/refresh" {
            if text("refreshToken") != session.refresh {
                self.sessions.remove(&id);
                return self.refuse(
                    call,
                    401,
                    "the refresh token was used before or is another session's",
                );
            }
            session.refreshed = true;
            let tokens = self.tokens(&id, "user");
            return Reply::json(200, &tokens);
        }
        if call.header("authorization") != format!("Bearer {}", session.access) {
            return self.refuse(call, 401, "the access token is stale or another session's");
        }
        session.uses += 1;
        if session.uses > USES {
            return self.refuse(call, 401, "the access token has expired");
        }
        match (call.method.as_str(), call.segments().as_slice()) {
            ("GET", ["api", "products"]) => {
                let all = self
                    .products
                    .iter()
                    .map(|(id, name)| json!({ "id": id, "name": name, "stock": 17 }));
                Reply::json(
                    200,
                    &json!({ "items": all.collect::<Vec<_>>(), "total": self.products.len() }),
                )
            }
            ("POST", ["api", "orders"]) => {
                let product = json["lines"][0]["productId"].as_u64();
                if self.products.iter().all(|(known, _)| Some(*known) != product) {
                    return self.refuse(call, 422, "no such product");
                }
                let (order, line) = (self.dice.number(1000..9999), self.dice.number(100..999));
                session.order = Some(order);
                session.lines = vec![line];
                session.tag = format!("\"{}\"", self.dice.hex(12));
                self.order(&id, 201).with("Location", &format!("/api/orders/{order}"))
            }
            ("POST", ["api", "logout"]) => {
                let session = self.sessions.remove(&id).expect("a session that was found");
                if session.deleted && session.refreshed {
                    self.truth.done += 1;
                }
                Reply::json(200, &json!({ "ok": true }))
            }
            (_, ["api", "orders", _, ..]) => self.change(&id, call),
            _ => self.refuse(call, 404, "no such request"),
        }
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
