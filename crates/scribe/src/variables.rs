//! The variables of the script: their names, and where each is declared.

use std::collections::{BTreeMap, BTreeSet};

use brunt_correlate::Plan;
use brunt_correlate::plan::{Finder, FormUse, MadeKind, PathStep, Piece, Place};

use crate::session::Session;
use crate::text::{Names, camel_case};

/// Shorter secrets are looked for only where they are a whole text.
const SECRET_MIN: usize = 6;

/// All names.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    extractions: Vec<String>,
    made: Vec<String>,
    inputs: Vec<String>,
    secrets: Vec<String>,
    /// Of forms that are read from pages, in the order of [`Plan::forms`].
    forms: Vec<String>,
    recorded: Vec<String>,
    secret_texts: Vec<String>,
    /// Extractions that the script needs.
    pub(crate) used: BTreeSet<usize>,
    /// Values that the script makes, with the exchange before which it makes them.
    pub(crate) made_before: BTreeMap<usize, usize>,
    /// Secrets that the script needs.
    pub(crate) used_secrets: std::cell::RefCell<BTreeSet<usize>>,
    /// Names that are declared on top of the iteration, because more than one section knows them.
    pub(crate) shared: Vec<String>,
    /// Names that are set once, in the section that uses them.
    constant: BTreeSet<String>,
}

/// The sections that set a name and that use it.
#[derive(Debug, Default)]
struct Scope {
    sets: Vec<usize>,
    uses: BTreeSet<usize>,
}

impl Variables {
    /// Names everything that the plan has.
    pub(crate) fn new(plan: &Plan, session: &Session) -> Self {
        let mut names = Names::default();
        let mut own = Self {
            recorded: plan.extractions.iter().map(|own| own.recorded.clone()).collect(),
            secret_texts: plan.secrets.iter().map(|own| own.recorded.clone()).collect(),
            ..Self::default()
        };
        let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
        for extraction in &plan.extractions {
            let name = by_name
                .entry(&extraction.name)
                .or_insert_with(|| names.take(&extraction.name, "value"));
            own.extractions.push(name.clone());
        }
        own.made = plan.made.iter().map(|made| names.take(&made.name, "made")).collect();
        own.secrets =
            plan.secrets.iter().map(|secret| names.take(&secret.name, "secret")).collect();
        let mut columns: BTreeSet<String> = BTreeSet::new();
        for input in &plan.inputs {
            let mut column = input.name.clone();
            for number in 2_u32.. {
                if columns.insert(column.clone()) {
                    break;
                }
                column = format!("{} {number}", input.name);
            }
            own.inputs.push(column);
        }
        own.name_forms(plan, &mut names);
        own.find_used(plan, session);
        own.find_scopes(plan, session);
        own
    }

    /// Uses of one form of one page share its variable.
    fn name_forms(&mut self, plan: &Plan, names: &mut Names) {
        for (at, form) in plan.forms.iter().enumerate() {
            let same = |other: &&FormUse| is_same_form(other, form);
            let name = match plan.forms[..at].iter().position(|other| same(&other)) {
                Some(earlier) => self.forms[earlier].clone(),
                None => names.take(&camel_case(&form_name(form)), "form"),
            };
            self.forms.push(name);
        }
    }

    fn find_used(&mut self, plan: &Plan, session: &Session) {
        let mut waiting: Vec<usize> = Vec::new();
        for piece in sent_pieces(plan, session).flat_map(|(_, pieces)| pieces) {
            waiting.extend(extraction_of(piece));
        }
        for form in &plan.forms {
            waiting.extend(form.selector.iter().filter_map(extraction_of));
        }
        while let Some(index) = waiting.pop() {
            if index < plan.extractions.len() && self.used.insert(index) {
                let finder = &plan.extractions[index].source().finder;
                waiting.extend(finder_pieces(finder).into_iter().filter_map(extraction_of));
            }
        }
        for (at, pieces) in sent_pieces(plan, session) {
            for piece in pieces {
                let Piece::Made(index) = piece else { continue };
                self.make_before(plan, *index, at);
            }
        }
    }

    fn make_before(&mut self, plan: &Plan, index: usize, exchange: usize) {
        let Some(made) = plan.made.get(index) else { return };
        let before = self.made_before.entry(index).or_insert(exchange);
        *before = (*before).min(exchange);
        if let MadeKind::PkceChallenge(verifier) = made.kind
            && verifier != index
        {
            self.make_before(plan, verifier, exchange);
        }
    }

