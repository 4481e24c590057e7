//! One echo request and its answer, on a socket of ICMP.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
#[cfg(target_os = "linux")]
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// Bytes of the head of an echo.
pub(super) const HEAD: usize = 8;

/// Room for an answer with the head of IPv4 in front.
const ANSWER_MAX: usize = 65_535;

/// The datagrams that are looked at while one is waited for: beyond them, others flood this machine.
const STRANGERS_MAX: usize = 1_000_000;

/// An ICMP socket.
pub(super) struct Pinger {
    socket: UdpSocket,
    target: IpAddr,
    /// The kernel gives it all of ICMP, and with IPv4 the heads of packets.
    is_raw: bool,
    room: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) id: u16,
    pub(super) seq: u16,
    pub(super) size: usize,
    pub(super) ttl: Option<u32>,
}

impl Pinger {
    /// Opens a socket: one without privileges if the kernel allows that to this user, else a raw one.
    ///
    /// # Errors
    /// Neither is allowed, or the source is no address of this machine.
    pub(super) fn open(
        target: IpAddr,
        source: Option<IpAddr>,
        ttl: Option<u32>,
    ) -> Result<Self, String> {
        let (domain, protocol) = match target {
            IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
            IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
        };
        let kinds = [(Type::DGRAM, false), (Type::RAW, true)];
        let opened = kinds.into_iter().find_map(|(kind, is_raw)| {
            let socket = Socket::new(domain, kind, Some(protocol)).ok()?;
            socket.set_nonblocking(true).ok().map(|()| (socket, is_raw))
        });
        let (socket, is_raw) = opened.ok_or(
            "the kernel allows no ICMP sockets to this user: set the sysctl net.ipv4.ping_group_range \
             to a range with its group (\"0 2147483647\" is all), or give the program cap_net_raw",
        )?;
        Self::prepare(&socket, target, source, ttl)
            .and_then(|()| UdpSocket::from_std(socket.into()))
            .map(|socket| Self { socket, target, is_raw, room: Vec::new() })
            .map_err(|error| format!("the ICMP socket cannot be used: {error}"))
    }

    fn prepare(
        socket: &Socket,
        target: IpAddr,
        source: Option<IpAddr>,
        ttl: Option<u32>,
    ) -> io::Result<()> {
        if let Some(source) = source {
            // The kernel would take the bytes of the one for the other.
            if source.is_ipv4() != target.is_ipv4() {
                return Err(io::Error::other(format!("{source} cannot send to {target}")));
            }
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        #[cfg(target_os = "linux")]
        match target {
            IpAddr::V4(_) => setsockopt(socket, sockopt::Ipv4RecvTtl, &true)?,
            IpAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvHopLimit, &true)?,
        }
        match (target, ttl) {
            (_, None) => Ok(()),
            (IpAddr::V4(_), Some(ttl)) => socket.set_ttl_v4(ttl),
            (IpAddr::V6(_), Some(ttl)) => socket.set_unicast_hops_v6(ttl),
        }
    }

    /// Sends a request.
    pub(super) async fn send(&self, id: u16, seq: u16, size: usize) -> io::Result<()> {
        let packet = request(self.target, id, seq, size);
        self.socket.send_to(&packet, SocketAddr::new(self.target, 0)).await.map(drop)
    }

    /// Waits for the answer to a request.
    pub(super) async fn receive(&mut self, id: u16, seq: u16, time: Duration) -> io::Result<Reply> {
        let receiving = async {
            self.room.resize(ANSWER_MAX, 0);
            for _ in 0..STRANGERS_MAX {
                let fd = self.socket.as_raw_fd();
                let room = &mut self.room;
                let came = self.socket.async_io(Interest::READABLE, || take(fd, room)).await?;
                if came.from.is_some_and(|from| from != self.target) {
                    continue;
                }
                // macOS gives heads to sockets without privileges, too.
                let has_head = (self.is_raw || cfg!(target_os = "macos")) && self.target.is_ipv4();
                let reply = read(&self.room[..came.size], self.target, has_head, came.ttl);
                // A socket without privileges has a number of the kernel's.
                if let Some(reply) = reply
                    && reply.seq == seq
                    && (!self.is_raw || reply.id == id)
                {
                    return Ok(reply);
                }
            }
            Err(io::Error::other("too many packets came that are not the answer"))
        };
        timeout(time, receiving)
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "timeout exceeded")))
    }
}

