//! Applications whose requests carry values that they gave before, and journeys through them.
//!
//! ```text
//! Journey ── Site: servers on loopback, an application, its truth
//!    └────── Browser: drives, records ──▶ Recording ──▶ correlate, scribe ──▶ brunt run ──▶ Site::truth
//! ```
//!
//! Each [`Journey`] goes through one application, in the manner of a framework that people use. The applications are strict: a
//! token that is stale, another session's, or used twice is refused, and the refusal is counted. [`needs`] tells which places of
//! the requests of a journey a script can't repeat: those whose texts differ between two recordings of the same clicks.
#![forbid(unsafe_code)]

mod app;
mod apps;
mod browser;
mod call;
mod dice;
mod figure;
mod foretold;
mod journeys;
mod needs;
mod replay;
mod serve;
mod site;
mod user;
mod wire;

pub use app::{App, Make, Said, Truth};
pub use browser::{Ask, Browser, File, Form, Page, Taken, Talk, repeat};
pub use call::{Call, Reply};
pub use dice::Dice;
pub use figure::Figure;
pub use foretold::wrong;
pub use journeys::{ALL, Journey};
pub use needs::{Need, needs, places};
pub use replay::{ITERATIONS, Rehearsal, Replayed, USERS};
pub use site::{Site, demo_truth};
pub use user::User;