    /// A name that one section sets once and uses alone is a constant there.
    fn find_scopes(&mut self, plan: &Plan, session: &Session) {
        let section =
            |exchange: usize| session.section_of.get(&Session::first_in(plan, exchange)).copied();
        let mut scopes: BTreeMap<String, Scope> = BTreeMap::new();
        for &index in &self.used {
            let scope = scopes.entry(self.extractions[index].clone()).or_default();
            scope.sets.extend(section(plan.extractions[index].exchange));
            for piece in finder_pieces(&plan.extractions[index].source().finder) {
                let at = section(plan.extractions[index].exchange);
                if let Some(name) = self.name_of(piece) {
                    scopes.entry(name).or_default().uses.extend(at);
                }
            }
        }
        for (&index, &before) in &self.made_before {
            scopes.entry(self.made[index].clone()).or_default().sets.extend(section(before));
        }
        for (exchange, pieces) in sent_pieces(plan, session) {
            for name in pieces.iter().filter_map(|piece| self.name_of(piece)) {
                scopes.entry(name).or_default().uses.extend(section(exchange));
            }
        }
        for (at, form) in plan.forms.iter().enumerate() {
            let name = self.forms[at].clone();
            let scope = scopes.entry(name).or_default();
            let is_first = !plan.forms[..at].iter().any(|other| is_same_form(other, form));
            scope.sets.extend(section(form.page).filter(|_| is_first));
            scope.uses.extend(section(form.exchange));
            for name in form.selector.iter().filter_map(|piece| self.name_of(piece)) {
                scopes.entry(name).or_default().uses.extend(section(form.page));
            }
        }
        for (name, scope) in scopes {
            let is_alone = |&set: &usize| {
                let is_group =
                    session.sections.get(set).is_some_and(|section| section.name.is_some());
                is_group && scope.uses.iter().all(|&used| used == set)
            };
            match scope.sets.as_slice() {
                [set] if is_alone(set) => {
                    self.constant.insert(name);
                }
                [] => {}
                _ => self.shared.push(name),
            }
        }
    }

    fn name_of(&self, piece: &Piece) -> Option<String> {
        match piece {
            Piece::Value { extraction, .. } => self.extractions.get(*extraction).cloned(),
            Piece::Made(index) => self.made.get(*index).cloned(),
            _ => None,
        }
    }

    /// The begin of a statement that sets a name: `const x = `, or `x = ` if it is declared already.
    pub(crate) fn setting(&self, name: &str) -> String {
        if self.constant.contains(name) { format!("const {name} = ") } else { format!("{name} = ") }
    }

    /// The variable of an extraction.
    pub(crate) fn extraction(&self, index: usize) -> &str {
        self.extractions.get(index).map_or("undefined", String::as_str)
    }

    /// The variable of a value that the script makes.
    pub(crate) fn made(&self, index: usize) -> &str {
        self.made.get(index).map_or("undefined", String::as_str)
    }

    /// The column of an input.
    pub(crate) fn input(&self, index: usize) -> &str {
        self.inputs.get(index).map_or("undefined", String::as_str)
    }

    /// The variable of a secret.
    pub(crate) fn secret(&self, index: usize) -> &str {
        self.used_secrets.borrow_mut().insert(index);
        self.secrets.get(index).map_or("undefined", String::as_str)
    }

    /// The variable of the fields of a form, by index of [`Plan::forms`].
    pub(crate) fn form(&self, index: usize) -> &str {
        &self.forms[index]
    }

    /// Whether a value needs no encoding in a URL: a number, an id of few letters, as it was recorded.
    pub(crate) fn is_safe_in_url(&self, piece: &Piece) -> bool {
        let Piece::Value { extraction, changes } = piece else { return false };
        let text = self.recorded.get(*extraction).map_or("", String::as_str);
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let is_word =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        changes.is_empty() && !text.is_empty() && (is_hex || is_word && text.len() <= 16)
    }

