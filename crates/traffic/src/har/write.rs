//! A recording as a HAR file.

use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brunt_moment::{Stamps, zone};
use serde_json::{Value, json};

use crate::{Body, Exchange, Headers, Message, Recording, Resource, Side};

/// A larger body is not written: readers hold the whole file in memory.
const BODY_MAX: u64 = 64 << 20;

/// Writes HAR 1.2, entry by entry. Steps are its pages; messages of WebSockets and events are where Chrome has them.
///
/// Cookies, passwords and tokens are in it, as they were sent.
///
/// # Errors
/// `to` cannot be written, or the file of a body cannot be read.
pub fn write(recording: &Recording, mut to: impl Write) -> io::Result<()> {
    let times = Times(recording.began.unwrap_or_default());
    let pages: Vec<Value> = recording
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            json!({
                "startedDateTime": times.stamp(step.at),
                "id": page_id(index),
                "title": step.name,
                "pageTimings": {},
            })
        })
        .collect();
    let creator = json!({ "name": "Brunt", "version": env!("CARGO_PKG_VERSION") });
    write!(
        to,
        "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":{},\"entries\":[",
        Value::from(pages)
    )?;
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        to.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        let page = recording.steps.iter().rposition(|step| step.at <= exchange.sent);
        serde_json::to_writer(&mut to, &entry(exchange, page, &times)?)?;
    }
    to.write_all(b"\n]}}\n")?;
    to.flush()
}

/// The second that the recording began in.
struct Times(i64);

impl Times {
    fn stamp(&self, at: Duration) -> String {
        let nanos = u128::from(self.0.max(0).unsigned_abs()) * 1_000_000_000 + at.as_nanos();
        // To the microsecond: some readers take no more digits.
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX) / 1000 * 1000;
        let mut text = Vec::new();
        Stamps::new(zone(0)).push_nano(&mut text, nanos);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Seconds since 1970, as Chrome writes the times of messages.
    fn seconds(&self, at: Duration) -> f64 {
        self.0 as f64 + at.as_secs_f64()
    }
}

