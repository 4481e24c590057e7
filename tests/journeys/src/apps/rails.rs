//! An application in the manner of Rails: a token in a `meta` element for scripts, a token of its own in each form, which is good
//! for that form's action alone, `_method`, rows of forms that look alike.

use std::fmt::Write as _;

use serde_json::json;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    user: Option<String>,
    /// Each valid token, and its purpose: `POST /items`; `*` for scripts.
    tokens: Vec<(String, String)>,
    items: Vec<Item>,
    cart: String,
    lines: Vec<(u64, u64)>,
    notice: Option<String>,
    did: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Item {
    id: u64,
    name: String,
    price: String,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Rails {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

/// The steps that each of the two journeys must have done before its end.
const WAYS: [&[&str]; 2] =
    [&["create", "update", "destroy", "favorite"], &["add", "change", "checkout"]];

impl Rails {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    fn session(&mut self, id: &str) -> &mut Session {
        self.sessions.get_mut(id).expect("a session that was found")
    }

    /// A new token; the ones before it stay valid for what they are good for, until the session is a new one.
    fn token(&mut self, id: &str, good_for: &str) -> String {
        let token = self.dice.base64(64);
        self.session(id).tokens.push((token.clone(), good_for.to_owned()));
        token
    }

    /// A form with its token and, if the method is another one than POST, a field for it.
    fn form(&mut self, id: &str, method: &str, path: &str, class: &str, inside: &str) -> String {
        let token = escaped(&self.token(id, &format!("{method} {path}")));
        let hidden = if method == "POST" {
            String::new()
        } else {
            let method = method.to_lowercase();
            format!(r#"<input type="hidden" name="_method" value="{method}" autocomplete="off">"#)
        };
        format!(
            r#"<form class="{class}" action="{path}" accept-charset="UTF-8" method="post">{hidden}{inside}<input type="hidden" name="authenticity_token" value="{token}" autocomplete="off"></form>"#
        )
    }

    fn page(&mut self, id: &str, title: &str, inside: &str) -> Reply {
        let token = escaped(&self.token(id, "*"));
        let meta = format!(
            "<meta name=\"csrf-param\" content=\"authenticity_token\">\n<meta name=\"csrf-token\" content=\"{token}\">\n"
        );
        let out = if self.session(id).user.is_some() {
            self.form(
                id,
                "DELETE",
                "/session",
                "button_to",
                "<button type=\"submit\">Log out</button>",
            )
        } else {
            String::new()
        };
        let notice = self.session(id).notice.take().unwrap_or_default();
        let head = head(title, &meta);
        let cookie = format!("_shop_session={id}; Path=/; HttpOnly; SameSite=Lax");
        Reply::page(format!(
            "{head}<body>\n<header>{out}</header>\n<p id=\"notice\">{notice}</p>\n<h1>{title}</h1>\n{inside}\n</body>\n</html>\n"
        ))
        .cookie(&cookie)
    }

    fn refuse(&mut self, call: &Call, status: u16, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        if call.header("accept").contains("json") {
            return Reply::json(status, &json!({ "error": why }));
        }
        Reply::error(status, why)
    }

    fn login(&mut self, id: &str, wrong: &str) -> Reply {
        let form = self.form(
            id,
            "POST",
            "/session",
            "new_session",
            r#"<input name="utf8" type="hidden" value="&#x2713;"><input type="text" name="session[name]" id="session_name"><input type="password" name="session[password]" id="session_password"><input type="hidden" value="0" name="session[remember]"><input type="checkbox" value="1" name="session[remember]" id="session_remember"><input type="submit" name="commit" value="Log in" data-disable-with="Log in">"#,
        );
        self.page(id, "Log in", &format!("<p class=\"alert\">{wrong}</p>\n{form}"))
    }

    fn list(&mut self, id: &str) -> Reply {
        let items = self.session(id).items.clone();
        let mut html = String::from("<table>\n");
        for item in &items {
            let path = format!("/items/{}", item.id);
            let form = self.form(
                id,
                "DELETE",
                &path,
                "button_to",
                "<button type=\"submit\">Destroy</button>",
            );
            let _ = writeln!(
                html,
                "<tr id=\"item_{}\"><td><a href=\"{path}\">{}</a></td><td>{}</td><td>{form}</td></tr>",
                item.id,
                escaped(&item.name),
                escaped(&item.price)
            );
        }
        html.push_str("</table>\n<a href=\"/items/new\">New item</a>");
        self.page(id, "Items", &html)
    }

    fn edit(&mut self, id: &str, item: Option<&Item>) -> Reply {
        let (name, price) = item.map_or(("", ""), |item| (&item.name, &item.price));
        let fields = format!(
            r#"<input type="text" value="{}" name="item[name]" id="item_name"><input type="text" value="{}" name="item[price]" id="item_price"><input type="submit" name="commit" value="Save item">"#,
            escaped(name),
            escaped(price)
        );
        let form = match item {
            Some(item) => {
                self.form(id, "PATCH", &format!("/items/{}", item.id), "edit_item", &fields)
            }
            None => self.form(id, "POST", "/items", "new_item", &fields),
        };
        self.page(id, if item.is_some() { "Edit item" } else { "New item" }, &form)
    }

    /// A page whose script works with JSON: addresses are in data attributes.
    fn cart(&mut self, id: &str) -> Reply {
        let session = self.session(id);
        let cart = session.cart.clone();
        let mut rows = String::new();
        for item in session.items.clone() {
            let _ = writeln!(
                rows,
                "<li data-item=\"{}\" data-cart-target=\"row\">{}</li>",
                item.id,
                escaped(&item.name)
            );
        }
        let html = format!(
            "<div data-controller=\"cart\" data-cart-url-value=\"/carts/{cart}\" data-cart-limit-value=\"12\">\n<ul>\n{rows}</ul>\n</div>"
        );
        self.page(id, "Cart", &html)
    }

    /// A change, by a form or by a script, whose token is right.
    fn change(&mut self, id: &str, method: &str, call: &Call) -> Reply {
        let segments = call.segments();
        let json = call.json();
        match (method, segments.as_slice()) {
            ("POST", ["session"]) => {
                let user = call.field("session[name]");
                if !knows(&user, &call.field("session[password]")) {
                    self.truth.refuse(&call.line(), "wrong password");
                    return self.login(id, "Try another name or password.");
                }
                self.sessions.remove(id);
                let id = self.dice.hex(64);
                let names = ["Anvil", "Bellows", "Chisel"];
                let items = names.iter().zip(1..).map(|(name, index)| Item {
                    id: 300 * index + self.dice.number(0..300),
                    name: (*name).to_owned(),
                    price: "12.00".to_owned(),
                });
                let session = Session {
                    user: Some(user),
                    items: items.collect(),
                    cart: self.dice.hex(20),
                    ..Session::default()
                };
                self.sessions.insert(id.clone(), session);
                Reply::redirect(302, "/items")
                    .cookie(&format!("_shop_session={id}; Path=/; HttpOnly; SameSite=Lax"))
            }
            ("DELETE", ["session"]) => {
                let session = self.sessions.remove(id).expect("a session that was found");
                if WAYS.iter().any(|way| way.iter().all(|step| session.did.contains(step))) {
                    self.truth.done += 1;
                }
                Reply::redirect(303, "/session/new").cookie("_shop_session=; Path=/; Max-Age=0")
            }
            ("POST", ["items"]) => {
                let item = Item {
                    id: self.dice.number(2000..9000),
                    name: call.field("item[name]"),
                    price: call.field("item[price]"),
                };
                let path = format!("/items/{}", item.id);
                let session = self.session(id);
                session.items.push(item);
                session.did.push("create");
                session.notice = Some("Item was successfully created.".to_owned());
                Reply::redirect(302, &path)
            }
            (_, ["items", item, ..]) => {
                let item = item.parse().unwrap_or(0);
                let known = self.session(id).items.iter().position(|known| known.id == item);
                let Some(at) = known else {
                    return self.refuse(call, 404, "no such item in this session");
                };
                let session = self.session(id);
                match (method, segments.get(2)) {
                    ("PATCH", None) => {
                        session.items[at].name = call.field("item[name]");
                        session.items[at].price = call.field("item[price]");
                        session.did.push("update");
                        Reply::redirect(302, &format!("/items/{item}"))
                    }
                    ("DELETE", None) => {
                        session.items.remove(at);
                        session.did.push("destroy");
                        Reply::redirect(303, "/items")
                    }
                    ("PATCH", Some(&"favorite")) => {
                        session.did.push("favorite");
                        Reply::json(200, &json!({ "id": item, "favorite": true }))
                    }
                    _ => self.refuse(call, 404, "no such page"),
                }
            }
            (_, ["carts", cart, "lines", ..]) if *cart == self.session(id).cart => {
                let dice = self.dice.number(100..999);
                let version = self.dice.number(1..90);
                let session = self.session(id);
                if method == "POST" {
                    let item = json["item_id"].as_u64().unwrap_or(0);
                    if session.items.iter().all(|known| known.id != item) {
                        return self.refuse(call, 404, "no such item in this session");
                    }
                    session.lines.push((dice, version));
                    session.did.push("add");
                    return Reply::json(
                        201,
                        &json!({ "line": { "id": dice, "lock_version": version, "quantity": 1 } }),
                    );
                }
                let line = segments.get(3).and_then(|line| line.parse().ok()).unwrap_or(0);
                let known = session.lines.iter_mut().find(|(known, _)| *known == line);
                match known {
                    Some((_, known)) if json["lock_version"] == *known => {
                        *known += 1;
                        let version = *known;
                        session.did.push("change");
                        Reply::json(
                            200,
                            &json!({ "line": { "id": line, "lock_version": version, "quantity": json["quantity"] } }),
                        )
                    }
                    Some(_) => self.refuse(call, 409, "stale lock_version"),
                    None => self.refuse(call, 404, "no such line in this session"),
                }
            }
            ("POST", ["carts", cart, "checkout"]) if *cart == self.session(id).cart => {
                let (order, code) = (self.dice.uuid(), self.dice.letters(10));
                let session = self.session(id);
                session.did.push("checkout");
                session.cart.clone_from(&order);
                Reply::json(200, &json!({ "redirect": format!("/orders/{order}?code={code}") }))
            }
            _ => self.refuse(call, 404, "no such page in this session"),
        }
    }
}

impl App for Rails {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        let mut id = call.cookie("_shop_session").to_owned();
        if !self.sessions.contains_key(&id) {
            if call.path != "/session/new" {
                self.truth.refuse(&call.line(), "no session");
                return Reply::redirect(302, "/session/new");
            }
            id = self.dice.hex(64);
            self.sessions.insert(id.clone(), Session::default());
        }
        if call.method != "GET" {
            let method = match call.field("_method").to_uppercase() {
                method if method.is_empty() => call.method.clone(),
                method => method,
            };
            let (sent, wanted) = match call.header("x-csrf-token") {
                "" => (call.field("authenticity_token"), format!("{method} {}", call.path)),
                token => (token.to_owned(), "*".to_owned()),
            };
            let is_known = self.session(&id).tokens.contains(&(sent, wanted));
            if !is_known {
                return self.refuse(call, 422, "ActionController::InvalidAuthenticityToken");
            }
            return self.change(&id, &method, call);
        }
        let session = self.session(&id);
        if session.user.is_none() {
            return self.login(&id, "");
        }
        let items = session.items.clone();
        let item = |item: &str| items.iter().find(|known| known.id.to_string() == item).cloned();
        match call.segments().as_slice() {
            ["items"] => self.list(&id),
            ["items", "new"] => self.edit(&id, None),
            ["items", which, rest @ ..] => {
                let Some(item) = item(which) else {
                    return self.refuse(call, 404, "no such item in this session");
                };
                if *rest == ["edit"] {
                    return self.edit(&id, Some(&item));
                }
                let html = format!(
                    "<p>{}</p>\n<a href=\"/items/{}/edit\">Edit this item</a> <a href=\"/items\">Back</a>",
                    escaped(&item.name),
                    item.id
                );
                self.page(&id, "Item", &html)
            }
            ["cart"] => self.cart(&id),
            ["orders", order] if *order == self.session(&id).cart => {
                self.page(&id, "Thank you", "<p>Your order was placed.</p>")
            }
            ["recent.json"] => Reply::json(200, &json!({ "recent": [] })),
            _ => self.refuse(call, 404, "no such page in this session"),
        }
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
