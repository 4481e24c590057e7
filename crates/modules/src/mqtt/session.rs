//! A client in a broker: packets out, packets in, and who waits for which.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use brunt_http::Client as Http;
use bytes::{Bytes, BytesMut};
use rumqttc::mqttbytes::v4::{
    Connect, ConnectReturnCode, LastWill, Packet, PingReq, PubAck, PubComp, PubRec, PubRel,
    Publish, Subscribe, SubscribeFilter, SubscribeReasonCode, Unsubscribe,
};
use rumqttc::mqttbytes::{Error, QoS};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::wire::{Place, Wire};

/// The longest packet that is read: a longer one ends the connection.
const PACKET_MAX: usize = 64 << 20;

/// As long may a broker's first packet be, which has two bytes.
const FIRST_MAX: usize = 64;

/// Room for packets that is kept.
const KEEP: usize = 64 << 10;

/// The message that the broker sends when the client is gone.
#[derive(Debug, Clone)]
pub(super) struct Will {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) qos: QoS,
    pub(super) retain: bool,
}

/// The client that connects.
#[derive(Debug)]
pub(super) struct Login {
    pub(super) client_id: String,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) will: Option<Will>,
}

type Answer = Result<(), String>;

/// The connection.
pub(super) struct Session {
    wire: Wire,
    /// The bytes that came and are not yet a whole packet.
    received: RefCell<BytesMut>,
    /// The tasks that wait for the answer to a packet: at most 65535.
    pending: RefCell<FxHashMap<u16, oneshot::Sender<Answer>>>,
    last_id: Cell<u16>,
    /// Messages of the highest quality that were told and not released: at most 65535.
    told: RefCell<FxHashSet<u16>>,
    keep_alive: Duration,
    /// For the broker to take what answers its messages.
    patience: Duration,
    /// When something was sent last.
    sent_at: Cell<Instant>,
    /// A ping waits for its answer.
    is_pinging: Cell<bool>,
}

fn text(error: &Error) -> String {
    format!("the broker sent what is no MQTT: {error}")
}

impl Session {
    /// Connects and says who comes.
    pub(super) async fn open(
        http: &Rc<Http>,
        place: Place<'_>,
        login: &Login,
        is_clean: bool,
        (keep_alive, patience): (u16, Duration),
    ) -> Result<Self, String> {
        let session = Self {
            wire: Wire::open(http, place, patience, PACKET_MAX).await?,
            patience,
            received: RefCell::default(),
            pending: RefCell::default(),
            last_id: Cell::default(),
            told: RefCell::default(),
            keep_alive: Duration::from_secs(u64::from(keep_alive)),
            sent_at: Cell::new(Instant::now()),
            is_pinging: Cell::default(),
        };
        let mut hello = Connect::new(login.client_id.clone());
        // A client without a name can't have a session that lasts.
        hello.clean_session = is_clean || login.client_id.is_empty();
        hello.keep_alive = keep_alive;
        hello.last_will = login.will.as_ref().map(|will| LastWill {
            topic: will.topic.clone(),
            message: Bytes::copy_from_slice(&will.payload),
            qos: will.qos,
            retain: will.retain,
        });
        if login.username.is_some() || login.password.is_some() {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            hello.set_login(of(&login.username), of(&login.password));
        }
        session.send(|into| hello.write(into)).await?;
        match session.packet(FIRST_MAX).await? {
            Packet::ConnAck(answer) => match answer.code {
                ConnectReturnCode::Success => Ok(session),
                code => Err(format!("the broker refused the client: {}", refusal(code))),
            },
            _ => Err("the broker answered with something else than CONNACK".to_owned()),
        }
    }

    async fn send<E: std::fmt::Display>(
        &self,
        write: impl FnOnce(&mut BytesMut) -> Result<usize, E>,
    ) -> Result<(), String> {
        let mut bytes = BytesMut::new();
        write(&mut bytes).map_err(|error| error.to_string())?;
        self.sent_at.set(Instant::now());
        self.wire.write(&bytes).await
    }

