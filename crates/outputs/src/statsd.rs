//! `--out statsd`: a line per sample, in datagrams; with `K6_STATSD_ENABLE_TAGS` with tags, as Datadog's
//! agent reads them.
//!
//! As k6 had it until v0.55.0 and as its extension has it: counters as `c`, trends as `ms`, gauges as `g`,
//! rates as `c`, and each check as a counter of its own, `check.<name>.pass` or `.fail`.

use std::io;
use std::net::{ToSocketAddrs as _, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Frame, Kind, Registry, Sample, Series, SeriesDelta};

use crate::cache::{Text, Texts};
use crate::number::{push_decimal, push_fixed};
use crate::output::{Context, Output, OutputError, Written};
use crate::settings::Settings;

/// A datagram that fits an Ethernet frame. Longer ones may be taken apart on the way, and lost.
const DATAGRAM: usize = 1432;

/// Writes samples as lines.
pub(crate) struct Statsd {
    address: String,
    socket: UdpSocket,
    push_interval: Duration,
    /// The most lines in a datagram.
    lines_max: usize,
    format: Format,
    buffer: Vec<u8>,
    /// Lines in the buffer.
    held: u64,
    written: Written,
    trouble: Option<String>,
}

/// How lines look.
struct Format {
    registry: Arc<Registry>,
    /// By the number of the metric, so that the registry's lock is not taken for each line.
    kinds: Vec<Kind>,
    /// `k6.`, or nothing.
    namespace: String,
    /// Without tags: none. Otherwise those that are left out.
    blocklist: Option<Vec<String>>,
    /// As in `Context::instance`.
    instance: Option<(String, String)>,
    texts: Texts,
    /// A line that may not fit any more.
    line: Vec<u8>,
}

impl Statsd {
    pub(crate) fn open(context: &Context) -> Result<Self, OutputError> {
        let settings = Settings::new("statsd", context)?;
        let address = settings.text("K6_STATSD_ADDR", "addr");
        let address = address.unwrap_or_else(|| "localhost:8125".into());
        let socket = datagrams(&address)
            .map_err(|error| settings.wrong(format!("K6_STATSD_ADDR: \"{address}\": {error}")))?;
        let namespace = settings.text("K6_STATSD_NAMESPACE", "namespace");
        let mut namespace = namespace.unwrap_or_else(|| "k6".into());
        if !namespace.ends_with('.') {
            namespace.push('.');
        }
        let with_tags = settings.flag("K6_STATSD_ENABLE_TAGS", "enableTags")?.unwrap_or(false);
        let blocklist = settings.text("K6_STATSD_TAG_BLOCKLIST", "tagBlocklist");
        let blocklist = blocklist.unwrap_or_else(|| "vu,iter,url".into());
        let blocklist = blocklist.split(',').map(|tag| tag.trim().to_owned()).collect();
        let interval = settings.duration("K6_STATSD_PUSH_INTERVAL", "pushInterval")?;
        let lines_max = settings.count("K6_STATSD_BUFFER_SIZE", "bufferSize")?;
        Ok(Self {
            address,
            socket,
            push_interval: interval.unwrap_or(Duration::from_secs(1)),
            lines_max: lines_max.unwrap_or(20),
            format: Format {
                registry: Arc::clone(&context.registry),
                kinds: Vec::new(),
                namespace,
                blocklist: with_tags.then_some(blocklist),
                instance: context.instance.clone(),
                texts: Texts::default(),
                line: Vec::new(),
            },
            buffer: Vec::new(),
            held: 0,
            written: Written::default(),
            trouble: None,
        })
    }

    fn push(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        match self.socket.send(&self.buffer) {
            Ok(_) => self.written.samples += held,
            Err(error) => {
                self.written.lost += held;
                if self.trouble.is_none() {
                    let (output, error) = (self.description(), error.to_string());
                    log::error!(output = &*output, error = &*error; "Couldn't send metrics");
                    self.trouble = Some(error);
                }
            }
        }
        self.buffer.clear();
    }
}

