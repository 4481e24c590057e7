//! Sessions in the styles of many applications, and what must be found in each.

mod apis;
mod laws;
mod pages;
mod shown;
mod tape;
mod values;
