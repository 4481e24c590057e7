//! `--log-output=loki`: log lines pushed to Grafana Loki, a few at a time, by a thread of their own.
//!
//! ```text
//! writer thread ─ put ─▶ batch (bounded: `limit` lines a period) ─ each `pushPeriod` ─▶ POST …/loki/api/v1/push
//! ```

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

use brunt_fiber::clock;
use brunt_http::{Body, Client, Headers, Network, Request, Settings, Target};
use log::LevelFilter;
use serde_json::{Value, json};

use super::entry::Entry;

/// The address of Loki unless a setting names another.
const USUAL_URL: &str = "http://127.0.0.1:3100/loki/api/v1/push";
/// One push may take so long.
const PUSH_LIMIT: Duration = Duration::from_secs(10);
/// The push under way and the last one together, at the end of the process.
const LAST_LIMIT: Duration = Duration::from_secs(15);
/// The maximum number of bytes of an answer's head and of its body: they only explain a refusal.
const ANSWER_MAX: u32 = 64 << 10;
/// The letters of an answer that are shown.
const SHOWN_MAX: usize = 300;

/// `loki[=URL][,KEY=VALUE…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LokiConfig {
    url: String,
    labels: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Lines of one period; more are dropped and counted.
    limit: usize,
    pub(super) level: LevelFilter,
    push_period: Duration,
    /// Longer lines lose their middle.
    message_most: usize,
    /// Fields that become labels; `None` for all.
    allowed: Option<Vec<String>>,
}

impl Default for LokiConfig {
    fn default() -> Self {
        Self {
            url: USUAL_URL.to_owned(),
            labels: Vec::new(),
            headers: Vec::new(),
            limit: 100,
            level: LevelFilter::Trace,
            push_period: Duration::from_secs(1),
            message_most: 1 << 20,
            allowed: None,
        }
    }
}

impl LokiConfig {
    /// Reads the text after `loki=`.
    ///
    /// # Errors
    /// A key that means nothing, a value that can't be read, a malformed URL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        for part in parts(text) {
            let Some((key, value)) = part.split_once('=') else {
                if !part.is_empty() {
                    part.clone_into(&mut config.url);
                }
                continue;
            };
            let number = || -> Result<usize, String> {
                let number = value.parse().ok().filter(|number| *number > 0);
                number
                    .ok_or_else(|| format!("loki {key} needs to be a positive number, is {value}"))
            };
            match key {
                "url" => value.clone_into(&mut config.url),
                "limit" => config.limit = number()?,
                "msgMaxSize" => config.message_most = number()?,
                "level" => config.level = super::setup::parse_level(value)?,
                "pushPeriod" => {
                    config.push_period = brunt_duration::wait::parse(value)
                        .ok()
                        .filter(|period| !period.is_zero())
                        .ok_or_else(|| format!("couldn't parse the loki pushPeriod {value}"))?;
                }
                "profile" => {}
                "allowedLabels" => {
                    let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    let list = list.ok_or_else(|| {
                        format!("the loki allowedLabels are written [a,b], not {value}")
                    })?;
                    config.allowed =
                        Some(list.split(',').map(|name| name.trim().to_owned()).collect());
                }
                _ if key.starts_with("label.") => {
                    config.labels.push((key["label.".len()..].to_owned(), value.to_owned()));
                }
                _ if key.starts_with("header.") => {
                    config.headers.push((key["header.".len()..].to_owned(), value.to_owned()));
                }
                // A URL may have a query.
                _ if part.contains("://") => part.clone_into(&mut config.url),
                _ => return Err(format!("unknown loki config key {key}")),
            }
        }
        if let Err(error) = Target::parse(&config.url) {
            return Err(format!("the loki address {} is no URL: {error:?}", config.url));
        }
        Ok(config)
    }
}

/// The parts between commas; commas within brackets divide nothing.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// The lines of one period.
#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    dropped: u64,
}

/// The outcome of the lines.
#[derive(Default)]
struct Tally {
    /// Lines for Loki.
    given: AtomicU64,
    /// Those that it took.
    arrived: AtomicU64,
    /// Those above the limit of a period; Loki is told of them.
    above: AtomicU64,
    /// The first fault.
    trouble: Mutex<Option<String>>,
}

struct Line {
    at: SystemTime,
    labels: BTreeMap<String, String>,
    text: String,
}

/// The pushing thread, from outside.
pub(super) struct Loki {
    config: Arc<LokiConfig>,
    batch: Arc<Mutex<Batch>>,
    tally: Arc<Tally>,
    stop: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
    done: Receiver<()>,
}

