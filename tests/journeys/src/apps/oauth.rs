//! OAuth 2 with a code and PKCE. Origin 0 is the application, origin 1 the authorization server. The application's page makes
//! state, nonce and verifier itself (`/spa`), or its server makes them and keeps the tokens (`/login`).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use super::orders::jwt;
use super::{Sessions, file, head, knows};
use crate::app::{App, Truth};
use crate::call::{Call, Reply, escaped};
use crate::dice::Dice;

/// A request for authorization, from its begin to its code.
#[derive(Debug, Default, Clone)]
struct Grant {
    query: Vec<(String, String)>,
    csrf: String,
    user: String,
    code: String,
    refresh: String,
    id_token: String,
}

/// A session of the application's server, or an access token of its page.
#[derive(Debug, Default)]
struct Session {
    state: String,
    verifier: String,
    csrf: String,
    is_in: bool,
    did: u32,
}

/// The application and the authorization server.
#[derive(Debug)]
pub(crate) struct Oauth {
    dice: Dice,
    key: Vec<u8>,
    origins: Vec<String>,
    grants: Sessions<Grant>,
    sessions: Sessions<Session>,
    /// Access tokens of pages and what was done with each.
    bearers: Sessions<u32>,
    truth: Truth,
}

fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

impl Oauth {
    pub(crate) fn new(seed: u64, origins: &[String]) -> Self {
        let mut dice = Dice::new(seed);
        let key = dice.bytes(32);
        Self {
            dice,
            key,
            origins: origins.to_vec(),
            grants: Sessions::new(),
            sessions: Sessions::new(),
            bearers: Sessions::new(),
            truth: Truth::default(),
        }
    }

    fn refuse(&mut self, call: &Call, status: u16, why: &str) -> Reply {
        self.truth.refuse(&call.line(), why);
        Reply::json(status, &json!({ "error": "invalid_request", "error_description": why }))
    }

    fn page(&mut self, title: &str, transaction: &str, fields: &str) -> Reply {
        let csrf = self.dice.base64_url(24);
        let grant = self.grants.get_mut(transaction).expect("a grant that was found");
        grant.csrf.clone_from(&csrf);
        Reply::page(format!(
            r#"{head}<body>
<h1>{title}</h1>
<form id="kc-form" method="post" action="/{path}?session_code={transaction}&amp;client_id=shop">
<input type="hidden" name="_csrf" value="{csrf}">
{fields}
</form>
</body>
</html>
"#,
            head = head(title, ""),
            path = if title == "Sign in" { "signin" } else { "consent" },
        ))
    }