fn page_id(index: usize) -> String {
    format!("page_{}", index + 1)
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn entry(exchange: &Exchange, page: Option<usize>, times: &Times) -> io::Result<Value> {
    let time = milliseconds(exchange.done.saturating_sub(exchange.sent));
    let mut entry = json!({
        "startedDateTime": times.stamp(exchange.sent),
        "time": time,
        "request": request(exchange)?,
        "response": response(exchange)?,
        "cache": {},
        "timings": { "send": 0, "wait": time, "receive": 0 },
    });
    let mut set = |name: &str, value: Value| entry[name] = value;
    if let Some(page) = page {
        set("pageref", page_id(page).into());
    }
    if let Some(resource) = exchange.resource {
        set("_resourceType", resource_type(resource).into());
    }
    if !exchange.messages.is_empty() {
        let messages = exchange.messages.iter().map(|message| socket_message(message, times));
        set("_webSocketMessages", messages.collect());
    }
    if !exchange.events.is_empty() {
        let events = exchange.events.iter().map(|event| {
            json!({
                "time": times.seconds(event.at), "eventName": event.kind, "eventId": "",
                "data": event.data,
            })
        });
        set("_eventSourceMessages", events.collect());
    }
    Ok(entry)
}

fn socket_message(message: &Message, times: &Times) -> Value {
    let (opcode, data) = if message.is_text {
        (1, String::from_utf8_lossy(&message.data).into_owned())
    } else {
        (2, STANDARD.encode(&message.data))
    };
    let kind = match message.from {
        Side::Client => "send",
        Side::Server => "receive",
    };
    json!({ "type": kind, "time": times.seconds(message.at), "opcode": opcode, "data": data })
}

fn request(exchange: &Exchange) -> io::Result<Value> {
    let request = &exchange.request;
    let query = request.url.query_pairs();
    let cookies = request.headers.all("cookie").flat_map(|value| value.split(';'));
    let mut all = json!({
        "method": request.method,
        "url": request.url.as_str(),
        "httpVersion": version(exchange),
        "cookies": cookies.filter_map(cookie).collect::<Value>(),
        "headers": headers(&request.headers),
        "queryString":
            query.map(|(name, value)| json!({ "name": name, "value": value })).collect::<Value>(),
        "headersSize": -1,
        "bodySize": size(&request.body),
    });
    if !matches!(request.body, Body::Empty) {
        let media_type = request.headers.get("content-type").unwrap_or_default();
        let mut data = json!({ "mimeType": media_type, "text": "" });
        match text(&request.body)? {
            Text::Plain(text) => data["text"] = text.into(),
            Text::Base64(text) => {
                data["text"] = text.into();
                // HAR 1.2 knows base64 in responses alone; this is Chrome's name for it.
                data["_encoding"] = "base64".into();
            }
            Text::Absent(why) => data["comment"] = why.into(),
        }
        all["postData"] = data;
    }
    Ok(all)
}

fn response(exchange: &Exchange) -> io::Result<Value> {
    let Some(response) = &exchange.response else {
        let why = exchange.failure.as_deref().unwrap_or("no response came");
        return Ok(json!({
            "status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
            "content": { "size": 0, "mimeType": "x-unknown" },
            "redirectURL": "", "headersSize": -1, "bodySize": -1, "_error": why,
        }));
    };
    let media_type = response.headers.get("content-type").unwrap_or_default();
    let mut content = json!({ "size": size(&response.body).max(0), "mimeType": media_type });
    match text(&response.body)? {
        Text::Plain(text) => content["text"] = text.into(),
        Text::Base64(text) => {
            content["text"] = text.into();
            content["encoding"] = "base64".into();
        }
        Text::Absent(why) => content["comment"] = why.into(),
    }
    let cookies = response.headers.all("set-cookie");
    let mut all = json!({
        "status": response.status,
        "statusText": "",
        "httpVersion": version(exchange),
        "cookies": cookies.filter_map(|text| cookie(text.split(';').next()?)).collect::<Value>(),
        "headers": headers(&response.headers),
        "content": content,
        "redirectURL": response.headers.get("location").unwrap_or_default(),
        "headersSize": -1,
        "bodySize": -1,
    });
    if let Some(why) = &exchange.failure {
        all["_error"] = why.as_str().into();
    }
    Ok(all)
}

fn version(exchange: &Exchange) -> &str {
    exchange.request.version.as_deref().unwrap_or_default()
}

fn headers(headers: &Headers) -> Value {
    headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn cookie(pair: &str) -> Option<Value> {
    let (name, value) = pair.trim().split_once('=')?;
    Some(json!({ "name": name, "value": value }))
}

fn size(body: &Body) -> i64 {
    body.size().map_or(-1, |size| i64::try_from(size).unwrap_or(i64::MAX))
}

/// A body as JSON can carry it.
enum Text {
    Plain(String),
    Base64(String),
    Absent(String),
}

fn text(body: &Body) -> io::Result<Text> {
    if let Body::Absent { why, .. } = body {
        return Ok(Text::Absent(why.clone()));
    }
    if body.size().is_some_and(|size| size > BODY_MAX) {
        return Ok(Text::Absent(format!("it is larger than {} MiB", BODY_MAX >> 20)));
    }
    let bytes = body.read()?;
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) => Text::Plain(text.to_owned()),
        Err(_) => Text::Base64(STANDARD.encode(&bytes)),
    })
}

