//! The Go driver's form: `[user[:password]@][net[(address)]]/database[?name=value&…]`.

use super::escape::undone;
use super::param;
use super::settings::{Address, Settings};
use crate::config::Outside;

/// Reads it. The error is the Go driver's text, with the password left out.
pub(super) fn read(dsn: &str, outside: &dyn Outside) -> Result<Settings, String> {
    let mut settings = Settings::default();
    // A password may have slashes in it, a database and parameters have none.
    let (place, rest) = match dsn.rsplit_once('/') {
        Some(both) => both,
        None if dsn.is_empty() => ("", ""),
        None => {
            return Err("invalid DSN: missing the slash separating the database name".to_owned());
        }
    };
    let network = match place.rsplit_once('@') {
        Some((login, network)) => {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            (settings.user, settings.password) = (user.to_owned(), password.to_owned());
            network
        }
        None => place,
    };
    let (name, address) = match network.split_once('(') {
        None => (network, ""),
        Some((name, address)) => match address.strip_suffix(')') {
            Some(address) => (name, address),
            None if address.contains(')') => {
                let why = "invalid DSN: did you forget to escape a param value?";
                return Err(why.to_owned());
            }
            None => {
                let why = "invalid DSN: network address not terminated (missing closing brace)";
                return Err(why.to_owned());
            }
        },
    };
    settings.address = match (name, address) {
        ("" | "tcp" | "tcp4" | "tcp6", "") => settings.address,
        ("" | "tcp" | "tcp4" | "tcp6", address) => tcp(address),
        ("unix", "") => Address::Unix("/tmp/mysql.sock".to_owned()),
        ("unix", path) => Address::Unix(path.to_owned()),
        (unknown, "") => {
            // Without an `@`, a user and a password are in the place of the network.
            let shown = match unknown.split_once(':') {
                Some((before, _)) if !place.contains('@') => format!("{before}:***"),
                _ => unknown.to_owned(),
            };
            return Err(format!("default addr for network '{shown}' unknown"));
        }
        (unknown, _) => Address::Nowhere(format!("dial {unknown}: unknown network {unknown}")),
    };
    let (database, params) = rest.split_once('?').unwrap_or((rest, ""));
    settings.database =
        undone(database, false).map_err(|why| format!("invalid dbname {database:?}: {why}"))?;
    for pair in params.split('&') {
        // The Go driver passes over names without a value.
        if let Some((name, value)) = pair.split_once('=') {
            param::set(&mut settings, name, &undone(value, true)?, outside)?;
        }
    }
    param::check(&settings)?;
    Ok(settings)
}

/// `host`, `host:port`, `[::1]`, `[::1]:port`.
pub(super) fn tcp(address: &str) -> Address {
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, behind)) => (host, behind.strip_prefix(':')),
        None => match address.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') => (host, Some(port)),
            _ => (address, None),
        },
    };
    let host = if host.is_empty() { "127.0.0.1" } else { host }.to_owned();
    match port.unwrap_or("3306") {
        "" => Address::Tcp { host, port: 3306 },
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => match digits.parse() {
            Ok(port) => Address::Tcp { host, port },
            Err(_) => Address::Nowhere(format!("dial tcp: address {digits}: invalid port")),
        },
        name => Address::Nowhere(format!("dial tcp: lookup tcp/{name}: unknown port")),
    }
}
