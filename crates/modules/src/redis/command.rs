//! The commands of a client: what each takes, and what it gives.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, JsResult, Members, Value};

use super::{is_connected, run};
use crate::reading::text_or_empty;

/// The form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// As it comes.
    Any,
    /// 0 is false.
    Flag,
    /// A time to live.
    Seconds,
    /// A list that may be missing.
    List,
    /// Names and values in turn make an object.
    Pairs,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A key, or a field of a hash: anything, as text.
    Key,
    /// A string, number or boolean.
    Value,
    /// A whole number.
    Integer,
    /// Any number of keys.
    Keys,
    /// Any number of values.
    Values,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Command {
    name: &'static CStr,
    takes: &'static [Takes],
    pub(super) shape: Shape,
}

impl Command {
    /// Whether its first argument tells where in a cluster it belongs. Of [`SEND`], which may be anything, it mostly does.
    pub(super) fn has_key(&self) -> bool {
        !self.takes.is_empty()
    }

    /// The command as it is sent; the inner error is why not.
    pub(super) fn encode<'js>(
        &self,
        call: &Call<'js>,
    ) -> JsResult<'js, Result<Vec<Vec<u8>>, String>> {
        let mut parts = Vec::new();
        if self.name != SEND {
            parts.push(self.name.to_bytes().to_ascii_uppercase());
        }
        for (index, takes) in self.takes.iter().enumerate() {
            let rest = match takes {
                Takes::Keys | Takes::Values => call.arguments_from(index),
                _ => vec![call.argument(index)],
            };
            for (more, argument) in rest.iter().enumerate() {
                match takes {
                    Takes::Key | Takes::Keys => parts.push(text_or_empty(argument)?.into_bytes()),
                    Takes::Integer => parts.push(integer(argument)?.to_string().into_bytes()),
                    Takes::Value | Takes::Values => match scalar(argument)? {
                        Some(text) => parts.push(text.into_bytes()),
                        None => return Ok(Err(unsupported(index + more))),
                    },
                }
            }
        }
        if self.name == SET {
            expiration(&mut parts);
        }
        if parts.is_empty() {
            // Without a word there would be no answer either.
            parts.push(Vec::new());
        }
        Ok(Ok(parts))
    }
}

fn unsupported(index: usize) -> String {
    format!(
        "unsupported type provided for argument at index {index}, supported types are string, number, and boolean"
    )
}

/// The text of a value that may be stored; `None` for anything else.
fn scalar<'js>(value: &Value<'js>) -> JsResult<'js, Option<String>> {
    if let Some(value) = value.as_bool() {
        return Ok(Some(if value { "1" } else { "0" }.to_owned()));
    }
    if value.is_string() || value.is_number() {
        return value.to_string_lossy().map(Some);
    }
    Ok(None)
}

fn integer<'js>(value: &Value<'js>) -> JsResult<'js, i64> {
    if value.is_nullish() { Ok(0) } else { value.to_integer() }
}

/// `SET key value seconds`, as the server wants it: without the seconds if there are none.
fn expiration(parts: &mut Vec<Vec<u8>>) {
    let Some(seconds) = parts.pop() else { return };
    if !seconds.starts_with(b"-") && seconds != b"0" {
        parts.push(b"EX".to_vec());
        parts.push(seconds);
    }
}

const SEND: &CStr = c"sendCommand";
const SET: &CStr = c"set";

/// Adds methods to members, each with a row of its own.
macro_rules! commands {
    ($members:expr, $($name:literal ($($takes:ident),*) -> $shape:ident;)*) => {{
        let members = $members;
        $(
            let members = members.function($name, 1, |call| {
                static ROW: Command = Command {
                    name: $name,
                    takes: &[$(Takes::$takes),*],
                    shape: Shape::$shape,
                };
                run(&call, &ROW)
            });
        )*
        members
    }};
}

/// The methods of `Client`.
pub(super) fn members() -> &'static Members {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
        let members = Members::new().function(c"isConnected", 0, is_connected);
        commands! { members,
            c"set"(Key, Value, Integer) -> Any;
            c"get"(Key) -> Any;
            c"getSet"(Key, Value) -> Any;
            c"del"(Keys) -> Any;
            c"getDel"(Key) -> Any;
            c"exists"(Keys) -> Any;
            c"incr"(Key) -> Any;
            c"incrBy"(Key, Integer) -> Any;
            c"decr"(Key) -> Any;
            c"decrBy"(Key, Integer) -> Any;
            c"randomKey"() -> Any;
            c"mget"(Keys) -> List;
            c"expire"(Key, Integer) -> Flag;
            c"ttl"(Key) -> Seconds;
            c"persist"(Key) -> Flag;
            c"lpush"(Key, Values) -> Any;
            c"rpush"(Key, Values) -> Any;
            c"lpop"(Key) -> Any;
            c"rpop"(Key) -> Any;
            c"lrange"(Key, Integer, Integer) -> List;
            c"lindex"(Key, Integer) -> Any;
            c"lset"(Key, Integer, Value) -> Any;
            c"lrem"(Key, Integer, Value) -> Any;
            c"llen"(Key) -> Any;
            c"hset"(Key, Key, Value) -> Any;
            c"hsetnx"(Key, Key, Value) -> Flag;
            c"hget"(Key, Key) -> Any;
            c"hdel"(Key, Keys) -> Any;
            c"hgetall"(Key) -> Pairs;
            c"hkeys"(Key) -> List;
            c"hvals"(Key) -> List;
            c"hlen"(Key) -> Any;
            c"hincrby"(Key, Key, Integer) -> Any;
            c"sadd"(Key, Values) -> Any;
            c"srem"(Key, Values) -> Any;
            c"sismember"(Key, Value) -> Flag;
            c"smembers"(Key) -> List;
            c"srandmember"(Key) -> Any;
            c"spop"(Key) -> Any;
            c"sendCommand"(Values) -> Any;
        }
    });
    &MEMBERS
}
