//! An application in the manner of Django: the token of forms is masked anew in each page and belongs to a cookie, which a login
//! renews. Its notes are in a list that all users share, newest first, into which colleagues write at any time; the id of a new
//! note is told in a message alone.

use std::fmt::Write as _;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Letters of a secret.
const SECRET: usize = 32;
/// Rows of the list.
const ROWS: usize = 8;

#[derive(Debug, Default)]
struct Session {
    user: String,
    message: Option<String>,
    added: bool,
    changed: bool,
    deleted: bool,
}

#[derive(Debug)]
struct Note {
    id: u64,
    /// The session that may change it; empty for a colleague's.
    owner: String,
    title: String,
    text: String,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Django {
    dice: Dice,
    origin: String,
    sessions: Sessions<Session>,
    notes: Vec<Note>,
    next: u64,
    truth: Truth,
}

impl Django {
    pub(crate) fn new(seed: u64, origins: &[String]) -> Self {
        let mut dice = Dice::new(seed);
        let next = dice.number(2000..8000);
        let (sessions, notes) = (Sessions::new(), Vec::new());
        let mut app = Self {
            dice,
            origin: origins[0].clone(),
            sessions,
            notes,
            next,
            truth: Truth::default(),
        };
        for _ in 0..ROWS {
            app.colleague();
        }
        app
    }

    fn add(&mut self, owner: &str, title: &str, text: &str) -> u64 {
        self.next += self.dice.number(1..5);
        let (owner, title, text) = (owner.to_owned(), title.to_owned(), text.to_owned());
        self.notes.push(Note { id: self.next, owner, title, text });
        self.next
    }

    /// A colleague writes a note.
    fn colleague(&mut self) {
        let title = ["Agenda", "Minutes", "Engine", "Orders"][self.dice.number(0..4) as usize];
        self.add("", title, "by a colleague");
    }

    /// The secret under another mask: two halves, of which the second is the secret moved by the first.
    fn masked(&mut self, secret: &str) -> String {
        let mask: Vec<usize> = (0..SECRET).map(|_| self.dice.number(0..62) as usize).collect();
        let moved = secret.bytes().zip(&mask).map(|(byte, by)| (index(byte) + by) % 62);
        let all = mask.iter().copied().chain(moved);
        all.map(|index| char::from(LETTERS[index])).collect()
    }

