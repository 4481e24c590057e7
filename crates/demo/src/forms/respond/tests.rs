use super::*;
use crate::forms::FormConfig;

/// A browser that does as a good script does: keeps the session, and the newest token.
struct Browser<'a> {
    forms: &'a Forms,
    session: Option<u128>,
    token: String,
}

fn forms(change: impl FnOnce(&mut FormConfig)) -> Forms {
    let mut config = FormConfig::default();
    change(&mut config);
    Forms::new(&config, Some(1))
}

/// The text between two others.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(begin)? + begin.len()..];
    rest.find(end).map(|end| &rest[..end])
}

fn token_in(answer: &Answer) -> Option<&str> {
    if answer.is_partial {
        between(&answer.text, "ViewState:0\"><![CDATA[", "]]>")
    } else {
        between(&answer.text, "ViewState:1\" value=\"", "\"")
    }
}

impl<'a> Browser<'a> {
    fn new(forms: &'a Forms) -> Self {
        Self { forms, session: None, token: String::new() }
    }

    fn logged_in(forms: &'a Forms) -> Self {
        let mut browser = Self::new(forms);
        browser.get(Page::Login);
        assert_eq!(browser.log_in("secret").location, Some("/app/orders.xhtml"));
        browser
    }

    fn ask(&mut self, ask: Ask) -> Answer {
        let answer = self.forms.respond(&Ask { session: self.session, ..ask });
        self.session = answer.session.or(self.session);
        if let Some(token) = token_in(&answer) {
            token.clone_into(&mut self.token);
        }
        answer
    }

    fn get(&mut self, page: Page) -> Answer {
        self.ask(Ask { page: Some(page), ..Ask::default() })
    }

    fn order(&mut self, id: u64) -> Answer {
        self.ask(Ask { page: Some(Page::Order), order: Some(id), ..Ask::default() })
    }

    fn form(&self, fields: &[(&str, &str)]) -> Posted {
        let name = self.forms.look.state_name();
        let all = fields.iter().copied().chain([(name.as_str(), self.token.as_str())]);
        let fields = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Posted { fields, file: None }
    }

    fn post(&mut self, page: Option<Page>, fields: &[(&str, &str)]) -> Answer {
        let posted = self.form(fields);
        self.ask(Ask { page, is_post: true, posted, ..Ask::default() })
    }

    fn log_in(&mut self, password: &str) -> Answer {
        self.post(Some(Page::Login), &[("form:user", "ada"), ("form:password", password)])
    }

    fn refused(&self, why: &str) -> u64 {
        self.forms.report()["tokens"]["refused"][why].as_u64().unwrap()
    }
}

/// The ids of the orders in a page.
fn ids(answer: &Answer) -> Vec<u64> {
    let links = answer.text.split("/app/order.xhtml?id=").skip(1);
    links.map(|rest| rest[..8].parse().unwrap()).collect()
}

#[test]
fn a_token_is_good_for_its_session_and_view_alone() {
    let forms = forms(|_| {});
    let mut ada = Browser::new(&forms);
    let mut bob = Browser::logged_in(&forms);
    let first = ada.get(Page::Login);
    assert_eq!((first.status, first.session.is_some()), (200, true));
    let at_login = ada.token.clone();
    assert_eq!(ada.log_in("secret").status, 302);
    // One token for all: it does for the login only.
    let refused = ada.post(Some(Page::Orders), &[]);
    assert_eq!((refused.status, ada.refused("other_view")), (500, 1));
    assert!(refused.text.contains("javax.faces.application.ViewExpiredException"));
    assert_eq!(token_in(&refused), None);
    ada.get(Page::Orders);
    assert_ne!(ada.token, at_login);
    bob.token.clone_from(&ada.token);
    assert_eq!(bob.post(Some(Page::Orders), &[]).status, 500);
    assert_eq!(bob.refused("foreign"), 1);
    for (token, why) in [("", "missing"), ("recorded once", "malformed")] {
        bob.token = token.to_owned();
        let refused = bob.post(Some(Page::Orders), &[]);
        assert_eq!((refused.status, bob.refused(why)), (500, 1), "{why}");
    }
    assert_eq!(ada.post(Some(Page::Orders), &[]).status, 200);
    assert_eq!(forms.report()["tokens"]["accepted"], 3);
}

