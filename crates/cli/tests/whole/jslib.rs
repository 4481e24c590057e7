//! Libraries of jslib that are built in: nothing is fetched, as `--no-remote-modules` makes sure. The answers of chai
//! and Papa Parse were found by running them (chai 4.3.4 and 4.5.0, papaparse 5.1.1).

use crate::support::{Told, brunt};

/// Runs a script whose imports are written as `LIB/name/version`.
fn told(flags: &str, script: &str) -> Told {
    let script = script
        .lines()
        .map(|line| match line.split_once("'LIB/") {
            Some((head, rest)) => {
                let (path, tail) = rest.split_once('\'').expect("a quoted address");
                format!("{head}'https://jslib.k6.io/{path}/index.js'{tail}\n")
            }
            None => format!("{line}\n"),
        })
        .collect::<String>();
    brunt(&format!("run --quiet --no-remote-modules --log-format raw {flags} s.js"))
        .file("s.js", script)
        .told()
}

/// The body of a default function passes `equal` pairs that must be equal.
fn holds(flags: &str, imports: &str, body: &str) {
    let script = format!(
        "{imports}\nimport exec from 'k6/execution';\n\
         const equal = (found, expected) => {{\n\
           const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];\n\
           if (a !== b) exec.test.abort(`${{a}} is not ${{b}}`);\n\
         }};\n\
         const thrown = (f) => {{ try {{ f(); return 'nothing'; }} catch (e) {{ return e.message; }} }};\n\
         export default async function () {{\n{body}\nconsole.log('reached');\n}}\n"
    );
    let told = told(&format!("--summary-mode=disabled {flags}"), &script);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("reached"), "{told:?}");
}

#[test]
fn utils_are_random_and_count_stages() {
    for version in ["1.0.0", "1.2.0", "1.4.0", "1.6.0"] {
        holds(
            "",
            &format!(
                "import {{ uuidv4, randomIntBetween, randomItem, randomString, findBetween, normalDistributionStages }} \
                 from 'LIB/k6-utils/{version}';\nconst VERSION = '{version}';"
            ),
            r"
            const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
            equal([shape.test(uuidv4()), shape.test(uuidv4(true)), uuidv4() === uuidv4()], [true, true, false]);
            const drawn = new Set(Array.from({ length: 400 }, () => randomIntBetween(3, 5)));
            equal([...drawn].sort(), [3, 4, 5]);
            equal(['a', 'b'].includes(randomItem(['a', 'b'])), true);
            equal([/^[a-z]{8}$/.test(randomString(8)), randomString(3, 'x')], [true, 'xxx']);
            const text = '<b>1</b><b>2</b>';
            equal(findBetween(text, '<b>', '</b>'), '1');
            equal(findBetween(text, '<b>', '</b>', true), ['1', '2']);
            const nothing = VERSION < '1.2.0' ? '' : null;
            equal([findBetween(text, '<i>', '</b>'), findBetween('**a**', '**', '**')], [nothing, 'a']);
            equal(findBetween(text, '<i>', '</i>', true), nothing);
            equal(normalDistributionStages(10, 20, 5).map((stage) => [stage.duration, stage.target]),
              [['4s', 1], ['3s', 5], ['3s', 10], ['3s', 10], ['3s', 5], ['3s', 1], ['4s', 0]]);
            ",
        );
    }
}