    fn token(&mut self, secret: &str) -> String {
        let token = self.masked(secret);
        format!(r#"<input type="hidden" name="csrfmiddlewaretoken" value="{token}">"#)
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::error(403, &format!("CSRF verification failed. Request aborted: {why}"))
    }

    fn missing(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::error(404, "No note matches the given query.")
    }

    fn page(&mut self, title: &str, secret: &str, inside: &str) -> Reply {
        let logout = self.token(secret);
        let head = head(title, "");
        let html = format!(
            "{head}<body>\n<form id=\"logout-form\" method=\"post\" action=\"/accounts/logout/\">{logout}\
             <button type=\"submit\">Log out</button></form>\n<h1>{title}</h1>\n{inside}\n</body>\n</html>\n"
        );
        Reply::page(html).cookie(&format!("csrftoken={secret}; Path=/; SameSite=Lax"))
    }

    fn login(&mut self, secret: &str, next: &str, wrong: &str) -> Reply {
        let (token, head, next) = (self.token(secret), head("Log in", ""), escaped(next));
        Reply::page(format!(
            r#"{head}<body>
<p class="errornote">{wrong}</p>
<form method="post" id="login-form">{token}
<input type="text" name="username" id="id_username" required>
<input type="password" name="password" id="id_password" required>
<input type="hidden" name="next" value="{next}">
<input type="submit" value="Log in">
</form>
</body>
</html>
"#
        ))
        .cookie(&format!("csrftoken={secret}; Path=/; SameSite=Lax"))
    }

    fn list(&mut self, id: &str, secret: &str) -> Reply {
        for _ in 0..self.dice.number(1..4) {
            self.colleague();
        }
        let token = self.token(secret);
        let session = self.sessions.get_mut(id).expect("a session that was found");
        let mut html = String::new();
        if let Some(message) = session.message.take() {
            let _ = writeln!(
                html,
                "<ul class=\"messagelist\"><li class=\"success\">{message}</li></ul>"
            );
        }
        let _ = writeln!(
            html,
            "<a href=\"/notes/add/\" class=\"addlink\">Add note</a>\n\
             <form id=\"changelist-form\" method=\"post\" action=\"/notes/\">{token}\n\
             <select name=\"action\"><option value=\"\" selected>---------</option>\
             <option value=\"delete_selected\">Delete selected notes</option></select>\n\
             <input type=\"hidden\" name=\"select_across\" value=\"0\">\n<table id=\"result_list\">"
        );
        for note in self.notes.iter().rev().take(ROWS) {
            let _ = writeln!(
                html,
                "<tr><td><input type=\"checkbox\" name=\"_selected_action\" value=\"{id}\"></td>\
                 <th><a href=\"/notes/{id}/change/\">{title}</a></th></tr>",
                id = note.id,
                title = escaped(&note.title)
            );
        }
        html.push_str(
            "</table>\n<button type=\"submit\" name=\"index\" value=\"0\">Go</button>\n</form>",
        );
        self.page("Notes", secret, &html)
    }

    fn form(&mut self, title: &str, secret: &str, note: (&str, &str)) -> Reply {
        let token = self.token(secret);
        let inside = format!(
            r#"<form method="post" id="note_form" enctype="multipart/form-data">{token}
<input type="text" name="title" id="id_title" value="{}" maxlength="80">
<textarea name="text" id="id_text">{}</textarea>
<input type="submit" value="Save" name="_save">
<input type="submit" value="Save and continue editing" name="_continue">
</form>"#,
            escaped(note.0),
            escaped(note.1)
        );
        self.page(title, secret, &inside)
    }

    fn confirm(&mut self, secret: &str, selected: &[u64]) -> Reply {
        let token = self.token(secret);
        let mut fields = String::new();
        for id in selected {
            let _ = writeln!(
                fields,
                "<input type=\"hidden\" name=\"_selected_action\" value=\"{id}\">"
            );
        }
        if !selected.is_empty() {
            fields.push_str("<input type=\"hidden\" name=\"action\" value=\"delete_selected\">\n");
        }
        let inside = format!(
            "<p>Are you sure?</p>\n<form method=\"post\">{token}\n{fields}\
             <input type=\"hidden\" name=\"post\" value=\"yes\">\n<input type=\"submit\" value=\"Yes, I'm sure\">\n</form>"
        );
        self.page("Are you sure?", secret, &inside)
    }

    /// Deletes a note of the session.
    fn delete(&mut self, session: &str, note: u64) {
        self.notes.retain(|known| known.id != note);
        let session = self.sessions.get_mut(session).expect("a session that was found");
        session.deleted = true;
        session.message = Some("The note was deleted successfully.".to_owned());
    }

    /// The fields of a form, URL-encoded or multipart.
    fn field(call: &Call, name: &str) -> String {
        if !call.header("content-type").starts_with("multipart/form-data") {
            return call.field(name);
        }
        let text = String::from_utf8_lossy(&call.body).into_owned();
        let head = format!("; name=\"{name}\"");
        let part = text.split("\r\n--").find(|part| part.contains(&head));
        let value = part.and_then(|part| part.split_once("\r\n\r\n"));
        value.map_or(String::new(), |(_, value)| value.to_owned())
    }

    /// The reason why a POST is none of ours.
    fn is_forged(&self, call: &Call, secret: &str) -> Option<&'static str> {
        let referer = call.header("referer");
        if !referer.starts_with(&format!("{}/", self.origin)) {
            return Some("Referer checking failed");
        }
        let token = Self::field(call, "csrfmiddlewaretoken");
        if secret.is_empty() {
            return Some("CSRF cookie not set");
        }
        if token.len() != 2 * SECRET || !token.bytes().all(|byte| LETTERS.contains(&byte)) {
            return Some("CSRF token has incorrect length");
        }
        let (mask, moved) = token.as_bytes().split_at(SECRET);
        let plain = mask.iter().zip(moved).map(|(by, byte)| (index(*byte) + 62 - index(*by)) % 62);
        let is_same = plain.eq(secret.bytes().map(index));
        (!is_same).then_some("CSRF token incorrect")
    }

