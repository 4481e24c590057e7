//! Through applications whose pages and forms do all.

use crate::browser::{Browser, Page};
use crate::user::User;

fn webforms_in(browser: &mut Browser, origin: &str, user: &User) -> Page {
    browser.step("log in");
    let page = browser.open(&format!("{origin}/Login.aspx"));
    browser.think(2000);
    let form = page.form("#aspnetForm").set("ctl00$Main$User", user.name);
    let form = form.set("ctl00$Main$Password", user.password).add("ctl00$Main$Login", "Log in");
    browser.submit(form).must_have("#ctl00_Main_Grid")
}

fn post_back(browser: &mut Browser, page: &Page, target: &str, argument: &str) -> Page {
    browser.think(1200);
    let form = page.form("#aspnetForm").set("__EVENTTARGET", target);
    browser.submit(form.set("__EVENTARGUMENT", argument))
}

/// The argument of the link that edits a row, in a page or a part of one.
fn key(html: &str, nth: usize) -> String {
    let mut keys = html.split("Edit$").skip(nth + 1);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    format!("Edit${}", keys.next().map(digits).expect("the grid has rows"))
}

fn webforms_out(browser: &mut Browser, page: &Page, user: &User) {
    browser.think(2500);
    let form = page.form("#aspnetForm").set("ctl00$Main$Quantity", user.number);
    let form = form.set("ctl00$Main$Note", user.text).add("ctl00$Main$Save", "Save");
    let page = browser.submit(form).must_have("#ctl00_Main_Grid");
    browser.step("log out");
    let _ = post_back(browser, &page, "ctl00$Logout", "").must_have("input[type=password]");
}

/// Pages of a grid by links that post.
pub(super) fn webforms_grid(browser: &mut Browser, origins: &[String], user: &User) {
    let page = webforms_in(browser, &origins[0], user);
    browser.step("edit an order");
    let page = post_back(browser, &page, "ctl00$Main$Grid", "Page$2");
    let page = post_back(browser, &page, "ctl00$Main$Grid", &key(&page.text, 1));
    webforms_out(browser, &page, user);
}

/// The same by a script that renews a part of the page.
pub(super) fn webforms_panel(browser: &mut Browser, origins: &[String], user: &User) {
    const GRID: &str = "ctl00$Main$Grid";
    let page = webforms_in(browser, &origins[0], user);
    browser.step("edit an order");
    browser.think(1400);
    let ask = page.form("#aspnetForm").set("__EVENTTARGET", GRID).set("__EVENTARGUMENT", "Page$2");
    let ask = ask.add("__ASYNCPOST", "true").into_ask();
    let answer = browser.send(
        ask.header("X-MicrosoftAjax", "Delta=true").header("X-Requested-With", "XMLHttpRequest"),
    );
    let hidden = |name: &str| answer.between(&format!("|hiddenField|{name}|"), "|");
    // The script puts the new fields into the page's form.
    let form = page.form("#aspnetForm").set("__VIEWSTATE", &hidden("__VIEWSTATE"));
    let form = form.set("__EVENTVALIDATION", &hidden("__EVENTVALIDATION"));
    let form = form.set("__EVENTTARGET", GRID).set("__EVENTARGUMENT", &key(&answer.text, 0));
    browser.think(1100);
    let page = browser.submit(form).must_have("#ctl00_Main_Quantity");
    webforms_out(browser, &page, user);
}

fn django_in(browser: &mut Browser, origin: &str, user: &User) -> Page {
    browser.step("log in");
    let page = browser.open(&format!("{origin}/notes/"));
    browser.think(1900);
    let form = page.form("#login-form").set("username", user.name).set("password", user.password);
    browser.submit(form).must_have("#result_list")
}

fn django_add(browser: &mut Browser, user: &User) -> Page {
    browser.step("add a note");
    browser.think(900);
    let page = browser.open("/notes/add/");
    browser.think(3600);
    let form = page.form("#note_form").set("title", user.title).set("text", user.text);
    browser.submit(form.add("_save", "Save")).must_have(".success a")
}

fn django_out(browser: &mut Browser, page: &Page) {
    browser.step("log out");
    browser.think(800);
    let _ = browser.submit(page.form("#logout-form")).must_have("#login-form");
}

