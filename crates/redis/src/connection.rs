//! One connection: a command goes out, its reply comes back.

use std::rc::Rc;

use brunt_fiber::turn::{Turn, given_way};
use brunt_net::{Dialer, Endpoint, Offer, Opened};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::resp::{self, Reader, Reply};
use crate::{Failure, Options, Server};

/// Room for one reading.
const READ: usize = 16 * 1024;

/// The maximum number of unasked messages of a server while one reply is waited for.
const PUSHES_MAX: u32 = 100_000;

/// The user that logs in, and the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Login<'a> {
    pub(crate) username: &'a str,
    pub(crate) password: &'a str,
    pub(crate) database: u32,
}

pub(crate) struct Connection {
    stream: Opened,
    /// The bytes that came, and how many of them were looked at.
    received: Vec<u8>,
    at: usize,
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::Network(error.to_string())
}

impl Connection {
    /// Dials and logs in.
    pub(crate) async fn open(
        dialer: &Rc<Dialer>,
        server: &Server,
        options: &Options,
        login: Login<'_>,
    ) -> Result<Self, Failure> {
        let endpoint =
            Endpoint { host: &server.host, port: server.port, is_secure: options.tls.is_some() };
        let host = &server.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let dialing = timeout(options.dial_timeout, dialer.open(&endpoint, Offer::Nothing)).await;
        let stream = dialing
            .map_err(|_| Failure::Network(format!("dial tcp {host}:{}: i/o timeout", server.port)))?
            .map_err(|failure| told(failure, &host, server.port))?;
        let mut connection = Self { stream, received: Vec::new(), at: 0 };
        let greeting = connection.greet(options, login);
        let limit = options.read_timeout.unwrap_or(options.dial_timeout);
        timeout(limit, greeting).await.map_err(|_| Failure::GreetingTimeout)??;
        Ok(connection)
    }

    async fn greet(&mut self, options: &Options, login: Login<'_>) -> Result<(), Failure> {
        let Login { username, password, database } = login;
        let has_login = !username.is_empty() || !password.is_empty();
        if options.resp3 {
            let mut hello = vec!["HELLO", "3"];
            if has_login {
                let user = if username.is_empty() { "default" } else { username };
                hello.extend(["AUTH", user, password]);
            }
            self.demand(&hello).await?;
        } else {
            // As k6's client does: who says nothing to it is given up at once, not after all tries of a command. Servers that
            // don't know it, or want a login first, say so, and serve us all the same.
            self.ask(&["HELLO", "2"].map(|part| part.as_bytes().to_vec())).await?;
            if !username.is_empty() {
                self.demand(&["AUTH", username, password]).await?;
            } else if has_login {
                self.demand(&["AUTH", password]).await?;
            }
        }
        if !options.client_name.is_empty() {
            self.demand(&["CLIENT", "SETNAME", &options.client_name]).await?;
        }
        if database != 0 {
            self.demand(&["SELECT", &database.to_string()]).await?;
        }
        Ok(())
    }

    /// A command that must not fail.
    async fn demand(&mut self, parts: &[&str]) -> Result<(), Failure> {
        let parts: Vec<_> = parts.iter().map(|part| part.as_bytes().to_vec()).collect();
        match self.ask(&parts).await? {
            Reply::Error(words) => Err(Failure::Server(words)),
            _ => Ok(()),
        }
    }

    /// Sends a command and waits for its reply, which may be an error of the server's.
    ///
    /// # Errors
    /// The connection is of no more use.
    pub(crate) async fn ask(&mut self, parts: &[Vec<u8>]) -> Result<Reply, Failure> {
        let mut bytes = Vec::new();
        resp::encode(parts, &mut bytes);
        self.stream.write_all(&bytes).await.map_err(|error| broken(&error))?;
        self.stream.flush().await.map_err(|error| broken(&error))?;
        // The answer to these is a push itself.
        let wants_push = parts.first().is_some_and(|word| {
            word.to_ascii_lowercase().windows(9).any(|part| part == b"subscribe")
        });
        let (mut reader, mut turn, mut pushes) = (Reader::default(), Turn::default(), 0);
        loop {
            let mut rest = &self.received[self.at..];
            let reply = reader.next(&mut rest)?;
            self.at = self.received.len() - rest.len();
            match reply {
                // A message that a server sends unasked (version 3) is no reply, and is dropped.
                Some(_) if reader.is_push() && !wants_push => {
                    pushes += 1;
                    if pushes > PUSHES_MAX {
                        return Err(Failure::Malformed("it sends unasked messages without end"));
                    }
                    if turn.is_over(Turn::THING) {
                        given_way().await;
                    }
                    continue;
                }
                Some(reply) => return Ok(reply),
                None => {}
            }
            self.received.clear();
            self.at = 0;
            self.received.reserve(READ);
            let came = self.stream.read_buf(&mut self.received).await;
            let came = came.map_err(|error| broken(&error))?;
            if came == 0 {
                return Err(Failure::Network("EOF".to_owned()));
            }
            if turn.is_over(Turn::bytes(came) + Turn::THING) {
                given_way().await;
            }
        }
    }
}

/// Why dialing failed, in Go's words.
fn told(failure: brunt_net::Failure, host: &str, port: u16) -> Failure {
    if let Some(told) = failure.of_certificate() {
        return Failure::Network(told);
    }
    let said = failure.to_string();
    Failure::Network(match said.split_once(": ") {
        Some(("dial", why)) => format!("dial tcp {host}:{port}: connect: {why}"),
        Some(("lookup", why)) => format!("lookup {host}: {why}"),
        _ => said,
    })
}