    fn posted(&mut self, id: &str, call: &Call, secret: &str) -> Reply {
        let to_list = Reply::redirect(302, "/notes/");
        let (title, text) = (Self::field(call, "title"), Self::field(call, "text"));
        match call.segments().as_slice() {
            ["accounts", "logout"] => {
                let session = self.sessions.remove(id).expect("a session that was found");
                if session.added && session.changed && session.deleted {
                    self.truth.done += 1;
                }
                Reply::redirect(302, "/accounts/login/").cookie("sessionid=; Path=/; Max-Age=0")
            }
            ["notes"] => {
                let selected = call.field("_selected_action").parse().unwrap_or(0);
                if self.note(id, selected).is_none() {
                    return self.missing(call, "a note of another session");
                }
                if call.field("post") == "yes" {
                    self.delete(id, selected);
                    return to_list;
                }
                self.confirm(secret, &[selected])
            }
            ["notes", "add"] => {
                let note = self.add(id, &title, &text);
                let session = self.sessions.get_mut(id).expect("a session that was found");
                session.added = true;
                session.message = Some(format!(
                    "The note “<a href=\"/notes/{note}/change/\">{}</a>” was added successfully.",
                    escaped(&title)
                ));
                to_list
            }
            ["notes", note, "change"] => {
                let Some(at) = self.note(id, note.parse().unwrap_or(0)) else {
                    return self.missing(call, "a note of another session");
                };
                self.notes[at].title = title;
                self.notes[at].text = text;
                self.sessions.get_mut(id).expect("a session that was found").changed = true;
                if Self::field(call, "_continue").is_empty() {
                    return to_list;
                }
                Reply::redirect(302, &call.path)
            }
            ["notes", note, "delete"] => {
                let note = note.parse().unwrap_or(0);
                if self.note(id, note).is_none() {
                    return self.missing(call, "a note of another session");
                }
                self.delete(id, note);
                to_list
            }
            _ => self.missing(call, "no such page"),
        }
    }

    /// Where a note of the session is.
    fn note(&self, session: &str, id: u64) -> Option<usize> {
        self.notes.iter().position(|note| note.id == id && note.owner == session)
    }
}

fn index(byte: u8) -> usize {
    LETTERS.iter().position(|known| *known == byte).unwrap_or(0)
}

impl App for Django {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        let id = call.cookie("sessionid").to_owned();
        let secret = call.cookie("csrftoken").to_owned();
        let is_login = call.path == "/accounts/login/";
        if call.method == "POST" {
            if let Some(why) = self.is_forged(call, &secret) {
                return self.refuse(call, why);
            }
            if is_login {
                let user = call.field("username");
                if !knows(&user, &call.field("password")) {
                    self.truth.refuse(&call.line(), "wrong password");
                    return self.login(
                        &secret,
                        &call.field("next"),
                        "Please enter a correct username and password.",
                    );
                }
                let (id, secret) =
                    (self.dice.letters(32).to_lowercase(), self.dice.letters(SECRET));
                self.sessions.insert(id.clone(), Session { user, ..Session::default() });
                return Reply::redirect(302, &call.field("next"))
                    .cookie(&format!("sessionid={id}; Path=/; HttpOnly; SameSite=Lax"))
                    .cookie(&format!("csrftoken={secret}; Path=/; SameSite=Lax"));
            }
        } else if is_login {
            let secret = if secret.is_empty() { self.dice.letters(SECRET) } else { secret };
            return self.login(&secret, &call.parameter("next"), "");
        }
        if !self.sessions.contains_key(&id) {
            if call.method == "POST" || call.path != "/notes/" {
                self.truth.refuse(&call.line(), "no session");
            }
            return Reply::redirect(302, &format!("/accounts/login/?next={}", call.path));
        }
        if call.method == "POST" {
            return self.posted(&id, call, &secret);
        }
        match call.segments().as_slice() {
            ["notes"] => self.list(&id, &secret),
            ["notes", "add"] => self.form("Add note", &secret, ("", "")),
            ["notes", note, what @ ("change" | "delete")] => {
                let Some(at) = self.note(&id, note.parse().unwrap_or(0)) else {
                    return self.missing(call, "a note of another session");
                };
                if *what == "delete" {
                    return self.confirm(&secret, &[]);
                }
                let (title, text) = (self.notes[at].title.clone(), self.notes[at].text.clone());
                let user = self.sessions[&id].user.clone();
                self.form(&format!("Change note of {}", escaped(&user)), &secret, (&title, &text))
            }
            _ => self.missing(call, "no such page"),
        }
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