impl Loki {
    /// Starts to push.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(config: &LokiConfig) -> std::io::Result<Self> {
        let config = Arc::new(config.clone());
        let batch = Arc::new(Mutex::new(Batch::default()));
        let (stop, stopped) = sync_channel(1);
        let (over, done) = sync_channel(1);
        let tally = Arc::new(Tally::default());
        let (pushed, settings) = (Arc::clone(&batch), Arc::clone(&config));
        let counts = Arc::clone(&tally);
        let thread =
            std::thread::Builder::new().name("brunt-loki".to_owned()).spawn(move || {
                brunt_outputs::stand_back();
                push_until(&settings, &pushed, &stopped, &counts);
                let _ = over.send(());
            })?;
        Ok(Self { config, batch, tally, stop, thread: Some(thread), done })
    }

    pub(super) fn put(&self, entry: &Entry) {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if batch.lines.len() >= self.config.limit {
            batch.dropped += 1;
            self.tally.above.fetch_add(1, Relaxed);
            return;
        }
        self.tally.given.fetch_add(1, Relaxed);
        let line = line(entry, &self.config);
        batch.lines.push(line);
    }

    /// Pushes what is left, and tells what was lost.
    pub(super) fn finish(mut self) {
        let _ = self.stop.try_send(());
        let is_done = self.done.recv_timeout(LAST_LIMIT).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_done) {
            let _ = thread.join();
        }
        if let Some(loss) = self.tally.loss(&self.config) {
            tell(&loss);
        }
    }
}

impl Tally {
    /// The loss, in a sentence.
    fn loss(&self, config: &LokiConfig) -> Option<String> {
        let lost = self.given.load(Relaxed).saturating_sub(self.arrived.load(Relaxed));
        let above = self.above.load(Relaxed);
        let mut parts = Vec::new();
        if lost > 0 {
            let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
            let late = || format!("it did not take them within {LAST_LIMIT:?}");
            parts.push(format!("{lost} did not arrive ({})", trouble.unwrap_or_else(late)));
        }
        if above > 0 {
            let period = brunt_duration::wait::format(config.push_period);
            parts.push(format!(
                "{above} were above the limit of {} in {period} (limit=N allows more)",
                config.limit
            ));
        }
        let all = lost + above;
        (all > 0).then(|| format!("{all} log lines are not in Loki: {}", parts.join(", ")))
    }
}

fn line(entry: &Entry, config: &LokiConfig) -> Line {
    let mut labels: BTreeMap<String, String> = config.labels.iter().cloned().collect();
    let mut text = super::format::with_more(entry);
    let level = super::format::level_name(entry.level).to_owned();
    // A number that changes is no label.
    let own = entry
        .fields
        .iter()
        .filter(|(name, _)| entry.more == 0 || name != "count")
        .map(|(name, value)| (name.clone(), value.text()));
    for (name, value) in own.chain([("level".to_owned(), level)]) {
        match &config.allowed {
            Some(allowed) if !allowed.contains(&name) => {
                // A string takes all that is written.
                let _ = write!(text, " {name}={value}");
            }
            _ => {
                labels.insert(name, value);
            }
        }
    }
    Line { at: entry.at, labels, text: without_middle(text, config.message_most) }
}

/// Both ends of a text that is too long.
fn without_middle(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let half = most / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let from = text.len() - half;
    let tail = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{}...{}", &text[..head], &text[tail..])
}

fn push_until(config: &LokiConfig, batch: &Mutex<Batch>, stopped: &Receiver<()>, tally: &Tally) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let settings = Settings {
        body_limit: u64::from(ANSWER_MAX),
        head_limit: ANSWER_MAX as usize,
        ..Settings::default()
    };
    let client = Network::new(settings, clock::now_ns).map(|net| Client::new(net, None));
    let (runtime, client) = match (runtime, client) {
        (Ok(runtime), Ok(client)) => (runtime, client),
        (Err(error), _) => return tell(&format!("log lines cannot be pushed to Loki: {error}")),
        (_, Err(error)) => return tell(&format!("log lines cannot be pushed to Loki: {error}")),
    };
    let local = tokio::task::LocalSet::new();
    let mut has_told = false;
    loop {
        let is_last =
            !matches!(stopped.recv_timeout(config.push_period), Err(RecvTimeoutError::Timeout));
        let taken = std::mem::take(&mut *batch.lock().unwrap_or_else(PoisonError::into_inner));
        if !taken.lines.is_empty() || taken.dropped > 0 {
            let lines = taken.lines.len() as u64;
            let body = body(config, taken).to_string();
            match local.block_on(&runtime, push(&client, config, body.as_bytes())) {
                Ok(()) => drop(tally.arrived.fetch_add(lines, Relaxed)),
                // Once: these lines can't be logged where all others go.
                Err(problem) if !has_told => {
                    has_told = true;
                    tell(&format!("log lines could not be pushed to Loki: {problem}"));
                    let mut trouble = tally.trouble.lock().unwrap_or_else(PoisonError::into_inner);
                    *trouble = Some(problem);
                }
                Err(_) => {}
            }
        }
        if is_last {
            return;
        }
    }
}

