//! The system's name server, as far as errors name it.

use std::net::SocketAddr;
use std::sync::OnceLock;

/// Whom the system asks first: errors name it. Read once.
pub(crate) fn first_name_server() -> Option<SocketAddr> {
    static SERVER: OnceLock<Option<SocketAddr>> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let text = std::fs::read_to_string("/etc/resolv.conf").ok()?;
        name_server(&text)
    })
}

/// Digits and dots alone (`127.1`, `2130706433`) are no name, and whoever resolves them would take them for an address,
/// which k6 does not.
pub(crate) fn is_number(host: &str) -> bool {
    host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The message about an unknown `host`, in the words of Go's resolver, which name the server that was asked.
pub fn no_such_host(host: &str) -> String {
    match first_name_server().filter(|_| !is_number(host)) {
        Some(server) => format!("lookup {host} on {server}: no such host"),
        None => format!("lookup {host}: no such host"),
    }
}

fn name_server(text: &str) -> Option<SocketAddr> {
    let mut lines = text.lines().map(str::split_whitespace);
    let ip = lines.find_map(|mut words| match words.next()? {
        "nameserver" => words.next()?.parse().ok(),
        _ => None,
    })?;
    Some(SocketAddr::new(ip, 53))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_server_is_named() {
        let text = "# nameserver 1.1.1.1\nsearch a.test\nnameserver 10.0.0.1\nnameserver ::1\n";
        assert_eq!(name_server(text), "10.0.0.1:53".parse().ok());
        assert_eq!(name_server("search x"), None);
    }

    #[test]
    fn nobody_was_asked_for_a_number() {
        for number in ["127.1", "2130706433", "127.0.0.1."] {
            assert_eq!(no_such_host(number), format!("lookup {number}: no such host"));
        }
    }
}
