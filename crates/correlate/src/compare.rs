//! Two recordings of one journey: which values are other ones for another user.

use brunt_traffic::Recording;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::{Piece, Place, Plan};
use crate::redirects::Chains;
use crate::request::{Spot, is_static, spots};
use crate::values::{Strength, is_number, strength};
use crate::work::correlate;

/// Requests of a recording that are aligned with those of the other, at the most.
const ALIGNED_MAX: usize = 2_000;

/// A value that two recordings of one journey send differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The exchange of the first recording.
    pub a: usize,
    /// The exchange of the second.
    pub b: usize,
    /// Where, in the first recording's request.
    pub place: Place,
    /// The field's, parameter's or header's name; of a segment the one before it.
    pub name: String,
    /// The plan of the first recording does this with it; `None`: a literal, which is wrong for another user.
    pub explained: Option<Explanation>,
}

/// The way a plan treats a value, by index in its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explanation {
    /// A response gives it: [`Plan::extractions`].
    Extraction(usize),
    /// It comes with a form of a page: [`Plan::forms`].
    Form(usize),
    /// The client makes it: [`Plan::made`].
    Made(usize),
    /// The user types it: [`Plan::inputs`].
    Input(usize),
    /// [`Plan::secrets`].
    Secret(usize),
}

/// Values that two recordings of one journey send differently, and whether the plan of the first explains it.
pub fn compare(a: &Recording, b: &Recording) -> Vec<Difference> {
    let plan = correlate(a);
    let (first, second) = (requests(a), requests(b));
    let mut found = Vec::new();
    for (one, other) in aligned(&first, &second) {
        let theirs: FxHashMap<(u8, String, usize), &Spot> = named(&other.spots).collect();
        for (key, spot) in named(&one.spots) {
            let Some(their) = theirs.get(&key) else { continue };
            if their.text != spot.text {
                found.push(Difference {
                    a: one.exchange,
                    b: other.exchange,
                    place: spot.place.clone(),
                    name: spot.name.clone(),
                    explained: explained(&plan, spot),
                });
            }
        }
    }
    found
}

/// A request that is aligned.
struct Sent {
    exchange: usize,
    /// Its parts that are the same for all users.
    shape: String,
    spots: Vec<Spot>,
}

fn requests(recording: &Recording) -> Vec<Sent> {
    let chains = Chains::new(recording, &FxHashSet::default());
    let mut all = Vec::new();
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        if chains.folded[index].is_some() || is_static(exchange) {
            continue;
        }
        let spots = spots(recording, index);
        all.push(Sent { exchange: index, shape: shape(recording, index, &spots), spots });
    }
    all.truncate(ALIGNED_MAX);
    all
}

/// The method, the path with a star for each id, the names of parameters and fields, the operation of GraphQL.
fn shape(recording: &Recording, index: usize, spots: &[Spot]) -> String {
    let request = &recording.exchanges[index].request;
    let mut shape = request.method.clone();
    for segment in request.url.path_segments().into_iter().flatten() {
        let segment = segment.split(';').next().unwrap_or_default();
        let is_id = is_number(segment) || strength(segment) == Strength::Strong;
        shape.push('/');
        shape.push_str(if is_id { "*" } else { segment });
    }
    for spot in spots {
        match spot.place {
            Place::Query(_) | Place::Field(_) | Place::Part(_) => {
                shape.push('&');
                shape.push_str(&spot.name);
            }
            Place::Json(_) if spot.name == "operationName" => {
                shape.push('&');
                shape.push_str(&spot.text);
            }
            _ => {}
        }
    }
    shape
}

/// Pairs of requests of one shape, in order: a longest common subsequence.
fn aligned<'a>(first: &'a [Sent], second: &'a [Sent]) -> Vec<(&'a Sent, &'a Sent)> {
    let width = second.len() + 1;
    let mut lengths = vec![0_u16; (first.len() + 1) * width];
    for (i, one) in first.iter().enumerate().rev() {
        for (j, other) in second.iter().enumerate().rev() {
            lengths[i * width + j] = if one.shape == other.shape {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(one), Some(other)) = (first.get(i), second.get(j)) {
        if one.shape == other.shape {
            pairs.push((one, other));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The texts by what names them in both recordings: their kind, their name, and which of that name they are.
fn named(spots: &[Spot]) -> impl Iterator<Item = ((u8, String, usize), &Spot)> {
    let mut seen: FxHashMap<(u8, String), usize> = FxHashMap::default();
    spots.iter().map(move |spot| {
        let (kind, name) = match &spot.place {
            Place::Query(_) => (0, spot.name.clone()),
            Place::Header(_) => (1, spot.name.to_ascii_lowercase()),
            Place::Field(_) => (2, spot.name.clone()),
            Place::Part(_) => (3, spot.name.clone()),
            Place::Cookie(name) => (4, name.clone()),
            place => (5, format!("{place:?}")),
        };
        let count = seen.entry((kind, name.clone())).or_default();
        *count += 1;
        ((kind, name, *count), spot)
    })
}

fn explained(plan: &Plan, spot: &Spot) -> Option<Explanation> {
    let at = match spot.place {
        Place::Field(at) | Place::Part(at) | Place::Query(at) => Some(at),
        _ => None,
    };
    let form = plan.forms.iter().position(|form| {
        form.exchange == spot.exchange && at.is_some_and(|at| form.from_page.contains(&at))
    });
    if let Some(form) = form {
        return Some(Explanation::Form(form));
    }
    let own = plan
        .substitutions
        .iter()
        .find(|own| own.exchange == spot.exchange && own.place == spot.place)?;
    let found = own.pieces.iter().filter_map(|piece| match piece {
        Piece::Literal(_) => None,
        Piece::Value { extraction, .. } => Some((0, Explanation::Extraction(*extraction))),
        Piece::Made(index) => Some((1, Explanation::Made(*index))),
        Piece::Secret(index) => Some((2, Explanation::Secret(*index))),
        Piece::Input(index) => Some((3, Explanation::Input(*index))),
    });
    found.min_by_key(|(rank, _)| *rank).map(|(_, explanation)| explanation)
}
