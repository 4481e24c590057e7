//! Through the form application of the demo target.

use crate::browser::{Browser, File, Page};
use crate::user::User;

/// A picture of one pixel.
const DOT: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 10, b'I', b'D', b'A', b'T',
    0x78, 0x9C, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0D, 0x0A, 0x2D, 0xB4, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xAE, 0x42, 0x60, 0x82,
];

fn log_in(browser: &mut Browser, origin: &str, user: &User) -> Page {
    browser.step("log in");
    let page = browser.open(&format!("{origin}/app/login.xhtml"));
    browser.think(2400);
    let form = page.form("#form").set("form:user", user.name).set("form:password", "secret");
    browser.submit(form.add("form:submit", "Log in")).must_have("#logout")
}

fn edit(browser: &mut Browser, link: &str, user: &User) -> Page {
    browser.think(1300);
    let page = browser.open(link);
    browser.think(3100);
    let form = page.form("#form").set("form:quantity", user.number).set("form:note", user.text);
    browser.submit(form.add("form:save", "Save")).must_have("#logout")
}

fn upload(browser: &mut Browser, user: &User) -> Page {
    browser.step("upload");
    let page = browser.open("/app/upload.xhtml");
    browser.think(4200);
    let file = File { name: "dot.png", kind: "image/png", bytes: DOT.to_vec() };
    let form = page.form("#form").set("form_field_1", user.title).set("form_field_2", "a dot");
    let form = form.file("form:file", file).add("form:upload", "Upload");
    browser.submit(form).must_have("dd")
}

fn log_out(browser: &mut Browser, page: &Page) {
    browser.step("log out");
    browser.think(900);
    let form = page.form("#logout").add("logout:submit", "Log out");
    let _ = browser.submit(form).must_have("input[type=password]");
}

/// All nine steps, with whole pages.
pub(super) fn whole(browser: &mut Browser, origins: &[String], user: &User) {
    let orders = log_in(browser, &origins[0], user);
    browser.step("change an order");
    browser.think(1800);
    let form = orders.form("#form").set("form:filter", "anvil").add("form:search", "Search");
    let found = browser.submit(form);
    edit(browser, &found.attribute("td a", "href"), user);
    let page = upload(browser, user);
    log_out(browser, &page);
}

/// The same with a partial request, whose answer has the links and the next token; and two orders.
pub(super) fn partial(browser: &mut Browser, origins: &[String], user: &User) {
    let mut page = log_in(browser, &origins[0], user);
    browser.step("change two orders");
    for filter in ["anvil", "drill"] {
        browser.think(1500);
        let family = "jakarta.faces";
        let form = page.form("#form").set("form:filter", filter);
        let form = form.add(&format!("{family}.partial.ajax"), "true");
        let form =
            form.add(&format!("{family}.source"), "form:search").add("form:search", "Search");
        let ask = form.into_ask().header("Faces-Request", "partial/ajax");
        let found = browser.send(ask.header("X-Requested-With", "XMLHttpRequest"));
        page = edit(browser, &found.between("href=\"", "\""), user);
    }
    // Once more, with the token that a partial answer gives.
    let ask =
        page.form("#form").set("form:filter", "chisel").add("form:search", "Search").into_ask();
    let url = ask.url.clone();
    let answer = browser.send(ask.header("Faces-Request", "partial/ajax"));
    let token = answer.between("jakarta.faces.ViewState:0\"><![CDATA[", "]]>");
    let fields = [
        ("form", "form"),
        ("form:filter", "drill"),
        ("form:search", "Search"),
        ("jakarta.faces.ViewState", &token),
    ];
    let ask = browser.fetch("POST", url.as_str()).fields(&fields);
    let _ = browser.send(ask.header("Faces-Request", "partial/ajax")).must_be(200);
    let page = upload(browser, user);
    log_out(browser, &page);
}
