//! Brunt as the runner of an unmodified k6-operator: the commands and calls that its pods, its Services and its starter make.

mod calls;
mod case;
mod flags;
mod image;
pub(crate) mod node;
mod replay;
mod testrun;