#[test]
fn utils_tag_with_the_stage_and_check_promises() {
    let told = told(
        "",
        "import { getCurrentStageIndex, tagWithCurrentStageIndex, tagWithCurrentStageProfile, check, parseDuration } \
         from 'LIB/k6-utils/1.5.0';\n\
         import exec from 'k6/execution';\n\
         import { sleep } from 'k6';\n\
         export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '9m', target: 1 }] },\n\
           n: { executor: 'shared-iterations', exec: 'none' } } };\n\
         export default async function () {\n\
           tagWithCurrentStageIndex(); tagWithCurrentStageProfile();\n\
           console.log(getCurrentStageIndex(), exec.vu.tags.stage, exec.vu.tags.stage_profile, parseDuration('1h30m5.5s'));\n\
           const now = check(1, { sync: (v) => v === 1 });\n\
           const later = check(Promise.resolve(1), { async: async (v) => v === 1, bad: Promise.resolve(0) });\n\
           console.log(now, typeof later.then, await later);\n\
           // By then the other scenario has begun, too.\n\
           sleep(2); exec.test.abort();\n\
         }\n\
         export function none() { try { getCurrentStageIndex(); } catch (e) { console.log('refused'); } }\n",
    );
    assert_eq!(told.code, 108, "{told:?}");
    for line in ["0 0 ramp-up 5405500", "true function false", "refused"] {
        assert!(told.stderr.lines().any(|said| said == line), "{line}: {told:?}");
    }
    assert!(told.stdout.contains("✗ bad") && told.stdout.contains("✓ async"), "{told:?}");
}

#[test]
fn text_summary_is_the_legacy_summary() {
    let script = "import { textSummary, jUnit, humanizeValue } from 'LIB/k6-summary/0.1.0';\n\
        import { check, group } from 'k6';\n\
        import { Counter, Trend } from 'k6/metrics';\n\
        const hits = new Counter('hits'), wait = new Trend('wait', true);\n\
        export const options = { thresholds: { hits: ['count>9'], wait: ['avg<9'] } };\n\
        export default () => {\n\
          check(1, { good: true }); group('g', () => check(1, { bad: false })); hits.add(3); wait.add(1.5);\n\
        };\n\
        export const handleSummary = (data) => ({\n\
          stdout: textSummary(data, { indent: ' ', enableColors: false }) + '\\n' + jUnit(data) + '\\n'\n\
            + humanizeValue(1536, { type: 'counter', contains: 'data' }),\n\
        });\n";
    let told = told("", script);
    let text = &told.stdout;
    for line in [
        "     ✓ good\n",
        "     █ g\n\n       ✗ bad\n        ↳  0% — ✓ 0 / ✗ 1\n",
        "   ✗ hits.................: 3",
        "   ✓ wait.................: avg=1.5ms",
        "     checks...............: 50.00% ✓ 1 ",
        "<testsuites tests=\"2\" failures=\"1\">",
        "\n1.5 kB",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn chai_makes_checks_of_its_assertions() {
    let told = told(
        "--summary-mode=disabled",
        "import chai, { describe, expect } from 'LIB/k6chaijs/4.3.4.3';\n\
         export default function () {\n\
           const passed = describe('basic', () => {\n\
             expect(2, 'number two').to.equal(2);\n\
             expect({ a: 1, b: 2 }).to.have.all.keys('a', 'b');\n\
             expect([1, 2, 3]).to.have.lengthOf(3);\n\
             expect({ json: () => 1 }).to.have.validJsonBody();\n\
           });\n\
           const failed = describe('failing', () => { expect(1).to.equal(2); expect(0).to.be.true; });\n\
           const thrown = describe('throwing', () => { throw 'unexpected'; });\n\
           chai.config.aggregateChecks = false;\n\
           describe('told', () => expect('abc').to.equal('abc'));\n\
           console.log(passed, failed, thrown);\n\
           try { expect(1).to.be.abov(0); } catch (e) { console.log(e.message); }\n\
           try { expect(1, 'one').to.be.above(1); } catch (e) { console.log(e.name, e.message); }\n\
         }\n\
         const names = (group, path) => group.groups.flatMap((one) => names(one, `${path}${one.name}/`))\n\
           .concat(group.checks.map((check) => `${path}${check.name} ${check.passes} ${check.fails}`));\n\
         export const handleSummary = (data) => ({ stdout: names(data.root_group, '').join('\\n') });\n",
    );
    assert_eq!(told.code, 0, "{told:?}");
    // Without a summary there is none to handle.
    for line in [
        "true false false",
        "Invalid Chai property: abov. Did you mean \"above\"?",
        "AssertionError one: expected 1 to be above 1",
    ] {
        assert!(told.stderr.lines().any(|said| said == line), "{line}: {told:?}");
    }
}

#[test]
fn checks_of_chai_have_names_that_do_not_change() {
    let told = told(
        "",
        "import { describe, expect } from 'LIB/k6chaijs/4.3.4.3';\n\
         import { expect as later } from 'LIB/k6chaijs/4.5.0.1';\n\
         export default function () {\n\
           describe('g', () => {\n\
             expect(2, 'number two').to.equal(2);\n\
             expect([1]).to.have.lengthOf(1);\n\
             expect({ json: () => 1 }).to.have.validJsonBody();\n\
             expect(0).to.equal(0);\n\
             later(0, 'later').to.equal(0);\n\
             expect(3).to.equal(4);\n\
           });\n\
           describe('e', () => { throw 'oh'; });\n\
         }\n\
         const names = (group) => group.groups.flatMap(names).concat(group.checks.map((check) => check.name));\n\
         export const handleSummary = (data) => ({ stdout: names(data.root_group).sort().join('\\n') + '\\n' });\n",
    );
    let mut found: Vec<&str> = told.stdout.lines().collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "Exception raised \"oh\"",
            "expected ${this} to equal 0",
            "expected ${this} to equal 4",
            "expected ${this} to have a length of 1 got ${actual}",
            "expected ${this} to have property 'length'",
            "expected later to equal +0",
            "expected number two to equal 2",
            "has valid json body",
        ],
        "{told:?}"
    );
}

