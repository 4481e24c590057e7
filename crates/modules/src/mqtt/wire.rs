//! The way of packets: a connection, or the messages of a WebSocket.

use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_http::Client as Http;
use brunt_websocket::{Asked, Close, Ended, Event, Kind, Socket, connect};
use tokio::sync::Mutex;

use crate::extension::stream::{Stream, dial};
use crate::ws::asked::{reason, target_of};

/// Where a broker listens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// On a port, with or without TLS.
    Port { is_secure: bool, host: &'a str, port: u16 },
    /// Behind a web server, at this address.
    Web { url: &'a str, agent: &'a str },
}

/// The way to the broker: one task reads, many write.
pub(super) enum Wire {
    Port(Box<Stream>),
    Web(Web),
}

/// Packets in binary messages (MQTT 3.1.1 §6): how many are in one, and where one ends, means nothing.
pub(super) struct Web {
    socket: Socket,
    /// Writings come one after the other.
    order: Mutex<()>,
}

fn is_closed() -> String {
    "the connection is closed".to_owned()
}

impl Wire {
    /// Connects. No message may be longer than `longest`.
    ///
    /// # Errors
    /// Why not, in Go's words.
    pub(super) async fn open(
        http: &Rc<Http>,
        place: Place<'_>,
        limit: Duration,
        longest: usize,
    ) -> Result<Self, String> {
        match place {
            Place::Port { is_secure, host, port } => dial(http.dialer(), is_secure, host, port)
                .await
                .map(|opened| Self::Port(Box::new(Stream::new(opened)))),
            Place::Web { url, agent } => {
                let target = target_of(url)?;
                let protocol = [("Sec-Websocket-Protocol".to_owned(), "mqtt".to_owned())];
                let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
                let asked = Asked {
                    target: &target.borrow(),
                    agent,
                    headers: &protocol,
                    host: None,
                    compression: false,
                    deadline: clock::now_ns().saturating_add(limit),
                    message_max: longest,
                };
                let connected = connect(http, &asked).await.outcome;
                let opened = connected.map_err(|error| reason(&error, &target))?;
                Ok(Self::Web(Web { socket: opened.socket, order: Mutex::default() }))
            }
        }
    }

    /// The next bytes; `None` at the end, or when it was closed here.
    ///
    /// # Errors
    /// The connection broke.
    pub(super) async fn read(&self) -> Result<Option<Vec<u8>>, String> {
        match self {
            Self::Port(stream) => stream.read().await.map_err(|error| error.to_string()),
            Self::Web(web) => web.read().await,
        }
    }

    /// Writes all of it, after what others write.
    ///
    /// # Errors
    /// Why not all was written.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Port(stream) => stream.write(bytes).await.map_err(|(_, error)| error.to_string()),
            Self::Web(web) => web.write(bytes).await,
        }
    }

    /// Closes it; whoever reads or writes is told.
    pub(super) fn close(&self) {
        match self {
            Self::Port(stream) => stream.close(),
            Self::Web(Web { socket, .. }) => {
                socket.close(1000, "");
                socket.flush_now();
                socket.hang_up();
            }
        }
    }
}

impl Web {
    async fn read(&self) -> Result<Option<Vec<u8>>, String> {
        loop {
            match self.socket.next().await {
                Ok(Event::Message(Kind::Binary, bytes)) => return Ok(Some(bytes)),
                Ok(Event::Message(Kind::Text, _)) => {
                    return Err("the broker sent text, and MQTT is binary".to_owned());
                }
                Ok(Event::Ping(_) | Event::Pong(_) | Event::Close(_)) => {}
                Err(Ended::HungUp) => return Ok(None),
                Err(Ended::Closed(Close {
                    code: 1000 | Close::NO_STATUS | Close::ABNORMAL,
                    ..
                })) => {
                    return Ok(None);
                }
                Err(Ended::Closed(close)) => return Err(close.to_string()),
                Err(Ended::Failed(failure)) => return Err(failure.to_string()),
                Err(Ended::Broken(violation)) => return Err(violation.to_string()),
            }
        }
    }

    async fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let _turn = self.order.lock().await;
        if !self.socket.send(Kind::Binary, bytes) {
            return Err(is_closed());
        }
        self.socket.drained(0).await;
        if self.socket.is_open() { Ok(()) } else { Err(is_closed()) }
    }
}
