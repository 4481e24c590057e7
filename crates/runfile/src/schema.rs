//! The tables, and how a file is known for a run file.

/// `BRNT`: the third number of a SQLite file's head that programs look at.
pub(crate) const APPLICATION_ID: u32 = 0x4252_4e54;

/// The version of the schema, SQLite's `user_version`.
pub const SCHEMA_VERSION: u32 = 2;

/// All tables. `docs/guide/run-file.md` tells what they mean.
pub(crate) const TABLES: &str = "
CREATE TABLE run (
  id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  started INTEGER NOT NULL, ended INTEGER, duration INTEGER, planned INTEGER NOT NULL,
  slice_width INTEGER NOT NULL, slices INTEGER NOT NULL,
  passed INTEGER, exit_code INTEGER, reason TEXT,
  brunt TEXT NOT NULL, script TEXT, sha256 TEXT, arguments TEXT NOT NULL, options TEXT NOT NULL,
  environment TEXT NOT NULL, host TEXT, kernel TEXT, cpu TEXT, cores INTEGER, memory INTEGER, seed TEXT,
  \"commit\" TEXT, branch TEXT, build TEXT, labels TEXT NOT NULL, lost TEXT NOT NULL, summary TEXT NOT NULL
);
CREATE TABLE source (path TEXT NOT NULL, text TEXT);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, contains TEXT NOT NULL, unit TEXT
);
CREATE TABLE series (id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, tags TEXT NOT NULL);
CREATE TABLE slice (
  n INTEGER NOT NULL, series INTEGER NOT NULL,
  count INTEGER, sum REAL, min REAL, max REAL, first REAL, last REAL, hits INTEGER,
  histogram BLOB, sum_rest REAL, at INTEGER,
  PRIMARY KEY (n, series)
) WITHOUT ROWID;
CREATE TABLE scenario (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, executor TEXT NOT NULL, text TEXT NOT NULL,
  started INTEGER NOT NULL, ended INTEGER NOT NULL
);
CREATE TABLE stage (
  scenario INTEGER NOT NULL, n INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL,
  \"from\" REAL NOT NULL, \"to\" REAL NOT NULL, PRIMARY KEY (scenario, n)
) WITHOUT ROWID;
CREATE TABLE load (
  n INTEGER NOT NULL, scenario INTEGER NOT NULL,
  vus_planned INTEGER, vus_started INTEGER NOT NULL, vus_active INTEGER NOT NULL,
  iterations_planned INTEGER, iterations_started INTEGER NOT NULL, iterations_done INTEGER NOT NULL,
  iterations_interrupted INTEGER NOT NULL, iterations_dropped INTEGER NOT NULL, lateness BLOB,
  PRIMARY KEY (n, scenario)
) WITHOUT ROWID;
CREATE TABLE threshold (
  id INTEGER PRIMARY KEY, metric TEXT NOT NULL, text TEXT NOT NULL, abort INTEGER NOT NULL,
  passed INTEGER, last REAL, breached INTEGER
);
CREATE TABLE threshold_slice (
  n INTEGER NOT NULL, threshold INTEGER NOT NULL, value REAL, passed INTEGER NOT NULL,
  PRIMARY KEY (n, threshold)
) WITHOUT ROWID;
CREATE TABLE threshold_breach (
  threshold INTEGER PRIMARY KEY, at INTEGER NOT NULL, lasted INTEGER NOT NULL, value REAL
);
CREATE TABLE checks (
  id INTEGER PRIMARY KEY, \"group\" TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL,
  passes INTEGER NOT NULL, fails INTEGER NOT NULL
);
CREATE TABLE checks_slice (
  n INTEGER NOT NULL, \"check\" INTEGER NOT NULL, passes INTEGER NOT NULL, fails INTEGER NOT NULL,
  PRIMARY KEY (n, \"check\")
) WITHOUT ROWID;
CREATE TABLE groups (path TEXT NOT NULL, place INTEGER NOT NULL, n INTEGER NOT NULL);
CREATE TABLE failure (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, route TEXT NOT NULL,
  place INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE failure_slice (
  n INTEGER NOT NULL, failure INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (n, failure)
) WITHOUT ROWID;
CREATE TABLE exchange (
  id INTEGER PRIMARY KEY, why TEXT NOT NULL, failure INTEGER, at INTEGER NOT NULL, scenario TEXT NOT NULL,
  method TEXT NOT NULL, url TEXT NOT NULL, route TEXT NOT NULL, status INTEGER NOT NULL, code TEXT NOT NULL, error TEXT,
  duration REAL NOT NULL, blocked REAL, lookup REAL, connecting REAL, tls REAL,
  sending REAL, waiting REAL, receiving REAL,
  request_headers TEXT NOT NULL, request_body BLOB, request_size INTEGER NOT NULL,
  proto TEXT NOT NULL, response_headers TEXT NOT NULL, response_body BLOB, response_size INTEGER NOT NULL,
  curl TEXT NOT NULL
);
CREATE TABLE health (
  n INTEGER PRIMARY KEY, resident INTEGER, files INTEGER, files_max INTEGER,
  sockets_open INTEGER, sockets_orphaned INTEGER, sockets_waiting INTEGER,
  steal REAL, throttled REAL, segments INTEGER, retransmitted INTEGER, interface_drops INTEGER, memory_free INTEGER
);
CREATE TABLE health_core (
  n INTEGER NOT NULL, core INTEGER NOT NULL, busy REAL, waiting REAL, late REAL, late_max REAL, PRIMARY KEY (n, core)
) WITHOUT ROWID;
CREATE TABLE health_error (
  n INTEGER NOT NULL, what TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (n, what)
) WITHOUT ROWID;
CREATE TABLE verdict (level TEXT NOT NULL);
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, level TEXT NOT NULL, started INTEGER, ended INTEGER,
  evidence TEXT NOT NULL, numbers TEXT NOT NULL, touches TEXT NOT NULL, advice TEXT NOT NULL
);
CREATE TABLE event (at INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, scenario TEXT);
";

/// The table of a search for capacity (`brunt find`): one row, a JSON text. Files of other runs lack it.
pub(crate) const CAPACITY: &str = "CREATE TABLE IF NOT EXISTS capacity (text TEXT NOT NULL)";

/// The meaning of a file's first 100 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A run file with this version of the schema, this many bytes long (0: SQLite does not say).
    Run { version: u32, bytes: u64 },
    /// Something else.
    Other,
}

/// Reads a file's head.
pub(crate) fn head(bytes: &[u8]) -> Head {
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        bytes.map(u32::from_be_bytes)
    };
    let (Some(pages), Some(version), Some(application)) = (word(28), word(60), word(68)) else {
        return Head::Other;
    };
    if !bytes.starts_with(b"SQLite format 3\0") || application != APPLICATION_ID {
        return Head::Other;
    }
    let page = match u16::from_be_bytes([bytes[16], bytes[17]]) {
        1 => 65536,
        page => u64::from(page),
    };
    Head::Run { version, bytes: u64::from(pages) * page }
}
