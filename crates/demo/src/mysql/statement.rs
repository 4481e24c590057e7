//! The statements that the stand-in knows.

use super::table::Column;

/// A value in a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Default,
    Int(i64),
    Text(Box<str>),
    /// The argument at this place, from 0 on.
    Argument(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A part of a WHERE; all parts must hold.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Compare(String, Operator, Scalar),
    Between(String, Scalar, Scalar),
    In(String, Vec<Scalar>),
    /// `true`: it is NULL.
    IsNull(String, bool),
}

#[derive(Debug)]
pub(crate) struct Insert {
    pub(crate) table: String,
    /// None named: all.
    pub(crate) columns: Vec<String>,
    /// Row by row.
    pub(crate) values: Vec<Scalar>,
    pub(crate) rows: usize,
}

#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) table: String,
    pub(crate) sets: Vec<(String, Scalar)>,
    pub(crate) tests: Vec<Test>,
}

/// `UPDATE a, b SET a.x = b.y WHERE a.id = b.id`.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The table that changes.
    pub(crate) table: String,
    pub(crate) from: String,
    /// Columns of the one and of the other.
    pub(crate) sets: Vec<(String, String)>,
    /// The columns that are equal, of the one and of the other.
    pub(crate) on: (String, String),
}

#[derive(Debug)]
pub(crate) struct Delete {
    pub(crate) table: String,
    pub(crate) tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    /// COUNT of all rows, or of those where a column is not NULL.
    Count,
    Sum,
    Min,
    Max,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// `*`
    All,
    /// A column, and the name that it gets.
    Column(String, Option<String>),
    /// The name that it gets, the function, its column.
    Sum(String, Sum, Option<String>),
}

#[derive(Debug)]
pub(crate) struct Select {
    pub(crate) table: String,
    pub(crate) items: Vec<Item>,
    pub(crate) tests: Vec<Test>,
    /// The column to order by, and whether the highest comes first.
    pub(crate) order: Option<(String, bool)>,
    pub(crate) limit: Option<Scalar>,
    pub(crate) offset: Option<Scalar>,
}

/// A value that is in no table.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    Value(Scalar),
    /// `@@name`
    Variable(String),
    /// Seconds.
    Sleep(Scalar),
    Version,
    Database,
    User,
    ConnectionId,
    LastInsertId,
}

#[derive(Debug)]
pub(crate) enum Change {
    Create {
        name: String,
        columns: Vec<Column>,
        key: Option<usize>,
        is_careful: bool,
    },
    CreateLike {
        name: String,
        like: String,
        is_careful: bool,
    },
    Drop {
        names: Vec<String>,
        is_careful: bool,
    },
    Truncate(Vec<String>),
    Rename(Vec<(String, String)>),
    Add {
        table: String,
        columns: Vec<Column>,
    },
    /// The next id of AUTO_INCREMENT.
    Next {
        table: String,
        id: i64,
    },
}

#[derive(Debug)]
pub(crate) enum Statement {
    /// Nothing is to be done, and nothing is said but OK: SET of anything else, LOCK TABLES.
    Nothing,
    /// LOCK TABLES and UNLOCK TABLES end a transaction.
    Lock,
    Autocommit(bool),
    Begin,
    Commit,
    Rollback,
    Use(String),
    /// The connection's id, and whether the connection goes with its statement.
    Kill(u64, bool),
    Schema(Change),
    Insert(Insert),
    Update(Update),
    Joined(Joined),
    Delete(Delete),
    Select(Select),
    /// Names and values.
    Facts(Vec<(String, Fact)>),
    ShowTables,
}

impl Statement {
    /// Whether it changes rows or tables.
    pub(crate) fn writes(&self) -> bool {
        matches!(
            self,
            Self::Schema(_) | Self::Insert(_) | Self::Update(_) | Self::Joined(_) | Self::Delete(_)
        )
    }
}
