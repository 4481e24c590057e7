//! A plan of one recording, tried on another recording of the same clicks: what it would send, and what the browser sent.

use std::collections::BTreeMap;

use brunt_correlate::{FormUse, Place, Plan, Reply, find};
use brunt_html::form::{Field, entries};
use brunt_html::{Document, Selector};
use brunt_traffic::Exchange;

use crate::browser::Taken;
use crate::needs::places;

/// The places where the plan would send another text than the browser did, a line each.
pub fn wrong(plan: &Plan, one: &Taken, other: &Taken) -> Vec<String> {
    let mut found = Vec::new();
    let plan = moved(plan, one, other, &mut found);
    let exchanges = &other.recording.exchanges;
    let line = |exchange: usize, what: &str| {
        let request = &exchanges[exchange].request;
        format!("exchange {exchange} ({} {}): {what}", request.method, request.url.path())
    };
    for it in &plan.substitutions {
        let Some(sent) = text_at(&exchanges[it.exchange], &it.place) else { continue };
        let would = plan.recorded(&it.pieces);
        if would.as_ref() != Some(&sent) {
            let pieces = &it.pieces;
            let what = format!("{:?} would be {would:?} for {sent:?}, by {pieces:?}", it.place);
            found.push(line(it.exchange, &what));
        }
    }
    for form in &plan.forms {
        let Some(page) = fields(&plan, other, form) else {
            found.push(line(form.exchange, &format!("no form {:?} on its page", form.selector)));
            continue;
        };
        for (place, sent) in places(&exchanges[form.exchange]) {
            let (Place::Field(index) | Place::Part(index)) = place else { continue };
            let is_page = form.from_page.contains(&index);
            if is_page && !page.contains(&sent) {
                found.push(line(form.exchange, &format!("{place:?} is not in the form")));
            }
        }
    }
    found
}

/// The plan with what it finds in the other recording in place of what was recorded.
fn moved(plan: &Plan, one: &Taken, other: &Taken, found: &mut Vec<String>) -> Plan {
    let mut plan = plan.clone();
    let made: BTreeMap<_, _> = one.made.iter().zip(&other.made).collect();
    for value in &mut plan.made {
        if let Some(text) = made.get(&value.recorded) {
            value.recorded.clone_from(text);
        }
    }
    for index in 0..plan.extractions.len() {
        let extraction = &plan.extractions[index];
        let reply = Reply::recorded(&other.recording, extraction.exchange);
        let text = reply
            .and_then(|reply| find(extraction.source(), &reply, &|pieces| plan.recorded(pieces)));
        let Some(text) = text else {
            let (name, source) = (&extraction.name, extraction.source());
            found.push(format!(
                "{name} of exchange {} is not found by {source:?}",
                extraction.exchange
            ));
            continue;
        };
        plan.extractions[index].recorded = text;
    }
    plan
}

fn text_at(exchange: &Exchange, place: &Place) -> Option<String> {
    match place {
        Place::Url => Some(exchange.request.url.as_str().to_owned()),
        Place::Body => {
            let body = exchange.request.body.in_memory()?;
            Some(String::from_utf8_lossy(body).into_owned())
        }
        Place::Message(index) => {
            let message = exchange.messages.get(*index)?;
            Some(String::from_utf8_lossy(&message.data).into_owned())
        }
        place => places(exchange).into_iter().find_map(|(at, text)| (at == *place).then_some(text)),
    }
}

/// The values of the fields of a form on its page.
fn fields(plan: &Plan, taken: &Taken, form: &FormUse) -> Option<Vec<String>> {
    let reply = Reply::recorded(&taken.recording, form.page)?;
    let html = match &form.update {
        None => reply.body.into_owned(),
        Some(id) => {
            let (_, update) = reply.body.split_once(id.as_str())?;
            update.split_once("<![CDATA[")?.1.split_once("]]>")?.0.to_owned()
        }
    };
    let document = Document::parse(&html).ok()?;
    let selector = Selector::new(&plan.recorded(&form.selector)?);
    let node = selector.find_first(&document, document.root())?;
    let values = entries(&document, &[node]).into_iter().flat_map(|(_, field)| match field {
        Some(Field::Text(text)) => vec![text],
        Some(Field::List(texts)) => texts,
        None => Vec::new(),
    });
    Some(values.collect())
}
