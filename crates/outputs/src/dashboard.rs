//! `--out web-dashboard`: a page that shows the test while it runs, and the same page as a file at the end.
//!
//! ```text
//! frames ─▶ Meters (per metric: this period, the whole test)
//!              │ each period
//!              ▼
//!           Journal: events, kept ─▶ server: /events (SSE)
//!              │                       the run's feed: /ui/ (the page), /ui/stream, /report (the page with all data in it)
//!              └─▶ record=FILE (an event per line)
//! ```
//!
//! Addresses, events and settings are k6's; the page is that of all runs (crate `page`), and is made of the run file.

mod config;
mod journal;
mod meters;
mod server;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brunt_metrics::{ExceptionLog, Frame, Ledger, LedgerConfig};
use serde_json::{Value, json};

use self::config::Config;
use self::journal::Journal;
use self::meters::Meters;
use self::server::Server;
pub use self::server::Viewers;
use crate::destination::Destination;
use crate::output::{Context, Output, OutputError, Page, Written};

/// The most points in time: k6's number, eight hours of ten seconds.
const POINTS_MAX: u32 = 2880;

/// Gathers what the page shows.
pub(crate) struct Dashboard {
    config: Config,
    meters: Meters,
    /// Judges thresholds; none if there are none.
    ledger: Option<Ledger>,
    journal: Arc<Journal>,
    server: Option<Server>,
    record: Option<Destination>,
    start: SystemTime,
    /// When the last period ended.
    turned: SystemTime,
    has_points: bool,
    exceptions: ExceptionLog,
    /// Since they were told last.
    has_exceptions: bool,
}

impl Dashboard {
    pub(crate) fn open(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let mut config = Config::read(arg, context)?;
        let least = context.longest / POINTS_MAX;
        if config.period < least {
            // Whole seconds, as people write them.
            config.period = Duration::from_secs_f64(least.as_secs_f64().ceil());
        }
        let wrong = |what: String| OutputError::Setting { output: "web-dashboard", what };
        let record = config.record.as_ref().map(|path| {
            Destination::create(path).map_err(|source| OutputError::Create {
                output: "web-dashboard",
                path: path.clone(),
                source,
            })
        });
        let record = record.transpose()?;
        let ledger_config = LedgerConfig {
            thresholds: context.thresholds.clone(),
            expected_response_submetric: context.expected_response_submetric,
            warmup: context.warmup,
            ..LedgerConfig::default()
        };
        // A threshold that is wrong is told by whoever runs the test.
        let ledger = Ledger::new(Arc::clone(&context.registry), ledger_config).ok();
        let ledger = ledger.filter(|_| !context.thresholds.is_empty());
        let journal = Arc::new(Journal::default());
        let server = match config.port {
            None => None,
            Some(port) => Some(
                Server::start(&config.host, port, &journal, &context.feed)
                    .map_err(|error| wrong(format!("listen {}:{port}: {error}", config.host)))?,
            ),
        };
        let now = SystemTime::now();
        let mut dashboard = Self {
            meters: Meters::new(&context.registry, &config.tags),
            ledger,
            journal,
            server,
            record,
            start: now,
            turned: now,
            has_points: false,
            exceptions: ExceptionLog::default(),
            has_exceptions: false,
            config,
        };
        dashboard.open_journal(context).map_err(|error| wrong(error.to_string()))?;
        if let Some(server) = dashboard.server.as_ref().filter(|_| dashboard.config.open) {
            brunt_page::open_browser(server.address());
        }
        Ok(dashboard)
    }

    /// The events that are known before any measurement.
    fn open_journal(&mut self, context: &Context) -> io::Result<()> {
        let thresholds: BTreeMap<&str, Vec<&str>> = context
            .thresholds
            .iter()
            .map(|set| {
                let sources = set.thresholds.iter().map(|threshold| &*threshold.source);
                (set.metric.as_str(), sources.collect())
            })
            .collect();
        let param = json!({
            "thresholds": thresholds,
            "scenarios": context.scenarios,
            "endOffset": context.longest.as_millis() as u64,
            "period": self.config.period.as_millis() as u64,
            "tags": self.config.tags,
            "scriptPath": context.script,
            "aggregates": meters::aggregates(),
        });
        self.journal.say("config", &json!({ "title": "Brunt" }));
        self.tell("param", &param)?;
        let new = self.meters.announce();
        self.tell("metric", &new)?;
        let start = json!([[millis(self.start)]]);
        self.tell("start", &start)
    }

