use std::time::Duration;

use brunt_correlate::{Extraction, Finder, Piece, Place, Plan, Source, Substitution};
use brunt_scribe::Call;
use brunt_traffic::{Body, Exchange, Headers, Recording, Request, Resource, Response};
use bytes::Bytes;
use url::Url;

use super::*;
use crate::record::{Hop, Record};

/// A request of the session and its response, as recorded or as replayed.
#[derive(Clone)]
struct Step {
    method: &'static str,
    url: String,
    sent: String,
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

fn step(method: &'static str, url: &str, sent: &str, status: u16, body: &str) -> Step {
    let kind = if body.starts_with('{') { "application/json" } else { "text/html" };
    let headers = vec![("Content-Type", kind.to_owned())];
    let url = format!("http://shop.test{url}");
    Step { method, url, sent: sent.to_owned(), status, headers, body: body.to_owned() }
}

impl Step {
    fn to(mut self, location: &str) -> Self {
        self.headers.push(("Location", location.to_owned()));
        self
    }

    fn headers(&self) -> Headers {
        Headers(
            self.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        )
    }
}

fn page(title: &str, inside: &str) -> String {
    format!(
        "<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>{inside}</body></html>"
    )
}

fn form(token: &str) -> String {
    format!(
        r#"<form id="order" action="/order" method="post"><input type="hidden" name="token" value="{token}"><input name="text"></form>"#
    )
}

const OLD: &str = "8f14e45fceea167a";
const NEW: &str = "c9f0f895fb98ab91";

/// The page with a form, the form sent, the redirect, the list; the beginning of a session as `token` gives it.
fn session(token: &str, entry: &str) -> Vec<Step> {
    vec![
        step("GET", "/new", "", 200, &page("New order", &form(token))),
        step("POST", "/order", &format!("token={token}&text=hello"), 302, "").to("/orders"),
        step(
            "GET",
            "/orders",
            "",
            200,
            &page("Orders", &format!("<table><tr><td>{entry}</td></tr></table><p>26 November</p>")),
        ),
        step("GET", "/api/me", "", 200, r#"{"id":7,"name":"anna","items":[1]}"#),
    ]
}

fn recording(steps: &[Step]) -> Recording {
    let exchanges = steps.iter().enumerate().map(|(number, step)| Exchange {
        number,
        sent: Duration::from_secs(number as u64),
        done: Duration::from_secs(number as u64),
        request: Request {
            method: step.method.to_owned(),
            url: Url::parse(&step.url).unwrap(),
            version: None,
            headers: Headers(vec![(
                "Content-Type".into(),
                "application/x-www-form-urlencoded".into(),
            )]),
            body: Body::Bytes(Bytes::from(step.sent.clone())),
        },
        response: Some(Response {
            status: step.status,
            headers: step.headers(),
            body: Body::Bytes(Bytes::from(step.body.clone())),
        }),
        failure: None,
        resource: Some(Resource::Document),
        messages: Vec::new(),
        events: Vec::new(),
    });
    Recording { exchanges: exchanges.collect(), ..Recording::default() }
}

/// The token of the form, taken from the first page; without it, the token is a literal.
fn plan(is_taken: bool) -> Plan {
    let mut plan = Plan { folded: vec![None, None, Some(1), None], ..Plan::default() };
    if is_taken {
        let selector = vec![Piece::Literal("#order input[name=\"token\"]".to_owned())];
        let source = Source { finder: Finder::Field { selector, nth: 0 }, changes: Vec::new() };
        let (left, right) = ("<title>".to_owned(), "</title>".to_owned());
        let title = Source { finder: Finder::Between { left, right, nth: 0 }, changes: Vec::new() };
        plan.extractions.push(Extraction {
            exchange: 0,
            name: "token".to_owned(),
            recorded: OLD.to_owned(),
            candidates: vec![source, title],
            chosen: 0,
        });
        let pieces = vec![Piece::Value { extraction: 0, changes: Vec::new() }];
        plan.substitutions.push(Substitution { exchange: 1, place: Place::Field(0), pieces });
    }
    plan
}

fn calls() -> Vec<Call> {
    [(0, 10), (1, 20), (3, 30)].map(|(exchange, line)| Call { exchange, line }).to_vec()
}

fn records(steps: &[Step], vu: u64) -> Vec<Record> {
    let hop = |(at, step): (usize, &Step)| {
        Record::Hop(Box::new(Hop {
            vu,
            started: at as u64 * 10,
            ended: at as u64 * 10 + 5,
            method: step.method.to_owned(),
            url: step.url.clone(),
            request_body: Bytes::from(step.sent.clone()),
            status: step.status,
            headers: step.headers(),
            body: Bytes::from(step.body.clone()),
            ..Hop::default()
        }))
    };
    steps.iter().enumerate().map(hop).collect()
}

fn findings(plan: &Plan, steps: &[Step]) -> Findings {
    let recording = recording(&session(OLD, "anvil"));
    let all = super::compare(&recording, plan, &calls(), &records(steps, 1));
    all.into_values().next().unwrap_or_default()
}

fn faults(plan: &Plan, steps: &[Step]) -> Vec<(Option<usize>, String)> {
    findings(plan, steps).faults().map(|one| (one.call, one.text.clone())).collect()
}

#[test]
fn the_same_session_with_another_token_and_other_entries_has_no_faults() {
    let mut steps = session(NEW, "hammer");
    assert_eq!(faults(&plan(true), &steps), []);
    assert_eq!(findings(&plan(true), &steps).compared, 3);
    steps[2].body = steps[2].body.replace("26 November", "1 January");
    steps[3].body = r#"{"id":8,"name":"bert","items":[]}"#.to_owned();
    assert_eq!(faults(&plan(true), &steps), []);
}

#[test]
fn each_way_to_fail_is_a_fault_at_its_call() {
    let whole = session(NEW, "anvil");
    let with = |change: &dyn Fn(&mut Vec<Step>)| {
        let mut steps = whole.clone();
        change(&mut steps);
        steps
    };
    let error = page("Error", "<p>The view has expired</p>");
    let login = page(
        "Log in",
        r#"<form id="login"><input name="user"><input type="password" name="p"></form>"#,
    );
    for (what, call, said, steps) in [
        (
            "another status",
            1,
            "answers 500, recorded 200",
            with(&|steps| {
                steps[1].status = 500;
                steps.remove(2);
            }),
        ),
        (
            "an error page with status 200",
            1,
            "title",
            with(&|steps| steps[2].body.clone_from(&error)),
        ),
        (
            "an error in the page that is otherwise the same",
            1,
            "denied",
            with(&|steps| {
                steps[2].body =
                    steps[2].body.replace("<p>", "<p class=\"message\">Access denied</p><p>");
            }),
        ),
        (
            "the login after a redirect",
            1,
            "leads to /login",
            with(&|steps| {
                steps[1].headers[1].1 = "/login".to_owned();
                steps[2] = step("GET", "/login", "", 200, &login);
            }),
        ),
        (
            "no redirect",
            1,
            "leads to /order, recorded /orders",
            with(&|steps| {
                steps[1] = step("POST", "/order", &steps[1].sent.clone(), 200, &page("Orders", ""));
                steps.remove(2);
            }),
        ),
        (
            "a value that is not there",
            0,
            "gives no token",
            with(&|steps| {
                steps[0].body = steps[0].body.replace(" name=\"token\"", " name=\"other\"");
            }),
        ),
        (
            "the recorded token in place of the new one",
            1,
            "sends the recorded token",
            with(&|steps| {
                steps[1].sent = steps[1].sent.replace(NEW, OLD);
            }),
        ),
        (
            "a request that is not sent",
            2,
            "is not sent",
            with(&|steps| {
                steps.pop();
            }),
        ),
        (
            "JSON of an error",
            2,
            "has error",
            with(&|steps| {
                steps[3].body = r#"{"error":"x","id":7,"name":"a","items":[]}"#.to_owned();
            }),
        ),
        (
            "a page in place of JSON",
            2,
            "is a page",
            with(&|steps| {
                steps[3] = step("GET", "/api/me", "", 200, &login);
            }),
        ),
        ("an empty body", 2, "is empty", with(&|steps| steps[3].body.clear())),
    ] {
        let found = faults(&plan(true), &steps);
        assert!(found.iter().any(|(_, text)| text.contains(said)), "{what}: {found:?}");
        assert_eq!(
            found.iter().filter_map(|(call, _)| *call).min(),
            Some(call),
            "{what}: {found:?}"
        );
    }
}

#[test]
fn a_literal_that_its_page_no_longer_gives_is_a_fault_though_the_server_takes_it() {
    let mut steps = session(NEW, "anvil");
    steps[1].sent = format!("token={OLD}&text=hello");
    let found = faults(&plan(false), &steps);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("sends token as recorded"), "{found:?}");
    assert_eq!(found[0].0, Some(1));
    // The server gives the same one to all: then it is no token.
    assert_eq!(faults(&plan(false), &session(OLD, "anvil")), []);
}

#[test]
fn a_check_that_does_not_hold_is_a_fault_of_the_call_before_it() {
    let recording = recording(&session(OLD, "anvil"));
    let mut records = records(&session(NEW, "anvil"), 1);
    let check = Record::Check { vu: 1, iteration: 0, name: "has rows".to_owned(), passed: false };
    records.insert(3, check);
    let all = super::compare(&recording, &plan(true), &calls(), &records);
    let findings = &all[&(1, 0)];
    let found: Vec<_> = findings.faults().collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].call, Some(1));
    assert!(found[0].text.contains("\"has rows\""));
}

