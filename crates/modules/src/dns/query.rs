//! One question to one name server: over UDP, and once more over TCP if the answer is too long for that.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, UdpSocket};
use tokio::time::timeout;

/// For an answer over UDP, and again for one over TCP.
const ANSWER: Duration = Duration::from_secs(2);

/// Room for a datagram: without extensions, which are not asked for, servers send 512 bytes.
const DATAGRAM: usize = 4096;

/// Datagrams that are no answer to the question: beyond them, the server is given up.
const STRANGERS_MAX: usize = 100;

/// The question.
#[derive(Debug)]
pub(super) struct Question {
    name: Name,
    kind: RecordType,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server says so.
    Answered {
        /// As scripts see it: `NonExistingDomain`.
        name: &'static str,
        /// The response code.
        code: u16,
        /// The message.
        message: String,
    },
    /// There was no server to ask.
    Unasked(String),
}

impl Question {
    /// `kind`: `A`, `AAAA`, `CNAME`, `NS` or `PTR`.
    pub(super) fn new(name: &str, kind: &str) -> Result<Self, String> {
        let kind = match kind {
            "A" => RecordType::A,
            "AAAA" => RecordType::AAAA,
            "CNAME" => RecordType::CNAME,
            "NS" => RecordType::NS,
            "PTR" => RecordType::PTR,
            other => {
                return Err(format!(
                    "unsupported record type: \"{other}\"; A, AAAA, CNAME, NS and PTR are supported"
                ));
            }
        };
        let mut parsed = Name::from_str_relaxed(name)
            .map_err(|error| format!("\"{name}\" cannot be asked for: {error}"))?;
        parsed.set_fqdn(true);
        Ok(Self { name: parsed, kind })
    }

    fn message(&self, id: u16) -> Message {
        let mut message = Message::new(id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(self.name.clone(), self.kind));
        message
    }

    /// Whether these bytes answer it.
    fn is_answered_by(&self, id: u16, message: &Message) -> bool {
        message.metadata.id == id
            && message.metadata.message_type == MessageType::Response
            // Servers that could not read the question don't repeat it.
            && (message.queries.is_empty()
                || message.queries.iter().any(|query| {
                    query.query_type() == self.kind && query.name() == &self.name
                }))
    }

    fn records(&self, message: &Message) -> Result<Vec<String>, Trouble> {
        let code = message.metadata.response_code;
        if code != ResponseCode::NoError {
            let message = format!("no {} record of {}", self.kind, self.name);
            return Err(Trouble::Answered { name: name_of(code), code: code.into(), message });
        }
        let records = message.answers.iter().filter(|record| record.record_type() == self.kind);
        Ok(records.filter_map(|record| text(&record.data)).collect())
    }
}

fn text(data: &RData) -> Option<String> {
    Some(match data {
        RData::A(ip) => ip.0.to_string(),
        RData::AAAA(ip) => ip.0.to_string(),
        RData::CNAME(name) => name.0.to_string(),
        RData::NS(name) => name.0.to_string(),
        RData::PTR(name) => name.0.to_string(),
        _ => return None,
    })
}

/// How scripts call a response code.
fn name_of(code: ResponseCode) -> &'static str {
    match u16::from(code) {
        1 => "FormatError",
        2 => "ServerFailure",
        3 => "NonExistingDomain",
        4 => "NotImplemented",
        5 => "Refused",
        6 => "YXDomain",
        7 => "YXRrset",
        8 => "NXRrset",
        9 => "NotAuth",
        10 => "NotZone",
        16 => "BadVers",
        17 => "BadKey",
        18 => "BadTime",
        19 => "BadMode",
        20 => "BadName",
        21 => "BadAlg",
        22 => "BadTrunc",
        23 => "BadCookie",
        _ => "UnknownError",
    }
}

