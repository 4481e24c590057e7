//! `k6/html` in responses, over real sockets. Selections and elements are tested in `tests/k6/html`.

use crate::support::brunt;

/// Runs a script once; what it prints.
fn printed(script: &str) -> String {
    let told = brunt("run --quiet --demo --log-format raw s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{script}\n{}\n{}", told.stdout, told.stderr);
    told.stderr
}

#[test]
fn a_form_is_sent_with_its_hidden_fields_by_its_method() {
    let script = "import http from 'k6/http'; const base = __ENV.DEMO_URL;
        export default function () {
          const page = http.get(`${base}/html`);
          const sent = page.submitForm({ formSelector: '#login', fields: { password: 'x' } });
          console.log(sent.request.method, sent.url === `${base}/anything/login`, sent.request.body);
          const found = page.submitForm({ formSelector: '#search', fields: { q: 'a b' } });
          console.log(found.request.method, found.url.replace(base, ''), found.json('args.q'));
        }";
    let expected = "POST true csrf=4f2a%269c&go=login&language=en&note=two%0Alines&password=x&user=ada\n\
                    GET /anything/search?q=a+b a b\n";
    assert!(printed(script).contains(expected), "{}", printed(script));
}

#[test]
fn a_fasthttp_client_follows_forms_and_links_by_itself() {
    let script = "import { Client, Request } from 'k6/x/fasthttp'; const base = __ENV.DEMO_URL;
        const client = new Client(), request = new Request(`${base}/html`);
        export default function () {
          const page = client.get(request);
          console.log(page.html('h1').text());
          const sent = page.submitForm({ formSelector: '#login', fields: { password: 'x' } });
          console.log(sent.status, sent.json('method'), sent.json('form.csrf'), sent.json('form.password'));
          console.log(page.clickLink({ selector: 'a[rel]' }).status);
        }";
    let expected = "A page with forms\n200 POST 4f2a&9c x\n404\n";
    assert!(printed(script).contains(expected), "{}", printed(script));
}

#[test]
fn what_no_document_can_be_is_an_exception_that_scripts_may_catch() {
    let script = "import http from 'k6/http'; import { parseHTML } from 'k6/html';
        const told = (run) => { try { run(); return 'no exception' } catch (e) { return String(e) } };
        export default function () {
          console.log(told(() => parseHTML('<div>'.repeat(600))));
          const none = http.get(`${__ENV.DEMO_URL}/html`, { responseType: 'none' });
          console.log(told(() => none.html()).slice(0, 60));
          console.log(told(() => http.get(`${__ENV.DEMO_URL}/json`).clickLink()).replace(__ENV.DEMO_URL, ''));
        }";
    let expected = "GoError: html: open stack of elements exceeds 512 nodes\n\
                    GoError: the body is null so we can't transform it to HTML -\n\
                    GoError: no element found for selector 'a[href]' in response '/json'\n";
    assert!(printed(script).contains(expected), "{}", printed(script));
}