#[test]
fn the_newest_tokens_are_valid_and_older_ones_have_expired() {
    for client_state in [false, true] {
        let forms = forms(|config| (config.views, config.client_state) = (3, client_state));
        let mut browser = Browser::logged_in(&forms);
        let mut tokens = Vec::new();
        for _ in 0..4 {
            browser.get(Page::Orders);
            tokens.push(browser.token.clone());
        }
        let mut statuses = Vec::new();
        // Each that is accepted brings a new one, so the oldest goes first.
        for token in tokens {
            browser.token = token;
            statuses.push(browser.post(Some(Page::Orders), &[]).status);
        }
        assert_eq!(statuses, [500, 200, 200, 200]);
        assert_eq!(browser.refused("expired"), 1);
    }
    assert_eq!(FormConfig::default().views, 15);
}

#[test]
fn every_page_and_every_post_renews_the_token() {
    let forms = forms(|_| {});
    let mut browser = Browser::logged_in(&forms);
    let mut seen = std::collections::BTreeSet::from([browser.token.clone()]);
    for turn in 0..5 {
        browser.get(Page::Orders);
        assert!(seen.insert(browser.token.clone()), "page {turn}");
        browser.post(Some(Page::Orders), &[("form:filter", "a")]);
        assert!(seen.insert(browser.token.clone()), "post {turn}");
    }
}

#[test]
fn soft_errors_are_pages_with_200_and_without_a_token() {
    let forms = forms(|config| config.soft_errors = true);
    let mut browser = Browser::logged_in(&forms);
    browser.token = "old".to_owned();
    let refused = browser.post(Some(Page::Orders), &[]);
    assert_eq!((refused.status, token_in(&refused)), (200, None));
    assert!(refused.text.contains("<title>Error</title>"), "{}", refused.text);
    assert_eq!(browser.refused("malformed"), 1);
}

#[test]
fn a_one_time_token_is_good_once() {
    let twice = |one_time| {
        let forms = forms(|config| (config.one_time, config.soft_errors) = (one_time, true));
        let mut browser = Browser::logged_in(&forms);
        browser.get(Page::Orders);
        let token = browser.token.clone();
        assert_eq!(browser.post(Some(Page::Orders), &[]).status, 200);
        browser.token = token;
        let second = browser.post(Some(Page::Orders), &[]).status;
        (second, browser.refused("used"))
    };
    assert_eq!((twice(false), twice(true)), ((200, 0), (409, 1)));
}

#[test]
fn without_a_session_every_way_leads_to_the_login() {
    let forms = forms(|_| {});
    let pages = [None, Some(Page::Orders), Some(Page::Order), Some(Page::Upload)];
    let mut strangers = vec![Browser::new(&forms), Browser::new(&forms)];
    strangers[1].session = Some(7);
    // A session in which no user has logged in is a stranger, too.
    let mut third = Browser::new(&forms);
    third.get(Page::Login);
    strangers.push(third);
    for stranger in &mut strangers {
        for page in pages {
            let answer = stranger.post(page, &[]);
            assert_eq!((answer.status, answer.location), (302, Some("/app/login.xhtml")));
            if let Some(page) = page {
                assert_eq!(stranger.get(page).location, Some("/app/login.xhtml"));
            }
        }
    }
    let posted = Browser::new(&forms).log_in("secret");
    assert_eq!((posted.status, posted.session), (302, None));
    assert_eq!(forms.report()["no_session"], 3 * 7 + 1);
    assert_eq!(forms.report()["sessions"]["now"], 1);
}

#[test]
fn a_wrong_password_is_told_in_the_page() {
    let forms = forms(|_| {});
    let mut browser = Browser::new(&forms);
    browser.get(Page::Login);
    let answer = browser.log_in("wrong");
    assert_eq!((answer.status, answer.location), (200, None));
    assert!(answer.text.contains("password is wrong") && answer.text.contains("value=\"ada\""));
    let nameless = browser.post(Some(Page::Login), &[("form:password", "secret")]);
    assert_eq!(nameless.status, 200);
    let long = "x".repeat(TEXT_MAX + 1);
    let long = browser
        .post(Some(Page::Login), &[("form:user", long.as_str()), ("form:password", "secret")]);
    assert_eq!(long.status, 200);
    // The page has a token for another try.
    assert_eq!(browser.log_in("secret").status, 302);
    assert_eq!(forms.report()["wrong_passwords"], 3);
}