#[test]
fn chai_says_what_it_says_elsewhere() {
    holds(
        "",
        "import chai, { expect, assert } from 'LIB/k6chaijs/4.3.4.0';",
        r"
        const cases = [
          [() => expect({ a: { b: ['x'] } }).to.have.nested.property('a.b[0]', 'y'), `expected { a: { b: [ 'x' ] } } to have nested property 'a.b[0]' of 'y', but got 'x'`],
          [() => expect({ a: 1 }).to.deep.equal({ a: 2 }), 'expected { a: 1 } to deeply equal { a: 2 }'],
          [() => expect([1, 2]).to.not.include(2), 'expected [ 1, 2 ] to not include 2'],
          [() => expect([1, 2]).to.have.ordered.members([2, 1]), 'expected [ 1, 2 ] to have the same ordered members as [ 2, 1 ]'],
          [() => expect(() => { throw new TypeError('no'); }).to.throw(RangeError), `expected [Function] to throw 'RangeError' but 'TypeError: no' was thrown`],
          [() => expect(5).to.be.within(1, 3), 'expected 5 to be within 1..3'],
          [() => expect('x').to.be.a('number'), `expected 'x' to be a number`],
          [() => expect(1.5).to.be.closeTo(1, 0.2), 'expected 1.5 to be close to 1 +/- 0.2'],
          [() => expect('x').to.be.above(1), `expected 'x' to be a number or a date`],
          [() => expect([]).to.not.be.empty, 'expected [] not to be empty'],
          [() => expect.fail('mine'), 'mine'],
          [() => assert.strictEqual(1, 2, 'm'), 'm: expected 1 to equal 2'],
        ];
        for (const [f, message] of cases) equal(thrown(f), message);
        expect({ a: 1, b: 2 }).to.have.any.keys('a', 'c').and.not.be.frozen;
        expect(new Map([['k', 1]])).to.have.lengthOf(1).and.include(1);
        let count = 1;
        expect(() => { count += 2; }).to.increase(() => count).by(2);
        chai.use((c, utils) => {
          c.Assertion.addMethod('divisibleBy', function (by) {
            this.assert(utils.flag(this, 'object') % by === 0, 'expected #{this} to be divisible by #{exp}', 'not', by);
          });
        });
        expect(6).to.be.divisibleBy(3);
        equal(thrown(() => expect(7).to.be.divisibleBy(3)), 'expected 7 to be divisible by 3');
        ",
    );
}

