//! The answer to each command.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::store::{Expiry, Life, MEMORY_MAX, Store, When};

/// An answer in RESP2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `+OK`
    Simple(&'static str),
    /// `-ERR …`
    Error(String),
    /// `:1`
    Integer(i64),
    /// `$3`, or the null bulk string.
    Bulk(Option<Bytes>),
    /// `*2`
    Array(Vec<Answer>),
}

impl Answer {
    /// Appends the answer's bytes.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        match self {
            Self::Simple(text) => line(out, b'+', text),
            Self::Error(text) => line(out, b'-', text),
            Self::Integer(number) => line(out, b':', &number.to_string()),
            Self::Bulk(None) => out.extend_from_slice(b"$-1\r\n"),
            Self::Bulk(Some(bytes)) => {
                line(out, b'$', &bytes.len().to_string());
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Self::Array(items) => {
                line(out, b'*', &items.len().to_string());
                for item in items {
                    item.encode(out);
                }
            }
        }
    }
}

fn line(out: &mut BytesMut, kind: u8, text: &str) {
    out.extend_from_slice(&[kind]);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// A command, its name in capitals. The connection itself sees to (un)subscribing and `QUIT`.
pub(crate) fn run(store: &Store, name: &str, arguments: &[Bytes]) -> Answer {
    let wrong_count = || {
        Answer::Error(format!(
            "ERR wrong number of arguments for '{}' command",
            name.to_lowercase()
        ))
    };
    match (name, arguments) {
        ("PING", []) => Answer::Simple("PONG"),
        ("PING" | "ECHO", [text]) => Answer::Bulk(Some(text.clone())),
        ("GET", [key]) => Answer::Bulk(store.get(key)),
        ("SET", [key, value, options @ ..]) => set(store, key, value, options),
        ("SETEX", [key, seconds, value]) => with_time(seconds, Duration::from_secs, |time| {
            store.set(key, value, Expiry::After(time), When::Always);
            Answer::Simple("OK")
        }),
        ("DEL" | "UNLINK", [_, ..]) => count(arguments, |key| store.delete(key)),
        ("EXISTS", [_, ..]) => count(arguments, |key| store.exists(key)),
        ("EXPIRE", [key, seconds]) => expire(store, key, seconds, Duration::from_secs),
        ("PEXPIRE", [key, millis]) => expire(store, key, millis, Duration::from_millis),
        ("TTL", [key]) => life(store.life(key), |left| (left.as_millis() as i64 + 500) / 1000),
        ("PTTL", [key]) => life(store.life(key), |left| left.as_millis() as i64),
        ("PUBLISH", [channel, payload]) => {
            Answer::Integer(store.publish(channel.clone(), payload.clone()) as i64)
        }
        ("FLUSHALL" | "FLUSHDB", _) => {
            store.flush();
            Answer::Simple("OK")
        }
        ("DBSIZE", []) => Answer::Integer(store.size().0 as i64),
        ("INFO", _) => Answer::Bulk(Some(info(store))),
        ("SELECT", [_]) | ("CLIENT" | "RESET", _) => Answer::Simple("OK"),
        ("COMMAND", _) => Answer::Array(Vec::new()),
        ("HELLO", [version, ..]) if version.as_ref() != b"2" => {
            Answer::Error("NOPROTO unsupported protocol version".to_owned())
        }
        ("HELLO", _) => hello(),
        (
            "GET" | "SET" | "SETEX" | "DEL" | "UNLINK" | "EXISTS" | "EXPIRE" | "PEXPIRE" | "TTL"
            | "PTTL" | "PUBLISH" | "PING" | "ECHO" | "SELECT" | "DBSIZE",
            _,
        ) => wrong_count(),
        _ => Answer::Error(format!(
            "ERR unknown command '{}', the demo's Redis stand-in knows only a subset",
            name.chars().take(64).collect::<String>()
        )),
    }
}

fn number(bytes: &[u8]) -> Option<i64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn not_an_integer() -> Answer {
    Answer::Error("ERR value is not an integer or out of range".to_owned())
}

/// Reads a positive amount of time and goes on with it.
fn with_time(
    text: &[u8],
    unit: fn(u64) -> Duration,
    then: impl FnOnce(Duration) -> Answer,
) -> Answer {
    match number(text) {
        None => not_an_integer(),
        // A hundred years, so that no sum overflows.
        Some(amount @ 1..=3_153_600_000_000) => then(unit(amount as u64).min(CENTURY)),
        Some(_) => Answer::Error("ERR invalid expire time".to_owned()),
    }
}

const CENTURY: Duration = Duration::from_hours(876_000);

fn set(store: &Store, key: &Bytes, value: &Bytes, mut options: &[Bytes]) -> Answer {
    let mut when = When::Always;
    let mut expiry = Expiry::Never;
    let mut wants_old = false;
    while let [option, rest @ ..] = options {
        options = rest;
        match option.to_ascii_uppercase().as_slice() {
            b"NX" => when = When::Absent,
            b"XX" => when = When::Present,
            b"GET" => wants_old = true,
            b"KEEPTTL" => expiry = Expiry::Keep,
            unit @ (b"EX" | b"PX") => {
                let [amount, rest @ ..] = options else {
                    return Answer::Error("ERR syntax error".to_owned());
                };
                options = rest;
                let unit = if unit == b"EX" { Duration::from_secs } else { Duration::from_millis };
                let read = with_time(amount, unit, |time| {
                    expiry = Expiry::After(time);
                    Answer::Simple("OK")
                });
                if let Answer::Error(_) = read {
                    return read;
                }
            }
            _ => return Answer::Error("ERR syntax error".to_owned()),
        }
    }
    let old = wants_old.then(|| store.get(key));
    let done = store.set(key, value, expiry, when);
    match old {
        Some(old) => Answer::Bulk(old),
        None if done => Answer::Simple("OK"),
        None => Answer::Bulk(None),
    }
}

fn expire(store: &Store, key: &[u8], amount: &[u8], unit: fn(u64) -> Duration) -> Answer {
    match number(amount) {
        None => not_an_integer(),
        // A time in the past deletes, as in Redis.
        Some(..=0) => Answer::Integer(i64::from(store.delete(key))),
        Some(amount) => {
            Answer::Integer(i64::from(store.expire(key, unit(amount as u64).min(CENTURY))))
        }
    }
}

fn count(keys: &[Bytes], applies: impl Fn(&[u8]) -> bool) -> Answer {
    Answer::Integer(keys.iter().filter(|key| applies(key)).count() as i64)
}

fn life(life: Life, unit: impl Fn(Duration) -> i64) -> Answer {
    Answer::Integer(match life {
        Life::Absent => -2,
        Life::Endless => -1,
        Life::Left(left) => unit(left),
    })
}

fn hello() -> Answer {
    let text = |text: &'static str| Answer::Bulk(Some(Bytes::from_static(text.as_bytes())));
    Answer::Array(vec![
        text("server"),
        text("redis"),
        text("version"),
        text(VERSION),
        text("proto"),
        Answer::Integer(2),
        text("mode"),
        text("standalone"),
        text("role"),
        text("master"),
    ])
}

/// The Redis whose commands are imitated.
const VERSION: &str = "7.0.0";

fn info(store: &Store) -> Bytes {
    use std::sync::atomic::Ordering::Relaxed;
    let (keys, bytes, evicted) = store.size();
    Bytes::from(format!(
        "# Server\r\nredis_version:{VERSION}\r\nredis_mode:standalone\r\nserver_name:brunt-demo\r\n\r\n\
         # Clients\r\nconnected_clients:{}\r\n\r\n\
         # Memory\r\nused_memory:{bytes}\r\nmaxmemory:{MEMORY_MAX}\r\n\r\n\
         # Stats\r\ntotal_commands_processed:{}\r\nevicted_keys:{evicted}\r\n\r\n\
         # Keyspace\r\ndb0:keys={keys},expires=0,avg_ttl=0\r\n",
        store.clients.load(Relaxed),
        store.commands.load(Relaxed),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(store: &Store, command: &str) -> Answer {
        let mut words = command.split(' ').map(|word| Bytes::copy_from_slice(word.as_bytes()));
        let name = words.next().unwrap();
        run(store, std::str::from_utf8(&name).unwrap(), &words.collect::<Vec<_>>())
    }

    #[tokio::test(start_paused = true)]
    async fn commands_answer_as_redis_does() {
        let store = Store::default();
        let bulk = |text: &'static str| Answer::Bulk(Some(Bytes::from_static(text.as_bytes())));
        assert_eq!(ask(&store, "SET a 1 EX 10"), Answer::Simple("OK"));
        assert_eq!(ask(&store, "TTL a"), Answer::Integer(10));
        assert_eq!(ask(&store, "SET a 2 NX"), Answer::Bulk(None));
        assert_eq!(ask(&store, "SET a 3 XX GET KEEPTTL"), bulk("1"));
        assert_eq!(ask(&store, "GET a"), bulk("3"));
        assert_eq!(ask(&store, "PTTL a"), Answer::Integer(10_000));
        assert_eq!(ask(&store, "TTL none"), Answer::Integer(-2));
        assert_eq!(ask(&store, "DEL a b"), Answer::Integer(1));
        assert_eq!(ask(&store, "SETEX b 5 x"), Answer::Simple("OK"));
        assert_eq!(ask(&store, "EXPIRE b -1"), Answer::Integer(1));
        assert_eq!(ask(&store, "GET b"), Answer::Bulk(None));
    }

    #[tokio::test]
    async fn what_is_wrong_is_said() {
        let store = Store::default();
        for (command, part) in [
            ("GET", "wrong number of arguments for 'get'"),
            ("SET a 1 EX", "syntax error"),
            ("SET a 1 EX 0", "invalid expire"),
            ("SET a 1 EX ten", "not an integer"),
            ("LPUSH a 1", "unknown command 'LPUSH'"),
            ("HELLO 3", "NOPROTO"),
        ] {
            let Answer::Error(message) = ask(&store, command) else { panic!("{command} passed") };
            assert!(message.contains(part), "{command}: {message}");
        }
    }
}