#[test]
fn orders_are_found_filtered_and_changed() {
    let forms = forms(|_| {});
    let mut browser = Browser::logged_in(&forms);
    let orders = ids(&browser.get(Page::Orders));
    assert_eq!(orders.len(), 8);
    let found = browser.post(Some(Page::Orders), &[("form:filter", "bellows")]);
    assert_eq!((ids(&found), found.is_partial), (vec![orders[1], orders[6]], false));
    assert!(found.text.contains("name=\"form:filter\" value=\"bellows\""), "{}", found.text);
    let all = browser.post(Some(Page::Orders), &[("form:filter", "bellows"), ("form:all", "x")]);
    assert_eq!(ids(&all), orders);

    let page = browser.order(orders[6]);
    let version = between(&page.text, "name=\"form:version\" value=\"", "\"").unwrap().to_owned();
    for (quantity, version, said) in [
        ("7", "", "in the meantime"),
        ("0", version.as_str(), "not a number from 1 to 999"),
        ("many", version.as_str(), "not a number from 1 to 999"),
    ] {
        let fields = [("form:quantity", quantity), ("form:version", version)];
        let answer = browser.post(Some(Page::Order), &fields);
        assert!(answer.status == 200 && answer.text.contains(said), "{}", answer.text);
    }
    let fields = [("form:quantity", "7"), ("form:version", version.as_str()), ("form:note", "a<b")];
    let saved = browser.post(Some(Page::Order), &fields);
    assert_eq!((saved.status, saved.location), (302, Some("/app/orders.xhtml")));
    // The same again is from a page that is old by now.
    let again = browser.post(Some(Page::Order), &fields);
    assert!(again.text.contains("in the meantime"), "{}", again.text);
    let page = browser.order(orders[6]);
    assert!(page.text.contains("value=\"7\"") && page.text.contains("a&lt;b</textarea>"));
    assert_eq!(forms.report()["stale_versions"], 2);
    // Orders of one session are not found in another.
    let mut bob = Browser::logged_in(&forms);
    for id in [orders[6], 1] {
        assert_eq!(bob.order(id).status, 404);
    }
    assert_eq!(bob.get(Page::Order).status, 404);
}

#[test]
fn the_order_that_is_saved_is_that_of_the_token() {
    for client_state in [false, true] {
        let forms = forms(|config| config.client_state = client_state);
        let mut browser = Browser::logged_in(&forms);
        let orders = ids(&browser.get(Page::Orders));
        let first = browser.order(orders[0]);
        let version = between(&first.text, "form:version\" value=\"", "\"").unwrap().to_owned();
        let token = browser.token.clone();
        browser.order(orders[1]);
        let fields = [("form:quantity", "5"), ("form:version", version.as_str())];
        let other = browser.post(Some(Page::Order), &fields);
        assert!(other.text.contains("in the meantime"), "{}", other.text);
        browser.token = token;
        assert_eq!(browser.post(Some(Page::Order), &fields).status, 302);
        let kept = forms.report()["views"]["now"].as_u64().unwrap();
        assert_eq!(kept == 0, client_state, "{kept}");
    }
}

#[test]
fn a_form_from_before_a_new_login_has_expired() {
    let forms = forms(|_| {});
    let mut browser = Browser::logged_in(&forms);
    let id = ids(&browser.get(Page::Orders))[0];
    browser.order(id);
    let old = browser.token.clone();
    browser.get(Page::Login);
    assert_eq!(browser.log_in("secret").status, 302);
    browser.token = old;
    assert_eq!(browser.post(Some(Page::Order), &[("form:quantity", "1")]).status, 500);
    // A token is accepted or refused, never both.
    assert_eq!((browser.refused("expired"), &forms.report()["tokens"]["accepted"]), (1, &2.into()));
    assert_eq!(browser.post(None, &[]).location, Some("/app/login.xhtml"));
    assert_eq!(forms.report()["sessions"]["ended"], 1);
}

