//! Cookies and their jars.

use serde_json::json;

use crate::server::Server;

#[test]
fn servers_set_cookies_and_get_them_back() {
    let server = Server::start();
    let out = server.run(
        r"
        const sent = (r) => (r.body.match(/Cookie: (.*)\r/) || [])[1];
        http.get(B + '/cookies?set=a=1|b=2;Path=/x|c=3;Secure|e=5;Domain=127.0.0.1|f=6;Domain=other.com|g=7;Max-Age=0|i=');
        out.echo = sent(http.get(B + '/echo'));
        out.deep = sent(http.get(B + '/x/y'));
        out.hop = sent(http.get(B + '/cookies?set=h=8&redirect=302'));
        out.params = sent(http.get(B + '/echo', { cookies: { a: 'P', z: '1', n: null } }));
        out.replace = sent(http.get(B + '/echo', { cookies: { a: { value: 'P', replace: true } } }));
        out.header = sent(http.get(B + '/echo', { headers: { Cookie: 'own=1' }, jar: new http.CookieJar() }));
        out.null = sent(http.get(B + '/echo', { jar: null }));
        ",
    );
    assert_eq!(out["echo"], "a=1; c=3; e=5; i=");
    assert_eq!(out["deep"], "b=2; a=1; c=3; e=5; i=");
    assert_eq!(out["hop"], "a=1; c=3; e=5; i=; h=8");
    assert_eq!(out["params"], "a=P; z=1; a=1; c=3; e=5; i=; h=8");
    assert_eq!(out["replace"], "a=P; c=3; e=5; i=; h=8");
    assert_eq!(out["header"], "own=1");
    assert_eq!(out["null"], out["hop"]);
}

#[test]
fn jars_do_what_scripts_ask() {
    let server = Server::start();
    let out = server.run(
        r"
        const jar = http.cookieJar();
        out.set = [jar.set(B, 'k', 'v'), jar.set(B, 'p', 'v', { path: '/deep' }), jar.set(B, 'old', 'v', { expires: 'Wed, 09 Jun 2000 10:18:14 GMT' }), jar.set(B, 'gone', 'v', { max_age: -1 }), jar.set('', 'x', 'y')];
        out.shown = [jar.cookiesForURL(B), jar.cookiesForURL(B + '/deep/x')];
        jar.delete(B, 'k');
        out.deleted = jar.cookiesForURL(B);
        jar.set(B, 'again', 1);
        jar.clear(B);
        out.cleared = jar.cookiesForURL(B);
        out.date = tried(() => jar.set(B, 'x', 'y', { expires: 'tomorrow' }));
        const own = new http.CookieJar();
        own.set(B, 'mine', '1');
        out.own = /Cookie: mine=1\r/.test(http.get(B, { jar: own }).body);
        jar.set('http://a.example.com/', 'wide', '1', { domain: 'example.com' });
        out.domain = [jar.cookiesForURL('http://b.example.com/'), jar.cookiesForURL('http://example.org/')];
        ",
    );
    assert_eq!(out["set"], json!([true, true, true, true, true]));
    assert_eq!(out["shown"], json!([{"k": ["v"]}, {"p": ["v"], "k": ["v"]}]));
    assert_eq!(out["deleted"], json!({}));
    assert_eq!(out["cleared"], json!({}));
    assert!(out["date"].as_str().expect("an error").contains("\"tomorrow\""), "{out}");
    assert_eq!(out["own"], true);
    assert_eq!(out["domain"], json!([{"wide": ["1"]}, {}]));
}

#[test]
fn a_vu_begins_each_iteration_with_an_empty_jar_unless_told_otherwise() {
    let server = Server::start();
    let second = |option: &str| {
        let top = format!("export const options = {{ iterations: 2, {option} }};");
        let body = "if (__ITER === 0) { http.get(B + '/cookies?set=a=1'); return; }\n\
                    out.jar = http.cookieJar().cookiesForURL(B);";
        server.run_with(&top, body, |call| call).0
    };
    assert_eq!(second("")["jar"], json!({}));
    assert_eq!(second("noCookiesReset: true")["jar"], json!({"a": ["1"]}));
}
