//! The store behind shared things.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

/// The key that says that this store has seen the test begin. The leader writes it once, before any process takes part: where it is
/// missing, the store is another one, and what the test has given out is not known.
pub const MARK: &str = "mark";

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its bytes.
    pub value: Vec<u8>,
    /// Grows with each write to the store; never 0.
    pub revision: u64,
}

/// How a conditional write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is written, with this revision.
    Done(u64),
    /// The key has another revision than was expected: nothing is written.
    Lost,
}

/// The answer of a store; an error, in words, leaves open whether a write was done.
pub type Answer<T> = BoxFuture<'static, Result<T, String>>;

/// Small values with revisions, which all processes of a test see. Answers come within some seconds, or are errors.
///
/// Keys are texts of letters, digits, `.`, `-`, `_` and `=`.
pub trait Store: Debug + Send + Sync + 'static {
    /// The key as it is; `None` if it is not there.
    fn get(&self, key: &str) -> Answer<Option<Entry>>;

    /// The oldest value of the key that the store still has with a revision above `revision`; it keeps the last few.
    fn after(&self, key: &str, revision: u64) -> Answer<Option<Entry>>;

    /// Writes the key if its last revision is `expected`; 0: if it is not there.
    fn put(&self, key: &str, value: Vec<u8>, expected: u64) -> Answer<Put>;

    /// Removes a key that will not be asked for again.
    fn remove(&self, key: &str) -> Answer<()>;
}
