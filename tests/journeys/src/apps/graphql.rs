//! GraphQL in the manner of Relay: opaque ids and cursors, persisted queries whose hashes are constant, errors with status 200.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    orders: Vec<u64>,
    /// The order that the newest cursor follows.
    cursor: u64,
    version: u64,
    mutations: Vec<String>,
    did: Vec<String>,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Graph {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

/// The operations, with the hashes of their texts.
const QUERIES: [(&str, &str); 5] = [
    ("SignIn", "9c1f0e6b5a7d48329c1f0e6b5a7d48329c1f0e6b5a7d48329c1f0e6b5a7d4832"),
    ("Orders", "4be2aa1097c35d684be2aa1097c35d684be2aa1097c35d684be2aa1097c35d68"),
    ("Order", "d07b63f5821ec94ad07b63f5821ec94ad07b63f5821ec94ad07b63f5821ec94a"),
    ("UpdateOrder", "61a8f4c2907bde3561a8f4c2907bde3561a8f4c2907bde3561a8f4c2907bde35"),
    ("SignOut", "e5530d9b7fa12c86e5530d9b7fa12c86e5530d9b7fa12c86e5530d9b7fa12c86"),
];

fn node(id: u64) -> String {
    BASE64_STANDARD.encode(format!("Order:{id}"))
}

fn cursor(id: u64) -> String {
    BASE64_STANDARD.encode(format!("arrayconnection:{id}"))
}

/// The hash of an operation's text.
pub(crate) fn hash(name: &str) -> &'static str {
    QUERIES.iter().find(|(known, _)| *known == name).map_or("", |(_, hash)| hash)
}

impl Graph {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::json(
            200,
            &json!({ "data": null, "errors": [{ "message": why, "path": ["viewer"] }] }),
        )
    }

    fn run(&mut self, call: &Call, name: &str, variables: &Value) -> Reply {
        let id =
            call.header("authorization").strip_prefix("Bearer ").unwrap_or_default().to_owned();
        let version = self.dice.number(10..90);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let Some(session) = self.sessions.get_mut(&id) else {
            return self.refuse(call, "UNAUTHENTICATED");
        };
        let order = session.orders.iter().copied().find(|order| {
            variables["id"] == node(*order) || variables["input"]["id"] == node(*order)
        });
        match name {
            "Orders" => {
                let after = text(&variables["after"]);
                let from = match after.as_str() {
                    "" => 0,
                    after if after == cursor(session.cursor) => {
                        let at = session.orders.iter().position(|order| *order == session.cursor);
                        at.map_or(0, |at| at + 1)
                    }
                    _ => return self.refuse(call, "a cursor that is stale or another session's"),
                };
                let page: Vec<u64> = session.orders.iter().skip(from).take(3).copied().collect();
                session.did.push(name.to_owned());
                session.cursor = page.last().copied().unwrap_or_default();
                let edges = page.iter().map(|order| {
                    json!({ "cursor": cursor(*order), "node": { "__typename": "Order", "id": node(*order), "state": "OPEN" } })
                });
                let info = json!({ "endCursor": cursor(session.cursor), "hasNextPage": from == 0 });
                Reply::json(
                    200,
                    &json!({ "data": { "viewer": { "orders": { "edges": edges.collect::<Vec<_>>(), "pageInfo": info } } } }),
                )
            }
            "Order" => {
                let Some(order) = order else {
                    return self.refuse(call, "no such order of this session");
                };
                session.version = version;
                let order = json!({ "__typename": "Order", "id": node(order), "version": version, "note": null });
                Reply::json(200, &json!({ "data": { "order": order } }))
            }
            "UpdateOrder" => {
                let input = &variables["input"];
                let mutation = text(&input["clientMutationId"]);
                if order.is_none() {
                    return self.refuse(call, "no such order of this session");
                }
                if input["version"] != session.version {
                    return self.refuse(call, "the order was changed in the meantime");
                }
                if mutation.len() != 36 || session.mutations.contains(&mutation) {
                    return self.refuse(call, "this mutation was made before");
                }
                session.did.push(name.to_owned());
                session.mutations.push(mutation.clone());
                session.version += 1;
                let order =
                    json!({ "id": input["id"], "version": session.version, "note": input["note"] });
                Reply::json(
                    200,
                    &json!({ "data": { "updateOrder": { "clientMutationId": mutation, "order": order } } }),
                )
            }
            "SignOut" => {
                let updates = session.did.iter().filter(|step| *step == "UpdateOrder").count();
                let pages = session.did.iter().filter(|step| *step == "Orders").count();
                if updates == 2 && pages == 2 {
                    self.truth.done += 1;
                }
                self.sessions.remove(&id);
                Reply::json(200, &json!({ "data": { "signOut": true } }))
            }
            _ => self.refuse(call, "no such operation"),
        }
    }
}

impl App for Graph {
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
        let body = call.json();
        let name = body["operationName"].as_str().unwrap_or_default();
        if call.path != "/graphql"
            || body["extensions"]["persistedQuery"]["sha256Hash"] != hash(name)
        {
            return self.refuse(call, "PersistedQueryNotFound");
        }
        let variables = &body["variables"];
        if name != "SignIn" {
            return self.run(call, name, variables);
        }
        let input = &variables["input"];
        let text = |name: &str| input[name].as_str().unwrap_or_default();
        if !knows(text("email"), text("password")) {
            return self.refuse(call, "wrong password");
        }
        let token = self.dice.base64_url(32);
        let first = self.dice.number(1000..9000);
        let orders = (0..6).map(|index| first + 3 * index + self.dice.number(0..3)).collect();
        self.sessions.insert(token.clone(), Session { orders, ..Session::default() });
        let viewer = json!({ "id": BASE64_STANDARD.encode("User:12"), "email": text("email") });
        Reply::json(200, &json!({ "data": { "signIn": { "token": token, "viewer": viewer } } }))
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
