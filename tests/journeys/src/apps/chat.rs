//! A chat over a WebSocket that a ticket opens, good once.

use serde_json::{Value, json};

use super::{Sessions, file, head, knows};
use crate::app::{App, Said, Truth};
use crate::call::{Call, Reply};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    ticket: String,
    /// Told by the newest message of the server; so are the next two.
    member: String,
    receipt: String,
    message: String,
    has_pinned: bool,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Chat {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

impl Chat {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::json(403, &json!({ "error": why }))
    }
}

impl App for Chat {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        if call.path == "/" {
            let html =
                format!("{}<body>\n<div id=\"root\"></div>\n</body>\n</html>\n", head("Chat", ""));
            return Reply::page(html);
        }
        if call.path == "/api/login" {
            let json = call.json();
            let text = |name: &str| json[name].as_str().unwrap_or_default();
            if !knows(text("user"), text("password")) {
                return self.refuse(call, "wrong password");
            }
            let id = self.dice.hex(32);
            self.sessions.insert(id.clone(), Session::default());
            return Reply::json(200, &json!({ "ok": true }))
                .cookie(&format!("chat={id}; Path=/; HttpOnly"));
        }
        let id = call.cookie("chat").to_owned();
        let ticket = self.dice.base64_url(27);
        let Some(session) = self.sessions.get_mut(&id) else {
            return self.refuse(call, "no session");
        };
        match (call.method.as_str(), call.segments().as_slice()) {
            ("POST", ["api", "tickets"]) => {
                session.ticket.clone_from(&ticket);
                Reply::json(200, &json!({ "ticket": ticket, "path": "/chat" }))
            }
            ("GET", ["chat"]) => {
                let ticket = call.parameter("ticket");
                if ticket.is_empty() || ticket != session.ticket {
                    return self.refuse(call, "the ticket was used before or is another session's");
                }
                session.ticket = String::new();
                Reply::socket(id)
            }
            ("POST", ["api", "messages", message, "pin"]) if *message == session.message => {
                session.has_pinned = true;
                Reply::json(200, &json!({ "pinned": true }))
            }
            ("POST", ["api", "logout"]) => {
                let session = self.sessions.remove(&id).expect("a session that was found");
                if session.has_pinned {
                    self.truth.done += 1;
                }
                Reply::json(200, &json!({ "ok": true }))
            }
            _ => self.refuse(call, "no such request of this session"),
        }
    }

    fn opened(&mut self, socket: &str) -> Vec<Said> {
        let member = self.dice.uuid();
        if let Some(session) = self.sessions.get_mut(socket) {
            session.member.clone_from(&member);
        }
        vec![Said::Text(json!({ "type": "welcome", "member": member, "version": 3 }).to_string())]
    }

    fn said(&mut self, socket: &str, text: &str) -> Vec<Said> {
        let json: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        let (receipt, message) = (self.dice.letters(22), format!("m_{}", self.dice.hex(14)));
        let why = match self.sessions.get_mut(socket) {
            None => "no session",
            Some(session) if json["type"] == "join" => {
                if json["member"] == session.member {
                    session.receipt.clone_from(&receipt);
                    return vec![Said::Text(
                        json!({ "type": "joined", "room": json["room"], "receipt": receipt })
                            .to_string(),
                    )];
                }
                "another session's member"
            }
            Some(session) if json["type"] == "say" => {
                if json["receipt"] == session.receipt {
                    session.receipt.clone_from(&receipt);
                    session.message.clone_from(&message);
                    return vec![Said::Text(
                        json!({ "type": "said", "id": message, "text": json["text"], "receipt": receipt }).to_string(),
                    )];
                }
                "a stale receipt"
            }
            Some(_) => "no such message",
        };
        self.truth.refuse("WebSocket", why);
        vec![Said::Text(json!({ "type": "error", "message": why }).to_string()), Said::Close(1008)]
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
