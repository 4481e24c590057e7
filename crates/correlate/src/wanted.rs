//! The texts that requests send and that responses are searched for.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rustc_hash::FxHashMap;

use crate::change::url_encode;
use crate::plan::{Change, Place};
use crate::request::Spot;
use crate::values::{Strength, is_id_name, is_token_name, key_of, singular, strength};

/// Texts longer than this are not taken apart.
const PARTS_MAX: usize = 1 << 20;

/// All texts, and what to look for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) all: Vec<Sought>,
    by_text: FxHashMap<String, usize>,
    needles: FxHashMap<String, Vec<(usize, Option<Change>)>>,
}

/// A text that a request sends.
#[derive(Debug)]
pub(crate) struct Sought {
    pub(crate) text: String,
    pub(crate) strength: Strength,
    /// In which roles it is sent.
    pub(crate) roles: Vec<Role>,
}

/// The role of a text: what a source of a short text must fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    /// The normalized name of a field, parameter, member; of a segment the one before it.
    pub(crate) key: String,
    /// Whether it is a segment of a path.
    pub(crate) is_segment: bool,
}

impl Role {
    pub(crate) fn of(spot: &Spot) -> Self {
        Self { key: key_of(&spot.name), is_segment: matches!(spot.place, Place::Segment(_)) }
    }
}

/// The circumstances of a text in a response.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hint<'a> {
    /// The name of the field, member, parameter, attribute; of a link's segment the one before it.
    pub(crate) name: &'a str,
    /// Whether it is a segment of a link's path.
    pub(crate) is_segment: bool,
    /// Whether it is a parameter of a link.
    pub(crate) is_parameter: bool,
    /// The normalized name of the collection that the response's URL names: `orders` of `/api/orders/7`.
    pub(crate) collection: &'a str,
    /// Whether the request changed something: its response can give ids of new things.
    pub(crate) is_write: bool,
}

impl Wanted {
    /// Adds a text in a role.
    pub(crate) fn add(&mut self, text: &str, role: Role) {
        let id = match self.by_text.get(text) {
            Some(&id) => id,
            None => self.add_new(text),
        };
        let roles = &mut self.all[id].roles;
        if !roles.contains(&role) {
            roles.push(role);
        }
    }

    fn add_new(&mut self, text: &str) -> usize {
        let id = self.all.len();
        let strength = strength(text);
        self.all.push(Sought { text: text.to_owned(), strength, roles: Vec::new() });
        self.by_text.insert(text.to_owned(), id);
        let mut needle = |needle: String, change: Option<Change>| {
            self.needles.entry(needle).or_default().push((id, change));
        };
        needle(text.to_owned(), None);
        if strength == Strength::Strong {
            let encoded = url_encode(text);
            if encoded != text {
                needle(encoded, Some(Change::UrlDecode));
            }
            let encoded = STANDARD.encode(text);
            let safe = URL_SAFE_NO_PAD.encode(text);
            if safe != encoded {
                needle(safe, Some(Change::Base64UrlDecode));
            }
            needle(encoded, Some(Change::Base64Decode));
        }
        id
    }

    /// The index of a text.
    pub(crate) fn id(&self, text: &str) -> Option<usize> {
        self.by_text.get(text).copied()
    }

    /// Texts that this one is, and what makes them of it. Short ones are given if the circumstances fit one of their roles.
    pub(crate) fn look<'a>(
        &'a self,
        text: &str,
        hint: Hint<'a>,
    ) -> impl Iterator<Item = (usize, Option<&'a Change>)> {
        self.needles.get(text).into_iter().flatten().filter_map(move |(id, change)| {
            let wanted = &self.all[*id];
            let is_meant = wanted.strength == Strength::Strong
                || wanted.roles.iter().any(|role| fits(role, hint, wanted.strength, true));
            is_meant.then_some((*id, change.as_ref()))
        })
    }

    /// Whether no text is looked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }
}

