//! WebSockets and streams of events: handlers that answer as the client did.

use std::collections::BTreeSet;
use std::time::Duration;

use brunt_correlate::plan::{Finder, Place};
use brunt_traffic::{Exchange, Message, Side};
use serde_json::Value;

use crate::Content;
use crate::body;
use crate::code::{Expr, Statement};
use crate::script::seconds;
use crate::session::Kind;
use crate::text::quoted;
use crate::value::Answer;
use crate::writer::Writer;

/// A session with nothing to say ends after this time at the latest.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that says more than this is cut off: the script would be longer than its reader.
const MESSAGES_MAX: usize = 500;

impl Writer<'_> {
    /// Opens a socket, or listens to events.
    pub(crate) fn listen(&mut self, index: usize) -> Vec<Statement> {
        let mut out = self.cookies(index);
        out.extend(self.made_values(index));
        if self.session.kinds[index] == Kind::Socket {
            out.extend(self.socket(index));
        } else {
            out.extend(self.events(index));
        }
        out
    }

    /// How long to wait for an end that may never come.
    fn patience(&self, index: usize) -> u64 {
        let exchange = self.exchange(index);
        (PATIENCE + exchange.done.saturating_sub(exchange.sent) * 2).as_secs()
    }

    fn socket(&mut self, index: usize) -> Vec<Statement> {
        let exchange = self.exchange(index);
        let messages = &exchange.messages[..exchange.messages.len().min(MESSAGES_MAX)];
        let heard = messages.iter().filter(|message| message.from == Side::Server).count();
        let said = messages.len() - heard;
        let label = self.label(index);
        let label = label.trim_start_matches("GET ").to_owned();
        if messages.len() < exchange.messages.len() {
            self.notes.push(format!(
                "of the socket {label} only the first {MESSAGES_MAX} messages are in the script"
            ));
        }
        self.needs.add("import:WebSocket");
        self.needs.add("import:check");
        let mut inner = vec![self.opening(index)];
        inner.push(Statement::Line("const received = ".to_owned(), Expr::raw("[]")));
        let timer = format!("setTimeout(() => socket.close(), {})", self.patience(index) * 1000);
        inner.push(Statement::Line("const timer = ".to_owned(), Expr::raw(timer)));
        // Messages of the client by the number of messages that it had heard.
        let mut turns: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
        let mut count = 0;
        for (at, message) in messages.iter().enumerate() {
            if message.from == Side::Server {
                count += 1;
                turns.push((count, Vec::new()));
            } else if let Some((_, all)) = turns.last_mut() {
                all.push(at);
            }
        }
        let has_pauses = !self.is_interrupted(index, messages);
        let mut cases = Vec::new();
        let mut opened = Vec::new();
        for (turn, said) in turns {
            let mut statements = self.heard(index, turn);
            statements.extend(self.answer_of_turn(
                index,
                &said,
                messages,
                has_pauses,
                turn == heard,
            ));
            if turn == 0 {
                opened = statements;
            } else if !statements.is_empty() {
                cases.push(Statement::Block(
                    format!("if (received.length === {turn}) {{"),
                    statements,
                    "}".to_owned(),
                ));
            }
        }
        inner.push(Statement::Block("socket.onopen = () => {".to_owned(), opened, "};".to_owned()));
        let mut on_message =
            vec![Statement::Line(String::new(), Expr::raw("received.push(event.data)"))];
        on_message.extend(cases);
        inner.push(Statement::Block(
            "socket.onmessage = (event) => {".to_owned(),
            on_message,
            "};".to_owned(),
        ));
        let test = format!(
            "check(received, {{ {}: (all) => all.length >= {heard} }})",
            quoted(&format!("{label}: {heard} messages"))
        );
        let closed = vec![
            Statement::Line(String::new(), Expr::raw("clearTimeout(timer)")),
            Statement::Line(String::new(), Expr::raw(test)),
            Statement::Line(String::new(), Expr::raw("resolve()")),
        ];
        inner.push(Statement::Block(
            "socket.onclose = () => {".to_owned(),
            closed,
            "};".to_owned(),
        ));
        let failed = vec![Statement::Line(String::new(), Expr::raw("console.error(event.error)"))];
        inner.push(Statement::Block(
            "socket.onerror = (event) => {".to_owned(),
            failed,
            "};".to_owned(),
        ));
        vec![
            Statement::Comment(format!("A socket: {said} messages go out, {heard} come in.")),
            Statement::Block(
                "await new Promise((resolve) => {".to_owned(),
                inner,
                "});".to_owned(),
            ),
        ]
    }

    /// Whether other requests are sent between the messages: the user's pauses are then before those.
    fn is_interrupted(&self, index: usize, messages: &[Message]) -> bool {
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else { return false };
        let others = self.session.section_of.keys().filter(|other| **other != index);
        others.map(|&other| self.exchange(other).sent).any(|sent| first.at < sent && sent < last.at)
    }

    /// The messages of the client in a turn, each after a pause as long as the user's.
    fn answer_of_turn(
        &mut self,
        index: usize,
        said: &[usize],
        messages: &[Message],
        has_pauses: bool,
        is_last: bool,
    ) -> Vec<Statement> {
        let close = Statement::Line(String::new(), Expr::raw("socket.close()"));
        let mut out: Vec<Statement> = is_last.then_some(close).into_iter().collect();
        for &at in said.iter().rev() {
            out.insert(0, self.say(index, at, &messages[at]));
            let before =
                at.checked_sub(1).map_or(self.exchange(index).sent, |before| messages[before].at);
            let gap = messages[at].at.saturating_sub(before);
            if has_pauses && gap >= self.options.shortest_pause && !gap.is_zero() {
                self.needs.add("later");
                let head = format!("later({}, () => {{", seconds(gap));
                out = vec![Statement::Block(head, out, "});".to_owned())];
            }
        }
        out
    }

    /// `const socket = new WebSocket(…)`
    fn opening(&mut self, index: usize) -> Statement {
        let address = self.address(index);
        let header =
            self.exchange(index).request.headers.get("sec-websocket-protocol").map(str::to_owned);
        let mut arguments = vec![Expr::raw(address.code)];
        let protocols: Vec<String> = header
            .iter()
            .flat_map(|text| text.split(','))
            .map(|name| quoted(name.trim()))
            .collect();
        let headers = self.headers(index, None);
        if headers.is_some() || !protocols.is_empty() {
            arguments.push(Expr::raw(match protocols.as_slice() {
                [] => "null".to_owned(),
                [one] => one.clone(),
                all => format!("[{}]", all.join(", ")),
            }));
        }
        arguments.extend(headers.map(|headers| Expr::Object(vec![headers])));
        let call = Expr::Call("new WebSocket".to_owned(), arguments);
        Statement::Line("const socket = ".to_owned(), Expr::Marked(index, Box::new(call)))
    }

    /// Values that the message of this turn gives.
    fn heard(&mut self, index: usize, turn: usize) -> Vec<Statement> {
        let due: Vec<usize> = self
            .variables
            .used
            .iter()
            .copied()
            .filter(|&own| {
                let extraction = &self.plan.extractions[own];
                let is_turn = matches!(extraction.source().finder, Finder::Message { nth, .. } if nth + 1 == turn);
                extraction.exchange == index && is_turn
            })
            .collect();
        let answer = Answer { res: "res", heard: "received" };
        due.into_iter().flat_map(|own| self.extraction(own, index, answer)).collect()
    }

    /// Sends a message of the client.
    fn say(&mut self, index: usize, at: usize, message: &Message) -> Statement {
        let content = if let Some(pieces) = self.pieces(index, &Place::Message(at)) {
            Expr::raw(crate::value::text(
                pieces,
                crate::value::Encoding::Plain,
                &self.variables,
                &mut self.needs,
            ))
        } else if !message.is_text {
            let name = format!("message-{}-{}.bin", index + 1, at + 1);
            Expr::raw(self.files.keep(&name, Content::Bytes(message.data.to_vec()), false))
        } else {
            let text = String::from_utf8_lossy(&message.data).into_owned();
            let places = body::places(self, index, |place| match place {
                Place::MessageJson(own, path) if *own == at => Some(path),
                _ => None,
            });
            match serde_json::from_str::<Value>(&text) {
                Ok(value) if value.is_object() || value.is_array() => {
                    let literal = body::json(self, &value, &mut Vec::new(), &places);
                    Expr::Call("JSON.stringify".to_owned(), vec![literal])
                }
                _ => Expr::raw(self.literal(&text)),
            }
        };
        Statement::Line(String::new(), Expr::Call("socket.send".to_owned(), vec![content]))
    }

    fn events(&mut self, index: usize) -> Vec<Statement> {
        let exchange = self.exchange(index);
        let told: Vec<String> = exchange.events.iter().map(|event| event.kind.clone()).collect();
        let told = if told.is_empty() { kinds_in(exchange) } else { told };
        let wanted = told.len();
        let kinds: BTreeSet<String> = told.into_iter().collect();
        let kinds: Vec<String> = kinds.iter().map(|kind| quoted(kind)).collect();
        let kinds = if kinds.is_empty() { vec![quoted("message")] } else { kinds };
        let label = self.label(index);
        let address = self.address(index);
        let headers = self.headers(index, None);
        self.needs.add("events");
        self.needs.add("import:check");
        let name = self.local.take("heard", "heard");
        let mut arguments = vec![
            Expr::raw(address.code),
            Expr::Array(kinds.into_iter().map(Expr::Raw).collect()),
            Expr::raw(wanted.max(1).to_string()),
            Expr::raw(self.patience(index).to_string()),
        ];
        arguments.extend(headers.map(|headers| Expr::Object(vec![headers])));
        let call = Expr::Call("await events".to_owned(), arguments);
        let test = format!(
            "check({name}, {{ {}: (all) => all.length >= {wanted} }})",
            quoted(&format!("{label}: {wanted} events"))
        );
        let mut out = vec![
            Statement::Comment("EventSource is Brunt's; k6 has none.".to_owned()),
            Statement::Line(format!("const {name} = "), Expr::Marked(index, Box::new(call))),
            Statement::Line(String::new(), Expr::raw(test)),
        ];
        let heard = name.clone();
        out.extend(self.extractions(index, Answer { res: "res", heard: &heard }));
        out
    }
}

/// The types of the events in a body of `text/event-stream`.
fn kinds_in(exchange: &Exchange) -> Vec<String> {
    let Some(text) = crate::page::body_text(exchange) else { return Vec::new() };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let blocks =
        text.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("data")));
    let kind = |block: &str| {
        let named = block.lines().rev().find_map(|line| line.strip_prefix("event:"));
        named.map_or("message", str::trim).to_owned()
    };
    blocks.map(kind).collect()
}
