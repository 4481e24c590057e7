//! SELECT without a table: settings, names, SLEEP.

use super::bind::{Argument, Value, value};
use super::reply::Heading;
use super::statement::Fact;
use super::trouble::Trouble;
use super::wire::PACKET_MAX;

/// The version that the greeting says, and `SELECT VERSION()`.
pub(crate) const VERSION: &str = "8.0.36-brunt";

/// Whoever asks, and what it has done.
#[derive(Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) connection: u32,
    pub(crate) last_id: u64,
    pub(crate) user: &'a str,
    pub(crate) database: Option<&'a str>,
    pub(crate) is_autocommit: bool,
    pub(crate) is_read_only: bool,
}

pub(crate) fn heading(name: &str, fact: &Fact) -> Heading {
    match fact {
        Fact::Value(super::statement::Scalar::Int(_))
        | Fact::Sleep(_)
        | Fact::ConnectionId
        | Fact::LastInsertId => Heading::long(name),
        Fact::Variable(variable) if NUMBERS.contains(&variable.as_str()) => Heading::long(name),
        _ => Heading::text(name),
    }
}

/// Settings that are numbers.
const NUMBERS: [&str; 10] = [
    "auto_increment_increment",
    "autocommit",
    "innodb_lock_wait_timeout",
    "interactive_timeout",
    "local_infile",
    "max_allowed_packet",
    "net_write_timeout",
    "read_only",
    "super_read_only",
    "wait_timeout",
];

/// The text of a fact; `None`: NULL. SLEEP is over when it is asked for: 0.
pub(crate) fn text(
    fact: &Fact,
    asker: &Asker<'_>,
    args: &[Argument],
) -> Result<Option<Vec<u8>>, Trouble> {
    Ok(Some(match fact {
        Fact::Value(scalar) => match value(scalar, args)? {
            Value::Null | Value::Default => return Ok(None),
            Value::Int(number) => number.to_string().into_bytes(),
            Value::Text(text) => text.to_vec(),
        },
        Fact::Variable(name) => variable(name, asker)?.into_bytes(),
        Fact::Sleep(_) => b"0".to_vec(),
        Fact::Version => VERSION.into(),
        Fact::Database => return Ok(asker.database.map(|name| name.as_bytes().to_vec())),
        Fact::User => format!("{}@localhost", asker.user).into_bytes(),
        Fact::ConnectionId => asker.connection.to_string().into_bytes(),
        Fact::LastInsertId => asker.last_id.to_string().into_bytes(),
    }))
}

/// `@@name`
fn variable(name: &str, asker: &Asker<'_>) -> Result<String, Trouble> {
    let bit = |is_on: bool| if is_on { "1" } else { "0" };
    Ok(match name {
        "max_allowed_packet" => return Ok(PACKET_MAX.to_string()),
        "version" => VERSION,
        "version_comment" => "a stand-in for MySQL",
        "autocommit" => bit(asker.is_autocommit),
        "read_only" | "super_read_only" => bit(asker.is_read_only),
        "local_infile" => "0",
        "auto_increment_increment" => "1",
        "wait_timeout" | "interactive_timeout" => "28800",
        "net_write_timeout" => "60",
        "innodb_lock_wait_timeout" => "50",
        "tx_isolation" | "transaction_isolation" => "READ-UNCOMMITTED",
        "character_set_client"
        | "character_set_connection"
        | "character_set_results"
        | "character_set_server"
        | "character_set_database" => "utf8mb4",
        "collation_connection" | "collation_server" | "collation_database" => "utf8mb4_general_ci",
        "sql_mode" => "STRICT_TRANS_TABLES",
        "time_zone" | "system_time_zone" => "UTC",
        "init_connect" | "socket" | "ssl_cipher" => "",
        "license" => "MIT OR Apache-2.0",
        "lower_case_table_names" => "0",
        other => {
            let text = format!("Unknown system variable '{other}'");
            return Err(Trouble::new(1193, "HY000", text));
        }
    }
    .to_owned())
}