#[test]
fn httpx_keeps_what_all_requests_of_a_session_have() {
    holds(
        "--demo",
        "import { Httpx, Get, Post, Patch } from 'LIB/httpx/0.1.0';\nimport { Httpx as Old } from 'LIB/httpx/0.0.4';\n\
         import http from 'k6/http';",
        r"
        const session = new Httpx({ baseURL: __ENV.DEMO_URL, headers: { 'X-One': '1' }, tags: { t: 'x' } });
        session.addHeader('X-Two', '2');
        session.addHeaders({ 'X-Three': '3', 'X-Gone': '0' });
        session.clearHeader('X-Gone');
        session.addTag('u', 'y');
        const seen = (res) => Object.fromEntries(Object.entries(res.request.headers).filter(([name]) => name.startsWith('X-')).map(([name, [value]]) => [name, value]));
        const got = session.get('/anything', null, { headers: { 'X-Two': 'own' } });
        equal([got.status, seen(got)['X-One'], seen(got)['X-Two'], seen(got)['X-Three'], seen(got)['X-Gone'] ?? null], [200, '1', 'own', '3', null]);
        equal(session.post('/anything', 'text').request.body, 'text');
        const both = session.batch([new Get('/anything'), new Post('/anything', { body: 'b' }).addHeader('X-Two', 'post'),
          ['PUT', '/anything', 'c', { headers: { 'X-Two': 'put' } }], '/anything'], { tags: { name: 'all' }, headers: { 'X-Two': 'shared' } });
        equal(both.map((res) => [res.request.method, res.request.body, res.status, seen(res)['X-Two']]),
          [['GET', '', 200, 'shared'], ['POST', 'b', 200, 'post'], ['PUT', 'c', 200, 'put'], ['GET', '', 200, 'shared']]);
        equal((await session.asyncRequest('GET', '/anything')).status, 200);
        equal((await session.asyncPost('/anything', 'd')).request.body, 'd');
        equal(session.get(http.url`/anything/${7}`).url, `${__ENV.DEMO_URL}/anything/7`);
        equal(session.execute(new Patch('/anything', { body: 'e' })).request.body, 'e');
        equal([thrown(() => session.request('GET')), thrown(() => session.request('GEM', '/'))].map((told) => told === 'nothing'), [false, false]);
        session.setBaseUrl('http://127.0.0.1:1');
        equal(session.get(`${__ENV.DEMO_URL}/anything`).status, 200);
        equal(session.lastRequest.responseObject.status, 200);
        equal(session.lastRequestChainDuration >= 0, true);
        const seenBy = [];
        const watched = new Httpx({ baseURL: __ENV.DEMO_URL, errorMetric: { add: (failed) => seenBy.push(failed) }, responseType: 'none' });
        equal(watched.get('/status/404').body, null);
        watched.get('/status/404', null, { expect: (res) => res.status === 404 });
        watched.get('/status/204');
        equal(seenBy, [true, false, false]);
        const old = new Old({ baseURL: `${__ENV.DEMO_URL}/anything/` });
        equal(old.get('http').url, `${__ENV.DEMO_URL}/anything/http`);
        ",
    );
}

