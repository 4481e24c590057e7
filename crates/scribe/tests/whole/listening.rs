//! WebSockets and events.

use std::time::Duration;

use brunt_correlate::plan::{Finder, Place};
use brunt_traffic::{Event, Message, Resource, Side};

use crate::session::{Journey, iteration, value};

#[test]
fn a_socket_answers_each_message_as_the_client_did() {
    let mut journey = Journey::new();
    let exchange = journey.send(0, "GET", "ws://127.0.0.1:8080/ws/echo", Resource::WebSocket);
    exchange.response.as_mut().unwrap().status = 101;
    let all = [
        (Side::Client, "{\"hello\":1}"),
        (Side::Server, "{\"hello\":1}"),
        (Side::Client, "1"),
        (Side::Server, "1"),
    ];
    exchange.messages = all
        .iter()
        .map(|(from, text)| Message {
            at: Duration::ZERO,
            from: *from,
            is_text: true,
            data: (*text).into(),
        })
        .collect();
    let events = journey.send(100, "GET", "/sse?n=2&every=10ms", Resource::EventSource);
    events.events = (0..2)
        .map(|n| Event { at: Duration::ZERO, kind: "tick".to_owned(), data: n.to_string() })
        .collect();
    let finder = Finder::Message { nth: 0, inside: None };
    let hello = journey.extract(0, "hello", "1", finder);
    journey.put(0, Place::Message(2), vec![value(hello)]);
    let script = journey.script("listening");
    insta::assert_snapshot!(iteration(&script), @"");
}
