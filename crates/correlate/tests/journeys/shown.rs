//! Plans as lines of text.

use brunt_correlate::{Change, Finder, PathStep, Piece, Plan};

/// A line for each place that the plan fills, form, and source that it uses.
pub(crate) fn shown(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for own in &plan.extractions {
        let source = own.source();
        let changes: String = source.changes.iter().map(|change| changed(plan, change)).collect();
        lines.push(format!(
            "{} > {} = {}{changes}",
            own.exchange,
            own.name,
            finder(plan, &source.finder)
        ));
    }
    for own in &plan.forms {
        let update = own.update.as_ref().map(|id| format!(" in {id}")).unwrap_or_default();
        let selector = pieces(plan, &own.selector);
        lines.push(format!(
            "{} form {selector}{update} of {} {:?}",
            own.exchange, own.page, own.from_page
        ));
    }
    for own in &plan.substitutions {
        lines.push(format!("{} {:?} = {}", own.exchange, own.place, pieces(plan, &own.pieces)));
    }
    lines
}

/// Whether these lines are among those of the plan.
#[track_caller]
pub(crate) fn has(plan: &Plan, lines: &[&str]) {
    let all = shown(plan);
    for line in lines {
        assert!(all.iter().any(|own| own == line), "no line {line}\n{}", all.join("\n"));
    }
}

fn pieces(plan: &Plan, pieces: &[Piece]) -> String {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Value { extraction, changes } => {
            let changes: String = changes.iter().map(|change| changed(plan, change)).collect();
            format!("<{}{changes}>", plan.extractions[*extraction].name)
        }
        Piece::Made(index) => format!("<made {}>", plan.made[*index].name),
        Piece::Input(index) => format!("<input {}>", plan.inputs[*index].name),
        Piece::Secret(index) => format!("<secret {}>", plan.secrets[*index].name),
    };
    pieces.iter().map(one).collect()
}

fn path(plan: &Plan, steps: &[PathStep]) -> String {
    let one = |step: &PathStep| match step {
        PathStep::Key(key) => format!(".{key}"),
        PathStep::Index(index) => format!("[{index}]"),
        PathStep::Where { key, is } => format!("[{key}={}]", pieces(plan, is)),
    };
    steps.iter().map(one).collect()
}

fn changed(plan: &Plan, change: &Change) -> String {
    match change {
        Change::Json(steps) => format!("|json{}", path(plan, steps)),
        other => format!("|{other:?}"),
    }
}

fn finder(plan: &Plan, own: &Finder) -> String {
    let inner = |inside: &Option<Box<Finder>>| {
        inside.as_ref().map_or(String::new(), |inside| finder(plan, inside))
    };
    let nth = |nth: &usize| if *nth == 0 { String::new() } else { format!(" #{nth}") };
    match own {
        Finder::Field { selector, nth: at } => {
            format!("field {}{}", pieces(plan, selector), nth(at))
        }
        Finder::Attribute { selector, nth: at, attribute } => {
            format!("{attribute} of {}{}", pieces(plan, selector), nth(at))
        }
        Finder::Text { selector, nth: at } => {
            format!("text of {}{}", pieces(plan, selector), nth(at))
        }
        Finder::Json(steps) => format!("json {}", path(plan, steps)),
        Finder::Update { id, inside } => format!("update {id} {}", inner(inside)),
        Finder::Message { nth, inside } => format!("message {nth} {}", inner(inside)),
        Finder::Event { nth, inside } => format!("event {nth} {}", inner(inside)),
        Finder::Header(name) => format!("header {name}"),
        Finder::Cookie(name) => format!("cookie {name}"),
        Finder::Url => "url".to_owned(),
        Finder::Between { left, right, nth: at } => {
            format!("between {left:?} {right:?}{}", nth(at))
        }
    }
}
