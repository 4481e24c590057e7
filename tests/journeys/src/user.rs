//! The users who make journeys.

use crate::apps::ACCOUNTS;

/// A user, and what they type.
#[derive(Debug, Clone, Copy)]
pub struct User {
    /// To log in with.
    pub name: &'static str,
    /// To log in with.
    pub password: &'static str,
    /// The name of a thing that they make.
    pub title: &'static str,
    /// A sentence.
    pub text: &'static str,
    /// A number.
    pub number: &'static str,
}

impl User {
    /// One of two users, by an index.
    pub fn new(index: usize) -> Self {
        let (name, password) = ACCOUNTS[index];
        let texts = [
            ("Notes on the engine", "Weaves patterns; prints nothing", "12"),
            ("First bug, taped", "Found in relay 70 & kept", "47"),
        ];
        let (title, text, number) = texts[index];
        Self { name, password, title, text, number }
    }
}