#[test]
fn expectations_of_k6_testing_end_the_test_or_mark_it() {
    let with = |body: &str| {
        told(
            "--summary-mode=disabled -i 2",
            &format!(
                "import {{ expect }} from 'LIB/k6-testing/0.6.1';\n\
                 export default async function () {{ {body}\nconsole.log('after'); }}\n"
            ),
        )
    };
    let passed = with(
        "expect(1).toBe(1); expect({ a: [1] }).toEqual({ a: [1] }); expect({ a: 1 }).not.toEqual({ a: 1, b: undefined }); expect([1, { b: 2 }]).toContainEqual({ b: 2 });\n\
         expect({ a: { b: [5] } }).toHaveProperty('a.b[0]', 5); expect(0.1 + 0.2).toBeCloseTo(0.3); expect('abc').toHaveLength(3);\n\
         expect('abc').not.toContain('z'); expect(2).toBeGreaterThan(1); expect(null).toBeNull(); expect(NaN).toBeNaN();\n\
         let n = 0; await expect({ isVisible: async () => (n += 1) > 2 }).toBeVisible({ timeout: 2000, interval: 5 });\n\
         await expect({ textContent: async () => ' a  b ' }).toHaveText('a b');",
    );
    assert_eq!((passed.code, passed.stderr.matches("after").count()), (0, 2), "{passed:?}");
    let ended = with("expect(1).toBe(2);");
    assert_eq!((ended.code, ended.stderr.contains("after")), (108, false), "{ended:?}");
    assert!(!ended.stderr.contains("expect(received)"), "the words have colours: {ended:?}");
    let plain = with("expect.configure({ colorize: false })([1]).toContain(2);");
    for line in [
        "              Error: expect(received).toContain(expected)\n",
        "Expected to contain: 2\n",
        "     Received array: [1]\n",
        "           Filename: s.js\n",
    ] {
        assert!(plain.stderr.contains(line), "{line}: {plain:?}");
    }
    let marked = with("expect.soft(1).toBe(2);");
    assert_eq!((marked.code, marked.stderr.matches("after").count()), (110, 2), "{marked:?}");
    let inline = with(
        "expect.configure({ display: 'inline', softMode: 'throw', colorize: false }).soft(1, 'mine').toBe(2);",
    );
    assert_eq!((inline.code, inline.stderr.contains("after")), (0, false), "{inline:?}");
    for part in ["error=mine at=", " expected=2 received=1 filename=s.js line=2"] {
        assert!(inline.stderr.contains(part), "{part}: {inline:?}");
    }
    let late =
        with("await expect({ isVisible: () => false }).toBeVisible({ timeout: 30, interval: 5 });");
    assert_eq!(late.code, 108, "{late:?}");
}

#[test]
fn papaparse_url_and_totp_work() {
    holds(
        "",
        "import papaparse, { unparse } from 'LIB/papaparse/5.1.1';\n\
         import { URL, URLSearchParams } from 'LIB/url/1.0.0';\n\
         import { TOTP } from 'LIB/totp/1.0.0';",
        r#"
        const rows = papaparse.parse('id,name\n1,"O, ""x"""\n2,b\n', { header: true, dynamicTyping: true, skipEmptyLines: true });
        equal(rows.data, [{ id: 1, name: 'O, "x"' }, { id: 2, name: 'b' }]);
        equal([rows.errors, rows.meta.fields, rows.meta.delimiter], [[], ['id', 'name'], ',']);
        equal(papaparse.parse('a;b\r\n1;2').data, [['a', 'b'], ['1', '2']]);
        equal(papaparse.parse('a,b\n1', { header: true, delimiter: ',' }).errors.map((e) => [e.code, e.row]), [['TooFewFields', 0]]);
        equal(papaparse.parse('a,"b\nc', { delimiter: ',' }).errors.map((e) => [e.code, e.index]), [['MissingQuotes', 3]]);
        const seen = [];
        papaparse.parse('a\nb\nc', { delimiter: ',', step: (row, parser) => { seen.push(row.data); if (seen.length === 2) parser.abort(); } });
        equal(seen, [['a'], ['b']]);
        equal(unparse([{ a: 1, b: 'x,y' }, { a: null, b: 'q"r' }]), 'a,b\r\n1,"x,y"\r\n,"q""r"');
        equal(new URL('https://a/b?c=1').searchParams.get('c'), '1');
        equal(String(new URLSearchParams({ a: '1 2' })), 'a=1+2');
        // RFC 6238, appendix B.
        const totp = new TOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 8);
        equal(await totp.gen(30, Date.now() / 1000 - 40), '94287082');
        equal(await totp.gen(30, Date.now() / 1000 - 19999999985), '65353130');
        "#,
    );
}