#[expect(clippy::print_stderr, reason = "the log itself is what does not work")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// `{"streams": [{"stream": {labels}, "values": [[ns, line], …]}, …]}`
fn body(config: &LokiConfig, batch: Batch) -> Value {
    let ns = |at: SystemTime| {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        since.as_nanos().to_string()
    };
    let mut streams: BTreeMap<BTreeMap<String, String>, Vec<Value>> = BTreeMap::new();
    for line in batch.lines {
        streams.entry(line.labels).or_default().push(json!([ns(line.at), line.text]));
    }
    if batch.dropped > 0 {
        let mut labels: BTreeMap<String, String> = config.labels.iter().cloned().collect();
        labels.insert("level".to_owned(), "warning".to_owned());
        let text = format!(
            "k6 dropped {} log messages because they were above the limit of {} messages / {}",
            batch.dropped,
            config.limit,
            brunt_duration::wait::format(config.push_period)
        );
        streams.entry(labels).or_default().push(json!([ns(SystemTime::now()), text]));
    }
    let streams: Vec<Value> = streams
        .into_iter()
        .map(|(labels, values)| json!({ "stream": labels, "values": values }))
        .collect();
    json!({ "streams": streams })
}

async fn push(client: &Client, config: &LokiConfig, body: &[u8]) -> Result<(), String> {
    let target = Target::parse(&config.url).map_err(|error| format!("{error:?}"))?;
    let mut headers = Headers::new();
    let mut add = |name: &str, value: &str| headers.append(name, value);
    add("Content-Type", "application/json").map_err(|error| error.to_string())?;
    if let Some(basic) = target.basic_authorization() {
        add("Authorization", &basic).map_err(|error| error.to_string())?;
    }
    for (name, value) in &config.headers {
        add(name, value).map_err(|error| error.to_string())?;
    }
    let mut request = Request::new("POST", &target, &headers);
    request.body = Body::Bytes(body);
    request.deadline = Some(clock::now_ns() + PUSH_LIMIT.as_nanos() as u64);
    let exchange = client.exchange(&request).await;
    let response = exchange.response().map_err(|failure| failure.to_string())?;
    if (200..300).contains(&response.status()) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(exchange.body());
    let said: String = said.trim().chars().filter(|c| !c.is_control()).take(SHOWN_MAX).collect();
    Err(format!("status {}: {said}", response.status()))
}

#[cfg(test)]
mod tests {
    use super::{super::entry::Field, *};

    fn entry(message: &str) -> Entry {
        Entry {
            at: SystemTime::UNIX_EPOCH + Duration::from_nanos(42),
            level: log::Level::Info,
            of_init: false,
            more: 0,
            message: message.to_owned(),
            fields: vec![("source".to_owned(), Field::Text("console".to_owned()))],
        }
    }

    #[test]
    fn a_configuration_is_read() {
        let config = LokiConfig::parse(
            "http://h:1/push,label.a=b,header.X-Y=z,limit=5,level=info,pushPeriod=500ms,\
             msgMaxSize=10,allowedLabels=[a,level]",
        )
        .unwrap();
        assert_eq!((config.url.as_str(), config.limit), ("http://h:1/push", 5));
        assert_eq!(config.push_period, Duration::from_millis(500));
        assert_eq!(config.allowed.as_deref(), Some(&["a".to_owned(), "level".to_owned()][..]));
        assert_eq!(LokiConfig::parse("").unwrap(), LokiConfig::default());
        for (text, part) in [
            ("foo,x=y", "unknown loki config key x"),
            ("limit=0", "positive number"),
            ("pushPeriod=x", "pushPeriod"),
            ("allowedLabels=a", "[a,b]"),
        ] {
            let error = LokiConfig::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn fields_become_labels_unless_they_are_not_allowed() {
        let mut config =
            LokiConfig { labels: vec![("a".into(), "b".into())], ..Default::default() };
        let lines = vec![line(&entry("hi"), &config)];
        assert_eq!(
            body(&config, Batch { lines, dropped: 0 }),
            json!({ "streams": [{ "stream": { "a": "b", "level": "info", "source": "console" },
                                  "values": [["42", "hi"]] }] })
        );
        config.allowed = Some(vec!["level".to_owned()]);
        let seen = line(&entry("hi"), &config);
        assert_eq!((seen.text.as_str(), seen.labels.len()), ("hi source=console", 2));
    }

    #[test]
    fn long_lines_lose_their_middle() {
        assert_eq!(without_middle("abcdefghij".to_owned(), 6), "abc...hij");
        assert_eq!(without_middle("ääääääää".to_owned(), 6), "ä...ä");
        assert_eq!(without_middle("abc".to_owned(), 6), "abc");
    }
}
