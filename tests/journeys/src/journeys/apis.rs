//! Through interfaces without pages, as a page's script uses them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use crate::apps;
use crate::browser::{Ask, Browser, Page};
use crate::dice::Dice;
use crate::user::User;

/// An order is made, changed, and deleted with access tokens that are renewed.
pub(super) fn orders(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    browser.open(&format!("{}/", origins[0]));
    browser.think(2000);
    let credentials = json!({ "user": user.name, "password": user.password });
    let ask = browser.fetch("POST", "/api/login").json(&credentials);
    let login = browser.send(ask).must_be(200);
    let session = login.header("x-session");
    let with = |ask: Ask, tokens: &Page| {
        let ask = ask.header("Authorization", &format!("Bearer {}", tokens.leaf("/accessToken")));
        ask.header("X-Session", &session).header("Accept", "application/json")
    };
    browser.step("order");
    let ask = with(browser.fetch("GET", "/api/products"), &login);
    let products = browser.send(ask).must_be(200);
    browser.think(1700);
    let product = |index: usize| products.json()["items"][index]["id"].clone();
    let body = json!({ "lines": [{ "productId": product(2), "quantity": 17 }], "note": user.text });
    let ask = with(browser.fetch("POST", "/api/orders").json(&body), &login);
    let order = browser.send(ask).must_be(201);
    let path = format!("/api/orders/{}", order.leaf("/id"));
    let ask = with(browser.fetch("GET", &path), &login);
    let shown = browser.send(ask).must_be(200);
    browser.think(2600);
    let body = json!({ "id": order.json()["id"], "state": "packed", "note": user.title });
    let ask = with(browser.fetch("PUT", &path).json(&body), &login);
    let packed = browser.send(ask.header("If-Match", &shown.header("etag"))).must_be(200);

    browser.step("add a line");
    let body = json!({ "refreshToken": login.leaf("/refreshToken") });
    let ask = browser.fetch("POST", "/api/token/refresh").json(&body);
    let second = browser.send(ask.header("X-Session", &session)).must_be(200);
    let key = browser.make(Dice::uuid);
    let body = json!({ "productId": product(0), "quantity": 2 });
    let ask = with(browser.fetch("POST", &format!("{path}/lines")).json(&body), &second);
    let ask = ask.header("If-Match", &packed.header("etag")).header("Idempotency-Key", &key);
    let lines = browser.send(ask).must_be(201);
    browser.think(1500);
    let line = lines.leaf("/lines/1/id");
    let ask = with(browser.fetch("DELETE", &format!("{path}/lines/{line}")), &second);
    let shorter = browser.send(ask.header("If-Match", &lines.header("etag"))).must_be(200);

    browser.step("delete the order");
    let body = json!({ "refreshToken": second.leaf("/refreshToken") });
    let ask = browser.fetch("POST", "/api/token/refresh").json(&body);
    let third = browser.send(ask.header("X-Session", &session)).must_be(200);
    let ask = with(browser.fetch("DELETE", &path), &third);
    let _ = browser.send(ask.header("If-Match", &shorter.header("etag"))).must_be(204);
    let ask = with(browser.fetch("POST", "/api/logout"), &third);
    let _ = browser.send(ask).must_be(200);
}

