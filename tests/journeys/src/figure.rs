//! The figure: of the values that a script must find or make anew, how many a plan finds.

use brunt_correlate::{Piece, Place, Plan};

use crate::needs::Need;

/// A plan held against the needs of its journey.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// How many there are.
    pub needed: usize,
    /// How many of them the plan finds or makes.
    pub found: usize,
    /// Those that it leaves as they were recorded.
    pub missed: Vec<Need>,
}

impl Figure {
    /// Counts.
    pub fn new(plan: &Plan, needs: &[Need]) -> Self {
        let missed: Vec<Need> = needs.iter().filter(|need| !covers(plan, need)).cloned().collect();
        Self { needed: needs.len(), found: needs.len() - missed.len(), missed }
    }
}

/// Whether a plan replaces the text of a place. An exchange that it folds into another is not sent.
fn covers(plan: &Plan, need: &Need) -> bool {
    if plan.folded.get(need.exchange).is_some_and(Option::is_some) {
        return true;
    }
    let is_meant = |place: &Place| {
        *place == need.place
            || matches!((place, &need.place), (Place::Url, Place::Segment(_) | Place::Query(_)))
            || matches!((place, &need.place), (Place::Body, Place::Json(_) | Place::Field(_)))
            || matches!((place, &need.place), (Place::Message(a), Place::MessageJson(b, _)) if a == b)
    };
    let is_replaced = plan.substitutions.iter().any(|it| {
        let is_given = |piece: &Piece| match piece {
            Piece::Value { .. } => true,
            Piece::Made(_) => need.is_made,
            Piece::Literal(_) | Piece::Input(_) | Piece::Secret(_) => false,
        };
        it.exchange == need.exchange && is_meant(&it.place) && it.pieces.iter().any(is_given)
    });
    let is_of_form = plan.forms.iter().any(|form| {
        let (Place::Field(index) | Place::Part(index)) = need.place else { return false };
        form.exchange == need.exchange && form.from_page.contains(&index)
    });
    is_replaced || is_of_form
}
