//! One connection: a command goes out, its reply comes back.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::ready;

use brunt_http::{Client, Target, Upgraded};
use tokio::time::timeout;

use crate::resp::{self, Reply, decode};
use crate::{Failure, Options, Server};

/// Reading buffers that grew beyond this are given back.
const KEEP: usize = 64 * 1024;

/// Who logs in, and where to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Login<'a> {
    pub(crate) username: &'a str,
    pub(crate) password: &'a str,
    pub(crate) database: u32,
}

#[derive(Debug)]
pub(crate) struct Connection {
    stream: Upgraded,
    /// What came and is no whole reply yet.
    received: Vec<u8>,
}

fn broken(failure: &brunt_http::Failure) -> Failure {
    Failure::Network(failure.to_string())
}

impl Connection {
    /// Dials and logs in.
    pub(crate) async fn open(
        client: &Rc<Client>,
        server: &Server,
        options: &Options,
        login: Login<'_>,
    ) -> Result<Self, Failure> {
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let host = &server.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let url = format!("{scheme}://{host}:{}/", server.port);
        let target = Target::parse(&url).map_err(|_| {
            Failure::Network(format!("dial tcp: {}:{} is no address", server.host, server.port))
        })?;
        let dialing = timeout(options.dial_timeout, client.connect(&target)).await;
        let stream = dialing
            .map_err(|_| Failure::Network(format!("dial tcp {host}:{}: i/o timeout", server.port)))?
            .map_err(|failure| told(&failure, &host, server.port))?;
        let mut connection = Self { stream, received: Vec::new() };
        let greeting = connection.greet(options, login);
        timeout(options.dial_timeout, greeting).await.map_err(|_| Failure::Timeout)??;
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
        } else if !username.is_empty() {
            self.demand(&["AUTH", username, password]).await?;
        } else if has_login {
            self.demand(&["AUTH", password]).await?;
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
        let (mut at, stream) = (0, &mut self.stream);
        poll_fn(|cx| {
            while at < bytes.len() {
                at += ready!(stream.poll_write(cx, &bytes[at..]))?;
            }
            stream.poll_flush(cx)
        })
        .await
        .map_err(|failure| broken(&failure))?;
        loop {
            let (stream, received) = (&mut self.stream, &mut self.received);
            let more =
                poll_fn(|cx| stream.poll_receive(cx, |bytes| received.extend_from_slice(bytes)));
            if !more.await.map_err(|failure| broken(&failure))? {
                return Err(Failure::Network("EOF".to_owned()));
            }
            if let Some((reply, size)) = decode(&self.received)? {
                self.received.drain(..size);
                if self.received.capacity() > KEEP {
                    self.received.shrink_to(KEEP);
                }
                return Ok(reply);
            }
        }
    }
}

/// Why dialing failed, in Go's words.
fn told(failure: &brunt_http::Failure, host: &str, port: u16) -> Failure {
    let said = failure.to_string();
    Failure::Network(match said.split_once(": ") {
        Some(("dial", why)) => format!("dial tcp {host}:{port}: connect: {why}"),
        Some(("lookup", why)) => format!("lookup {host}: {why}"),
        _ => said,
    })
}
