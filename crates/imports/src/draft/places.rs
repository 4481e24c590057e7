//! The places of a request that have variables or secrets.

use brunt_correlate::{PathStep, Piece, Place, Substitution};
use brunt_traffic::Request;
use serde_json::Value as Json;

use super::{Content, Ledger, Part, Value};
use crate::name;
use crate::template::Table;

/// A place with its text.
pub(super) struct Spot {
    place: Place,
    /// Of the header, the field, the parameter.
    name: String,
    template: String,
    /// A text before it that is no secret (`Bearer `).
    scheme: &'static str,
}

/// Percent-decoded text, in which a broken escape stays; `+` is a blank in forms.
pub(super) fn decode(text: &str, is_form: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| (*byte as char).to_digit(16));
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', ..) if is_form => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// All places that may have variables or secrets. A template is left out if it does not give the recorded text.
pub(super) fn spots(
    request: &Request,
    url: &str,
    headers: &[(String, String)],
    body: &Content,
    ledger: &Ledger,
) -> Vec<Spot> {
    let mut spots = Vec::new();
    of_url(request, url, &ledger.table, &mut spots);
    for (index, (name, template)) in headers.iter().enumerate() {
        if name.eq_ignore_ascii_case("cookie") {
            for pair in template.split(';') {
                if let Some((name, value)) = pair.trim().split_once('=') {
                    let (name, value) = (name.to_owned(), value.to_owned());
                    spots.push(Spot {
                        place: Place::Cookie(name.clone()),
                        name,
                        template: value,
                        scheme: "",
                    });
                }
            }
            continue;
        }
        let schemes = ["Bearer ", "Basic ", "Token ", "ApiKey ", "Digest "];
        let scheme = schemes.into_iter().find(|scheme| {
            template.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme))
        });
        spots.push(Spot {
            place: Place::Header(index),
            name: name.clone(),
            template: template.clone(),
            scheme: scheme.unwrap_or_default(),
        });
    }
    let media = request.headers.media_type();
    match body {
        Content::Form(fields) => {
            for (index, (name, value)) in fields.iter().enumerate() {
                spots.push(spot(Place::Field(index), name, value));
            }
        }
        Content::Text(text) if media == "application/x-www-form-urlencoded" => {
            let pairs = text.split('&').filter(|pair| !pair.is_empty());
            for (index, pair) in pairs.enumerate() {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                let (name, value) = (decode(name, true), decode(value, true));
                spots.push(spot(Place::Field(index), &name, &value));
            }
        }
        Content::Text(text) if media == "multipart/form-data" => {
            of_parts(text, request.headers.get("content-type").unwrap_or_default(), &mut spots);
        }
        Content::Text(text) => of_text(text, &ledger.table, &mut spots),
        Content::Parts(parts) => {
            for (index, part) in parts.iter().enumerate() {
                if let Part { value: Value::Text(text), filename: None, name, .. } = part {
                    spots.push(spot(Place::Part(index), name, text));
                }
            }
        }
        Content::None | Content::Bytes(_) | Content::File { .. } => {}
    }
    spots
}

fn spot(place: Place, name: &str, template: &str) -> Spot {
    Spot { place, name: name.to_owned(), template: template.to_owned(), scheme: "" }
}