    /// To everybody who listens.
    fn tell(&mut self, event: &'static str, data: &Value) -> io::Result<()> {
        let data = self.journal.say(event, data);
        let Some(record) = &mut self.record else { return Ok(()) };
        record
            .buffer
            .extend_from_slice(format!("{{\"event\":\"{event}\",\"data\":{data}}}\n").as_bytes());
        record.spill()
    }

    /// Ends a period. `is_last`: the whole test is told even if nothing came since.
    fn turn(&mut self, is_last: bool) -> io::Result<()> {
        let now = SystemTime::now();
        let since = |then: SystemTime| now.duration_since(then).unwrap_or_default();
        let (period, run) = (since(self.turned), since(self.start));
        let has_news = self.meters.has_news();
        if self.meters.has_unannounced() {
            let new = self.meters.announce();
            self.tell("metric", &new)?;
        }
        // The rest of a period at the end has rates of its own, which would be a peak or a pit; but a short
        // test has nothing else.
        let is_point =
            has_news && (!is_last || period * 2 >= self.config.period || !self.has_points);
        let snapshot = is_point.then(|| self.meters.snapshot(millis(now), period));
        self.has_points |= is_point;
        self.meters.turn();
        if std::mem::take(&mut self.has_exceptions) {
            let exceptions = self.exceptions.summary();
            let told: Vec<Value> = exceptions
                .told
                .iter()
                .map(|one| json!({ "message": one.message(), "place": one.place(), "count": one.count }))
                .collect();
            self.tell("exceptions", &json!({ "told": told, "others": exceptions.others }))?;
        }
        if has_news || is_last {
            let cumulative = self.meters.cumulative(millis(now), run);
            self.tell("cumulative", &cumulative)?;
            if let Some(crossed) = self.crossed(run) {
                self.tell("threshold", &crossed)?;
            }
        }
        if let Some(snapshot) = snapshot {
            self.tell("snapshot", &snapshot)?;
        }
        self.turned = now;
        self.record.as_mut().map_or(Ok(()), Destination::flush)
    }

    /// The thresholds that don't hold now, if there are any thresholds.
    fn crossed(&mut self, run: Duration) -> Option<Value> {
        let ledger = self.ledger.as_mut()?;
        let crossed = ledger.evaluate(run, false).crossed;
        let summary = ledger.summary(run);
        let sources = |name: &str| -> Vec<&str> {
            let thresholds = summary.metric(name).map_or(&[][..], |metric| &metric.thresholds);
            thresholds.iter().filter(|one| !one.ok).map(|one| one.source.as_str()).collect()
        };
        Some(crossed.iter().map(|name| (name.clone(), json!(sources(name)))).collect())
    }
}

fn millis(moment: SystemTime) -> u64 {
    moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

impl Output for Dashboard {
    fn description(&self) -> String {
        "web-dashboard".to_owned()
    }

    fn page(&self) -> Option<Page> {
        let address = self.server.as_ref().map(|server| server.address().to_owned());
        let viewers = self.server.as_ref().map(Server::viewers);
        Some(Page { address, viewers, export: self.config.export.clone() })
    }

    fn flush_interval(&self) -> Duration {
        self.config.period
    }

    fn wants_samples(&self) -> bool {
        false
    }

    /// The page has plots for k6's metrics and the script's.
    fn wants_generator(&self) -> bool {
        false
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        self.meters.absorb(&frame.series);
        if !frame.exceptions.is_empty() {
            self.exceptions.absorb(&frame.exceptions);
            self.has_exceptions = true;
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.absorb(frame);
        }
        Ok(Written::default())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.turn(false)
    }

    fn finish(&mut self) -> io::Result<Written> {
        self.turn(true)?;
        let stop = json!([[millis(SystemTime::now())]]);
        self.tell("stop", &stop)?;
        if let Some(record) = &mut self.record {
            record.finish()?;
        }
        Ok(Written { samples: 0, lost: self.meters.left_out() })
    }
}

#[cfg(test)]
mod tests;
