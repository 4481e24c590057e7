//! Which values of a recorded session a server gave, and where the client sent them back.
//!
//! [`correlate`] reads a [`Recording`](brunt_traffic::Recording) and makes a [`Plan`]: what a script must take from which response
//! (an [`Extraction`]), and in which places of later requests it stands (a [`Substitution`]). The plan is data: it names exchanges by
//! their index in `Recording::exchanges`, and holds no JavaScript. `scribe` turns it into a script, the proof by replay changes
//! which candidate an extraction uses.
#![forbid(unsafe_code)]

pub mod plan;

pub use plan::{
    Change, Extraction, Finder, FormUse, Input, Made, MadeKind, PathStep, Piece, Place, Plan,
    Secret, Source, Substitution, Suspect,
};

/// Finds what the script of this recording must take from responses.
pub fn correlate(recording: &brunt_traffic::Recording) -> Plan {
    Plan { folded: vec![None; recording.exchanges.len()], ..Plan::default() }
}
