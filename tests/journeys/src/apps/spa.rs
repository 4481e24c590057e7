//! An application whose page begins with a JavaScript literal that its requests send back, and whose files go to signed addresses
//! that are good once.

use serde_json::json;
use url::form_urlencoded;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    is_in: bool,
    csrf: String,
    build: String,
    cart: String,
    /// Key, signature and owner of the file that is awaited.
    upload: Option<(String, String, String)>,
    file: String,
    tag: String,
    did: u32,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Spa {
    dice: Dice,
    origins: Vec<String>,
    sessions: Sessions<Session>,
    truth: Truth,
}

impl Spa {
    pub(crate) fn new(seed: u64, origins: &[String]) -> Self {
        let truth = Truth::default();
        Self { dice: Dice::new(seed), origins: origins.to_vec(), sessions: Sessions::new(), truth }
    }

    fn refuse(&mut self, call: &Call, status: u16, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::json(status, &json!({ "message": why }))
    }

    /// Origin 1: the store of files, which knows no cookies.
    fn store(&mut self, call: &Call) -> Reply {
        let wanted = call.segments().get(1).copied().unwrap_or_default().to_owned();
        let (signature, meta) = (call.parameter("X-Signature"), call.header("x-amz-meta-owner"));
        let fits = |session: &&mut Session| {
            session.upload.as_ref().is_some_and(|(key, known, owner)| {
                *key == wanted && *known == signature && owner == meta
            })
        };
        let Some(session) = self.sessions.values_mut().find(fits) else {
            return self.refuse(call, 403, "SignatureDoesNotMatch");
        };
        if call.body.is_empty() {
            return self.refuse(call, 400, "an empty file");
        }
        // Good once.
        session.upload = None;
        session.tag = format!("\"{}\"", self.dice.hex(32));
        session.did += 1;
        let tag = session.tag.clone();
        Reply { status: 200, headers: Vec::new(), body: Vec::new(), socket: None }
            .with("ETag", &tag)
            .with("Access-Control-Allow-Origin", &self.origins[0])
            .with("Access-Control-Expose-Headers", "ETag")
    }

    fn page(&mut self, id: &str) -> Reply {
        let session = self.sessions.get_mut(id).expect("a session that was found");
        session.csrf = format!("{}/{}", self.dice.base64_url(15), self.dice.base64_url(15));
        session.build = self.dice.hex(8);
        if session.cart.is_empty() {
            session.cart = format!("c_{}", self.dice.letters(16));
        }
        let name = if session.is_in { "Ada" } else { "" };
        // As a serializer that is careful with `</script>` writes it.
        let state = format!(
            r#"{{"user":{{"name":"{name}"}},"csrf":"{}","cart":{{"id":"{}","lines":[]}},flags:{{"a":true}}}}"#,
            session.csrf.replace('/', "\\u002F"),
            session.cart
        );
        let build = &session.build;
        Reply::page(format!(
            "{}<body>\n<main id=\"root\" data-visit=\"{build}\"></main>\n<script>\n  window.__STATE__ = {state};\n  window.start = 1;\n</script>\n</body>\n</html>\n",
            head("Shop", "")
        ))
    }

    fn api(&mut self, id: &str, call: &Call) -> Reply {
        let json = call.json();
        let (key, signature) = (self.dice.letters(20), self.dice.base64(32));
        let (owner, upload) = (self.dice.uuid(), self.dice.number(10_000..99_999));
        let store = self.origins[1].clone();
        let session = self.sessions.get_mut(id).expect("a session that was found");
        if call.header("x-csrf") != session.csrf || call.header("x-visit") != session.build {
            return self.refuse(call, 403, "the token is stale or foreign");
        }
        let why = match (call.method.as_str(), call.segments().as_slice()) {
            ("POST", ["api", "login"]) => {
                let text = |name: &str| json[name].as_str().unwrap_or_default();
                if knows(text("user"), text("password")) {
                    session.is_in = true;
                    return Reply::json(200, &json!({ "ok": true }));
                }
                "wrong password"
            }
            ("POST", ["api", "carts", cart, "uploads"])
                if session.is_in && *cart == session.cart =>
            {
                session.upload = Some((key.clone(), signature.clone(), owner.clone()));
                let signed: String =
                    form_urlencoded::byte_serialize(signature.as_bytes()).collect();
                let url = format!("{store}/bucket/{key}?X-Expires=900&X-Signature={signed}");
                session.file = upload.to_string();
                return Reply::json(
                    201,
                    &json!({ "upload": { "id": upload, "url": url, "headers": { "x-amz-meta-owner": owner } } }),
                );
            }
            ("PUT", ["api", "carts", cart, "uploads", file])
                if *cart == session.cart && *file == session.file =>
            {
                if json["etag"] == session.tag && session.did == 1 {
                    session.did += 1;
                    return Reply::json(200, &json!({ "done": true }));
                }
                "another file"
            }
            ("POST", ["api", "logout"]) => {
                if session.did == 2 {
                    self.truth.done += 1;
                }
                self.sessions.remove(id);
                return Reply::json(200, &json!({ "ok": true }));
            }
            _ => "no such request of this session",
        };
        self.refuse(call, 403, why)
    }
}

impl App for Spa {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        if call.origin == 1 {
            return self.store(call);
        }
        let id = call.cookie("spa").to_owned();
        let is_known = self.sessions.contains_key(&id);
        if call.path.starts_with("/api/") {
            if !is_known {
                return self.refuse(call, 403, "no session");
            }
            return self.api(&id, call);
        }
        if is_known {
            return self.page(&id);
        }
        let id = self.dice.hex(32);
        self.sessions.insert(id.clone(), Session::default());
        self.page(&id).cookie(&format!("spa={id}; Path=/; HttpOnly"))
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