    /// The authorization server.
    fn server(&mut self, call: &Call) -> Reply {
        let (id, mine) = (call.parameter("session_code"), call.cookie("AUTH_SESSION").to_owned());
        match (call.method.as_str(), call.path.as_str()) {
            ("GET", "/authorize") => {
                let query: Vec<_> =
                    form_urlencoded::parse(call.query.as_bytes()).into_owned().collect();
                let of = |name: &str| call.parameter(name);
                let is_whole = of("response_type") == "code"
                    && of("code_challenge_method") == "S256"
                    && of("code_challenge").len() == 43
                    && of("state").len() >= 16
                    && of("nonce").len() >= 16
                    && of("redirect_uri").starts_with(&self.origins[0]);
                if !is_whole {
                    return self.refuse(call, 400, "a request for authorization that is not whole");
                }
                let id = self.dice.base64_url(32);
                self.grants.insert(id.clone(), Grant { query, ..Grant::default() });
                Reply::redirect(302, &format!("/signin?session_code={id}"))
                    .cookie(&format!("AUTH_SESSION={id}; Path=/; HttpOnly"))
            }
            (method, path @ ("/signin" | "/consent")) => {
                if id != mine || !self.grants.contains_key(&id) {
                    return self.refuse(call, 400, "another session's page");
                }
                let title = if path == "/signin" { "Sign in" } else { "Allow access" };
                let fields = match path {
                    "/signin" => {
                        "<input name=\"username\" type=\"text\">\n<input name=\"password\" type=\"password\">\n<input type=\"submit\" name=\"login\" value=\"Sign in\">"
                    }
                    _ => "<button name=\"allow\" value=\"yes\">Allow</button>",
                };
                if method == "GET" {
                    return self.page(title, &id, fields);
                }
                if self.grants[&id].csrf != call.field("_csrf") {
                    return self.refuse(call, 403, "a stale token");
                }
                if path == "/signin" {
                    let user = call.field("username");
                    if !knows(&user, &call.field("password")) {
                        return self.refuse(call, 401, "wrong password");
                    }
                    self.grants.get_mut(&id).expect("it was found").user = user;
                    return Reply::redirect(302, &format!("/consent?session_code={id}"));
                }
                let code = self.dice.base64_url(33);
                let grant = self.grants.get_mut(&id).expect("it was found");
                if grant.user.is_empty() {
                    return self.refuse(call, 403, "no user is signed in");
                }
                grant.code.clone_from(&code);
                let of = |name: &str| {
                    let found = grant.query.iter().find(|(known, _)| known == name);
                    found.map_or(String::new(), |(_, value)| value.clone())
                };
                let state =
                    form_urlencoded::byte_serialize(of("state").as_bytes()).collect::<String>();
                Reply::redirect(
                    302,
                    &format!("{}?code={code}&state={state}&iss=auth", of("redirect_uri")),
                )
            }
            ("POST", "/token") => {
                let of = |name: &str| call.field(name);
                match self.token(&of("grant_type"), &of("code"), &of("code_verifier"), &of("refresh_token")) {
                    Ok((access, refresh, id)) => Reply::json(
                        200,
                        &json!({
                            "access_token": access, "token_type": "Bearer", "expires_in": 300, "scope": "openid shop",
                            "refresh_token": refresh, "id_token": id,
                        }),
                    )
                    .with("Access-Control-Allow-Origin", &self.origins[0]),
                    Err(why) => self.refuse(call, 400, why),
                }
            }
            ("GET", "/logout") => {
                let hint = call.parameter("id_token_hint");
                let Some(id) = self
                    .grants
                    .iter()
                    .find(|(_, grant)| !hint.is_empty() && grant.id_token == hint)
                else {
                    return self.refuse(call, 400, "a session that is not known");
                };
                let id = id.0.clone();
                self.grants.remove(&id);
                Reply::redirect(302, &format!("{}/bye", self.origins[0]))
            }
            _ => self.refuse(call, 404, "no such page"),
        }
    }

