//! Drives every client at one server in turn.

fn main() {}
