//! Applications of pages and forms.

use crate::laws::lawful;
use crate::shown::has;
use crate::tape::Tape;

const JSF: &str = "jakarta.faces.ViewState";

fn jsf_page(state: &str) -> String {
    format!(
        r#"<html><body><form id="f" name="f" method="post" action="/list.xhtml">
        <input type="hidden" name="f" value="f"><input name="f:name"><input type="submit" name="f:j_idt7" value="Save">
        <input type="hidden" name="{JSF}" id="j_id1:{JSF}:0" value="{state}"></form>
        <form id="u" name="u" method="post" enctype="multipart/form-data" action="/list.xhtml">
        <input type="hidden" name="u" value="u"><input type="file" name="u:file">
        <input type="hidden" name="{JSF}" id="j_id1:{JSF}:1" value="{state}"></form></body></html>"#
    )
}

#[test]
fn a_view_state_comes_with_the_form_of_the_newest_page() {
    let mut tape = Tape::new();
    let (first, second) =
        ("-3405228078197978502:-989624667687942685", "6405228078197978502:189624667687942611");
    tape.get("/list.xhtml").page(&jsf_page(first));
    tape.post("/list.xhtml", &[("f", "f"), ("f:name", "Anna"), ("f:j_idt7", "Save"), (JSF, first)]);
    tape.page(&jsf_page(second));
    let body = format!(
        "--X\r\nContent-Disposition: form-data; name=\"u\"\r\n\r\nu\r\n--X\r\nContent-Disposition: form-data; name=\"u:file\"; \
         filename=\"a.txt\"\r\n\r\nhello\r\n--X\r\nContent-Disposition: form-data; name=\"{JSF}\"\r\n\r\n{second}\r\n--X--\r\n"
    );
    tape.send("POST", "/list.xhtml", &[("Content-Type", "multipart/form-data; boundary=X")], &body);
    tape.page("done");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "1 form form[id=\"f\"] of 0 [0, 3]",
            "1 Field(1) = <input name>",
            "2 form form[id=\"u\"] of 1 [0, 2]",
        ],
    );
    assert!(plan.suspects.is_empty());
}

#[test]
fn a_partial_response_renews_the_view_state_of_the_page() {
    let mut tape = Tape::new();
    let (first, second) = ("AAb9dGhpc0lz+QVRva2Vu/1==", "CCb9dGhpc0lz+QVRva2Vu/2==");
    tape.get("/list.xhtml").page(&jsf_page(first));
    let fields = |state| {
        [("f", "f"), ("f:name", "Anna"), (JSF, state), ("jakarta.faces.partial.ajax", "true")]
    };
    tape.post("/list.xhtml", &fields(first));
    let update = format!(
        "<?xml version='1.0'?><partial-response><changes><update id=\"f:out\"><![CDATA[<p>hello</p>]]></update>\
         <update id=\"j_id1:{JSF}:0\"><![CDATA[{second}]]></update></changes></partial-response>"
    );
    tape.answer(200, &[("Content-Type", "text/xml")], &update);
    tape.post("/list.xhtml", &fields(second)).page("done");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "1 form form[id=\"f\"] of 0 [0, 2]",
            "1 > viewState = update jakarta.faces.ViewState ",
            "2 form form[id=\"f\"] of 0 [0]",
            "2 Field(2) = <viewState>",
        ],
    );
}

#[test]
fn a_form_that_came_in_an_update_is_taken_from_there() {
    let mut tape = Tape::new();
    tape.get("/a").page("<p>no form</p>");
    tape.send("POST", "/a", &[("Content-Type", "text/plain")], "x");
    let update = "<partial-response><changes><update id=\"box\"><![CDATA[<form id=\"g\" method=\"post\" action=\"/b\">\
        <input type=\"hidden\" name=\"key\" value=\"k3y9a8b7c6\"></form>]]></update></changes></partial-response>";
    tape.answer(200, &[("Content-Type", "text/xml")], update);
    tape.post("/b", &[("key", "k3y9a8b7c6")]).page("done");
    has(&lawful(&tape.0), &["2 form form[id=\"g\"] in box of 1 [0]"]);
}

