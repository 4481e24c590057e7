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
        .zip([100, 110, 2310, 2320])
        .map(|((from, text), ms)| Message {
            at: Duration::from_millis(ms),
            from: *from,
            is_text: true,
            data: (*text).into(),
        })
        .collect();
    let events = journey.send(2400, "GET", "/sse?n=2&every=10ms", Resource::EventSource);
    events.events = (0..2)
        .map(|n| Event { at: Duration::ZERO, kind: "tick".to_owned(), data: n.to_string() })
        .collect();
    let finder = Finder::Message { nth: 0, inside: None };
    let hello = journey.extract(0, "hello", "1", finder);
    journey.put(0, Place::Message(2), vec![value(hello)]);
    let script = journey.script("listening");
    insta::assert_snapshot!(iteration(&script), @r###"
    export default async function () {
      let hello;

      // A socket: 2 messages go out, 2 come in.
      await new Promise((resolve) => {
        const socket = new WebSocket(`${BASE.replace('http', 'ws')}/ws/echo`, null, {
          headers: { 'User-Agent': 'Mozilla/5.0', 'Accept-Language': 'de,en;q=0.5' },
        });
        const received = [];
        const timer = setTimeout(() => socket.close(), 30000);
        socket.onopen = () => {
          later(0.1, () => {
            socket.send(JSON.stringify({ hello: 1 }));
          });
        };
        socket.onmessage = (event) => {
          received.push(event.data);
          if (received.length === 1) {
            // From the answer to GET /ws/echo: message 1.
            hello = found('hello', () => received[0]);
            later(2.2, () => {
              socket.send(hello);
            });
          }
          if (received.length === 2) {
            socket.close();
          }
        };
        socket.onclose = () => {
          clearTimeout(timer);
          check(received, { '/ws/echo: 2 messages': (all) => all.length >= 2 });
          resolve();
        };
        socket.onerror = (event) => {
          console.error(event.error);
        };
      });

      think(2.38);

      // EventSource is Brunt's; k6 has none.
      const heard = await events(`${BASE}/sse?n=2&every=10ms`, ['tick'], 2, 30, {
        headers: { 'User-Agent': 'Mozilla/5.0', 'Accept-Language': 'de,en;q=0.5' },
      });
      check(heard, { 'GET /sse: 2 events': (all) => all.length >= 2 });
    }
    "###);
}
