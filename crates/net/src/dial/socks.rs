//! SOCKS5 (RFC 1928), with a password if need be (RFC 1929).

use std::future::poll_fn;
use std::net::IpAddr;

use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, Refusal, Truncated};
use crate::moments::Moments;

const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const PASSWORD: u8 = 2;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Asks the proxy on `connection` for a way to `target`, which it looks up itself.
///
/// `credentials` are user and password, 1 to 255 bytes each.
pub(super) async fn ask(
    connection: &mut Connection,
    target: &Endpoint<'_>,
    credentials: Option<[&str; 2]>,
    moments: &mut Moments<'_>,
) -> Result<(), Failure> {
    let mut talk = Talk { connection, moments };
    let hello: &[u8] = match credentials {
        None => &[VERSION, 1, NO_PASSWORD],
        Some(_) => &[VERSION, 2, NO_PASSWORD, PASSWORD],
    };
    talk.say(hello).await?;
    match (&talk.hear(2).await?[..], credentials) {
        ([VERSION, NO_PASSWORD], _) => {}
        ([VERSION, PASSWORD], Some(credentials)) => talk.log_in(credentials).await?,
        ([VERSION, _], _) => return Err(Failure::Socks(Refusal::Method)),
        _ => return Err(Failure::Socks(Refusal::Protocol)),
    }
    talk.say(&question(target)?).await?;
    let answer = talk.hear(5).await?;
    let &[VERSION, reply, _, kind, first] = &answer[..] else {
        return Err(Failure::Socks(Refusal::Protocol));
    };
    if reply != 0 {
        return Err(Failure::Socks(Refusal::Reply(reply)));
    }
    // The address the proxy dials from is of no interest, but it must be read to its end.
    let rest = match kind {
        IPV4 => 3,
        IPV6 => 15,
        NAME => usize::from(first),
        _ => return Err(Failure::Socks(Refusal::Protocol)),
    };
    talk.hear(rest + 2).await?;
    Ok(())
}

/// `CONNECT`, the host, the port.
fn question(target: &Endpoint<'_>) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![VERSION, CONNECT, 0];
    match target.host.parse() {
        Ok(IpAddr::V4(ip)) => {
            bytes.push(IPV4);
            bytes.extend(ip.octets());
        }
        Ok(IpAddr::V6(ip)) => {
            bytes.push(IPV6);
            bytes.extend(ip.octets());
        }
        Err(_) => {
            let length = u8::try_from(target.host.len());
            bytes.extend([NAME, length.map_err(|_| Failure::Socks(Refusal::NameTooLong))?]);
            bytes.extend(target.host.as_bytes());
        }
    }
    bytes.extend(target.port.to_be_bytes());
    Ok(bytes)
}

/// Both directions of a connection that is not yet in use.
struct Talk<'c, 'r, 's> {
    connection: &'c mut Connection,
    moments: &'r mut Moments<'s>,
}

impl Talk<'_, '_, '_> {
    async fn log_in(&mut self, [user, password]: [&str; 2]) -> Result<(), Failure> {
        let mut bytes = vec![1];
        for text in [user, password] {
            bytes.push(u8::try_from(text.len()).expect("the settings allow no longer one"));
            bytes.extend(text.as_bytes());
        }
        self.say(&bytes).await?;
        match self.hear(2).await?[..] {
            [_, 0] => Ok(()),
            _ => Err(Failure::Socks(Refusal::Password)),
        }
    }

    async fn say(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut at = 0;
        while at < bytes.len() {
            let size = poll_fn(|cx| self.connection.poll_write(cx, &bytes[at..])).await?;
            self.moments.sent(size);
            at += size;
        }
        Ok(())
    }

    /// Exactly `size` bytes: the bytes after them belong to the target.
    async fn hear(&mut self, size: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::with_capacity(size);
        while bytes.len() < size {
            let room = size - bytes.len();
            let read = poll_fn(|cx| self.connection.poll_read_into(cx, &mut bytes, room)).await?;
            if read == 0 {
                return Err(Failure::Ended(Truncated::Empty));
            }
            self.moments.received(read);
        }
        Ok(bytes)
    }
}
