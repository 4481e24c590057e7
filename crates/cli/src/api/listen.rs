//! The address of the REST API, taken as Go takes it.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that the system keeps until they are accepted.
const BACKLOG: i32 = 1024;

/// Takes the address: `HOST:PORT`, or `:PORT` for all addresses of this machine.
///
/// `0.0.0.0` and `::` are both all addresses, of IPv4 and of IPv6, as in Go: who is told to listen on `0.0.0.0` in a cluster
/// of IPv6 alone is reached there. A name with addresses of both kinds means the one of IPv4, if it can be taken.
///
/// # Errors
/// The text is no address, or another program has it.
pub(crate) fn listen(address: &str) -> io::Result<TcpListener> {
    let everywhere = address.strip_prefix(':').map(|port| format!("0.0.0.0:{port}"));
    let address = everywhere.as_deref().unwrap_or(address);
    let mut addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let mut first = None;
    for address in addresses {
        let taken =
            if address.ip().is_unspecified() { take_all(address) } else { take(address, false) };
        match taken {
            Ok(listener) => return Ok(listener),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    Err(first
        .unwrap_or_else(|| io::Error::new(ErrorKind::AddrNotAvailable, "the name has no address")))
}

/// All addresses of both families; of the one that was written, where the system has no IPv6.
fn take_all(address: SocketAddr) -> io::Result<TcpListener> {
    match take((Ipv6Addr::UNSPECIFIED, address.port()).into(), true) {
        Err(error) if is_lacking(&error) && address.is_ipv4() => {
            take((Ipv4Addr::UNSPECIFIED, address.port()).into(), false)
        }
        taken => taken,
    }
}

/// Whether it is the family that is not there, not the port that is taken or forbidden.
fn is_lacking(error: &io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

fn take(address: SocketAddr, both: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if both {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, TcpStream};

    use super::*;

    fn reached(listener: &TcpListener, from: impl Into<IpAddr>) -> bool {
        let port = listener.local_addr().expect("it listens").port();
        TcpStream::connect((from.into(), port)).is_ok()
    }

    /// The address of this machine in IPv6, if the tests run where there is one.
    fn has_ipv6() -> bool {
        TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
    }

    #[test]
    fn unspecified_addresses_are_those_of_both_families() {
        for address in [":0", "0.0.0.0:0", "[::]:0"] {
            let listener = listen(address).expect(address);
            assert!(reached(&listener, Ipv4Addr::LOCALHOST), "{address}");
            assert_eq!(reached(&listener, Ipv6Addr::LOCALHOST), has_ipv6(), "{address}");
        }
    }

    #[test]
    fn other_addresses_are_of_their_family_alone() {
        let listener = listen("127.0.0.1:0").expect("an address");
        assert!(reached(&listener, Ipv4Addr::LOCALHOST));
        assert!(!reached(&listener, Ipv6Addr::LOCALHOST));
        if has_ipv6() {
            let listener = listen("[::1]:0").expect("an address");
            assert!(reached(&listener, Ipv6Addr::LOCALHOST));
            assert!(!reached(&listener, Ipv4Addr::LOCALHOST));
        }
        let listener = listen("localhost:0").expect("an address");
        assert!(listener.local_addr().expect("it listens").is_ipv4(), "as in Go");
    }

    #[test]
    fn a_port_that_is_taken_on_one_family_is_taken() {
        let other = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
        let port = other.local_addr().expect("it listens").port();
        let error = listen(&format!("0.0.0.0:{port}")).expect_err("it is taken");
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(listen("nonsense").is_err());
    }
}