/// Asks a server. `local`: the address to ask from, if not the system's choice. `id`: the number of the message, a random
/// one.
pub(super) async fn ask(
    server: SocketAddr,
    local: Option<IpAddr>,
    question: &Question,
    id: u16,
) -> Result<Vec<String>, Trouble> {
    let bytes = question.message(id).to_vec();
    let bytes = bytes.map_err(|error| Trouble::Unasked(error.to_string()))?;
    let failed = |how: &str, why: String| {
        Trouble::Unasked(format!("the name server {server} gave no answer over {how}: {why}"))
    };
    let answer = within(over_udp(server, local, question, id, &bytes)).await;
    let answer = answer.map_err(|why| failed("UDP", why))?;
    if let Some(answer) = answer {
        return question.records(&answer);
    }
    let answer = within(over_tcp(server, local, question, id, &bytes)).await;
    question.records(&answer.map_err(|why| failed("TCP", why))?)
}

async fn within<T>(asking: impl Future<Output = io::Result<T>>) -> Result<T, String> {
    match timeout(ANSWER, asking).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("i/o timeout".to_owned()),
    }
}

fn from_address(server: SocketAddr, local: Option<IpAddr>) -> SocketAddr {
    let any = match server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(local.unwrap_or(any), 0)
}

/// `None`: the answer is too long for a datagram.
async fn over_udp(
    server: SocketAddr,
    local: Option<IpAddr>,
    question: &Question,
    id: u16,
    bytes: &[u8],
) -> io::Result<Option<Message>> {
    let socket = UdpSocket::bind(from_address(server, local)).await?;
    socket.connect(server).await?;
    socket.send(bytes).await?;
    let mut room = vec![0; DATAGRAM];
    for _ in 0..STRANGERS_MAX {
        let size = socket.recv(&mut room).await?;
        let came = &room[..size];
        // A message with another number was meant for another query, or is forged.
        if came.get(..2) != Some(&id.to_be_bytes()) {
            continue;
        }
        // The bits for an answer and for a cut: what was cut in the middle of a record is no message.
        if came.get(2).is_some_and(|flags| flags & 0x82 == 0x82) {
            return Ok(None);
        }
        let message = Message::from_vec(came).map_err(io::Error::other)?;
        if question.is_answered_by(id, &message) {
            return Ok(Some(message));
        }
    }
    Err(io::Error::other("too many packets came that are not the answer"))
}

async fn over_tcp(
    server: SocketAddr,
    local: Option<IpAddr>,
    question: &Question,
    id: u16,
    bytes: &[u8],
) -> io::Result<Message> {
    let socket = match server {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if local.is_some() {
        socket.bind(from_address(server, local))?;
    }
    let mut stream = socket.connect(server).await?;
    let size = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut framed = size.to_be_bytes().to_vec();
    framed.extend_from_slice(bytes);
    stream.write_all(&framed).await?;
    let size = stream.read_u16().await?;
    let mut came = vec![0; usize::from(size)];
    stream.read_exact(&mut came).await?;
    let message = Message::from_vec(&came).map_err(io::Error::other)?;
    if question.is_answered_by(id, &message) {
        return Ok(message);
    }
    Err(io::Error::other("the packet that came does not answer the question"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_scripts_may_ask_for_is_told() {
        let error = Question::new("a.test", "HTTPS").unwrap_err();
        assert!(error.contains("unsupported record type: \"HTTPS\""), "{error}");
        assert!(Question::new(&"a".repeat(70), "A").is_err());
        assert!(Question::new("_sip.a_b.test", "A").is_ok());
    }

    #[test]
    fn an_answer_to_something_else_is_none() {
        let question = Question::new("A.test", "A").unwrap();
        let answer = |id, name| {
            let mut answer = Question::new(name, "A").unwrap().message(id);
            answer.metadata.message_type = MessageType::Response;
            answer
        };
        assert!(question.is_answered_by(7, &answer(7, "a.TEST")));
        assert!(!question.is_answered_by(8, &answer(7, "a.test")));
        assert!(!question.is_answered_by(7, &answer(7, "b.test")));
        assert!(!question.is_answered_by(7, &question.message(7)), "a question is no answer");
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let question = Question::new("a.test", "A").unwrap();
            if let Ok(message) = Message::from_vec(&bytes) {
                drop(question.records(&message));
            }
        }
    }
}
