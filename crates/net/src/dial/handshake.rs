//! The TLS handshake.

use std::future::poll_fn;
use std::task::{Poll, ready};

use crate::connection::Connection;
use crate::failure::{Failure, Truncated, from_tls};
use crate::moments::Moments;
use crate::network::Network;
use crate::tls::{Session, State};

/// Shakes hands on a plain connection. The session that comes back may send and receive.
pub(super) async fn run(
    connection: &mut Connection,
    mut session: Box<Session>,
    network: &Network,
    moments: &mut Moments<'_>,
) -> Result<Box<Session>, Failure> {
    let mut early = Vec::new();
    // Nothing came yet, but the client speaks first.
    let mut state = session.shake(&mut [], |_| ());
    loop {
        while !session.unsent.is_empty() {
            let result = poll_fn(|cx| connection.poll_write(cx, &session.unsent)).await;
            match (result, &state) {
                (Ok(size), _) => {
                    moments.sent(size);
                    session.unsent.drain(..size);
                }
                // The alert couldn't be delivered; why it was sent matters more.
                (Err(_), Err(error)) => return Err(from_tls(error, true)),
                (Err(failure), Ok(_)) => return Err(failure),
            }
        }
        match state {
            Err(error) => return Err(from_tls(&error, true)),
            Ok(State::Open) if !early.is_empty() && session.alpn() != Some(b"h2") => {
                return Err(Failure::LocalAlert(10));
            }
            Ok(State::Open) => {
                session.early = early;
                return Ok(session);
            }
            Ok(State::Closed) => return Err(Failure::Ended(Truncated::Empty)),
            Ok(State::Handshaking) => {}
        }
        state = poll_fn(|cx| {
            let mut scratch = network.scratch.borrow_mut();
            let scratch = &mut *scratch;
            let (size, kept) = ready!(connection.poll_append(cx, scratch, &session.partial))?;
            if size == 0 {
                let is_cut = !session.partial.is_empty();
                let end = if is_cut { Truncated::Partial } else { Truncated::Empty };
                return Poll::Ready(Err(Failure::Ended(end)));
            }
            moments.received(size);
            let incoming = &mut scratch.read[..kept + size];
            Poll::Ready(Ok(session.shake(incoming, |bytes| early.extend_from_slice(bytes))))
        })
        .await?;
    }
}