    /// Answers what the broker sent. One that floods us and never reads would hold us for ever.
    async fn reply<E: std::fmt::Display>(
        &self,
        write: impl FnOnce(&mut BytesMut) -> Result<usize, E>,
    ) -> Result<(), String> {
        let sent = tokio::time::timeout(self.patience, self.send(write)).await;
        sent.unwrap_or_else(|_| Err("the broker does not read what it is sent: i/o timeout".into()))
    }

    /// The next packet.
    async fn packet(&self, longest: usize) -> Result<Packet, String> {
        // Thousands of packets may come at once: others have their turn between them.
        tokio::task::consume_budget().await;
        loop {
            {
                let mut received = self.received.borrow_mut();
                match Packet::read(&mut received, longest) {
                    Ok(packet) => {
                        if received.is_empty() && received.capacity() > KEEP {
                            *received = BytesMut::new();
                        }
                        return Ok(packet);
                    }
                    Err(Error::InsufficientBytes(_)) => {}
                    Err(error) => return Err(text(&error)),
                }
            }
            match self.wire.read().await? {
                Some(bytes) => self.received.borrow_mut().extend_from_slice(&bytes),
                None => return Err("the broker closed the connection: EOF".to_owned()),
            }
        }
    }

    /// The next message. Other packets of the broker are carried out, and pings are sent, meanwhile.
    ///
    /// # Errors
    /// The connection is over.
    pub(super) async fn next(&self) -> Result<Publish, String> {
        loop {
            let silence = async {
                if self.keep_alive.is_zero() {
                    std::future::pending::<()>().await;
                }
                sleep_until(self.sent_at.get() + self.keep_alive).await;
            };
            let packet = tokio::select! {
                packet = self.packet(PACKET_MAX) => packet?,
                () = silence => {
                    if self.sent_at.get() + self.keep_alive > Instant::now() {
                        continue;
                    }
                    if self.is_pinging.replace(true) {
                        return Err("the broker did not answer a ping".to_owned());
                    }
                    self.reply(|into| PingReq.write(into)).await?;
                    continue;
                }
            };
            match packet {
                Packet::Publish(message) => match message.qos {
                    QoS::AtMostOnce => return Ok(message),
                    QoS::AtLeastOnce => {
                        let id = message.pkid;
                        self.reply(|into| PubAck::new(id).write(into)).await?;
                        return Ok(message);
                    }
                    QoS::ExactlyOnce => {
                        let id = message.pkid;
                        self.reply(|into| PubRec::new(id).write(into)).await?;
                        if self.told.borrow_mut().insert(id) {
                            return Ok(message);
                        }
                    }
                },
                Packet::PubRel(PubRel { pkid }) => {
                    self.told.borrow_mut().remove(&pkid);
                    self.reply(|into| PubComp::new(pkid).write(into)).await?;
                }
                Packet::PubRec(PubRec { pkid }) => {
                    self.reply(|into| PubRel::new(pkid).write(into)).await?;
                }
                Packet::PubAck(PubAck { pkid }) | Packet::PubComp(PubComp { pkid }) => {
                    self.answer(pkid, Ok(()));
                }
                Packet::SubAck(answer) => {
                    let refused = answer
                        .return_codes
                        .iter()
                        .filter(|code| matches!(code, SubscribeReasonCode::Failure))
                        .count();
                    let answered = match refused {
                        0 => Ok(()),
                        refused => Err(format!("the broker refused {refused} of the topics")),
                    };
                    self.answer(answer.pkid, answered);
                }
                Packet::UnsubAck(answer) => self.answer(answer.pkid, Ok(())),
                Packet::PingResp => self.is_pinging.set(false),
                _ => return Err("the broker sent what only clients send".to_owned()),
            }
        }
    }

    fn answer(&self, id: u16, answer: Answer) {
        if let Some(waits) = self.pending.borrow_mut().remove(&id) {
            // The task that waited may be gone.
            drop(waits.send(answer));
        }
    }

    /// Whether somebody waits for an answer.
    pub(super) fn is_asked(&self) -> bool {
        !self.pending.borrow().is_empty()
    }

