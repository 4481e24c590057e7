//! The members of a HAR file that are read. A member of another kind than expected counts as missing, of members with one
//! name the last one counts, and unknown ones are skipped: as the browsers' own readers have it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text. Numbers and booleans are taken as they are written, `null` and the rest as an empty one.
#[derive(Debug, Default, Clone)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'a> Text<'a> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of_json(json: &'a str) -> Self {
        let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return match json.as_bytes().first() {
                Some(b'{' | b'[') | None => Self::default(),
                Some(_) if json == "null" => Self::default(),
                Some(_) => Self(Cow::Borrowed(json)),
            };
        };
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Self(Cow::Borrowed(inner));
        }
        // As bytes, half a surrogate pair is no error: JavaScript's strings may end in one, and pages are cut anywhere.
        let bytes = serde_json::from_str::<Unchecked>(json).map(|text| text.0).unwrap_or_default();
        Self(Cow::Owned(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self::of_json(raw.get()))
    }
}

/// The bytes of a JSON string, which need not be UTF-8.
struct Unchecked(Vec<u8>);

impl<'de> Deserialize<'de> for Unchecked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Unchecked;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Unchecked, E> {
                Ok(Unchecked(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A finite number; one in a text counts, too.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    /// A size in bytes: -1 is how HAR says that it is unknown.
    pub(super) fn size(self) -> Option<u64> {
        self.0.filter(|size| *size >= 0.0).map(|size| size as u64)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        let number = text.as_str().trim().parse::<f64>().ok();
        Ok(Self(number.filter(|number| number.is_finite())))
    }
}

/// Whether a member is there and neither `null`, `false`, 0 nor an empty text.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(!matches!(raw.get(), "null" | "false" | "0" | "\"\"")))
    }
}

/// A list; anything else is an empty one.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A visitor of one kind of value; values of other kinds are read over, and the default is taken.
pub(super) struct Lenient<T>(PhantomData<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// The methods for scalars, which all give the default.
macro_rules! scalars_are_missing {
    () => {
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a member of a HAR file")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Lenient<List<T>> {
    type Value = List<T>;

    scalars_are_missing!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = seq.next_element()? {
            all.push(element);
        }
        Ok(List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(List::default())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient::<Self>::default())
    }
}

/// An object with its members by name.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($key:literal => $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'a> {
            $(pub(super) $field: $type,)*
            _input: PhantomData<&'a ()>,
        }

        impl<'de> Visitor<'de> for Lenient<$name<'de>> {
            type Value = $name<'de>;

            scalars_are_missing!();

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Self::Value::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut object = Self::Value::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.as_str() {
                        $($key => object.$field = map.next_value()?,)*
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(object)
            }
        }

        impl<'de> Deserialize<'de> for $name<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Lenient::<Self>::default())
            }
        }
    };
}

object!(
    /// The program that wrote the file, or the browser that it watched.
    Program {
        "name" => name: Text<'a>,
        "version" => version: Text<'a>,
    }
);

object!(
    /// A page, or a group of k6 Studio.
    Page {
        "id" => id: Text<'a>,
        "title" => title: Text<'a>,
    }
);

object!(
    /// A request and its response.
    Entry {
        "pageref" => page: Text<'a>,
        "startedDateTime" => started: Text<'a>,
        "time" => time: Number,
        "timings" => timings: Timings<'a>,
        "request" => request: Request<'a>,
        "response" => response: Response<'a>,
        "_resourceType" => resource: Text<'a>,
        "_fromCache" => from_cache: Flag,
        "_error" => error: Text<'a>,
        "_webSocketMessages" => messages: List<Message<'a>>,
        "_eventSourceMessages" => events: List<Event<'a>>,
    }
);

object!(
    /// In milliseconds, -1 for a phase that there was none of.
    Timings {
        "blocked" => blocked: Number,
        "dns" => dns: Number,
        "connect" => connect: Number,
        "send" => send: Number,
        "wait" => wait: Number,
        "receive" => receive: Number,
    }
);