#[test]
fn web_forms_send_their_state_and_the_target_of_the_script() {
    let page = |state: &str, valid: &str| {
        format!(
            r#"<form method="post" action="./Default.aspx" id="form1"><input type="hidden" name="__EVENTTARGET" value="">
            <input type="hidden" name="__VIEWSTATE" value="{state}"><input type="hidden" name="__EVENTVALIDATION" value="{valid}">
            <input name="ctl00$Name" type="text"><a href="javascript:__doPostBack('ctl00$Next','')">Next</a></form>"#
        )
    };
    let mut tape = Tape::new();
    tape.get("/shop/Default.aspx").page(&page("/wEPDwUKLTk3NjE2ODQ1Nw9k", "/wEdAAMx7Kq9bTq1Z"));
    tape.post(
        "/shop/Default.aspx",
        &[
            ("__EVENTTARGET", "ctl00$Next"),
            ("__VIEWSTATE", "/wEPDwUKLTk3NjE2ODQ1Nw9k"),
            ("__EVENTVALIDATION", "/wEdAAMx7Kq9bTq1Z"),
            ("ctl00$Name", "Anna Miller"),
        ],
    );
    tape.page(&page("/wEPDwUKLTk3NjE2ODQ1Nw9z", "/wEdAAMx7Kq9bTq1Y"));
    let plan = lawful(&tape.0);
    has(&plan, &["1 form form[id=\"form1\"] of 0 [1, 2]", "1 Field(3) = <input name>"]);
    assert_eq!(plan.substitutions.len(), 1, "the target of the script is a literal");
}

const DJANGO_LIST: &str = r#"<ul class="messagelist"><li class="success">The book “<a href="/admin/shelf/book/16/change/">Marble</a>” was
    added.</li></ul><table><tr><th class="field-title"><a href="/admin/shelf/book/16/change/">Marble</a></th></tr>
    <tr><th class="field-title"><a href="/admin/shelf/book/15/change/">Other</a></th></tr></table>
    <form id="logout" method="post" action="/admin/logout/"><input type="hidden" name="csrfmiddlewaretoken" value="zzz9dGhpc0lzQVRva2Vu1"></form>"#;

#[test]
fn the_id_of_a_new_thing_comes_from_the_message_and_not_from_a_row() {
    let form = |token: &str| {
        format!(
            r#"<form id="book_form" method="post"><input type="hidden" name="csrfmiddlewaretoken" value="{token}">
            <input name="title" value=""></form>"#
        )
    };
    let mut tape = Tape::new();
    tape.get("/admin/shelf/book/add/").page(&form("aaa9dGhpc0lzQVRva2Vu1"));
    tape.post(
        "/admin/shelf/book/add/",
        &[("csrfmiddlewaretoken", "aaa9dGhpc0lzQVRva2Vu1"), ("title", "Marble")],
    );
    tape.redirect("/admin/shelf/book/");
    tape.get("/admin/shelf/book/").page(DJANGO_LIST);
    tape.get("/admin/shelf/book/16/change/").page(&form("bbb9dGhpc0lzQVRva2Vu1"));
    tape.post(
        "/admin/shelf/book/16/change/",
        &[("csrfmiddlewaretoken", "bbb9dGhpc0lzQVRva2Vu1"), ("title", "Stone")],
    );
    tape.redirect("/admin/shelf/book/");
    tape.get("/admin/shelf/book/").page("<p>The list");
    let plan = lawful(&tape.0);
    assert_eq!(plan.folded, [None, None, Some(1), None, None, Some(4)]);
    has(
        &plan,
        &[
            "1 form form[id=\"book_form\"] of 0 [0]",
            "2 > bookId = href of li.success a[href^=\"/admin/shelf/book/\"][href$=\"/change/\"]|Segment(3)",
            "3 Segment(3) = <bookId>",
            "4 Segment(3) = <bookId>",
            "4 form form[id=\"book_form\"] of 3 [0]",
        ],
    );
}

