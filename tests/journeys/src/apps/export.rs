//! An application that makes a file and tells its progress as events; the last event has the key that downloads the file.

use serde_json::json;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

#[derive(Debug, Default)]
struct Session {
    token: String,
    job: String,
    key: String,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Export {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

impl Export {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::error(403, why)
    }

    fn page(&mut self, id: &str, title: &str, inside: &str) -> Reply {
        let token = self.dice.base64(40);
        let session = self.sessions.get_mut(id).expect("a session that was found");
        session.token.clone_from(&token);
        let (head, token) = (head(title, ""), escaped(&token));
        Reply::page(format!(
            "{head}<body>\n<form method=\"post\">\n<input type=\"hidden\" name=\"__RequestVerificationToken\" value=\"{token}\">\n{inside}\n</form>\n</body>\n</html>\n"
        ))
    }
}

impl App for Export {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        let mut id = call.cookie(".Session").to_owned();
        if !self.sessions.contains_key(&id) {
            if call.path != "/" || call.method != "GET" {
                return self.refuse(call, "no session");
            }
            id = self.dice.base64_url(30);
            self.sessions.insert(id.clone(), Session::default());
            let inside = "<input name=\"Input.Name\">\n<input name=\"Input.Password\" type=\"password\">\n<button>Log in</button>";
            return self
                .page(&id, "Log in", inside)
                .cookie(&format!(".Session={id}; Path=/; HttpOnly"));
        }
        let session = &self.sessions[&id];
        if call.method == "POST" {
            let given = match call.header("requestverificationtoken") {
                "" => call.field("__RequestVerificationToken"),
                token => token.to_owned(),
            };
            if given != session.token {
                return self.refuse(call, "The antiforgery token could not be decrypted.");
            }
        }
        let (job, key) = (self.dice.hex(12), self.dice.base64_url(21));
        match (call.method.as_str(), call.segments().as_slice()) {
            ("POST", []) => {
                if !knows(&call.field("Input.Name"), &call.field("Input.Password")) {
                    return self.refuse(call, "wrong password");
                }
                Reply::redirect(302, "/exports")
            }
            ("GET", ["exports"]) => {
                let inside = "<select name=\"Input.Kind\"><option value=\"csv\" selected>CSV</option><option value=\"pdf\">PDF</option></select>\n<button>Export</button>";
                self.page(&id, "Exports", inside)
            }
            ("POST", ["exports"]) => {
                let session = self.sessions.get_mut(&id).expect("a session that was found");
                (session.job, session.key) = (job.clone(), key);
                Reply::json(202, &json!({ "events": format!("/exports/{job}/events") }))
            }
            ("GET", ["exports", job, "events"]) if *job == session.job => {
                let file = json!({ "job": job, "key": session.key, "rows": 1200 });
                let text = format!(
                    "event: progress\ndata: {{\"percent\":50}}\n\nevent: ready\ndata: {file}\n\n"
                );
                Reply::new(200, "text/event-stream", text).with("Cache-Control", "no-store")
            }
            ("GET", ["exports", job, "file"]) if *job == session.job => {
                if call.parameter("key") != session.key {
                    return self.refuse(call, "a key that is stale or another session's");
                }
                self.truth.done += 1;
                self.sessions.remove(&id);
                Reply::new(200, "text/csv", "a,b\n1,2\n")
                    .with("Content-Disposition", "attachment; filename=\"export.csv\"")
            }
            _ => self.refuse(call, "no such page of this session"),
        }
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