fn resource_type(resource: Resource) -> &'static str {
    match resource {
        Resource::Document => "document",
        Resource::Stylesheet => "stylesheet",
        Resource::Script => "script",
        Resource::Image => "image",
        Resource::Font => "font",
        Resource::Media => "media",
        Resource::Fetch => "fetch",
        Resource::WebSocket => "websocket",
        Resource::EventSource => "eventsource",
        Resource::Preflight => "preflight",
        Resource::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use url::Url;

    use super::*;
    use crate::{Event, Request, Response, Step};

    fn exchange(number: usize, at: u64, body: Body) -> Exchange {
        let headers = |pairs: &[(&str, &str)]| {
            Headers(pairs.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect())
        };
        Exchange {
            number,
            sent: Duration::from_millis(at),
            done: Duration::from_micros(at * 1000 + 1500),
            request: Request {
                method: "POST".to_owned(),
                url: Url::parse("https://shop.test/a?b=c%20d").unwrap(),
                version: Some("h2".to_owned()),
                headers: headers(&[("cookie", "sid=1; x=y=z"), ("content-type", "text/plain")]),
                body: Body::Bytes(Bytes::from("hello")),
            },
            response: Some(Response {
                status: 302,
                headers: headers(&[("set-cookie", "sid=2; Path=/"), ("location", "/b")]),
                body,
            }),
            failure: None,
            resource: Some(Resource::Document),
            messages: Vec::new(),
            events: Vec::new(),
        }
    }

    fn written(recording: &Recording) -> Value {
        let mut out = Vec::new();
        write(recording, &mut out).unwrap();
        serde_json::from_slice::<Value>(&out).unwrap()["log"].clone()
    }

    #[test]
    fn entries_have_all_that_har_wants() {
        let mut failed = exchange(2, 3000, Body::Empty);
        failed.response = None;
        failed.failure = Some("connection refused".to_owned());
        let mut socket = exchange(1, 2000, Body::Bytes(Bytes::from(&b"\xff\x00"[..])));
        socket.request.body = Body::Bytes(Bytes::from(&b"\xfe"[..]));
        socket.messages = vec![
            Message {
                at: Duration::from_millis(2500),
                from: Side::Client,
                is_text: true,
                data: Bytes::from("hi"),
            },
            Message {
                at: Duration::from_millis(2600),
                from: Side::Server,
                is_text: false,
                data: Bytes::from(&b"\x01"[..]),
            },
        ];
        socket.events = vec![Event {
            at: Duration::from_millis(2500),
            kind: "tick".to_owned(),
            data: "1".to_owned(),
        }];
        let recording = Recording {
            began: Some(1_600_000_000),
            exchanges: vec![exchange(0, 10, Body::Bytes(Bytes::from("moved"))), socket, failed],
            steps: vec![Step { at: Duration::from_secs(1), name: "Basket".to_owned() }],
            ..Recording::default()
        };
        let log = written(&recording);
        assert_eq!((&log["version"], &log["creator"]["name"]), (&json!("1.2"), &json!("Brunt")));
        assert_eq!(log["pages"][0]["title"], "Basket");
        let [first, second, third] = [&log["entries"][0], &log["entries"][1], &log["entries"][2]];
        assert_eq!(first["startedDateTime"], "2020-09-13T12:26:40.01Z");
        assert_eq!((&first["time"], &first["pageref"]), (&json!(1.5), &Value::Null));
        assert_eq!(first["request"]["queryString"], json!([{ "name": "b", "value": "c d" }]));
        assert_eq!(first["request"]["cookies"][1], json!({ "name": "x", "value": "y=z" }));
        assert_eq!(first["request"]["postData"]["text"], "hello");
        assert_eq!(first["response"]["content"]["text"], "moved");
        assert_eq!(first["response"]["redirectURL"], "/b");
        assert_eq!(first["response"]["cookies"], json!([{ "name": "sid", "value": "2" }]));
        assert_eq!(second["pageref"], "page_1");
        assert_eq!(second["request"]["postData"]["_encoding"], "base64");
        assert_eq!(second["response"]["content"]["encoding"], "base64");
        assert_eq!(second["_webSocketMessages"][0]["data"], "hi");
        assert_eq!(second["_webSocketMessages"][1]["data"], "AQ==");
        assert_eq!(second["_webSocketMessages"][1]["type"], "receive");
        assert_eq!(second["_eventSourceMessages"][0]["eventName"], "tick");
        assert_eq!(third["response"]["status"], 0);
        assert_eq!(third["response"]["_error"], "connection refused");
    }

    #[test]
    fn a_body_that_is_not_there_says_why() {
        let body = Body::Absent { why: "it is larger than 64 MiB".to_owned(), size: Some(1 << 31) };
        let recording = Recording { exchanges: vec![exchange(0, 0, body)], ..Recording::default() };
        let content = &written(&recording)["entries"][0]["response"]["content"];
        assert_eq!(content["size"], 1_u64 << 31);
        assert_eq!(content["comment"], "it is larger than 64 MiB");
        assert_eq!(content["text"], Value::Null);
        assert_eq!(written(&Recording::default())["entries"], json!([]));
    }
}
