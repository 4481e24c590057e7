//! Connections of the Redis stand-in: requests in, answers and published messages out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast};
use tokio::time::sleep;

use super::command::{self, Answer};
use super::store::{Message, Store};
use crate::server::Halt;

/// Clients at once; more wait unaccepted.
const CLIENTS_MAX: usize = 1024;
/// Words of one command.
const WORDS_MAX: usize = 1024;
/// Bytes of one word; also of an inline command.
const WORD_MAX: usize = 16 << 20;
/// Channels that one connection may listen to.
const CHANNELS_MAX: usize = 1024;

/// Accepts clients until told to halt.
pub(crate) async fn serve(listener: TcpListener, store: Arc<Store>, mut halt: Halt) {
    let slots = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            () = halt.wait() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let store = store.clone();
        tokio::spawn(async move {
            store.clients.fetch_add(1, Relaxed);
            let client =
                Client { store: &store, channels: Vec::new(), messages: None, ends: false };
            if let Err(error) = client.run(stream).await {
                log::debug!(error = error.to_string().as_str(); "demo: Redis client ended");
            }
            store.clients.fetch_sub(1, Relaxed);
            drop(slot);
        });
    }
}

struct Client<'a> {
    store: &'a Store,
    channels: Vec<Bytes>,
    /// Open once the client subscribes to anything.
    messages: Option<broadcast::Receiver<Message>>,
    ends: bool,
}

impl Client<'_> {
    async fn run(mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut input = BytesMut::with_capacity(4096);
        let mut output = BytesMut::with_capacity(4096);
        while !self.ends {
            tokio::select! {
                read = stream.read_buf(&mut input) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    self.take_commands(&mut input, &mut output);
                }
                message = next(&mut self.messages) => match message {
                    Ok((channel, payload)) if self.channels.contains(&channel) => {
                        Answer::Array(vec![word("message"), Answer::Bulk(Some(channel)), Answer::Bulk(Some(payload))])
                            .encode(&mut output);
                    }
                    Ok(_) => {}
                    // Redis, too, disconnects subscribers that cannot follow.
                    Err(_) => return Ok(()),
                },
            }
            stream.write_all_buf(&mut output).await?;
        }
        stream.shutdown().await
    }

    /// Carries out every command that has come whole.
    fn take_commands(&mut self, input: &mut BytesMut, output: &mut BytesMut) {
        while !self.ends {
            match parse(input) {
                Ok(None) => return,
                Ok(Some(words)) if words.is_empty() => {}
                Ok(Some(words)) => {
                    self.store.count_command();
                    self.carry_out(&words, output);
                }
                Err(reason) => {
                    Answer::Error(format!("ERR Protocol error: {reason}")).encode(output);
                    self.ends = true;
                }
            }
        }
    }

    fn carry_out(&mut self, words: &[Bytes], output: &mut BytesMut) {
        let name = String::from_utf8_lossy(&words[0]).to_ascii_uppercase();
        let arguments = &words[1..];
        match name.as_str() {
            "QUIT" => {
                self.ends = true;
                Answer::Simple("OK").encode(output);
            }
            "SUBSCRIBE" => arguments.iter().for_each(|channel| self.subscribe(channel, output)),
            "UNSUBSCRIBE" => {
                let named =
                    if arguments.is_empty() { self.channels.clone() } else { arguments.to_vec() };
                for channel in &named {
                    self.channels.retain(|known| known != channel);
                    self.confirm("unsubscribe", channel, output);
                }
                if self.channels.is_empty() {
                    self.messages = None;
                }
            }
            // A subscriber's connection carries arrays only.
            "PING" if self.messages.is_some() => {
                let text = arguments.first().cloned().unwrap_or_default();
                Answer::Array(vec![word("pong"), Answer::Bulk(Some(text))]).encode(output);
            }
            name => command::run(self.store, name, arguments).encode(output),
        }
    }

    fn subscribe(&mut self, channel: &Bytes, output: &mut BytesMut) {
        if self.channels.len() >= CHANNELS_MAX {
            Answer::Error("ERR too many channels on this connection".to_owned()).encode(output);
            return;
        }
        if !self.channels.contains(channel) {
            self.channels.push(Bytes::copy_from_slice(channel));
        }
        if self.messages.is_none() {
            self.messages = Some(self.store.listen());
        }
        self.confirm("subscribe", channel, output);
    }

    fn confirm(&self, kind: &'static str, channel: &Bytes, output: &mut BytesMut) {
        let count = Answer::Integer(self.channels.len() as i64);
        Answer::Array(vec![word(kind), Answer::Bulk(Some(channel.clone())), count]).encode(output);
    }
}

