//! `--out influxdb`: line protocol, a line per sample.
//!
//! Over HTTP to InfluxDB 1 (`/write`), to InfluxDB 2 if there is a token (`/api/v2/write`), or in
//! datagrams. Lines are gathered up to [`BODY`] bytes, or for the push interval, and go as one body.

mod config;
mod line;

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use brunt_metrics::Frame;
use url::Url;

use self::config::{Config, Version};
use self::line::Lines;
use crate::net::{Answer, Endpoint, Post, Proxy, Sender, Sending, basic, tls::Tls};
use crate::output::{Context, Output, OutputError, Written};
use crate::settings::Settings;

/// A body of this many bytes is sent, even before the push interval is over: the server's own limit is 25 MB, and
/// small bodies keep memory small.
const BODY: usize = 1024 * 1024;

/// Bodies that may wait for a slow server: 64 MiB of lines, then they are lost and counted.
const BODIES_WAITING: usize = 64;

/// Writes samples as lines.
pub(crate) struct Influxdb {
    description: String,
    push_interval: Duration,
    lines: Lines,
    buffer: Vec<u8>,
    /// Lines in the buffer.
    held: u64,
    way: Way,
    trouble: Option<String>,
}

/// How lines leave.
enum Way {
    Http {
        /// None once it is finished.
        sender: Option<Sender>,
        /// The request of each body.
        post: Post,
    },
    Udp {
        socket: UdpSocket,
        /// The most bytes in a datagram.
        size: usize,
        written: Written,
    },
}

impl Influxdb {
    /// `arg` is an address, or the name of a database.
    pub(crate) fn open(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let settings = Settings::new("influxdb", context)?;
        let config = Config::read(arg, &settings)?;
        let name = match config.version {
            Version::One => "InfluxDBv1",
            Version::Two { .. } => "InfluxDBv2",
        };
        let mut shown = config.address.as_str();
        if config.address.path() == "/" {
            shown = shown.trim_end_matches('/');
        }
        let description = format!("{name} ({shown})");
        let wrong = |error: String| settings.wrong(error);
        let way = if config.address.scheme() == "udp" {
            let socket = datagrams(&config.address).map_err(|error| wrong(error.to_string()))?;
            Way::Udp { socket, size: config.payload_size, written: Written::default() }
        } else {
            Way::http(&config, name).map_err(wrong)?
        };
        Ok(Self {
            description,
            push_interval: config.push_interval,
            lines: Lines::new(&context.registry, config.tags_as_fields, config.precision)
                .of_instance(context.instance.clone()),
            buffer: Vec::new(),
            held: 0,
            way,
            trouble: None,
        })
    }

    /// Sends what is in the buffer.
    fn push(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        match &mut self.way {
            Way::Http { sender: Some(sender), post } => {
                let room = Vec::with_capacity(self.buffer.capacity());
                let body = std::mem::replace(&mut self.buffer, room);
                sender.offer(Post { body: body.into(), ..post.clone() }, held);
            }
            Way::Http { sender: None, .. } => self.buffer.clear(),
            Way::Udp { socket, size, written } => {
                for datagram in datagrams_of(&self.buffer, *size) {
                    let lines = memchr::memchr_iter(b'\n', datagram).count() as u64;
                    match socket.send(datagram) {
                        Ok(_) => written.samples += lines,
                        Err(error) => {
                            written.lost += lines;
                            if self.trouble.is_none() {
                                let (output, error) = (&*self.description, error.to_string());
                                log::error!(output, error = &*error; "Couldn't write stats");
                                self.trouble = Some(error);
                            }
                        }
                    }
                }
                self.buffer.clear();
            }
        }
    }
}

