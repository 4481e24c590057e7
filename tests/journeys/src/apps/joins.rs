//! An application whose requests send joins of what it gave: a part of a text, two texts in one, a text in another coding.
//! Refusals have status 200.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use url::form_urlencoded;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    user: String,
    xsrf: String,
    ticket: String,
    signature: String,
    key: String,
    csrf: String,
    cursor: String,
    did: u32,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Joins {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

impl Joins {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        if call.path.starts_with("/api/") {
            return Reply::json(200, &json!({ "ok": false, "error": why }));
        }
        let text = format!(
            "{}<body>\n<h1>Something went wrong</h1>\n<p>{why}</p>\n</body>\n</html>\n",
            head("Error", "")
        );
        Reply::page(text)
    }

    fn api(&mut self, id: &str, call: &Call) -> Reply {
        let next = self.dice.base64(18);
        let session = self.sessions.get_mut(id).expect("a session that was found");
        let xsrf = call.header("x-xsrf-token");
        if call.method != "GET" && xsrf != session.xsrf {
            return self.refuse(call, "X-XSRF-TOKEN is stale or foreign");
        }
        let basic = BASE64_STANDARD.encode(format!("{}:{}", session.user, session.key));
        let why = match (call.method.as_str(), call.segments().as_slice()) {
            ("POST", ["api", "tickets", ticket]) => {
                if *ticket != session.ticket {
                    "another session's ticket"
                } else if call.header("x-signature") != format!("v1={}", session.signature) {
                    "a wrong signature"
                } else if call.json()["csrf"] != session.csrf {
                    "a stale token"
                } else {
                    session.did += 1;
                    session.cursor.clone_from(&next);
                    let body = json!({ "ok": true, "next": form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>() });
                    return Reply::json(200, &body);
                }
            }
            ("GET", ["api", "history"]) => {
                if call.header("authorization") != format!("Basic {basic}") {
                    "a wrong key"
                } else if call.parameter("cursor") != session.cursor {
                    "a stale cursor"
                } else {
                    session.did += 1;
                    return Reply::json(200, &json!({ "ok": true, "history": [] }));
                }
            }
            ("POST", ["api", "close"]) => {
                // One text of three: `ticket:user:signature`.
                let wanted = format!("{}:{}:{}", session.ticket, session.user, session.signature);
                if call.json()["proof"] == wanted {
                    if session.did == 2 {
                        self.truth.done += 1;
                    }
                    self.sessions.remove(id);
                    return Reply::json(200, &json!({ "ok": true }));
                }
                "a wrong proof"
            }
            _ => "no such request",
        };
        self.refuse(call, why)
    }
}

impl App for Joins {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        let mut id = call.cookie("sid").to_owned();
        if !self.sessions.contains_key(&id) {
            if call.path != "/" {
                return self.refuse(call, "no session");
            }
            id = self.dice.hex(32);
            let session = Session { xsrf: self.dice.base64(24), ..Session::default() };
            let xsrf = form_urlencoded::byte_serialize(session.xsrf.as_bytes()).collect::<String>();
            self.sessions.insert(id.clone(), session);
            let head = head("Begin", "");
            return Reply::page(format!(
                "{head}<body>\n<div id=\"app\"></div>\n</body>\n</html>\n"
            ))
            .cookie(&format!("sid={id}; Path=/; HttpOnly"))
            .cookie(&format!("XSRF-TOKEN={xsrf}; Path=/"));
        }
        if call.path == "/api/login" {
            let json = call.json();
            let user = json["user"].as_str().unwrap_or_default().to_owned();
            let session = self.sessions.get_mut(&id).expect("a session that was found");
            if call.header("x-xsrf-token") != session.xsrf {
                return self.refuse(call, "X-XSRF-TOKEN is stale or foreign");
            }
            if !knows(&user, json["password"].as_str().unwrap_or_default()) {
                return self.refuse(call, "wrong password");
            }
            // The login renews the cookie.
            session.xsrf = self.dice.base64(24);
            session.key = self.dice.letters(28);
            session.user = user;
            let xsrf = form_urlencoded::byte_serialize(session.xsrf.as_bytes()).collect::<String>();
            return Reply::json(200, &json!({ "ok": true, "apiKey": session.key }))
                .cookie(&format!("XSRF-TOKEN={xsrf}; Path=/"));
        }
        if call.path == "/desk" {
            let session = self.sessions.get_mut(&id).expect("a session that was found");
            session.ticket = format!("t-{}", self.dice.number(100_000..999_999));
            session.signature = self.dice.hex(40);
            session.csrf = self.dice.base64(30);
            let config = json!({
                "ticket": format!("{}|{}|{}", session.ticket, "sha1", session.signature),
                "csrf": session.csrf, "locale": "en-GB",
            });
            let (head, config) = (head("Desk", ""), escaped(&config.to_string()));
            return Reply::page(format!(
                "{head}<body>\n<input type=\"hidden\" id=\"config\" value=\"{config}\">\n<div id=\"app\"></div>\n</body>\n</html>\n"
            ));
        }
        if call.path.starts_with("/api/") {
            return self.api(&id, call);
        }
        self.refuse(call, "no such page")
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