    /// A literal without the secrets that are in it.
    pub(crate) fn shielded(&self, piece: &Piece) -> Vec<Piece> {
        let Piece::Literal(text) = piece else { return vec![piece.clone()] };
        let found = self.secret_texts.iter().enumerate().filter(|(_, secret)| !secret.is_empty());
        let mut found: Vec<(usize, usize, usize)> = found
            .filter(|(_, secret)| secret.len() >= SECRET_MIN || *secret == text)
            .filter_map(|(index, secret)| Some((text.find(secret.as_str())?, secret.len(), index)))
            .collect();
        found.sort_unstable_by_key(|&(at, length, _)| (at, usize::MAX - length));
        let Some(&(at, length, index)) = found.first() else { return vec![piece.clone()] };
        let mut out = Vec::new();
        if at > 0 {
            out.push(Piece::Literal(text[..at].to_owned()));
        }
        out.push(Piece::Secret(index));
        if at + length < text.len() {
            out.extend(self.shielded(&Piece::Literal(text[at + length..].to_owned())));
        }
        out
    }

    /// Whether bytes have a secret in them.
    pub(crate) fn shows_secret(&self, bytes: &[u8]) -> bool {
        self.secret_texts.iter().filter(|secret| secret.len() >= SECRET_MIN).any(|secret| {
            let secret = secret.as_bytes();
            bytes.len() >= secret.len() && bytes.windows(secret.len()).any(|part| part == secret)
        })
    }

    /// A text for comments and names, with `***` in place of secrets.
    pub(crate) fn hidden(&self, text: &str) -> String {
        let pieces = self.shielded(&Piece::Literal(text.to_owned()));
        pieces
            .iter()
            .map(|piece| if let Piece::Literal(text) = piece { text } else { "***" })
            .collect()
    }
}

impl Session {
    /// The exchange that the script sends for this one.
    pub(crate) fn first_in(plan: &Plan, exchange: usize) -> usize {
        plan.folded.get(exchange).copied().flatten().unwrap_or(exchange)
    }
}

/// Whether two uses read the same form of the same page.
pub(crate) fn is_same_form(one: &FormUse, other: &FormUse) -> bool {
    one.page == other.page && one.selector == other.selector && one.update == other.update
}

/// The pieces of places that the script fills in, with the exchanges that send them. Fields of a form of a page are none.
fn sent_pieces<'a>(
    plan: &'a Plan,
    session: &'a Session,
) -> impl Iterator<Item = (usize, &'a [Piece])> {
    let is_filled = |exchange: usize, place: &Place| {
        let (Place::Field(index) | Place::Part(index)) = place else { return true };
        let form = plan.forms.iter().find(|form| form.exchange == exchange);
        !form.is_some_and(|form| form.from_page.contains(index))
    };
    let sent = plan.substitutions.iter().filter(move |own| {
        session.section_of.contains_key(&own.exchange) && is_filled(own.exchange, &own.place)
    });
    sent.map(|own| (own.exchange, own.pieces.as_slice()))
}

fn extraction_of(piece: &Piece) -> Option<usize> {
    if let Piece::Value { extraction, .. } = piece { Some(*extraction) } else { None }
}

/// The pieces of selectors and conditions.
fn finder_pieces(finder: &Finder) -> Vec<&Piece> {
    match finder {
        Finder::Field { selector, .. }
        | Finder::Attribute { selector, .. }
        | Finder::Text { selector, .. } => selector.iter().collect(),
        Finder::Json(path) => path
            .iter()
            .filter_map(|step| if let PathStep::Where { is, .. } = step { Some(is) } else { None })
            .flatten()
            .collect(),
        Finder::Update { inside, .. }
        | Finder::Message { inside, .. }
        | Finder::Event { inside, .. } => inside.as_deref().map(finder_pieces).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// `#login` is `loginForm`, anything without an id is `form`.
fn form_name(form: &FormUse) -> String {
    let literal =
        |piece: &Piece| if let Piece::Literal(text) = piece { text.clone() } else { String::new() };
    let selector: String = form.selector.iter().map(literal).collect();
    let name = ["#", "id=\"", "name=\""].iter().find_map(|mark| {
        let rest = &selector[selector.find(mark)? + mark.len()..];
        let end = rest.find(|char: char| !(char.is_alphanumeric() || "-_:\\".contains(char)));
        Some(rest[..end.unwrap_or(rest.len())].to_owned()).filter(|name| !name.is_empty())
    });
    match name {
        Some(name) if name.to_ascii_lowercase().ends_with("form") => name,
        Some(name) => format!("{name}-form"),
        None => "form".to_owned(),
    }
}