struct Came {
    size: usize,
    ttl: Option<u32>,
    from: Option<IpAddr>,
}

/// Takes one datagram, if there is one.
fn take(fd: std::os::fd::RawFd, room: &mut [u8]) -> io::Result<Came> {
    let mut control = nix::cmsg_space!(i32, [u64; 8]);
    let mut slices = [IoSliceMut::new(room)];
    let message =
        recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
    let ttl = message.cmsgs().ok().and_then(|mut told| told.find_map(|told| hops_left(&told)));
    let from = message.address.and_then(|from| {
        let v4 = from.as_sockaddr_in().map(|from| IpAddr::V4(from.ip()));
        v4.or_else(|| from.as_sockaddr_in6().map(|from| IpAddr::V6(from.ip())))
    });
    Ok(Came { size: message.bytes, ttl, from })
}

/// The time to live that came with a datagram: none on other systems than Linux.
#[cfg(target_os = "linux")]
fn hops_left(told: &ControlMessageOwned) -> Option<u32> {
    match *told {
        ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => {
            u32::try_from(ttl).ok()
        }
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn hops_left(_: &ControlMessageOwned) -> Option<u32> {
    None
}

/// The bytes of a request.
fn request(target: IpAddr, id: u16, seq: u16, size: usize) -> Vec<u8> {
    let kind = if target.is_ipv4() { 8 } else { 128 };
    let mut packet = vec![kind, 0, 0, 0];
    packet.extend_from_slice(&id.to_be_bytes());
    packet.extend_from_slice(&seq.to_be_bytes());
    packet.extend((0..size).map(|at| b'a' + (at % 26) as u8));
    // With IPv6, the kernel does it.
    if target.is_ipv4() {
        let sum = checksum(&packet).to_be_bytes();
        packet[2..4].copy_from_slice(&sum);
    }
    packet
}

/// The checksum of the internet (RFC 1071), of bytes whose checksum is still zero.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The answer in a datagram, if it is one.
fn read(bytes: &[u8], target: IpAddr, has_head: bool, ttl: Option<u32>) -> Option<Reply> {
    let (bytes, ttl) = if has_head {
        let first = *bytes.first()?;
        let ttl = ttl.or_else(|| bytes.get(8).map(|ttl| u32::from(*ttl)));
        (bytes.get(usize::from(first & 0xf) * 4..)?, ttl)
    } else {
        (bytes, ttl)
    };
    let kind = if target.is_ipv4() { 0 } else { 129 };
    let head = bytes.get(..HEAD)?;
    if head[0] != kind || head[1] != 0 {
        return None;
    }
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    Some(Reply { id: number(4), seq: number(6), size: bytes.len(), ttl })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn a_request_carries_its_sum() {
        let mut packet = request(HERE, 0x1234, 7, 5);
        assert_eq!(packet.len(), HEAD + 5);
        assert_eq!(checksum(&packet), 0, "the sum of all is nothing");
        assert!(read(&packet, HERE, false, None).is_none(), "a request is no answer");
        packet[0] = 0;
        let reply = Reply { id: 0x1234, seq: 7, size: 13, ttl: Some(64) };
        assert_eq!(read(&packet, HERE, false, Some(64)), Some(reply));
    }

    #[test]
    fn a_raw_socket_shows_the_head_of_the_packet() {
        let mut packet = vec![0x46; 24];
        packet[8] = 61;
        let mut echo = request(HERE, 1, 2, 0);
        echo[0] = 0;
        packet.extend_from_slice(&echo);
        let reply = Reply { id: 1, seq: 2, size: 8, ttl: Some(61) };
        assert_eq!(read(&packet, HERE, true, None), Some(reply));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), has_head: bool) {
            let _ = read(&bytes, HERE, has_head, None);
            checksum(&bytes);
        }
    }
}
