//! An application in the manner of ASP.NET WebForms: each page carries its state, which the next POST must bring back, and links
//! that post. Its grid also answers in parts, as an `UpdatePanel` does.

use std::fmt::Write as _;

use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

/// The hidden fields of a page.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct State {
    view: String,
    validation: String,
}

#[derive(Debug, Default)]
struct Session {
    user: Option<String>,
    /// The newest state of each page, by the page's path.
    states: Vec<(String, State)>,
    /// Keys of the rows of the grid; two pages of three.
    rows: Vec<u64>,
    second: bool,
    version: String,
    edited: bool,
    paged: bool,
}

/// The application.
#[derive(Debug)]
pub(crate) struct WebForms {
    dice: Dice,
    sessions: Sessions<Session>,
    truth: Truth,
}

const ITEMS: [&str; 6] = ["Anvil", "Bellows", "Chisel", "Drill", "Engine", "File"];
const GRID: &str = "ctl00$Main$Grid";

impl WebForms {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), sessions: Sessions::new(), truth: Truth::default() }
    }

    /// A page's hidden fields; older ones of the page are stale from now on.
    fn state(&mut self, id: &str, path: &str, size: usize) -> State {
        let state = State { view: self.dice.base64(size), validation: self.dice.base64(90) };
        let session = self.sessions.get_mut(id).expect("a session that was found");
        session.states.retain(|(known, _)| known != path);
        session.states.push((path.to_owned(), state.clone()));
        state
    }

    fn refuse(&mut self, call: &Call, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::error(500, &format!("Validation of viewstate MAC failed: {why}"))
    }

    fn page(&mut self, id: &str, call: &Call, title: &str, size: usize, inside: &str) -> Reply {
        let state = self.state(id, &call.path, size);
        let generator = generator(&call.path);
        let action = escaped(&if call.query.is_empty() {
            format!(".{}", call.path)
        } else {
            format!(".{}?{}", call.path, call.query)
        });
        let head = head(title, "");
        Reply::page(format!(
            r#"{head}<body>
<form method="post" action="{action}" id="aspnetForm">
<div class="aspNetHidden">
<input type="hidden" name="__EVENTTARGET" id="__EVENTTARGET" value="" />
<input type="hidden" name="__EVENTARGUMENT" id="__EVENTARGUMENT" value="" />
<input type="hidden" name="__VIEWSTATE" id="__VIEWSTATE" value="{view}" />
</div>
<script type="text/javascript">
function __doPostBack(target, argument) {{ theForm.__EVENTTARGET.value = target; theForm.submit(); }}
</script>
<div class="aspNetHidden">
<input type="hidden" name="__VIEWSTATEGENERATOR" id="__VIEWSTATEGENERATOR" value="{generator}" />
<input type="hidden" name="__EVENTVALIDATION" id="__EVENTVALIDATION" value="{validation}" />
</div>
<h1>{title}</h1>
{inside}
</form>
</body>
</html>
"#,
            view = escaped(&state.view),
            validation = escaped(&state.validation),
        ))
    }

    fn login(&mut self, id: &str, call: &Call, wrong: &str) -> Reply {
        let inside = format!(
            r#"<span class="error">{wrong}</span>
<input name="ctl00$Main$User" type="text" id="ctl00_Main_User" />
<input name="ctl00$Main$Password" type="password" id="ctl00_Main_Password" />
<input type="submit" name="ctl00$Main$Login" value="Log in" id="ctl00_Main_Login" />"#
        );
        self.page(id, call, "Log in", 240, &inside)
    }

    /// The rows that the grid shows, with a link each that posts the row's key.
    fn grid(&self, id: &str) -> String {
        let session = &self.sessions[id];
        let from = if session.second { 3 } else { 0 };
        let mut html = String::from("<table id=\"ctl00_Main_Grid\">\n");
        for (item, key) in ITEMS.iter().zip(&session.rows).skip(from).take(3) {
            let post = escaped(&format!("javascript:__doPostBack('{GRID}','Edit${key}')"));
            let _ = writeln!(html, "<tr><td>{item}</td><td><a href=\"{post}\">Edit</a></td></tr>");
        }
        for page in 1..=2 {
            let post = escaped(&format!("javascript:__doPostBack('{GRID}','Page${page}')"));
            let _ = writeln!(html, "<tr><td><a href=\"{post}\">{page}</a></td></tr>");
        }
        html + "</table>\n"
    }

    fn list(&mut self, id: &str, call: &Call) -> Reply {
        let inside = format!(
            "<div id=\"ctl00_Main_Panel\">\n{}</div>\n\
             <a id=\"ctl00_Logout\" href=\"javascript:__doPostBack(&#39;ctl00$Logout&#39;,&#39;&#39;)\">Log out</a>",
            self.grid(id)
        );
        self.page(id, call, "Orders", 1400, &inside)
    }

    /// The grid and the new state, as a script manager reads them: `length|kind|id|content|`.
    fn parts(&mut self, id: &str, call: &Call) -> Reply {
        let grid = self.grid(id);
        let state = self.state(id, &call.path, 1400);
        let parts = [
            ("#", "", "4"),
            ("updatePanel", "ctl00_Main_Panel", &grid),
            ("hiddenField", "__EVENTTARGET", ""),
            ("hiddenField", "__EVENTARGUMENT", ""),
            ("hiddenField", "__VIEWSTATE", &state.view),
            ("hiddenField", "__VIEWSTATEGENERATOR", &generator(&call.path)),
            ("hiddenField", "__EVENTVALIDATION", &state.validation),
            ("pageTitle", "", "Orders"),
        ];
        let mut text = String::new();
        for (kind, name, content) in parts {
            let _ = write!(text, "{}|{kind}|{name}|{content}|", content.len());
        }
        Reply::new(200, "text/plain; charset=utf-8", text).with("Cache-Control", "no-cache")
    }

    fn order(&mut self, id: &str, call: &Call) -> Reply {
        let version = self.dice.hex(16);
        let session = self.sessions.get_mut(id).expect("a session that was found");
        session.version.clone_from(&version);
        let inside = format!(
            r#"<input type="hidden" name="ctl00$Main$RowVersion" id="ctl00_Main_RowVersion" value="{version}" />
<input name="ctl00$Main$Quantity" type="text" value="1" id="ctl00_Main_Quantity" />
<select name="ctl00$Main$State" id="ctl00_Main_State"><option value="0">open</option><option selected="selected" value="1">packed</option></select>
<textarea name="ctl00$Main$Note" id="ctl00_Main_Note"></textarea>
<input type="submit" name="ctl00$Main$Save" value="Save" id="ctl00_Main_Save" />
<input type="submit" name="ctl00$Main$Cancel" value="Cancel" id="ctl00_Main_Cancel" />"#
        );
        self.page(id, call, "Order", 700, &inside)
    }

    /// A POST whose hidden fields are right.
    fn posted(&mut self, id: &str, call: &Call) -> Reply {
        let (target, argument) = (call.field("__EVENTTARGET"), call.field("__EVENTARGUMENT"));
        let is_async =
            call.field("__ASYNCPOST") == "true" && call.header("x-microsoftajax") == "Delta=true";
        let session = self.sessions.get_mut(id).expect("a session that was found");
        match call.path.as_str() {
            "/Login.aspx" => {
                let user = call.field("ctl00$Main$User");
                if !knows(&user, &call.field("ctl00$Main$Password")) {
                    self.truth.refuse(&call.line(), "wrong password");
                    return self.login(id, call, "The name or the password is wrong.");
                }
                session.user = Some(user);
                Reply::redirect(302, "/Orders.aspx")
            }
            "/Orders.aspx" if target == "ctl00$Logout" => {
                if session.edited && session.paged {
                    self.truth.done += 1;
                }
                self.sessions.remove(id);
                Reply::redirect(302, "/Login.aspx")
            }
            "/Orders.aspx" if target == GRID => {
                if let Some(page) = argument.strip_prefix("Page$") {
                    session.second = page == "2";
                    session.paged = true;
                    return if is_async { self.parts(id, call) } else { self.list(id, call) };
                }
                let key = argument.strip_prefix("Edit$").and_then(|key| key.parse::<u64>().ok());
                let from = if session.second { 3 } else { 0 };
                let shown = session.rows.iter().skip(from).take(3);
                match key.filter(|key| shown.clone().any(|row| row == key)) {
                    Some(key) => Reply::redirect(302, &format!("/Order.aspx?key={key}")),
                    None => self.refuse(call, "no such row"),
                }
            }
            "/Order.aspx" => {
                if call.field("ctl00$Main$RowVersion") != session.version {
                    return self.refuse(call, "the row was changed in the meantime");
                }
                session.edited |= call.has_field("ctl00$Main$Save");
                session.second = false;
                Reply::redirect(302, "/Orders.aspx")
            }
            _ => self.refuse(call, "an event that is not valid"),
        }
    }
}