#[test]
fn a_script_in_the_browser_gets_parts_redirects_and_errors_as_xml() {
    let forms = forms(|_| {});
    let partial = |browser: &mut Browser<'_>, page, fields: &[(&str, &str)]| {
        let posted = browser.form(fields);
        let ask =
            Ask { page: Some(page), is_post: true, is_partial: true, posted, ..Ask::default() };
        browser.ask(ask)
    };
    let mut browser = Browser::logged_in(&forms);
    let orders = ids(&browser.get(Page::Orders));
    let answer = partial(&mut browser, Page::Orders, &[("form:filter", "drill")]);
    assert_eq!((answer.status, answer.is_partial, ids(&answer)), (200, true, vec![orders[3]]));
    assert!(!answer.text.contains("<form"), "{}", answer.text);
    // The token in it is the next one to use.
    assert_eq!(partial(&mut browser, Page::Orders, &[]).status, 200);
    let good = std::mem::replace(&mut browser.token, "x".to_owned());
    let refused = partial(&mut browser, Page::Orders, &[]);
    assert_eq!((refused.status, refused.is_partial), (500, true));
    let name = "<error><error-name>class javax.faces.application.ViewExpiredException<";
    assert!(refused.text.contains(name), "{}", refused.text);
    browser.token = good;
    browser.session = None;
    let sent = partial(&mut browser, Page::Orders, &[]);
    assert_eq!((sent.status, sent.location), (200, None));
    assert!(sent.text.contains("<redirect url=\"/app/login.xhtml\">"), "{}", sent.text);
}

#[test]
fn an_upload_is_told_with_name_size_and_hash() {
    let forms = forms(|_| {});
    let mut browser = Browser::logged_in(&forms);
    browser.get(Page::Upload);
    let none = browser.post(Some(Page::Upload), &[]);
    assert!(none.text.contains("No file was chosen"), "{}", none.text);
    // The longest name that file systems allow.
    let name = format!("a\"b{}", "x".repeat(252));
    let mut posted = browser.form(&[("form_field_1", "<1>"), ("form_field_2", "2")]);
    posted.file = Some(File { name: name.clone(), bytes: 3, sha256: "ff".to_owned() });
    let answer =
        browser.ask(Ask { page: Some(Page::Upload), is_post: true, posted, ..Ask::default() });
    for (id, text) in [
        ("name", name.replace('"', "&quot;").as_str()),
        ("size", "3"),
        ("sha256", "ff"),
        ("field_1", "&lt;1&gt;"),
        ("field_2", "2"),
    ] {
        let told = format!("<dd id=\"form:result:{id}\">{text}</dd>");
        assert!(answer.text.contains(&told), "{told}: {}", answer.text);
    }
    assert_eq!(forms.report()["uploads"], serde_json::json!({ "files": 1, "bytes": 3 }));
}

#[test]
fn a_journey_counts_when_each_step_was_done() {
    let forms = forms(|_| {});
    let journey = |has_upload: bool| {
        let mut browser = Browser::logged_in(&forms);
        let id = ids(&browser.get(Page::Orders))[0];
        browser.post(Some(Page::Orders), &[]);
        let page = browser.order(id);
        let version = between(&page.text, "form:version\" value=\"", "\"").unwrap().to_owned();
        browser.post(Some(Page::Order), &[("form:quantity", "1"), ("form:version", &version)]);
        browser.get(Page::Upload);
        if has_upload {
            let mut posted = browser.form(&[]);
            posted.file = Some(File { name: "f".to_owned(), bytes: 0, sha256: String::new() });
            browser.ask(Ask { page: Some(Page::Upload), is_post: true, posted, ..Ask::default() });
        }
        let out = browser.post(None, &[]);
        assert_eq!((out.status, out.location), (302, Some("/app/login.xhtml")));
        assert_eq!(browser.get(Page::Orders).location, Some("/app/login.xhtml"));
    };
    journey(true);
    journey(false);
    let report = forms.report();
    assert_eq!(report["journeys"], serde_json::json!({ "begun": 2, "done": 1 }));
    assert_eq!((&report["steps"]["upload"], &report["steps"]["logout"]), (&1.into(), &2.into()));
    assert_eq!((&report["sessions"]["now"], &report["sessions"]["ended"]), (&0.into(), &2.into()));
    assert_eq!((&report["views"]["now"], &report["views"]["total"]), (&0.into(), &11.into()));
    forms.reset();
    assert_eq!(forms.report()["journeys"]["begun"], 0);
}

#[test]
fn the_same_seed_makes_the_same_orders_and_tokens() {
    let first = |seed| {
        let forms = Forms::new(&FormConfig::default(), Some(seed));
        let mut browser = Browser::logged_in(&forms);
        (ids(&browser.get(Page::Orders)), browser.token.clone())
    };
    assert_eq!(first(7), first(7));
    assert_ne!(first(7), first(8));
}