impl Way {
    fn http(config: &Config, name: &str) -> Result<Self, String> {
        let tls = || Tls { insecure: config.insecure, ..Tls::default() }.config();
        let mut endpoint = Endpoint::at(&config.address, tls)?;
        if let Some(proxy) = &config.proxy {
            endpoint.proxy = Some(Proxy::at(proxy)?);
        }
        let prefix = config.address.path().trim_end_matches('/');
        let (mut query, path) = (
            url::form_urlencoded::Serializer::new(String::new()),
            match &config.version {
                Version::One => "/write",
                Version::Two { .. } => "/api/v2/write",
            },
        );
        match &config.version {
            Version::One => query
                .append_pair("consistency", &config.consistency)
                .append_pair("db", &config.database)
                .append_pair("precision", config.precision.name())
                .append_pair("rp", &config.retention),
            Version::Two { organization, bucket, .. } => query
                .append_pair("bucket", bucket)
                .append_pair("org", organization)
                .append_pair("precision", config.precision.name()),
        };
        let authorize = |post: Post| match (&config.version, &config.user) {
            (Version::Two { token, .. }, _) => {
                post.header("Authorization", &format!("Token {token}"))
            }
            (Version::One, Some((user, password))) => {
                post.header("Authorization", &basic(user, password))
            }
            (Version::One, None) => post,
        };
        let post = authorize(Post::new(format!("{prefix}{path}?{}", query.finish()), Vec::new()))
            .header("User-Agent", "brunt")
            .header("Content-Type", "text/plain; charset=utf-8");
        let first = matches!(config.version, Version::One).then(|| {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            let create = format!("CREATE DATABASE {}", identifier(&config.database));
            query.append_pair("db", "").append_pair("params", "{}").append_pair("q", &create);
            authorize(Post::new(format!("{prefix}/query?{}", query.finish()), Vec::new()))
                .header("User-Agent", "brunt")
        });
        let sender = Sender::start(Sending {
            output: name.to_owned(),
            failure: "Couldn't write stats",
            endpoint,
            at_once: config.concurrent_writes,
            waiting: BODIES_WAITING,
            first,
            judge: Answer::is_success,
        })
        .map_err(|error| error.to_string())?;
        Ok(Self::Http { sender: Some(sender), post })
    }
}

/// A socket that sends to the host of `udp://host:port`.
fn datagrams(address: &Url) -> io::Result<UdpSocket> {
    let host = address.host_str().unwrap_or("localhost").trim_matches(['[', ']']).to_owned();
    crate::statsd::datagrams(&format!("{host}:{}", address.port().unwrap_or(8089)))
}

/// A name in InfluxQL.
fn identifier(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && !name.starts_with(|first: char| first.is_ascii_digit()) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whole lines, as many as go in `size` bytes each (a longer line goes alone).
fn datagrams_of(lines: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let mut end = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            if end > 0 && end + line.len() > size {
                break;
            }
            end += line.len();
        }
        let (datagram, later) = rest.split_at(end);
        rest = later;
        (!datagram.is_empty()).then_some(datagram)
    })
}

impl Output for Influxdb {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn flush_interval(&self) -> Duration {
        self.push_interval
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        let mut lost = 0;
        if let Way::Http { sender: Some(sender), .. } = &self.way
            && !frame.samples.is_empty()
            && sender.refuses(frame.samples.len() as u64)
        {
            return Ok(Written::default());
        }
        self.lines.turn_to(&frame.series);
        for sample in &frame.samples {
            if !self.lines.push(&mut self.buffer, sample) {
                lost += 1;
                continue;
            }
            self.held += 1;
            if self.buffer.len() >= BODY {
                self.push();
            }
        }
        Ok(Written { samples: 0, lost })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.push();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        self.push();
        Ok(match &mut self.way {
            Way::Udp { written, .. } => *written,
            Way::Http { sender, .. } => match sender.take() {
                None => Written::default(),
                Some(sender) => {
                    let sent = sender.finish();
                    self.trouble = sent.trouble;
                    Written { samples: sent.arrived, lost: sent.lost }
                }
            },
        })
    }

    fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }
}

#[cfg(test)]
mod tests;
