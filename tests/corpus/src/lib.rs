//! Runs the scripts of `tests/k6` and tells what a user sees of each.
//!
//! A [`Script`] is one file with the flags and variables that its first comments name. [`Stage`] holds what scripts
//! talk to: the demo target. [`observe`] runs a script with k6 or Brunt and gives an [`Observation`]: exit code,
//! console lines, exceptions, checks, metric counts, and stdout where a script writes its own. Beside each script
//! lies the observation that was recorded from k6, as `<name>.expected.json`; [`Observation::differences`] compares.
//!
//! Absent: sentences of warnings and errors that are k6's own wording, times, sizes.

#![forbid(unsafe_code)]

mod observation;
mod run;
mod script;
mod stage;
mod table;

pub use observation::Observation;
pub use run::{Engine, observe};
pub use script::{Script, scripts};
pub use stage::Stage;
pub use table::table;
