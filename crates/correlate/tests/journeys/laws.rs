//! The laws of plans, tried on every recording.

use brunt_correlate::{Change, Finder, PathStep, Piece, Place, Plan, Reply, correlate, find};
use brunt_traffic::{Recording, charset, form, multipart};

/// The plan of a recording, after all laws were tried on it.
pub(crate) fn lawful(recording: &Recording) -> Plan {
    let plan = correlate(recording);
    assert_eq!(plan.folded.len(), recording.exchanges.len());
    for own in &plan.substitutions {
        assert!(plan.folded[own.exchange].is_none(), "what is folded is not sent");
        let text = plan.recorded(&own.pieces);
        if let Some(sent) = sent(recording, own.exchange, &own.place) {
            assert_eq!(text.as_deref(), Some(sent.as_str()), "{:?} of {}", own.place, own.exchange);
        } else {
            assert!(text.is_some());
        }
        own.pieces.iter().for_each(|piece| precedes(&plan, piece, own.exchange, 0));
    }
    for (index, own) in plan.extractions.iter().enumerate() {
        assert!(!own.candidates.is_empty() && own.chosen < own.candidates.len());
        assert!(index == 0 || plan.extractions[index - 1].exchange <= own.exchange, "in order");
        let reply = Reply::recorded(recording, own.exchange).expect("a response");
        for source in &own.candidates {
            let found = find(source, &reply, &|pieces| plan.recorded(pieces));
            assert_eq!(found.as_deref(), Some(own.recorded.as_str()), "{} by {source:?}", own.name);
            in_finder(&source.finder, &mut |piece| precedes(&plan, piece, own.exchange, 1));
            assert!(
                !source
                    .changes
                    .iter()
                    .any(|change| matches!(change, Change::Json(path) if path.is_empty()))
            );
        }
    }
    for own in &plan.forms {
        assert!(own.page < own.exchange);
        own.selector.iter().for_each(|piece| precedes(&plan, piece, own.page, 0));
        let reply = Reply::recorded(recording, own.page).expect("a page");
        let text = plan.recorded(&own.selector).expect("a selector");
        if own.update.is_some() {
            continue;
        }
        let document = brunt_html::Document::parse(&reply.body).expect("a page");
        let count = brunt_html::Selector::new(&text).find(&document, &[document.root()]).len();
        assert_eq!(count, 1, "{text}");
    }
    plan
}

/// Whether what a piece needs was there before an exchange sends or its response comes.
fn precedes(plan: &Plan, piece: &Piece, exchange: usize, is_strict: usize) {
    if let Piece::Value { extraction, .. } = piece {
        assert!(
            plan.extractions[*extraction].exchange + is_strict <= exchange,
            "{piece:?} at {exchange}"
        );
    }
}

fn in_finder(finder: &Finder, see: &mut dyn FnMut(&Piece)) {
    match finder {
        Finder::Field { selector, .. }
        | Finder::Attribute { selector, .. }
        | Finder::Text { selector, .. } => {
            selector.iter().for_each(see);
        }
        Finder::Json(path) => {
            for step in path {
                if let PathStep::Where { is, .. } = step {
                    is.iter().for_each(&mut *see);
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
        _ => {}
    }
}

/// The text that was sent at a place; `None` for places whose reading is not worth repeating.
fn sent(recording: &Recording, index: usize, place: &Place) -> Option<String> {
    let request = &recording.exchanges[index].request;
    let bytes = request.body.read().ok()?;
    match place {
        Place::Segment(at) => {
            let segment = request.url.path_segments()?.nth(*at)?;
            Some(form::decode(&segment.replace('+', "%2B")))
        }
        Place::Query(at) => Some(request.url.query_pairs().nth(*at)?.1.into_owned()),
        Place::Header(at) => Some(request.headers.0[*at].1.clone()),
        Place::Field(at) => Some(form::pairs(&bytes)[*at].1.clone()),
        Place::Part(at) => {
            let parts = multipart::of(&request.headers, &bytes)?;
            Some(
                charset::decode(bytes.get(parts[*at].range.clone())?, &parts[*at].headers)
                    .into_owned(),
            )
        }
        _ => None,
    }
}