/// The page makes state, nonce and verifier, and keeps the tokens.
pub(super) fn oauth_page(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    browser.open(&format!("{}/spa", origins[0]));
    browser.think(1200);
    let verifier = browser.make(|dice| dice.base64_url(48));
    let challenge = browser.make(|_| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)));
    let state = browser.make(|dice| dice.letters(32));
    let nonce = browser.make(|dice| dice.letters(32));
    let callback = format!("{}/callback", origins[0]);
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", "shop")
        .append_pair("redirect_uri", &callback)
        .append_pair("response_type", "code")
        .append_pair("scope", "openid shop")
        .append_pair("nonce", &nonce)
        .append_pair("state", &state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .finish();
    let page = browser.open(&format!("{}/authorize?{query}", origins[1])).must_have("#kc-form");
    browser.think(2500);
    let form = page.form("#kc-form").set("username", user.name).set("password", user.password);
    let page = browser.submit(form.add("login", "Sign in"));
    browser.think(1000);
    let page = browser.submit(page.form("#kc-form").add("allow", "yes")).must_have("#root");
    let code = page.url.query_pairs().find(|(name, _)| name == "code");
    let code = code.expect("the callback has a code").1.into_owned();
    let token = format!("{}/token", origins[1]);
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", "shop"),
        ("code", &code),
        ("redirect_uri", &callback),
        ("code_verifier", &verifier),
    ];
    let ask = browser.fetch("POST", &token).fields(&fields);
    let tokens = browser.send(ask).must_be(200);

    browser.step("use the interface");
    let bearer = |tokens: &Page| format!("Bearer {}", tokens.leaf("/access_token"));
    let ask = browser.fetch("GET", "/api/me").header("Authorization", &bearer(&tokens));
    let _ = browser.send(ask).must_be(200);
    browser.think(2200);
    let refresh = tokens.leaf("/refresh_token");
    let fields =
        [("grant_type", "refresh_token"), ("client_id", "shop"), ("refresh_token", &refresh)];
    let ask = browser.fetch("POST", &token).fields(&fields);
    let renewed = browser.send(ask).must_be(200);
    for path in ["/api/baskets", "/api/done"] {
        let body = json!({ "item": user.title });
        let ask = browser.fetch("POST", path).header("Authorization", &bearer(&renewed));
        let _ = browser.send(ask.json(&body)).must_be(200);
    }
    browser.step("log out");
    let hint = renewed.leaf("/id_token");
    let _ = browser.open(&format!("{}/logout?id_token_hint={hint}", origins[1])).must_have("#root");
}

fn query(browser: &mut Browser, name: &str, variables: &Value, token: &str) -> Page {
    let body = json!({
        "operationName": name,
        "variables": variables,
        "extensions": { "persistedQuery": { "version": 1, "sha256Hash": apps::hash(name) } },
    });
    let ask = browser.fetch("POST", "/graphql").header("Accept", "application/json");
    let ask = match token {
        "" => ask,
        token => ask.header("Authorization", &format!("Bearer {token}")),
    };
    let page = browser.send(ask.json(&body)).must_be(200);
    assert!(page.json()["errors"].is_null(), "{}", page.text);
    page
}

/// Two pages of orders by cursor; one of them is changed twice.
pub(super) fn graphql(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("sign in");
    browser.open(&format!("{}/", origins[0]));
    browser.think(1800);
    let input = json!({ "input": { "email": user.name, "password": user.password } });
    let token = query(browser, "SignIn", &input, "").leaf("/data/signIn/token");
    browser.step("find an order");
    let first = query(browser, "Orders", &json!({ "first": 3, "after": null }), &token);
    browser.think(1600);
    let cursor = first.leaf("/data/viewer/orders/pageInfo/endCursor");
    let second = query(browser, "Orders", &json!({ "first": 3, "after": cursor }), &token);
    browser.think(900);
    let id = second.leaf("/data/viewer/orders/edges/1/node/id");
    let order = query(browser, "Order", &json!({ "id": id }), &token);
    browser.step("change it");
    let mut version = order.json()["data"]["order"]["version"].clone();
    for note in [user.title, user.text] {
        browser.think(2400);
        let mutation = browser.make(Dice::uuid);
        let input =
            json!({ "id": id, "version": version, "note": note, "clientMutationId": mutation });
        let updated = query(browser, "UpdateOrder", &json!({ "input": input }), &token);
        version = updated.json()["data"]["updateOrder"]["order"]["version"].clone();
    }
    browser.step("sign out");
    query(browser, "SignOut", &json!({}), &token);
}
