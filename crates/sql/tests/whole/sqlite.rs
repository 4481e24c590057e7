//! SQLite, as its Go driver behaves (recorded with go-sqlite3 1.14.32).

mod statements;
mod values;
mod writing;

use std::path::PathBuf;

use brunt_sql::{Connection, Driver, Failure};

/// A folder of a test; it goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("brunt-sqlite-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it.
    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn open(dsn: &str) -> Result<Connection, Failure> {
    crate::support::open(Driver::Sqlite, dsn).await
}

async fn memory() -> Connection {
    open(":memory:").await.unwrap()
}