/// The same for all views of a page.
fn generator(path: &str) -> String {
    let sum = path
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sum:08X}")
}

impl App for WebForms {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        let is_post = call.method == "POST";
        let mut id = call.cookie("ASP.NET_SessionId").to_owned();
        let is_new = !self.sessions.contains_key(&id);
        if is_new {
            if call.path != "/Login.aspx" || is_post {
                self.truth.refuse(&call.line(), "no session");
                return Reply::redirect(302, "/Login.aspx");
            }
            id = self.dice.letters(24).to_ascii_lowercase();
            let row = |index: u64| 1_000_000 * (index + 1) + self.dice.number(0..1_000_000);
            let rows = (0..6).map(row).collect();
            self.sessions.insert(id.clone(), Session { rows, ..Session::default() });
        }
        let session = &self.sessions[&id];
        if call.path != "/Login.aspx" && session.user.is_none() {
            self.truth.refuse(&call.line(), "not logged in");
            return Reply::redirect(302, "/Login.aspx");
        }
        if is_post {
            let given = State {
                view: call.field("__VIEWSTATE"),
                validation: call.field("__EVENTVALIDATION"),
            };
            let known = session.states.iter().find(|(path, _)| *path == call.path);
            if known.is_none_or(|(_, state)| *state != given) {
                return self.refuse(call, "the state is stale or foreign");
            }
            if call.field("__VIEWSTATEGENERATOR") != generator(&call.path) {
                return self.refuse(call, "the state is another page's");
            }
            return self.posted(&id, call);
        }
        let reply = match call.path.as_str() {
            "/Login.aspx" => self.login(&id, call, ""),
            "/Orders.aspx" => self.list(&id, call),
            "/Order.aspx" => {
                let key = call.parameter("key").parse().unwrap_or(0);
                if !session.rows.contains(&key) {
                    return self.refuse(call, "no such row");
                }
                self.order(&id, call)
            }
            _ => Reply::error(404, "There is no such page."),
        };
        if is_new {
            return reply
                .cookie(&format!("ASP.NET_SessionId={id}; Path=/; HttpOnly; SameSite=Lax"));
        }
        reply
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
