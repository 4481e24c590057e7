//! `--out opentelemetry`: OTLP metrics, over gRPC or HTTP.
//!
//! Each export tells the totals since the start of all series; so an export that fails, or that is left
//! out because the collector is still busy with the one before, loses nothing.

mod config;
mod export;
mod histogram;

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brunt_metrics::{Frame, Kind, Sink};
use bytes::Bytes;

use self::config::{Config, Transport};
use self::histogram::Histogram;
use crate::net::{Answer, Endpoint, Post, Protocol, Sender, Sending, Totals};
use crate::output::{Context, Output, OutputError, Written};
use crate::settings::Settings;
use crate::tally::{Tally, Total};

/// As messages name it.
const NAME: &str = "opentelemetry";

/// Requests that may wait: those of one export.
const REQUESTS_WAITING: usize = 256;

/// The call of gRPC.
const EXPORT: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// Sends totals.
pub(crate) struct Opentelemetry {
    config: Config,
    tally: Tally<Measured>,
    /// When it was opened: what totals count from. Nanoseconds since the Unix epoch.
    start: u64,
    totals: Totals,
}

/// The total of a series.
pub(crate) enum Measured {
    Sink(Sink),
    Histogram(Histogram),
}

impl Total for Measured {
    fn add(&mut self, sink: &Sink) {
        match (self, sink) {
            (Self::Histogram(histogram), Sink::Trend(trend)) => histogram.add(trend),
            (Self::Histogram(_), _) => debug_assert!(false, "only trends are histograms"),
            (Self::Sink(total), sink) => total.merge(sink),
        }
    }
}

impl Opentelemetry {
    pub(crate) fn open(context: &Context) -> Result<Self, OutputError> {
        let settings = Settings::new(NAME, context)?;
        let config = Config::read(&settings)?;
        let is_grpc = config.transport == Transport::Grpc;
        let mut endpoint = Endpoint::at(&config.url, || config.tls.config())
            .map_err(|error| settings.wrong(error))?;
        endpoint.timeout = config.timeout;
        endpoint.protocol = if is_grpc { Protocol::Two } else { Protocol::One };
        let sender = Sender::start(Sending {
            output: NAME.to_owned(),
            failure: "failed to upload metrics",
            endpoint,
            at_once: 1,
            waiting: REQUESTS_WAITING,
            first: None,
            judge: if is_grpc { grpc_success } else { Answer::is_success },
        })
        .map_err(|error| settings.wrong(error.to_string()))?;
        let tally = Tally::new(&context.registry, |metric| match metric.kind {
            Kind::Trend => Measured::Histogram(Histogram::default()),
            kind => Measured::Sink(Sink::empty(kind)),
        });
        let (start, totals) = (nanos(SystemTime::now()), Totals::new(NAME, sender));
        Ok(Self { config, tally, start, totals })
    }

    /// Tells everything; how many series that are.
    fn export(&mut self) -> u64 {
        let Some(sender) = self.totals.sender() else { return 0 };
        let resource = export::Resource {
            attributes: &self.config.attributes,
            prefix: &self.config.prefix,
            start: self.start,
            now: nanos(SystemTime::now()),
        };
        let mut told = 0;
        for request in resource.requests(self.tally.rows()) {
            told += request.series;
            sender.offer(self.config.post(request.body), request.series);
        }
        told
    }
}

impl Config {
    fn post(&self, message: Vec<u8>) -> Post {
        let post = match self.transport {
            Transport::Http => {
                Post::new(self.url.path(), message).header("Content-Type", "application/x-protobuf")
            }
            Transport::Grpc => Post::new(EXPORT, framed(&message))
                .header("Content-Type", "application/grpc")
                .header("TE", "trailers"),
        };
        let post = post.header("User-Agent", "brunt");
        self.headers.iter().fold(post, |post, (name, value)| post.header(name, value))
    }
}

/// A message as gRPC sends it: not compressed, its length, itself.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut framed = Vec::with_capacity(message.len() + 5);
    framed.push(0);
    framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
    framed.extend_from_slice(message);
    framed.into()
}

/// Whether a call went well: its status comes behind the answer, or, if there is none, in front.
pub(crate) fn grpc_success(answer: &Answer) -> Result<(), String> {
    answer.is_success()?;
    let find = |name| answer.trailers.get(name).or_else(|| answer.headers.get(name));
    let text = |name| find(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    match text("grpc-status").as_deref() {
        Some("0") => Ok(()),
        Some(status) => {
            let said = text("grpc-message").unwrap_or_default();
            Err(format!("the server answered with the gRPC status {status}: {said}"))
        }
        None => Err("the server answered without a gRPC status".into()),
    }
}

fn nanos(moment: SystemTime) -> u64 {
    moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

impl Output for Opentelemetry {
    fn description(&self) -> String {
        format!("{NAME} ({})", self.config.shown)
    }

    fn flush_interval(&self) -> Duration {
        self.config.export_interval
    }

    fn wants_samples(&self) -> bool {
        false
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        self.tally.absorb(&frame.series);
        Ok(Written::default())
    }

    fn flush(&mut self) -> io::Result<()> {
        let late = "The collector takes longer than the export interval; exports are left out";
        if self.totals.is_free(late) {
            self.export();
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        let lost_before = self.totals.lost();
        let told = self.export();
        Ok(self.totals.finish(told, lost_before, self.tally.left_out()))
    }

    fn trouble(&self) -> Option<String> {
        self.totals.trouble()
    }
}

#[cfg(test)]
mod tests;