#[test]
fn form_data_of_both_versions_sends_what_it_sends_in_k6() {
    holds(
        "",
        "import { FormData } from 'LIB/formdata/0.0.2';\n\
         import { FormData as First } from 'LIB/formdata/0.0.1';\n\
         import http from 'k6/http';",
        r#"
        const sent = (Form) => {
          const form = Form();
          form.boundary = 'XX';
          form.append('t', 'v');
          form.append('x', http.file('text', 't.txt', 'text/plain'));
          equal([form instanceof Form, form.parts.length], [true, 2]);
          return String.fromCharCode(...new Uint8Array(form.body()));
        };
        const file = '--XX\r\nContent-Disposition: form-data; name="x"; filename="t.txt"\r\nContent-Type: text/plain\r\n\r\ntext\r\n--XX--\r\n';
        equal(sent(FormData), '--XX\r\nContent-Disposition: form-data; name="t"\r\nContent-Type: text/plain\r\n\r\nv\r\n' + file);
        equal(sent(First), '--XX\r\nContent-Disposition: form-data; name="t"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n' + file);
        equal(new FormData() instanceof FormData, true);
        "#,
    );
}

const USES: &str = "import { randomString } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';\n\
    import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';\n\
    const { expect } = require('https://jslib.k6.io/k6chaijs/4.3.4.3/index.js');\n\
    export default () => { expect(randomString(3)).to.have.lengthOf(3); new FormData(); console.log('ran'); };\n";

#[test]
fn archives_have_the_import_and_not_the_library() {
    let mut call = brunt("archive --no-remote-modules s.js -O t.tar").file("s.js", USES);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let bytes = std::fs::read(call.path("t.tar")).expect("the archive");
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("jslib.k6.io/k6-utils/1.4.0/index.js"), "the import");
    assert!(!text.contains("https/jslib.k6.io"), "no entry of a library");
    let told = brunt("run -q t.tar").file("t.tar", bytes).told();
    assert_eq!((told.code, told.stderr.contains("ran")), (0, true), "{told:?}");
    let listed = brunt("deps s.js").file("s.js", USES).told();
    assert!(listed.stdout.contains("https://jslib.k6.io/k6-utils/1.4.0/index.js"), "{listed:?}");
    assert!(!listed.stdout.contains("k6/jslib"), "{listed:?}");
    let inspected = brunt("inspect --no-remote-modules s.js").file("s.js", USES).told();
    assert_eq!(inspected.code, 0, "{inspected:?}");
}

#[test]
fn what_is_not_built_in_is_fetched_and_the_error_says_what_is() {
    let script =
        "import x from 'https://jslib.k6.io/ajv/6.12.5/index.js';\nexport default () => x;\n";
    let told = brunt("run -q --no-remote-modules s.js").file("s.js", script).told();
    assert_eq!(told.code, 107, "{told:?}");
    for part in ["remote modules are forbidden", "k6-utils 1.0.0-1.6.0", "formdata"] {
        assert!(told.stderr.contains(part), "{told:?}");
    }
    for flags in ["--no-builtin-jslib", ""] {
        let mut call =
            brunt(&format!("run -q --no-remote-modules {flags} s.js")).file("s.js", USES);
        if flags.is_empty() {
            call = call.env("K6_NO_BUILTIN_JSLIB", "true");
        }
        let told = call.told();
        assert_eq!(told.code, 107, "{told:?}");
        assert!(told.stderr.contains("remote modules are forbidden"), "{told:?}");
        assert!(!told.stderr.contains("built in"), "{told:?}");
    }
}
