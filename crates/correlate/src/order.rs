//! The order of extractions, and the names of their variables.

use crate::names;
use crate::plan::{Finder, PathStep, Piece, Plan, Source};

/// The plan with its extractions in the order of exchanges, each named: extractions of one name never are in use at one time.
pub(crate) fn ordered(mut plan: Plan) -> Plan {
    let mut order: Vec<usize> = (0..plan.extractions.len()).collect();
    order.sort_by_key(|&index| (plan.extractions[index].exchange, index));
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let mut sorted = Vec::with_capacity(order.len());
    for &old in &order {
        sorted.push(plan.extractions[old].clone());
    }
    plan.extractions = sorted;
    each(&mut plan, &mut |_, piece| {
        if let Piece::Value { extraction, .. } = piece {
            *extraction = place[*extraction];
        }
    });
    named(&mut plan);
    plan
}

fn named(plan: &mut Plan) {
    let mut last_use: Vec<usize> = plan.extractions.iter().map(|own| own.exchange).collect();
    each(plan, &mut |exchange, piece| {
        if let Piece::Value { extraction, .. } = piece {
            last_use[*extraction] = last_use[*extraction].max(exchange);
        }
    });
    // Name, the exchange that gave it last, and the last that uses it.
    let mut taken: Vec<(String, usize, usize)> = Vec::new();
    let others: Vec<String> = plan.made.iter().map(|made| made.name.clone()).collect();
    for (index, extraction) in plan.extractions.iter_mut().enumerate() {
        let (begin, end) = (extraction.exchange, last_use[index]);
        let name = names::free(&extraction.name, |name| {
            others.iter().any(|other| other == name)
                || taken
                    .iter()
                    .any(|(own, given, used)| own == name && (*used > begin || *given == begin))
        });
        match taken.iter_mut().find(|(own, ..)| *own == name) {
            Some(own) => *own = (name.clone(), begin, end),
            None => taken.push((name.clone(), begin, end)),
        }
        extraction.name = name;
    }
    let mut own: Vec<String> = Vec::new();
    for made in &mut plan.made {
        made.name = names::free(&made.name, |name| own.iter().any(|own| own == name));
        own.push(made.name.clone());
    }
}

/// Calls `see` with each piece and the exchange at which the script needs it.
fn each(plan: &mut Plan, see: &mut dyn FnMut(usize, &mut Piece)) {
    for substitution in &mut plan.substitutions {
        for piece in &mut substitution.pieces {
            see(substitution.exchange, piece);
        }
    }
    for form in &mut plan.forms {
        for piece in &mut form.selector {
            see(form.exchange, piece);
        }
    }
    for extraction in &mut plan.extractions {
        let exchange = extraction.exchange;
        for source in &mut extraction.candidates {
            in_source(source, &mut |piece| see(exchange, piece));
        }
    }
}

fn in_source(source: &mut Source, see: &mut dyn FnMut(&mut Piece)) {
    in_finder(&mut source.finder, see);
}

fn in_finder(finder: &mut Finder, see: &mut dyn FnMut(&mut Piece)) {
    match finder {
        Finder::Field { selector, .. }
        | Finder::Attribute { selector, .. }
        | Finder::Text { selector, .. } => selector.iter_mut().for_each(see),
        Finder::Json(path) => {
            for step in path {
                if let PathStep::Where { is, .. } = step {
                    is.iter_mut().for_each(&mut *see);
                }
            }
        }
        Finder::Update { inside, .. }
        | Finder::Message { inside, .. }
        | Finder::Event { inside, .. } => {
            if let Some(inside) = inside {
                in_finder(inside, see);
            }
        }
        Finder::Header(_) | Finder::Cookie(_) | Finder::Url | Finder::Between { .. } => {}
    }
}