object!(
    /// The request of an entry.
    Request {
        "method" => method: Text<'a>,
        "url" => url: Text<'a>,
        "httpVersion" => version: Text<'a>,
        "headers" => headers: List<Pair<'a>>,
        "cookies" => cookies: List<Cookie<'a>>,
        "bodySize" => body_size: Number,
        "postData" => body: PostData<'a>,
    }
);

object!(
    /// The response of an entry.
    Response {
        "status" => status: Number,
        "statusText" => status_text: Text<'a>,
        "httpVersion" => version: Text<'a>,
        "headers" => headers: List<Pair<'a>>,
        "cookies" => cookies: List<Cookie<'a>>,
        "redirectURL" => redirect: Text<'a>,
        "bodySize" => body_size: Number,
        "content" => content: Content<'a>,
        "_error" => error: Text<'a>,
        "_failureText" => failure: Text<'a>,
        "_fetchedViaServiceWorker" => via_worker: Flag,
    }
);

object!(
    /// A header.
    Pair {
        "name" => name: Text<'a>,
        "value" => value: Text<'a>,
    }
);

object!(
    /// A cookie of a request or of a response.
    Cookie {
        "name" => name: Text<'a>,
        "value" => value: Text<'a>,
        "path" => path: Text<'a>,
        "domain" => domain: Text<'a>,
    }
);

object!(
    /// The body of a request.
    PostData {
        "mimeType" => media_type: Text<'a>,
        "text" => text: Option<Text<'a>>,
        "params" => params: List<Param<'a>>,
        "encoding" => encoding: Text<'a>,
        "_encoding" => own_encoding: Text<'a>,
        "_isBase64" => is_base64: Flag,
        "isBase64" => says_base64: Flag,
        "_file" => file: Text<'a>,
    }
);

object!(
    /// A field of a form.
    Param {
        "name" => name: Text<'a>,
        "value" => value: Text<'a>,
        "fileName" => file_name: Option<Text<'a>>,
        "contentType" => content_type: Text<'a>,
    }
);

object!(
    /// The body of a response.
    Content {
        "size" => size: Number,
        "mimeType" => media_type: Text<'a>,
        "text" => text: Option<Text<'a>>,
        "encoding" => encoding: Text<'a>,
        "comment" => comment: Text<'a>,
        "_file" => file: Text<'a>,
    }
);

object!(
    /// A message of a WebSocket.
    Message {
        "type" => kind: Text<'a>,
        "time" => time: Number,
        "opcode" => opcode: Number,
        "data" => data: Text<'a>,
    }
);

object!(
    /// An event of `text/event-stream`.
    Event {
        "time" => time: Number,
        "eventName" => kind: Text<'a>,
        "eventId" => id: Text<'a>,
        "data" => data: Text<'a>,
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_wrong_kinds_count_as_missing_and_the_last_of_doubles_counts() {
        let json = r#"{"pageref": 7, "time": "12.5", "timings": [1], "request": null, "time": 3e400,
            "response": {"status": "200", "headers": {"a": 1}, "content": "no"}, "request": {"method": "GET",
            "headers": [{"name": "a", "value": null}, 7, "x"], "x": {"y": [{}]}}}"#;
        let entry: Entry = serde_json::from_str(json).expect("JSON");
        assert_eq!((entry.page.as_str(), entry.time.0), ("7", None));
        assert_eq!(entry.response.status.0, Some(200.0));
        assert!(entry.response.headers.0.is_empty() && entry.response.content.text.is_none());
        assert_eq!(entry.request.method.as_str(), "GET");
        assert_eq!(entry.request.headers.0.len(), 3);
    }

    #[test]
    fn half_a_surrogate_pair_is_a_replacement_character() {
        let text = Text::of_json(r#""a\ud83d \u00e4\n""#);
        assert!(text.as_str().starts_with('a') && text.as_str().ends_with(" ä\n"));
        assert!(text.as_str().contains('\u{fffd}'));
        assert_eq!(Text::of_json("12").as_str(), "12");
        assert_eq!(Text::of_json("null").as_str(), "");
    }
}
