//! Failures of SQLite as ours.

use rusqlite::{Error, ErrorCode};

use crate::failure::{Failure, Trouble};

/// The failure that an error of SQLite is. Its text is SQLite's own, its code the name of the extended result code.
pub(super) fn failure(error: Error) -> Failure {
    let (code, text) = match error {
        Error::SqliteFailure(code, text) => (
            code,
            text.unwrap_or_else(|| rusqlite::ffi::code_to_str(code.extended_code).to_owned()),
        ),
        Error::SqlInputError { error, msg, .. } => (error, msg),
        Error::NulError(_) => {
            return Failure::new(Trouble::Usage, "the statement has a zero character");
        }
        other => return Failure::new(Trouble::Usage, other.to_string()),
    };
    let trouble = match code.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Trouble::Retry,
        _ => Trouble::Server,
    };
    let number = code.extended_code;
    Failure::new(trouble, text).with_code(name(number), number.into())
}

/// The name of a result code. An extended one without a name here has that of its kind.
fn name(code: i32) -> String {
    let find = |code: i32| NAMES.iter().find(|(number, _)| *number == code).map(|(_, name)| *name);
    find(code)
        .or_else(|| find(code & 0xff))
        .map_or_else(|| format!("SQLITE_{code}"), |name| format!("SQLITE_{name}"))
}

const NAMES: [(i32, &str); 70] = [
    (1, "ERROR"),
    (2, "INTERNAL"),
    (3, "PERM"),
    (4, "ABORT"),
    (5, "BUSY"),
    (6, "LOCKED"),
    (7, "NOMEM"),
    (8, "READONLY"),
    (9, "INTERRUPT"),
    (10, "IOERR"),
    (11, "CORRUPT"),
    (12, "NOTFOUND"),
    (13, "FULL"),
    (14, "CANTOPEN"),
    (15, "PROTOCOL"),
    (16, "EMPTY"),
    (17, "SCHEMA"),
    (18, "TOOBIG"),
    (19, "CONSTRAINT"),
    (20, "MISMATCH"),
    (21, "MISUSE"),
    (22, "NOLFS"),
    (23, "AUTH"),
    (24, "FORMAT"),
    (25, "RANGE"),
    (26, "NOTADB"),
    (257, "ERROR_MISSING_COLLSEQ"),
    (261, "BUSY_RECOVERY"),
    (262, "LOCKED_SHAREDCACHE"),
    (264, "READONLY_RECOVERY"),
    (266, "IOERR_READ"),
    (267, "CORRUPT_VTAB"),
    (270, "CANTOPEN_NOTEMPDIR"),
    (275, "CONSTRAINT_CHECK"),
    (513, "ERROR_RETRY"),
    (516, "ABORT_ROLLBACK"),
    (517, "BUSY_SNAPSHOT"),
    (518, "LOCKED_VTAB"),
    (520, "READONLY_CANTLOCK"),
    (522, "IOERR_SHORT_READ"),
    (523, "CORRUPT_SEQUENCE"),
    (526, "CANTOPEN_ISDIR"),
    (531, "CONSTRAINT_COMMITHOOK"),
    (769, "ERROR_SNAPSHOT"),
    (773, "BUSY_TIMEOUT"),
    (776, "READONLY_ROLLBACK"),
    (778, "IOERR_WRITE"),
    (779, "CORRUPT_INDEX"),
    (782, "CANTOPEN_FULLPATH"),
    (787, "CONSTRAINT_FOREIGNKEY"),
    (1032, "READONLY_DBMOVED"),
    (1034, "IOERR_FSYNC"),
    (1038, "CANTOPEN_CONVPATH"),
    (1043, "CONSTRAINT_FUNCTION"),
    (1288, "READONLY_CANTINIT"),
    (1290, "IOERR_DIR_FSYNC"),
    (1299, "CONSTRAINT_NOTNULL"),
    (1544, "READONLY_DIRECTORY"),
    (1546, "IOERR_TRUNCATE"),
    (1550, "CANTOPEN_SYMLINK"),
    (1555, "CONSTRAINT_PRIMARYKEY"),
    (1802, "IOERR_FSTAT"),
    (1811, "CONSTRAINT_TRIGGER"),
    (2067, "CONSTRAINT_UNIQUE"),
    (2323, "CONSTRAINT_VTAB"),
    (2579, "CONSTRAINT_ROWID"),
    (2835, "CONSTRAINT_PINNED"),
    (3082, "IOERR_NOMEM"),
    (3091, "CONSTRAINT_DATATYPE"),
    (3850, "IOERR_LOCK"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names() {
        assert_eq!(name(2067), "SQLITE_CONSTRAINT_UNIQUE");
        assert_eq!(name(5), "SQLITE_BUSY");
        assert_eq!(name(10 + 256 * 99), "SQLITE_IOERR");
        assert_eq!(name(99), "SQLITE_99");
    }
}
