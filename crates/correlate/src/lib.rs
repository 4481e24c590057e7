//! Which values of a recorded session a server gave, and where the client sent them back.
//!
//! [`correlate`] reads a [`Recording`](brunt_traffic::Recording) and makes a [`Plan`]: what a script must take from which response
//! (an [`Extraction`]), and in which places of later requests it is sent (a [`Substitution`]). The plan is data: it names exchanges by
//! their index in `Recording::exchanges`, and holds no JavaScript. `scribe` turns it into a script, the proof by replay changes
//! which candidate an extraction uses.
#![forbid(unsafe_code)]

mod candidates;
mod change;
mod client;
mod compare;
mod cookies;
mod extract;
mod find;
mod form_use;
mod forms;
mod json;
mod names;
mod order;
mod own;
pub mod plan;
mod redirects;
mod reply;
mod request;
mod search;
mod selectors;
mod session;
mod sources;
mod texts;
mod typed;
mod values;
mod wanted;
mod work;

pub use compare::{Difference, Explanation, compare};
pub use find::find;
pub use plan::{
    Change, Extraction, Finder, FormUse, Input, Made, MadeKind, PathStep, Piece, Place, Plan,
    Secret, Source, Substitution, Suspect,
};
pub use reply::Reply;
pub use texts::BODY_MAX;
pub use work::correlate;