    /// A number that no packet on its way has.
    fn number(&self) -> Result<(u16, oneshot::Receiver<Answer>), String> {
        let mut pending = self.pending.borrow_mut();
        if pending.len() >= usize::from(u16::MAX) {
            return Err("65535 packets wait for the broker's answer: no more are possible".into());
        }
        let mut id = self.last_id.get();
        loop {
            id = id.checked_add(1).unwrap_or(1);
            if !pending.contains_key(&id) {
                break;
            }
        }
        self.last_id.set(id);
        let (waits, answer) = oneshot::channel();
        pending.insert(id, waits);
        Ok((id, answer))
    }

    async fn ask(
        &self,
        id: u16,
        answer: oneshot::Receiver<Answer>,
        write: impl FnOnce(&mut BytesMut) -> Result<usize, Error>,
    ) -> Result<(), String> {
        // If it is given up, its number is free again.
        let _held = Held { session: self, id };
        self.send(write).await?;
        answer.await.unwrap_or_else(|_| Err("the connection is closed".to_owned()))
    }

    /// Sends a message, and waits for what its quality asks for.
    pub(super) async fn publish(
        &self,
        topic: &str,
        payload: &[u8],
        qos: QoS,
        retain: bool,
    ) -> Result<(), String> {
        let mut message = Publish::new(topic, qos, payload);
        message.retain = retain;
        if qos == QoS::AtMostOnce {
            return self.send(|into| message.write(into)).await;
        }
        let (id, answer) = self.number()?;
        message.pkid = id;
        self.ask(id, answer, |into| message.write(into)).await
    }

    pub(super) async fn subscribe(&self, filters: &[String], qos: QoS) -> Result<(), String> {
        let filters = filters.iter().map(|filter| SubscribeFilter::new(filter.clone(), qos));
        let mut packet = Subscribe::new_many(filters);
        let (id, answer) = self.number()?;
        packet.pkid = id;
        self.ask(id, answer, |into| packet.write(into)).await
    }

    pub(super) async fn unsubscribe(&self, filters: &[String]) -> Result<(), String> {
        let (id, answer) = self.number()?;
        let packet = Unsubscribe { pkid: id, topics: filters.to_vec() };
        self.ask(id, answer, |into| packet.write(into)).await
    }

    /// Says goodbye and closes it.
    pub(super) async fn disconnect(&self) {
        // The broker may be gone already.
        let goodbye = self.send(|into| rumqttc::mqttbytes::v4::Disconnect.write(into));
        drop(tokio::time::timeout(Duration::from_secs(1), goodbye).await);
        self.close();
    }

    /// Closes it without a word, so that the broker sends the will.
    pub(super) fn close(&self) {
        self.wire.close();
        self.pending.borrow_mut().clear();
    }
}

/// A number in use.
struct Held<'a> {
    session: &'a Session,
    id: u16,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.session.pending.borrow_mut().remove(&self.id);
    }
}

fn refusal(code: ConnectReturnCode) -> &'static str {
    match code {
        ConnectReturnCode::Success => "no reason",
        ConnectReturnCode::RefusedProtocolVersion => "unacceptable protocol version",
        ConnectReturnCode::BadClientId => "identifier rejected",
        ConnectReturnCode::ServiceUnavailable => "server unavailable",
        ConnectReturnCode::BadUserNamePassword => "bad user name or password",
        ConnectReturnCode::NotAuthorized => "not authorized",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut bytes = BytesMut::from(&bytes[..]);
            for _ in 0..100 {
                if Packet::read(&mut bytes, PACKET_MAX).is_err() {
                    break;
                }
            }
        }

        /// As [`no_bytes_make_the_parser_panic`], with heads that look right.
        #[test]
        fn no_packet_makes_the_parser_panic(kind in 0_u8..16, flags in 0_u8..16, body in proptest::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..40)) {
            let mut bytes = BytesMut::from(&[kind << 4 | flags, body.len() as u8][..]);
            bytes.extend_from_slice(&body);
            drop(Packet::read(&mut bytes, PACKET_MAX));
        }
    }
}
