//! One value, on its way to the server or from it.

/// A point in time as databases have it: seconds since 1970 in UTC, nanoseconds within the second, and the zone in which
/// the server or the script named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970 in UTC; negative before.
    pub unix_seconds: i64,
    /// 0 to 999 999 999.
    pub nanos: u32,
    /// Seconds east of Greenwich; 0 is UTC.
    pub offset_seconds: i32,
}

/// A value of a row, or an argument. It borrows from its [`Chunk`](crate::Chunk) or [`Args`](crate::Args).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// `NULL`.
    Null,
    /// A boolean of a database that has them.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number of an unsigned column.
    UInt(u64),
    /// A floating number of 64 bits.
    Float(f64),
    /// A floating number of 32 bits.
    Single(f32),
    /// A text; UTF-8 unless the server breaks its word.
    Text(&'a [u8]),
    /// The text of a value that the Go driver hands over as bytes: `NUMERIC` of PostgreSQL, `VARCHAR` and `DATE` of MySQL.
    Raw(&'a [u8]),
    /// Bytes of a binary column.
    Bytes(&'a [u8]),
    /// A date, or a date with a time.
    Time(Moment),
}
