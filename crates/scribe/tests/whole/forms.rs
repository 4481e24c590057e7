//! Pages and their forms: the journey through the demo's form application.

use brunt_correlate::plan::{Finder, FormUse, Input, Piece, Place, Secret};
use brunt_traffic::Resource;

use crate::session::{BASE, Change as _, Journey, literal, value};

fn login_page(title: &str, token: &str) -> String {
    format!(
        "<html><head><title>{title}</title></head><body><h1>{title}</h1><form id='form' method=post>\
         <input type=hidden name=form value=form><input name='form:user'><input type=password name='form:password'>\
         <input type=submit name='form:submit' value='Log in'>\
         <input type=hidden name='javax.faces.ViewState' value='{token}'></form></body></html>"
    )
}

fn orders() -> &'static str {
    "<html><head><title>Orders</title></head><body><h1>Orders</h1><form id='form' method=post>\
     <input type=hidden name=form value=form><input name='form:filter' value=''><input type=checkbox name='form:all' checked>\
     <input type=submit name='form:search' value=Search>\
     <input type=hidden name='javax.faces.ViewState' value='t2'></form>\
     <table><tr><td><a href='order.xhtml?id=481516'>anvil</a></td></tr></table></body></html>"
}

#[test]
fn a_journey_through_pages_is_a_script_that_people_can_read() {
    let mut journey = Journey::new();
    journey.step(0, "Log in");
    let login = journey.page(0, "/app/login.xhtml", &login_page("Log in", "t1"));
    journey
        .send(50, "GET", "/app/javax.faces.resource/theme.css", Resource::Stylesheet)
        .answer(200, "text/css", "");
    journey.send(52, "GET", "/app/javax.faces.resource/jsf.js", Resource::Script).answer(
        200,
        "text/javascript",
        "",
    );
    let fields = "form=form&form%3Auser=ada&form%3Apassword=secret&form%3Asubmit=Log+in&javax.faces.ViewState=t1";
    let sent = journey.post(1972, "/app/login.xhtml", fields, "/app/orders.xhtml", orders());
    journey.recording.exchanges[sent]
        .sends("origin", BASE)
        .sends("referer", &format!("{BASE}/app/login.xhtml"));
    let list = sent + 1;
    // The browser has it in its cache.
    journey
        .send(2050, "GET", "/app/javax.faces.resource/theme.css", Resource::Stylesheet)
        .answer(304, "", "");
    journey.step(4000, "Look at an order");
    let order = journey.page(5000, "/app/order.xhtml?id=481516", "<title>Order 481516</title>");
    journey.plan.inputs.push(Input { name: "user".to_owned(), recorded: "ada".to_owned() });
    journey
        .plan
        .secrets
        .push(Secret { name: "password".to_owned(), recorded: "secret".to_owned() });
    journey.put(sent, Place::Field(1), vec![Piece::Input(0)]);
    journey.put(sent, Place::Field(2), vec![Piece::Secret(0)]);
    journey.plan.forms.push(FormUse {
        exchange: sent,
        page: login,
        selector: vec![literal("#form")],
        update: None,
        from_page: vec![0, 4],
    });
    let finder =
        Finder::Attribute { selector: vec![literal("td a")], nth: 0, attribute: "href".to_owned() };
    let link = journey.extract(list, "orderId", "481516", finder);
    journey.plan.extractions[link].candidates[0]
        .changes
        .push(brunt_correlate::plan::Change::Parameter("id".to_owned()));
    journey.put(order, Place::Query(0), vec![value(link)]);
    let script = journey.script("forms");
    insta::assert_snapshot!(script, @r###"
    // Made from brunt record on 2026-09-21.
    //
    //   brunt run script.js
    //   k6 run --secret-source=file=secrets.env script.js
    //
    // data.json: texts that the user typed, a row for each user; add more rows
    // secrets.env: passwords and keys; keep it to yourself

    import { check, fail, group, sleep } from 'k6';
    import http from 'k6/http';
    import { SharedArray } from 'k6/data';
    import exec from 'k6/execution';
    import secrets from 'k6/secrets';

    const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';

    export const options = {
      vus: 1,
      iterations: 1,
      // As many connections as a browser opens to a server.
      batchPerHost: 6,
      thresholds: {
        checks: ['rate==1'],
        http_req_failed: ['rate<0.01'],
        http_req_duration: ['p(95)<500'],
      },
      // More users: put one of these in place of `vus` and `iterations`.
      //
      // Up to 20 users at the same time:
      // stages: [
      //   { duration: '1m', target: 20 },
      //   { duration: '5m', target: 20 },
      //   { duration: '1m', target: 0 },
      // ],
      //
      // 2 users come each second, however long the others take:
      // scenarios: {
      //   arrivals: { executor: 'constant-arrival-rate', rate: 2, timeUnit: '1s', duration: '5m', preAllocatedVUs: 100 },
      // },
    };

    // 1 is the user's own pace, 0 is without pauses.
    const PACE = Number(__ENV.PACE || 1);

    const headers = { 'Accept-Language': 'de,en;q=0.5', 'User-Agent': 'Mozilla/5.0' };

    // Each iteration takes a row.
    const inputs = new SharedArray('inputs', () => JSON.parse(open('./data.json')));

    export default async function () {
      const input = inputs[exec.scenario.iterationInTest % inputs.length];
      const password = await secrets.get('password');
      let orderId;

      group('Log in', () => {
        let res = http.get(`${BASE}/app/login.xhtml`, { headers });
        check(res, {
          'GET /app/login.xhtml is 200': (r) => r.status === 200,
          'page “Log in”': (r) => (r.body || '').includes('<title>Log in</title>'),
        });
        const form = formFields(res.html(), '#form');

        const parts = [`${BASE}/app/javax.faces.resource/theme.css`, `${BASE}/app/javax.faces.resource/jsf.js`];
        const answers = http.batch(parts.map((url) => ['GET', url, null, { headers }]));
        check(answers, {
          'the parts of the page came': (all) => all.every((r) => r.status > 0 && r.status < 400),
        });

        think(1.9);

        res = http.post(
          `${BASE}/app/login.xhtml`,
          { ...form, 'form:user': input.user, 'form:password': password, 'form:submit': 'Log in' },
          { headers: { ...headers, Origin: BASE, Referer: `${BASE}/app/login.xhtml` } },
        );
        check(res, {
          'POST /app/login.xhtml is 200': (r) => r.status === 200,
          'page “Orders”': (r) => (r.body || '').includes('<title>Orders</title>'),
        });
        // From the answer to POST /app/login.xhtml: href of td a.
        orderId = found('orderId', () => parameter(res.html('td a').attr('href'), 'id'));
      });

      think(2.99);

      group('Look at an order', () => {
        const res = http.get(`${BASE}/app/order.xhtml?id=${orderId}`, {
          headers,
          tags: { name: '/app/order.xhtml?id={orderId}' },
        });
        check(res, { 'GET /app/order.xhtml is 200': (r) => r.status === 200 });
      });
    }

    // Pauses as long as the user did, give or take a fifth.
    function think(seconds) {
      sleep(seconds * PACE * (0.8 + 0.4 * Math.random()));
    }

    // The value that `take` gives, as text. Without one the iteration ends: nothing is sent with a wrong value.
    function found(name, take) {
      let value;
      try {
        value = take();
      } catch (error) {
        // It is not there: not found.
      }
      const isFound = value !== undefined && value !== null && value !== '';
      if (!check(value, { [`found ${name}`]: () => isFound })) fail(`${name} is not in the answer`);
      return String(value);
    }

    // The fields that a browser sends with a form, as the page filled them in; several of one name are a list.
    function formFields(page, selector) {
      const form = page.find(selector).first();
      found(`form ${selector}`, () => form.size() || '');
      const fields = {};
      const add = (name, value) => {
        const text = value.replace(/\r?\n/g, '\r\n');
        fields[name] = name in fields ? [].concat(fields[name], text) : text;
      };
      const all = form.find('input, select, textarea');
      for (let i = 0; i < all.size(); i += 1) {
        const field = all.eq(i);
        const name = field.attr('name');
        const type = (field.attr('type') || 'text').toLowerCase();
        const isBox = type === 'checkbox' || type === 'radio';
        const isOff = field.attr('disabled') !== undefined || field.closest('fieldset[disabled]').size() > 0;
        if (!name || isOff || (field.is('input') && /^(submit|button|reset|image|file)$/.test(type))) continue;
        if (field.is('select')) {
          const options = field.find('option');
          let chosen = field.find('option[selected]');
          if (chosen.size() === 0 && field.attr('multiple') === undefined) chosen = options.first();
          for (let k = 0; k < chosen.size(); k += 1) {
            const value = chosen.eq(k).attr('value');
            add(name, value === undefined ? chosen.eq(k).text().trim() : value);
          }
        } else if (field.is('textarea')) {
          add(name, field.text());
        } else if (!isBox || field.attr('checked') !== undefined) {
          add(name, field.attr('value') || (isBox && field.attr('value') === undefined ? 'on' : ''));
        }
      }
      return fields;
    }

    // A parameter of a URL's query or fragment.
    function parameter(url, name) {
      const decoded = (text) => decodeURIComponent(text.replace(/\+/g, ' '));
      const pairs = url.split(/[?#&]/).map((pair) => pair.split('='));
      const pair = pairs.find(([key, ...value]) => value.length > 0 && decoded(key) === name);
      return pair && decoded(pair.slice(1).join('='));
    }
    "###);
}