/// A note is made, changed twice and deleted.
pub(super) fn django_change(browser: &mut Browser, origins: &[String], user: &User) {
    django_in(browser, &origins[0], user);
    let page = django_add(browser, user);
    browser.step("change the note");
    let link = page.attribute(".success a", "href");
    let page = browser.open(&link);
    browser.think(2200);
    let form = page.form("#note_form").set("text", user.number);
    let page = browser.submit(form.add("_continue", "Save and continue editing"));
    browser.think(1700);
    let page = browser.submit(page.form("#note_form").add("_save", "Save"));
    browser.step("delete the note");
    let link = link.replace("change", "delete");
    let confirm = browser.open(&link);
    browser.think(600);
    drop(page);
    let page = browser.submit(confirm.form("form[method=post]:not(#logout-form)"));
    django_out(browser, &page.must_have(".success"));
}

/// A note is made, chosen in the list, and deleted by an action.
pub(super) fn django_select(browser: &mut Browser, origins: &[String], user: &User) {
    django_in(browser, &origins[0], user);
    let page = django_add(browser, user);
    let link = page.attribute(".success a", "href");
    let id: String = link.chars().filter(char::is_ascii_digit).collect();
    browser.step("look at it again");
    let page = browser.open(&link);
    browser.think(1600);
    let page = browser.submit(page.form("#note_form").add("_save", "Save"));
    browser.step("delete by an action");
    browser.think(1500);
    let form = page.form("#changelist-form").set("action", "delete_selected");
    let confirm = browser.submit(form.add("_selected_action", &id).add("index", "0"));
    browser.think(700);
    let page = browser.submit(confirm.form("form[method=post]:not(#logout-form)"));
    django_out(browser, &page.must_have(".success"));
}

/// An item is made, changed and deleted by one of forms that look alike; a script marks another.
pub(super) fn rails_forms(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    let page = browser.open(&format!("{}/session/new", origins[0]));
    browser.think(2100);
    let form = page.form(".new_session").set("session[name]", user.name);
    let form = form.set("session[password]", user.password).add("session[remember]", "1");
    let page = browser.submit(form.add("commit", "Log in")).must_have("table");
    browser.step("make an item");
    let favorite = page.attribute("tr:nth-child(2) td a", "href");
    let page = browser.open("/items/new");
    browser.think(2800);
    let form = page.form(".new_item").set("item[name]", user.title).set("item[price]", user.number);
    let page = browser.submit(form.add("commit", "Save item")).must_have("#notice");
    let item = page.url.path().to_owned();
    browser.step("change it");
    let page = browser.open(&page.attribute("a[href$=edit]", "href"));
    browser.think(1900);
    let form = page.form(".edit_item").set("item[price]", "15.50");
    let _ = browser.submit(form.add("commit", "Save item")).must_have("#notice");
    browser.step("destroy it");
    let page = browser.open("/items");
    browser.think(1200);
    let token = page.attribute("meta[name=csrf-token]", "content");
    let ask = browser.fetch("PATCH", &format!("{favorite}/favorite"));
    let ask = ask.header("X-CSRF-Token", &token).header("Accept", "application/json");
    let _ = browser.send(ask).must_be(200);
    let page = browser.submit(page.form(&format!("form[action='{item}']"))).must_have("table");
    browser.step("log out");
    let _ = browser.submit(page.form("header form")).must_have(".new_session");
}

/// The application's server makes state, nonce and verifier; redirects carry them.
pub(super) fn oauth_server(browser: &mut Browser, origins: &[String], user: &User) {
    browser.step("log in");
    let page = browser.open(&format!("{}/login", origins[0])).must_have("#kc-form");
    browser.think(2300);
    let form = page.form("#kc-form").set("username", user.name).set("password", user.password);
    let page = browser.submit(form.add("login", "Sign in"));
    browser.think(1100);
    let page = browser.submit(page.form("#kc-form").add("allow", "yes")).must_have("#profile");
    browser.step("change the profile");
    browser.think(1800);
    let page = browser.submit(page.form("#profile").set("city", user.title));
    browser.step("log out");
    let _ = browser.submit(page.form("#out")).must_have("#root");
}
