//! `--out experimental-prometheus-rw`: remote write, version 1.
//!
//! Each push tells the totals since the start of every series that got values since the last one that
//! arrived; so a push that fails, or that is left out because the server is still busy with the one
//! before, loses nothing.

mod config;
mod message;
mod native;
mod sigv4;
mod write;

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brunt_metrics::{Frame, Kind, Sink};

use self::config::{Authorization, Config};
use self::native::Native;
use self::write::{Request, Stat};
use crate::net::{Answer, Endpoint, Post, Sender, Sending, Totals};
use crate::output::{Context, Output, OutputError, Written};
use crate::settings::Settings;
use crate::tally::{Tally, Total};

/// As k6's messages name it.
const NAME: &str = "Prometheus remote write";

/// Requests that may wait: those of one push, each of [`SERIES_PER_REQUEST`] series.
const REQUESTS_WAITING: usize = 256;

/// Prometheus' own remote write sends some thousand at once, too.
const SERIES_PER_REQUEST: usize = 5_000;

/// Sends totals.
pub(crate) struct Prometheus {
    config: Config,
    tally: Tally<Measured>,
    totals: Totals,
    /// The number of lost samples at the last push: a larger one now tells that the push failed.
    lost_before: u64,
}

/// The total of a series.
pub(crate) enum Measured {
    Sink(Sink),
    Native(Native),
}

impl Total for Measured {
    fn add(&mut self, sink: &Sink) {
        match (self, sink) {
            (Self::Native(native), Sink::Trend(trend)) => native.add(trend),
            (Self::Native(_), _) => debug_assert!(false, "only trends are native histograms"),
            (Self::Sink(total), sink) => total.merge(sink),
        }
    }
}

impl Prometheus {
    pub(crate) fn open(context: &Context) -> Result<Self, OutputError> {
        let settings = Settings::new("experimental-prometheus-rw", context)?;
        let config = Config::read(&settings)?;
        let mut endpoint = Endpoint::at(&config.url, || config.tls.config())
            .map_err(|error| settings.wrong(error))?;
        endpoint.timeout = config.timeout;
        let sender = Sender::start(Sending {
            output: NAME.to_owned(),
            failure: "Failed to send the time series data to the endpoint",
            endpoint,
            at_once: 1,
            waiting: REQUESTS_WAITING,
            first: None,
            judge: Answer::is_success,
        })
        .map_err(|error| settings.wrong(error.to_string()))?;
        let tally = if config.native_histograms {
            Tally::new(&context.registry, |metric| match metric.kind {
                Kind::Trend => Measured::Native(Native::new(metric.contains)),
                kind => Measured::Sink(Sink::empty(kind)),
            })
        } else {
            Tally::new(&context.registry, |metric| Measured::Sink(Sink::empty(metric.kind)))
        };
        Ok(Self { config, tally, totals: Totals::new(NAME, sender), lost_before: 0 })
    }

    /// Tells what is new; how many series that are.
    fn push(&mut self, now: SystemTime) -> u64 {
        let Some(sender) = self.totals.sender() else { return 0 };
        if sender.lost() > self.lost_before {
            // The last push failed, or some of it: what is told of now is told as a whole.
            self.lost_before = sender.lost();
            self.tally.rows().iter_mut().for_each(|row| row.is_fresh = true);
        }
        let mut told = 0;
        let mut request = Request::new(millis(now), &self.config.trend_stats);
        for row in self.tally.rows().iter_mut().filter(|row| row.is_fresh) {
            row.is_fresh = false;
            request.push(row);
            told += 1;
            if request.series() >= SERIES_PER_REQUEST {
                let full = request.take();
                sender.offer(self.config.post(&full.0, now), full.1);
            }
        }
        if request.series() > 0 {
            let (body, series) = request.take();
            sender.offer(self.config.post(&body, now), series);
        }
        told
    }

    /// Tells that no series goes on.
    fn push_stale_markers(&mut self, now: SystemTime) {
        let Some(sender) = self.totals.sender() else { return };
        let mut request = Request::new(millis(now), &self.config.trend_stats);
        for row in self.tally.rows() {
            request.push_stale(row);
            if request.series() >= SERIES_PER_REQUEST {
                let (body, _) = request.take();
                sender.offer(self.config.post(&body, now), 1);
            }
        }
        if request.series() > 0 {
            let (body, _) = request.take();
            sender.offer(self.config.post(&body, now), 1);
        }
    }
}

impl Config {
    /// A body, ready to be sent.
    fn post(&self, body: &[u8], now: SystemTime) -> Post {
        let packed = snap::raw::Encoder::new()
            .compress_vec(body)
            .expect("a request of some thousand series is far below snappy's 4 GiB");
        let mut path = self.url.path().to_owned();
        if let Some(query) = self.url.query() {
            path.push('?');
            path.push_str(query);
        }
        let mut post = Post::new(path, packed);
        for (name, value) in &self.headers {
            post = post.header(name, value);
        }
        post = post
            .header("User-Agent", "brunt-prometheus-rw-output")
            .header("Content-Encoding", "snappy")
            .header("Content-Type", "application/x-protobuf")
            .header("X-Prometheus-Remote-Write-Version", "0.1.0");
        match &self.authorization {
            None => post,
            Some(Authorization::Header(value)) => post.header("Authorization", value),
            Some(Authorization::SigV4(keys)) => keys.sign(post, &self.url, now),
        }
    }
}

fn millis(now: SystemTime) -> i64 {
    now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

impl Output for Prometheus {
    fn description(&self) -> String {
        format!("{NAME} ({})", self.config.url)
    }

    fn flush_interval(&self) -> Duration {
        self.config.push_interval
    }

    fn wants_samples(&self) -> bool {
        false
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        self.tally.absorb(&frame.series);
        Ok(Written::default())
    }

    fn flush(&mut self) -> io::Result<()> {
        let late = "The server takes longer than the push interval; pushes are left out";
        if self.totals.is_free(late) {
            self.push(SystemTime::now());
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        let now = SystemTime::now();
        // Samples that were lost before are told once more by this push.
        let lost_before = self.totals.lost();
        let told = self.push(now);
        if self.config.stale_markers {
            // A moment later, or the server would keep one of the two.
            self.push_stale_markers(now + Duration::from_millis(1));
        }
        Ok(self.totals.finish(told, lost_before, self.tally.left_out()))
    }

    fn trouble(&self) -> Option<String> {
        self.totals.trouble()
    }
}

#[cfg(test)]
mod tests;