#[test]
fn without_a_message_the_row_with_the_typed_text_is_taken() {
    let mut tape = Tape::new();
    tape.get("/items/new")
        .page(r#"<form method="post" action="/items"><input name="title"></form>"#);
    tape.post("/items", &[("title", "Marble lantern")]).redirect("/items");
    tape.get("/items").page(
        r#"<table><tr><td>Old one</td><td><a href="/items/6/edit">Edit</a></td></tr>
        <tr><td>Marble lantern</td><td><a href="/items/7/edit">Edit</a></td></tr></table>"#,
    );
    tape.get("/items/7/edit").page("<p>edit");
    has(
        &lawful(&tape.0),
        &[
            "2 > itemId = href of tr:contains(\"<input title>\") a[href^=\"/items/\"][href$=\"/edit\"]|Segment(1)",
            "3 Segment(1) = <itemId>",
        ],
    );
}

#[test]
fn of_forms_in_rows_that_of_the_own_thing_is_sent() {
    let row = |id: &str, token: &str| {
        format!(
            r#"<tr><td><form class="button_to" method="post" action="/items/{id}"><input type="hidden" name="_method" value="delete">
            <input type="hidden" name="authenticity_token" value="{token}"><input type="submit" value="Delete"></form></td></tr>"#
        )
    };
    let mut tape = Tape::new();
    tape.get("/items/new").page(
        r#"<head><meta name="csrf-token" content="m1a9dGhpc0lzQVRva2Vu1"></head><form action="/items" method="post">
        <input type="hidden" name="authenticity_token" value="f1a9dGhpc0lzQVRva2Vu1"><input name="item[name]"></form>"#,
    );
    tape.post("/items", &[("authenticity_token", "f1a9dGhpc0lzQVRva2Vu1"), ("item[name]", "Lamp")]);
    tape.redirect("/items/7");
    tape.get("/items/7")
        .page(r#"<head><meta name="csrf-token" content="m2a9dGhpc0lzQVRva2Vu1"></head><p>Lamp"#);
    tape.json("POST", "/items/7/star", &[("X-CSRF-Token", "m2a9dGhpc0lzQVRva2Vu1")], "{}")
        .data("{}");
    let rows = [
        row("6", "r6a9dGhpc0lzQVRva2Vu1"),
        row("7", "r7a9dGhpc0lzQVRva2Vu1"),
        row("8", "r8a9dGhpc0lzQVRva2Vu1"),
    ];
    tape.get("/items").page(&format!("<table>{}</table>", rows.concat()));
    tape.post(
        "/items/7",
        &[("_method", "delete"), ("authenticity_token", "r7a9dGhpc0lzQVRva2Vu1")],
    )
    .redirect("/items");
    tape.get("/items").page("<p>gone");
    has(
        &lawful(&tape.0),
        &[
            "2 > itemId = url|Segment(1)",
            "2 > csrfToken = content of meta[name=\"csrf-token\"]",
            "3 Header(1) = <csrfToken>",
            "5 form form[action=\"/items/<itemId>\"] of 4 [0, 1]",
        ],
    );
}

#[test]
fn two_things_with_one_number_are_two_values() {
    let mut tape = Tape::new();
    tape.get("/articles/new")
        .page(r#"<form action="/articles" method="post"><input name="title"></form>"#);
    tape.post("/articles", &[("title", "Hello there")]).redirect("/articles/1");
    tape.get("/articles/1")
        .page(r#"<form action="/articles/1/comments" method="post"><input name="text"></form>"#);
    tape.post("/articles/1/comments", &[("text", "Nice one")]).redirect("/articles/1");
    tape.get("/articles/1").page(r#"<form action="/articles/1/comments/1" method="post"><input type="hidden" name="_method" value="delete"></form>"#);
    tape.post("/articles/1/comments/1", &[("_method", "delete")]).redirect("/articles/1");
    tape.get("/articles/1").page("<p>");
    has(
        &lawful(&tape.0),
        &[
            "2 > articleId = url|Segment(1)",
            "5 Segment(1) = <articleId>",
            "5 Segment(3) = <commentId>",
        ],
    );
}

#[test]
fn spring_sends_the_token_of_a_meta_tag_in_a_header() {
    let mut tape = Tape::new();
    tape.get("/login").page(
        r#"<form action="/login" method="post"><input type="hidden" name="_csrf" value="L1x9dGhpc0lzQVRva2Vu1">
        <input name="username"><input type="password" name="password"></form>"#,
    );
    tape.post(
        "/login",
        &[("_csrf", "L1x9dGhpc0lzQVRva2Vu1"), ("username", "ada"), ("password", "s3cret-Word")],
    )
    .redirect("/");
    tape.get("/").page(r#"<meta name="_csrf" content="M1x9dGhpc0lzQVRva2Vu1"><p>Welcome"#);
    tape.json("PUT", "/like", &[("X-CSRF-TOKEN", "M1x9dGhpc0lzQVRva2Vu1")], "{}").data("{}");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "1 form form[action=\"/login\"] of 0 [0]",
            "1 Field(1) = <input username>",
            "1 Field(2) = <secret password>",
            "3 Header(1) = <csrfToken>",
        ],
    );
    assert_eq!(plan.extractions[0].exchange, 2, "the last of the chain gives it");
}

#[test]
fn forms_that_send_themselves_are_sent_with_all_fields() {
    let mut tape = Tape::new();
    tape.get("/sso").page(
        r#"<body onload="document.forms[0].submit()"><form method="post" action="https://idp.test/acs">
        <input type="hidden" name="SAMLResponse" value="PHNhbWxwOlJlc3BvbnNlIElEPSJfOGU4ZGM1Zi"><input type="hidden" name="RelayState" value="ss:mem:43a1d5f0"></form>"#,
    );
    tape.post(
        "https://idp.test/acs",
        &[
            ("SAMLResponse", "PHNhbWxwOlJlc3BvbnNlIElEPSJfOGU4ZGM1Zi"),
            ("RelayState", "ss:mem:43a1d5f0"),
        ],
    );
    tape.page("in");
    has(&lawful(&tape.0), &["1 form form[action$=\"/acs\"] of 0 [0, 1]"]);
}