fn word(text: &'static str) -> Answer {
    Answer::Bulk(Some(Bytes::from_static(text.as_bytes())))
}

/// The next published message; never returns without a subscription.
async fn next(
    messages: &mut Option<broadcast::Receiver<Message>>,
) -> Result<Message, broadcast::error::RecvError> {
    match messages {
        Some(messages) => messages.recv().await,
        None => std::future::pending().await,
    }
}

/// Takes one command off the front of `input`: an array of bulk strings, or an inline line.
///
/// `Ok(None)`: more bytes are needed. An empty command is to be ignored.
fn parse(input: &mut BytesMut) -> Result<Option<Vec<Bytes>>, String> {
    if input.is_empty() {
        return Ok(None);
    }
    if input[0] != b'*' {
        let Some(end) = memchr::memchr(b'\n', input) else {
            return if input.len() > 64 * 1024 {
                Err("too big inline request".into())
            } else {
                Ok(None)
            };
        };
        let line = input.split_to(end + 1).freeze();
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return Ok(Some(words.map(|word| line.slice_ref(word)).collect()));
    }
    let Some((count, mut at)) = length(input, 1, WORDS_MAX, "multibulk")? else {
        return Ok(None);
    };
    let mut spans = Vec::with_capacity(count);
    for _ in 0..count {
        match input.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(other) => return Err(format!("expected '$', got '{}'", char::from(*other))),
        }
        let Some((size, begin)) = length(input, at + 1, WORD_MAX, "bulk")? else {
            return Ok(None);
        };
        if input.len() < begin + size + 2 {
            return Ok(None);
        }
        spans.push(begin..begin + size);
        at = begin + size + 2;
    }
    let whole = input.split_to(at).freeze();
    // The next command starts in a fresh buffer, so that this one can be freed.
    if !input.has_remaining() {
        *input = BytesMut::with_capacity(4096);
    }
    Ok(Some(spans.into_iter().map(|span| whole.slice(span)).collect()))
}

/// A decimal number up to `max` with its CRLF, starting at `at`; also where it ends.
fn length(
    input: &[u8],
    at: usize,
    max: usize,
    what: &str,
) -> Result<Option<(usize, usize)>, String> {
    let rest = &input[at.min(input.len())..];
    let Some(end) = memchr::memchr(b'\n', rest) else {
        return if rest.len() > 32 { Err(format!("invalid {what} length")) } else { Ok(None) };
    };
    let digits = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
    let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<usize>().ok());
    match number {
        Some(number) if number <= max => Ok(Some((number, at + end + 1))),
        _ => Err(format!("invalid {what} length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_pieces_waits_for_its_end() {
        let whole = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
        for cut in 0..whole.len() {
            let mut input = BytesMut::from(&whole[..cut]);
            assert_eq!(parse(&mut input), Ok(None), "cut at {cut}");
            input.extend_from_slice(&whole[cut..]);
            assert_eq!(parse(&mut input).unwrap().unwrap(), ["GET", "k"]);
        }
    }

    #[test]
    fn an_inline_command_is_split_at_spaces() {
        let mut input = BytesMut::from("  PING  hello \r\nGET k\n");
        assert_eq!(parse(&mut input).unwrap().unwrap(), ["PING", "hello"]);
        assert_eq!(parse(&mut input).unwrap().unwrap(), ["GET", "k"]);
        assert_eq!(parse(&mut input), Ok(None));
    }

    #[test]
    fn sizes_beyond_the_limits_are_refused() {
        for bad in
            ["*99999999\r\n", "*1\r\n$99999999999\r\n", "*1\r\n$-1\r\n", "*1\r\n:1\r\n", "*x\r\n"]
        {
            assert!(parse(&mut BytesMut::from(bad)).is_err(), "{bad:?}");
        }
    }
}
