//! `postgres://user:password@host:5432/database?sslmode=disable`.

use super::pairs::Pairs;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

pub(super) fn is_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The URL as pairs. The error does not have the password in it.
pub(super) fn pairs(text: &str) -> Result<Pairs, String> {
    let rest = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query = query.split('#').next().unwrap_or_default();
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((login, hosts)) => (Some(login), hosts),
        None => (None, authority),
    };
    let mut pairs = Pairs::new();
    let mut add = |name: &str, value: String| pairs.push((name.to_owned(), value));
    if let Some(login) = login {
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        };
        add("user", undone(user, false)?);
        if let Some(password) = password {
            let why = |_| "invalid URL: password: invalid URL escape: write % as %25".to_owned();
            add("password", undone(password, false).map_err(why)?);
        }
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',').filter(|host| !host.is_empty()) {
        let is_bare_v6 = host.starts_with('[') && host.ends_with(']');
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !is_bare_v6 => (name, port),
            _ => (host, ""),
        };
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("invalid URL: the port is no number: perhaps the password has a / or @ in it, which are %2F and %40".to_owned());
        }
        let name = name.trim_start_matches('[').trim_end_matches(']');
        names.push(undone(name, false)?);
        ports.push(port.to_owned());
    }
    if !names.is_empty() {
        add("host", names.join(","));
    }
    if ports.iter().any(|port| !port.is_empty()) {
        add("port", ports.join(","));
    }
    if !database.is_empty() {
        add("dbname", undone(database, false)?);
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        add(&undone(name, true)?, undone(value, true)?);
    }
    Ok(pairs)
}

/// A text without its percent signs.
fn undone(text: &str, is_query: bool) -> Result<String, String> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let digit =
                    |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                    return Err("invalid URL escape: write % as %25".to_owned());
                };
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            b'+' if is_query => out.push(b' '),
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8(out).map_err(|_| "invalid URL: a part of it is not UTF-8".to_owned())
}
