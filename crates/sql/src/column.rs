//! The columns of a result, as a server describes them.

use std::rc::Rc;

/// The columns of one result, which its rows share.
pub type Columns = Rc<[Column]>;

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name in the result: an alias, if there is one.
    pub name: String,
    /// The type as the Go driver's `DatabaseTypeName` says it: `VARCHAR`, `INT4`.
    pub type_name: String,
    /// How its values are read.
    pub kind: Kind,
    /// Whether it may be `NULL`, where the server says so.
    pub nullable: Option<bool>,
    /// The most bytes or digits of a value, where the server says so.
    pub length: Option<u64>,
    /// The digits behind the point, where the server says so.
    pub decimals: Option<u32>,
    /// The table that it comes from, where the server says so; empty for expressions.
    pub table: String,
}

/// How the values of a column are read: the [`Cell`](crate::Cell) that they become. Numbers of a server's own types stay with its
/// module: `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A boolean.
    Bool,
    /// A whole number with a sign.
    Int,
    /// A whole number without a sign.
    UInt,
    /// A floating number.
    Float,
    /// A floating number of 32 bits.
    Single,
    /// [`Cell::Text`](crate::Cell::Text).
    Text,
    /// [`Cell::Raw`](crate::Cell::Raw).
    Raw,
    /// [`Cell::Bytes`](crate::Cell::Bytes).
    Bytes,
    /// [`Cell::Time`](crate::Cell::Time). The number tells the server's types apart: its meaning is the driver's own.
    Time(u8),
    /// Each value says what it is (SQLite), or the driver looks closer: the number is its own.
    Own(u8),
}