    /// An access, a refresh and an id token.
    fn token(
        &mut self,
        kind: &str,
        code: &str,
        verifier: &str,
        refresh: &str,
    ) -> Result<(String, String, String), &'static str> {
        let mut grants = self.grants.values_mut();
        let grant = match kind {
            "authorization_code" => grants.find(|grant| !code.is_empty() && grant.code == code),
            "refresh_token" => grants.find(|grant| !refresh.is_empty() && grant.refresh == refresh),
            _ => return Err("no such kind of grant"),
        };
        let grant = grant.ok_or("the code or token was used before or is another session's")?;
        let of = |name: &str| {
            grant.query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
        };
        if kind == "authorization_code" && challenge(verifier) != of("code_challenge") {
            return Err("the verifier is not that of the challenge");
        }
        let claims = json!({ "sub": grant.user, "jti": self.dice.hex(24), "aud": "shop" });
        let access = jwt(&self.key, &claims);
        let claims = json!({ "sub": grant.user, "nonce": of("nonce"), "sid": self.dice.hex(16) });
        grant.code = String::new();
        grant.refresh = self.dice.base64_url(40);
        grant.id_token = jwt(&self.key, &claims);
        self.bearers.insert(access.clone(), 0);
        Ok((access, grant.refresh.clone(), grant.id_token.clone()))
    }

    /// The application.
    fn app(&mut self, call: &Call) -> Reply {
        let id = call.cookie("SHOP").to_owned();
        match (call.method.as_str(), call.path.as_str()) {
            ("GET", "/spa" | "/callback" | "/bye") => {
                let head = head("Shop", "");
                Reply::page(format!("{head}<body>\n<div id=\"root\"></div>\n</body>\n</html>\n"))
            }
            ("GET" | "POST", "/api/me" | "/api/baskets" | "/api/done") => {
                let bearer =
                    call.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
                let dice = self.dice.uuid();
                let Some(did) = self.bearers.get_mut(bearer) else {
                    return self.refuse(
                        call,
                        401,
                        "the access token is stale or another session's",
                    );
                };
                *did += 1;
                if call.path == "/api/done" {
                    if *did == 2 {
                        self.truth.done += 1;
                    }
                    self.bearers.remove(bearer);
                }
                Reply::json(200, &json!({ "basket": dice }))
            }
            ("GET", "/login") => {
                let (id, state) = (self.dice.hex(40), self.dice.base64_url(24));
                let (verifier, nonce) = (self.dice.base64_url(48), self.dice.base64_url(24));
                let query = form_urlencoded::Serializer::new(String::new())
                    .append_pair("response_type", "code")
                    .append_pair("client_id", "shop")
                    .append_pair("scope", "openid shop")
                    .append_pair("state", &state)
                    .append_pair("nonce", &nonce)
                    .append_pair("code_challenge", &challenge(&verifier))
                    .append_pair("code_challenge_method", "S256")
                    .append_pair("redirect_uri", &format!("{}/login/callback", self.origins[0]))
                    .finish();
                self.sessions.insert(id.clone(), Session { state, verifier, ..Session::default() });
                Reply::redirect(302, &format!("{}/authorize?{query}", self.origins[1]))
                    .cookie(&format!("SHOP={id}; Path=/; HttpOnly"))
            }
            ("GET", "/login/callback") => {
                let Some(session) = self.sessions.get(&id) else {
                    return self.refuse(call, 400, "no session");
                };
                if session.state != call.parameter("state") {
                    return self.refuse(call, 400, "another session's state");
                }
                let verifier = session.verifier.clone();
                let code = call.parameter("code");
                if let Err(why) = self.token("authorization_code", &code, &verifier, "") {
                    return self.refuse(call, 400, why);
                }
                self.sessions.get_mut(&id).expect("it was found").is_in = true;
                Reply::redirect(302, "/account")
            }
            (method, "/account" | "/account/out") => {
                let csrf = self.dice.uuid();
                let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_in)
                else {
                    return self.refuse(call, 403, "not logged in");
                };
                if method == "GET" {
                    session.csrf.clone_from(&csrf);
                    let (head, csrf) = (head("Account", ""), escaped(&csrf));
                    return Reply::page(format!(
                        r#"{head}<body>
<form id="profile" method="post" action="/account"><input type="hidden" name="_csrf" value="{csrf}"><input name="city" type="text" value=""><button>Save</button></form>
<form id="out" method="post" action="/account/out"><input type="hidden" name="_csrf" value="{csrf}"><button>Log out</button></form>
</body>
</html>
"#
                    ));
                }
                if session.csrf != call.field("_csrf") {
                    return self.refuse(call, 403, "a stale token");
                }
                session.did += 1;
                if call.path == "/account" {
                    return Reply::redirect(303, "/account");
                }
                if session.did == 2 {
                    self.truth.done += 1;
                }
                self.sessions.remove(&id);
                Reply::redirect(302, "/bye").cookie("SHOP=; Path=/; Max-Age=0")
            }
            _ => self.refuse(call, 404, "no such page"),
        }
    }
}

impl App for Oauth {
    fn call(&mut self, call: &Call) -> Reply {
        if let Some(reply) = file(call) {
            return reply;
        }
        if call.origin == 1 { self.server(call) } else { self.app(call) }
    }

    fn truth(&self) -> &Truth {
        &self.truth
    }
}
