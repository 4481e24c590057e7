//! Journeys through the applications, and what a plan makes of them.

mod plans;
mod sites;