fn of_url(request: &Request, template: &str, table: &Table, spots: &mut Vec<Spot>) {
    let rest = template.split_once("://").map_or(template, |(_, rest)| rest);
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = before.split_once('/').map_or("", |(_, path)| path);
    let real: Vec<&str> = request.url.path_segments().into_iter().flatten().collect();
    let own: Vec<&str> = path.split('/').collect();
    if real.len() == own.len() {
        let mut last = "";
        for (index, (real, own)) in real.iter().zip(&own).enumerate() {
            let template = decode(own, false);
            if table.resolve(&template) == decode(real, false) {
                spots.push(spot(Place::Segment(index), last, &template));
            }
            last = own;
        }
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    for (index, (pair, (name, value))) in pairs.zip(request.url.query_pairs()).enumerate() {
        let template = decode(pair.split_once('=').map_or("", |(_, value)| value), true);
        if table.resolve(&template) == value {
            spots.push(spot(Place::Query(index), &name, &template));
        }
    }
}

/// The parts of a form that are no files, as browsers copy the whole form.
fn of_parts(text: &str, kind: &str, spots: &mut Vec<Spot>) {
    let Some((_, boundary)) = kind.split_once("boundary=") else { return };
    let boundary = boundary.split(';').next().unwrap_or_default().trim().trim_matches('"');
    if boundary.is_empty() {
        return;
    }
    let delimiter = format!("--{boundary}");
    for (index, part) in text.split(&delimiter).skip(1).enumerate() {
        let Some((head, value)) = part.split_once("\r\n\r\n") else { continue };
        let name = head.split_once("name=\"").and_then(|(_, rest)| rest.split_once('"'));
        let value = value.strip_suffix("\r\n").unwrap_or(value);
        if let Some((name, _)) = name.filter(|_| !head.contains("filename=")) {
            spots.push(spot(Place::Part(index), name, value));
        }
    }
}

/// The leaves of JSON, or the whole text.
fn of_text(text: &str, table: &Table, spots: &mut Vec<Spot>) {
    // A variable that is no part of a string is made one, whose only character it is.
    let mut quoted = String::with_capacity(text.len());
    let (mut is_string, mut is_escaped) = (false, false);
    for c in text.chars() {
        let is_bare = !is_string && table.of(c).is_some();
        if is_bare {
            quoted.push('"');
        }
        quoted.push(c);
        if is_bare {
            quoted.push('"');
        }
        match c {
            '"' if !is_escaped => is_string = !is_string,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    let real: Option<Json> = serde_json::from_str(&table.resolve(text)).ok();
    match (serde_json::from_str::<Json>(&quoted), real) {
        (Ok(json), Some(real)) => {
            leaves(&json, &real, &mut Vec::new(), &mut String::new(), table, spots);
        }
        _ if table.is_in(text) => spots.push(spot(Place::Body, "", text)),
        _ => {}
    }
}

fn leaves(
    template: &Json,
    real: &Json,
    path: &mut Vec<PathStep>,
    name: &mut String,
    table: &Table,
    spots: &mut Vec<Spot>,
) {
    match (template, real) {
        (Json::Object(own), Json::Object(real)) => {
            for ((key, value), (real_key, real)) in own.iter().zip(real) {
                path.push(PathStep::Key(real_key.clone()));
                leaves(value, real, path, &mut key.clone(), table, spots);
                path.pop();
            }
        }
        (Json::Array(own), Json::Array(real)) => {
            for (index, (value, real)) in own.iter().zip(real).enumerate() {
                path.push(PathStep::Index(index));
                leaves(value, real, path, name, table, spots);
                path.pop();
            }
        }
        (Json::String(text), Json::String(real)) if table.resolve(text) == *real => {
            spots.push(spot(Place::Json(path.clone()), name, text));
        }
        (Json::String(text), Json::Number(_) | Json::Bool(_) | Json::Null)
            if serde_json::from_str::<Json>(&table.resolve(text)).is_ok_and(|own| own == *real) =>
        {
            spots.push(spot(Place::Json(path.clone()), name, text));
        }
        _ => {}
    }
}

/// The places whose texts vary or are secret.
pub(super) fn substitutions(
    spots: &[Spot],
    exchange: usize,
    ledger: &mut Ledger,
) -> Vec<Substitution> {
    let mut all = Vec::new();
    for spot in spots {
        let is_cookie = matches!(spot.place, Place::Cookie(_));
        let is_basic = spot.scheme == "Basic ";
        let is_secret = match spot.place {
            Place::Segment(_) => false,
            Place::Query(_) | Place::Header(_) | Place::Cookie(_) => {
                name::is_secret_outside(&spot.name)
            }
            _ => name::is_secret(&spot.name),
        };
        let pieces = if ledger.table.is_in(&spot.template) {
            // A secret's name tells that an input in its place is a secret, too.
            ledger.pieces(&spot.template, exchange, is_secret)
        } else if is_secret && spot.template.len() > spot.scheme.len() {
            let (scheme, secret) = spot.template.split_at(spot.scheme.len());
            let name = if is_basic { "basicCredentials" } else { &spot.name };
            let name = if spot.scheme == "Bearer " { "bearerToken" } else { name };
            let secret = Piece::Secret(ledger.secret(name, secret));
            if scheme.is_empty() {
                vec![secret]
            } else {
                vec![Piece::Literal(scheme.to_owned()), secret]
            }
        } else if is_cookie {
            vec![Piece::Literal(spot.template.clone())]
        } else {
            continue;
        };
        all.push(Substitution { exchange, place: spot.place.clone(), pieces });
    }
    all
}