impl Format {
    /// Turns to a frame: the samples that follow are of these series.
    fn turn_to(&mut self, series: &[SeriesDelta]) {
        let Self { registry, kinds, namespace, blocklist, instance, texts, .. } = self;
        let instance = instance.as_ref().map(|(key, value)| (&**key, &**value));
        if series.iter().any(|delta| delta.series.metric.0 as usize >= kinds.len()) {
            *kinds = registry.all().iter().map(|metric| metric.kind).collect();
        }
        texts.turn_to(series, |series| {
            let metric = registry.get(series.metric);
            let check = if metric.kind == Kind::Rate { series.tags.get("check") } else { None };
            let name = match check.filter(|check| !check.is_empty()) {
                Some(check) => format!("{namespace}check.{}.", legal(check)),
                None => format!("{namespace}{}:", legal(&metric.name)),
            };
            let tail = tags(series, blocklist.as_deref(), instance);
            Text { head: name.into_bytes().into(), tail: tail.into() }
        });
    }

    /// Writes a line; whether the sample can be told.
    fn write(&mut self, sample: &Sample) -> bool {
        let Self { kinds, texts, line, .. } = self;
        line.clear();
        if !sample.value.is_finite() {
            return false;
        }
        let (series, text) = texts.get(sample.series);
        let kind = kinds[series.metric.0 as usize];
        line.extend_from_slice(&text.head);
        match kind {
            Kind::Gauge => {
                push_decimal(line, sample.value);
                line.extend_from_slice(b"|g");
            }
            Kind::Trend => {
                push_fixed(line, sample.value);
                line.extend_from_slice(b"|ms");
            }
            Kind::Rate if text.head.ends_with(b".") => {
                line.extend_from_slice(if sample.value == 0.0 { b"fail:1|c" } else { b"pass:1|c" });
            }
            // Whole numbers, as k6 has it.
            Kind::Counter | Kind::Rate => {
                push_decimal(line, sample.value.trunc());
                line.extend_from_slice(b"|c");
            }
        }
        line.extend_from_slice(&text.tail);
        line.push(b'\n');
        true
    }
}

/// `|#key:value,key:value`
fn tags(series: &Series, blocklist: Option<&[String]>, instance: Option<(&str, &str)>) -> Vec<u8> {
    let Some(blocklist) = blocklist else { return Vec::new() };
    let mut out = String::new();
    let instance = instance.filter(|(key, _)| series.tags.get(key).is_none());
    for (key, value) in series.tags.iter().chain(instance) {
        if value.is_empty() || blocklist.iter().any(|blocked| blocked == key) {
            continue;
        }
        out.push_str(if out.is_empty() { "|#" } else { "," });
        out.push_str(&key.replace([',', '|', '\n', ':'], "_"));
        out.push(':');
        out.push_str(&value.replace([',', '|', '\n'], "_"));
    }
    out.into_bytes()
}

/// A name without the characters that end it.
fn legal(name: &str) -> String {
    name.replace([':', '|', '@', '\n'], "_")
}

/// A socket that sends to `host:port`, and never waits.
pub(crate) fn datagrams(address: &str) -> io::Result<UdpSocket> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(address)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        match socket {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Output for Statsd {
    fn description(&self) -> String {
        format!("statsd ({})", self.address)
    }

    fn flush_interval(&self) -> Duration {
        self.push_interval
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        let mut lost = 0;
        self.format.turn_to(&frame.series);
        for sample in &frame.samples {
            if !self.format.write(sample) {
                lost += 1;
                continue;
            }
            if self.buffer.len() + self.format.line.len() > DATAGRAM {
                self.push();
            }
            self.buffer.extend_from_slice(&self.format.line);
            self.held += 1;
            if self.held >= self.lines_max as u64 {
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
        Ok(self.written)
    }

    fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }
}

#[cfg(test)]
mod tests;
