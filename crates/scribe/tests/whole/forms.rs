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
    let order = journey.page(
        5000,
        "/app/order.xhtml?id=481516",
        "<title>Order 481516</title><h1>Order</h1>",
    );
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
    insta::assert_snapshot!(script, @"");
}