#[test]
fn users_are_compared_apart() {
    let recording = recording(&session(OLD, "anvil"));
    let mut both = records(&session(NEW, "anvil"), 1);
    let mut bad = session(NEW, "anvil");
    bad[3].status = 409;
    // They run at the same time.
    for (at, record) in records(&bad, 2).into_iter().enumerate() {
        both.insert(at * 2, record);
    }
    let all = super::compare(&recording, &plan(true), &calls(), &both);
    assert_eq!(all[&(1, 0)].faults().count(), 0);
    assert_eq!(all[&(2, 0)].first_call(), Some(2));
}

#[test]
fn a_value_that_is_not_found_has_its_next_candidate_tried_first() {
    let mut steps = session(NEW, "anvil");
    steps[0].body = steps[0].body.replace(" name=\"token\"", " name=\"other\"");
    let mut plan = plan(true);
    let found = findings(&plan, &steps);
    assert_eq!(crate::to_change(&plan, &calls(), &found), [(0, 1)]);
    plan.extractions[0].chosen = 1;
    let found = findings(&plan, &steps);
    assert!(crate::to_change(&plan, &calls(), &found).is_empty(), "there is no further one");
    // A server that refuses the value may want another one.
    plan.extractions[0].chosen = 0;
    let mut steps = session(NEW, "anvil");
    steps[1].status = 403;
    steps.remove(2);
    assert_eq!(crate::to_change(&plan, &calls(), &findings(&plan, &steps)), [(0, 1)]);
    // One that gives the same would be refused, too.
    plan.extractions[0].candidates[1] = plan.extractions[0].candidates[0].clone();
    assert!(crate::to_change(&plan, &calls(), &findings(&plan, &steps)).is_empty());
}