/// Whether a short text in these circumstances can be the one that is sent in this role.
///
/// `is_lenient`: an `id` in the answer to a change may be that of anything.
pub(crate) fn fits(role: &Role, hint: Hint<'_>, strength: Strength, is_lenient: bool) -> bool {
    let key = key_of(hint.name);
    if hint.is_segment {
        return (role.is_segment && role.key == key && !key.is_empty())
            || (!role.is_segment
                && strength == Strength::Medium
                && (names_member_of(&role.key, &key) || role.key == "id"));
    }
    let is_name = is_id_name(&key) || is_token_name(&key);
    if key.is_empty() {
        return false;
    }
    // `ETag` and `If-Match`; `data-visit` and `X-Visit`.
    let is_condition = key == "etag" && matches!(role.key.as_str(), "ifmatch" | "ifnonematch");
    let is_own_header = key.len() > 2 && role.key.strip_prefix('x') == Some(key.as_str());
    if strength == Strength::Medium && !role.is_segment && (is_condition || is_own_header) {
        return true;
    }
    let of_own = |role: &str| {
        // `id` of an answer of `/orders`, or of what was made a moment ago.
        matches!(key.as_str(), "id" | "pk" | "uuid" | "key" | "slug" | "number" | "ref" | "code")
            && (singular(hint.collection) == singular(role)
                || is_lenient && hint.is_write
                || role.is_empty() && hint.collection.is_empty())
    };
    if role.is_segment {
        return strength == Strength::Medium
            && is_name
            && (of_own(&role.key) || names_member_of(&key, &role.key));
    }
    if role.key == key || singular(&role.key) == singular(&key) {
        return is_name || hint.is_parameter && strength == Strength::Medium;
    }
    strength == Strength::Medium
        && is_name
        && is_id_name(&role.key)
        && (of_own(role.key.trim_end_matches("id").trim_end_matches("uuid"))
            || (role.key == "id" && key.ends_with("id"))
            || role.key.ends_with(key.as_str()) && key.len() > 2)
}

/// Whether a name is that of a member of a collection: `orderid`, `id` for `orders`.
pub(crate) fn names_member_of(name: &str, collection: &str) -> bool {
    let stem = singular(collection);
    !stem.is_empty()
        && name.strip_prefix(stem).is_some_and(|end| {
            matches!(
                end,
                "id" | "ids"
                    | "pk"
                    | "uuid"
                    | "guid"
                    | "no"
                    | "number"
                    | "key"
                    | "slug"
                    | "code"
                    | "ref"
                    | ""
            )
        })
}

/// The parts of a text between marks that applications join texts with: begin, end, and the part before it.
pub(crate) fn parts(text: &str) -> Vec<(usize, usize)> {
    if text.len() > PARTS_MAX {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let coarse = |c: char| " |:,;&\"'<>(){}[]?#\r\n\t$".contains(c);
    let fine = |c: char| coarse(c) || c == '/' || c == '=' || c == '~';
    let is_link = text.contains("://") || text.starts_with('/') || text.starts_with('?');
    cut(text, &coarse, &mut parts);
    let mut inner = Vec::new();
    cut(text, &fine, &mut inner);
    if is_link {
        parts = inner;
    } else {
        parts.extend(inner);
        parts.sort_by_key(|&(begin, end)| (begin, std::cmp::Reverse(end)));
        parts.dedup();
    }
    parts.retain(|&(begin, end)| (begin, end) != (0, text.len()));
    parts
}

fn cut(text: &str, is_mark: &dyn Fn(char) -> bool, parts: &mut Vec<(usize, usize)>) {
    let mut begin = 0;
    for (at, c) in text.char_indices().chain([(text.len(), '|')]) {
        if is_mark(c) || at == text.len() {
            if at > begin {
                parts.push((begin, at));
            }
            begin = at + c.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(before: &str) -> Role {
        Role { key: before.to_owned(), is_segment: true }
    }

    fn named(key: &str) -> Role {
        Role { key: key.to_owned(), is_segment: false }
    }

    #[test]
    fn a_short_number_needs_a_place_that_fits() {
        let medium = Strength::Medium;
        let link = |name| Hint { name, is_segment: true, ..Hint::default() };
        assert!(fits(&segment("orders"), link("orders"), medium, false));
        assert!(!fits(&segment("orders"), link("items"), medium, false));
        let member = |name, collection| Hint { name, collection, ..Hint::default() };
        assert!(fits(&segment("orders"), member("id", "orders"), medium, false));
        assert!(fits(&segment("orders"), member("orderId", "cart"), medium, false));
        assert!(!fits(&segment("orders"), member("id", "users"), medium, false));
        assert!(!fits(&segment("orders"), member("count", "orders"), medium, false));
        assert!(fits(&named("orderid"), member("order_id", "cart"), medium, false));
        assert!(fits(&named("orderid"), member("id", "orders"), medium, false));
        assert!(!fits(&named("quantity"), member("quantity", "orders"), medium, false));
        assert!(fits(&named("itemid"), link("items"), medium, false));
        assert!(fits(&named("ifmatch"), member("ETag", "orders"), medium, false));
        assert!(fits(&named("xvisit"), member("visit", ""), medium, false));
        assert!(!fits(&named("xvisit"), member("lines", ""), medium, false));
    }

    #[test]
    fn a_joined_text_has_parts() {
        let of = |text: &str| -> Vec<String> {
            parts(text).into_iter().map(|(begin, end)| text[begin..end].to_owned()).collect()
        };
        assert_eq!(of("Bearer abc.def"), ["Bearer", "abc.def"]);
        assert_eq!(of("/items/7?x=y"), ["items", "7", "x", "y"]);
        assert_eq!(of("plain"), [""; 0]);
    }
}
