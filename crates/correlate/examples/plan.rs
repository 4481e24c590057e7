//! Prints the plan of a HAR file: `cargo run -p brunt-correlate --example plan FILE.har [OTHER.har]`. Values are shortened;
//! of a second recording of the same journey, what differs and is not explained.

use std::fmt::Write as _;

use brunt_correlate::{Change, Finder, PathStep, Piece, Plan, Reply, correlate, find};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the name of a HAR file is missing")?;
    let recording = brunt_traffic::har::read(&std::fs::read(path)?)?;
    let began = std::time::Instant::now();
    let plan = correlate(&recording);
    let took = began.elapsed();
    let mut out = String::new();
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        let of = |own: usize| own == index;
        let extractions: Vec<_> = plan.extractions.iter().filter(|own| of(own.exchange)).collect();
        let uses: Vec<_> = plan.substitutions.iter().filter(|own| of(own.exchange)).collect();
        let forms: Vec<_> = plan.forms.iter().filter(|own| of(own.exchange)).collect();
        let status = exchange.response.as_ref().map_or(0, |response| response.status);
        if exchange.request.url.path().contains("/static/")
            || exchange.request.url.path().contains("resource/") && extractions.is_empty()
        {
            continue;
        }
        let folded =
            plan.folded[index].map_or(String::new(), |first| format!("  (follows {first})"));
        let url = short(
            &exchange
                .request
                .url
                .as_str()
                .replace(&exchange.request.url.origin().ascii_serialization(), ""),
            110,
        );
        let _ = writeln!(out, "{index:3} {:5} {status} {url}{folded}", exchange.request.method);
        for form in forms {
            let selector = pieces(&plan, &form.selector);
            let _ = writeln!(
                out,
                "      form of {}: {selector}  update={:?} fields={:?}",
                form.page, form.update, form.from_page
            );
        }
        for own in uses {
            let _ = writeln!(out, "      {:?} = {}", own.place, pieces(&plan, &own.pieces));
            if plan.recorded(&own.pieces).is_none() {
                out += "      !!! no text\n";
            }
        }
        for own in extractions {
            let _ = writeln!(out, "    > {} = {}", own.name, short(&own.recorded, 30));
            for (at, source) in own.candidates.iter().enumerate() {
                let mark = if at == own.chosen { '*' } else { ' ' };
                let reply = Reply::recorded(&recording, own.exchange).ok_or("no response")?;
                let found = find(source, &reply, &|pieces| plan.recorded(pieces));
                let is_right = found.as_deref() == Some(own.recorded.as_str());
                let changes: Vec<String> =
                    source.changes.iter().map(|change| changed(&plan, change)).collect();
                let _ = writeln!(
                    out,
                    "       {mark} {} {}{}",
                    finder(&plan, &source.finder),
                    changes.join(" "),
                    if is_right { "" } else { "   !!! finds another" }
                );
            }
        }
    }
    for (index, made) in plan.made.iter().enumerate() {
        let _ = writeln!(
            out,
            "made {index} {} = {:?} {} first {}",
            made.name,
            made.kind,
            short(&made.recorded, 20),
            made.first
        );
    }
    for input in &plan.inputs {
        let _ = writeln!(out, "input {} = {}", input.name, short(&input.recorded, 40));
    }
    for secret in &plan.secrets {
        let _ = writeln!(out, "secret {} ({} letters)", secret.name, secret.recorded.len());
    }
    for suspect in &plan.suspects {
        let _ = writeln!(
            out,
            "suspect {} {:?} {}: {}",
            suspect.exchange, suspect.place, suspect.name, suspect.why
        );
    }
    if let Some(other) = std::env::args().nth(2) {
        let other = brunt_traffic::har::read(&std::fs::read(other)?)?;
        for own in brunt_correlate::compare(&recording, &other) {
            if own.explained.is_none() {
                let _ = writeln!(out, "differs {} {} {:?} {}", own.a, own.b, own.place, own.name);
            }
        }
    }
    let _ = writeln!(out, "{took:?} for {} exchanges", recording.exchanges.len());
    std::io::Write::write_all(&mut std::io::stdout(), out.as_bytes())?;
    Ok(())
}

fn short(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown += "…";
    }
    shown
}

fn pieces(plan: &Plan, pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out += &short(text, 120),
            Piece::Value { extraction, changes } => {
                let own = &plan.extractions[*extraction];
                let changes: Vec<String> =
                    changes.iter().map(|change| changed(plan, change)).collect();
                let _ = write!(out, "${{{}@{}{}}}", own.name, own.exchange, changes.join(""));
            }
            Piece::Made(index) => drop(write!(out, "${{made {}}}", plan.made[*index].name)),
            Piece::Input(index) => drop(write!(out, "${{input {}}}", plan.inputs[*index].name)),
            Piece::Secret(index) => drop(write!(out, "${{secret {}}}", plan.secrets[*index].name)),
        }
    }
    out
}

fn path(plan: &Plan, steps: &[PathStep]) -> String {
    steps
        .iter()
        .map(|step| match step {
            PathStep::Key(key) => format!(".{key}"),
            PathStep::Index(index) => format!("[{index}]"),
            PathStep::Where { key, is } => format!("[{key}=\"{}\"]", pieces(plan, is)),
        })
        .collect()
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
    match own {
        Finder::Field { selector, nth } => format!("field {} #{nth}", pieces(plan, selector)),
        Finder::Attribute { selector, nth, attribute } => {
            format!("@{attribute} of {} #{nth}", pieces(plan, selector))
        }
        Finder::Text { selector, nth } => format!("text of {} #{nth}", pieces(plan, selector)),
        Finder::Json(steps) => format!("json {}", path(plan, steps)),
        Finder::Update { id, inside } => format!("update {id} {}", inner(inside)),
        Finder::Message { nth, inside } => format!("message {nth} {}", inner(inside)),
        Finder::Event { nth, inside } => format!("event {nth} {}", inner(inside)),
        other => format!("{other:?}"),
    }
}