#[test]
fn a_page_without_a_recorded_body_is_counted_and_not_taken_for_good() {
    let mut recording = recording(&session(OLD, "anvil"));
    for exchange in &mut recording.exchanges {
        if let Some(response) = &mut exchange.response {
            response.body = Body::Absent { why: "the file has none".to_owned(), size: None };
        }
    }
    let records = records(&session(NEW, "anvil"), 1);
    let all = super::compare(&recording, &plan(false), &calls(), &records);
    let findings = &all[&(1, 0)];
    assert_eq!((findings.faults().count(), findings.absent, findings.compared), (0, 3, 0));
}

#[test]
fn requests_of_a_batch_are_told_apart_in_any_order() {
    let files = ["/a.css", "/b.js", "/c.png"];
    let steps: Vec<Step> = files.iter().map(|url| step("GET", url, "", 200, "x")).collect();
    let recording = recording(&steps);
    let calls: Vec<Call> = (0..3).map(|exchange| Call { exchange, line: 5 }).collect();
    let mut replayed = vec![steps[2].clone(), steps[0].clone(), steps[1].clone()];
    let plan = Plan { folded: vec![None; 3], ..Plan::default() };
    let faults = |steps: &[Step]| {
        let all = super::compare(&recording, &plan, &calls, &records(steps, 1));
        all.into_values()
            .flat_map(|one| one.faults().cloned().collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(faults(&replayed), []);
    replayed[0].status = 404;
    assert_eq!(faults(&replayed)[0].call, Some(2));
}

#[test]
fn servers_beside_the_application_only_give_notes() {
    let mut steps = session(OLD, "anvil");
    let mut beside = step("GET", "/banner", "", 200, "x");
    beside.url = "http://ads.test/banner".to_owned();
    steps.push(beside);
    let mut recording = recording(&steps);
    recording.exchanges[4].resource = Some(Resource::Image);
    let mut calls = calls();
    calls.push(Call { exchange: 4, line: 40 });
    let mut plan = plan(true);
    plan.folded.push(None);
    let mut replayed = session(NEW, "anvil");
    let mut beside = steps[4].clone();
    beside.status = 204;
    replayed.push(beside);
    let all = super::compare(&recording, &plan, &calls, &records(&replayed, 1));
    let findings = &all[&(1, 0)];
    assert_eq!(findings.faults().count(), 0, "{findings:?}");
    assert_eq!(findings.all.len(), 1);
}

#[test]
fn a_request_that_leaves_its_page_as_it_was_is_a_fault() {
    let upload = |text: &str| {
        page("Upload", &format!("<form id=\"u\"><input name=\"file\"></form><p>{text}</p>"))
    };
    let session = |stored: &str| {
        vec![
            step("GET", "/upload", "", 200, &upload("Nothing stored")),
            step("POST", "/upload", "file", 200, &upload(stored)),
        ]
    };
    let recording = recording(&session("Stored SHA-256 3f1b10908b06"));
    let plan = Plan { folded: vec![None; 2], ..Plan::default() };
    let calls = [(0, 1), (1, 2)].map(|(exchange, line)| Call { exchange, line });
    let first = |stored: &str| {
        let all = super::compare(&recording, &plan, &calls, &records(&session(stored), 1));
        all[&(1, 0)].first_call()
    };
    assert_eq!(first("Stored SHA-256 b767e8b19c5c"), None);
    assert_eq!(first("Nothing stored"), Some(1));
}
