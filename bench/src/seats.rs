//! Agents that make no load: places, beats, clocks and frames are real, the requests are not. They show what one leader and one
//! broker can bear.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use brunt_cluster::{
    Agent, AgentAction, AgentConfig, AgentEvent, Expect, Key, Loaded, Nanos, Vitals, Write,
};
use brunt_metrics::{
    Frame, MetricId, Registry, Series, SeriesDelta, Sink, TagSet, TrendSink, builtin,
};
use brunt_nats::{Access, Broker, News, Put, Run};
use tokio::sync::mpsc;
use tokio::time::{interval, sleep, timeout};

/// How the program is called: `brunt-bench seats NATS RUN SEATS REQUESTS ROUTES`: the requests a second of each seat, and the number of names that they have.
pub(crate) const WORD: &str = "seats";

/// Metrics of each request that are trends.
const TRENDS: [MetricId; 7] = [
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
];

/// Runs the seats of one run to its end; prints what each sent.
///
/// # Errors
/// Wrong arguments; the broker; a seat that does not end well.
#[expect(clippy::print_stdout, reason = "what the figure reads")]
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [nats, id, seats, requests, routes] = arguments else {
        bail!("{WORD} NATS RUN SEATS REQUESTS ROUTES");
    };
    let (seats, requests, routes): (u32, usize, usize) =
        (seats.parse()?, requests.parse()?, routes.parse()?);
    let registry = Arc::new(Registry::new());
    let frame = Arc::new(second(requests, routes.max(1)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for number in 1..=seats {
            let access = Access { servers: nats.clone(), ..Access::default() };
            let (id, registry, frame) = (id.clone(), Arc::clone(&registry), Arc::clone(&frame));
            tasks.push(tokio::spawn(async move {
                // They do not all come in the same moment.
                sleep(Duration::from_millis(u64::from(number) * 10)).await;
                let limit = Duration::from_secs(30);
                let broker = Broker::connect(&access, "a seat", limit, |_| ()).await?;
                sit(broker.run(&id)?, number, (registry, frame)).await
            }));
        }
        let (mut bytes, mut messages) = (0, 0);
        for task in tasks {
            let sent = task.await??;
            (bytes, messages) = (bytes + sent.0, messages + sent.1);
        }
        println!("{{\"seats\":{seats},\"messages\":{messages},\"bytes\":{bytes}}}");
        Ok(())
    })
}

/// One second of requests: a frame as a load core makes it.
fn second(requests: usize, routes: usize) -> Frame {
    let mut series = Vec::new();
    let each = requests / routes;
    let mut push = |metric, tags: &TagSet, sink| {
        let series_of = Arc::new(Series { metric, tags: tags.clone() });
        series.push(SeriesDelta { series: series_of, sink });
    };
    let counter = |sum: f64| Sink::Counter { sum, rest: 0.0, first_at: Some(1) };
    let scenario = TagSet::from_pairs([("scenario", "default")]);
    for route in 0..routes {
        let url = format!("https://shop.example/items/{route}");
        let tags = TagSet::from_pairs([
            ("expected_response", "true"),
            ("method", "GET"),
            ("name", url.as_str()),
            ("proto", "HTTP/1.1"),
            ("scenario", "default"),
            ("status", "200"),
            ("url", url.as_str()),
        ]);
        push(builtin::HTTP_REQS, &tags, counter(each as f64));
        push(builtin::HTTP_REQ_FAILED, &tags, Sink::Rate { hits: 0, total: each as u64 });
        for (n, trend) in TRENDS.into_iter().enumerate() {
            // Most connections are there already.
            let scale = [5.0, 0.0, 0.0, 0.0, 0.02, 4.9, 0.08][n];
            let values = (0..each).map(|value| scale * spread(route * each + value));
            push(trend, &tags, Sink::Trend(TrendSink::from_values(values)));
        }
    }
    push(builtin::ITERATIONS, &scenario, counter(requests as f64));
    push(builtin::DATA_SENT, &scenario, counter(requests as f64 * 120.0));
    push(builtin::DATA_RECEIVED, &scenario, counter(requests as f64 * 900.0));
    let values = (0..requests).map(|value| 5.2 * spread(value));
    push(builtin::ITERATION_DURATION, &scenario, Sink::Trend(TrendSink::from_values(values)));
    Frame { at: now(), series, ..Frame::default() }
}

/// A number around 1 whose logarithm is about normal, as times of answers are.
fn spread(n: usize) -> f64 {
    let part = |step: f64| (n as f64 * step).fract();
    let normal = part(0.618_033_988) + part(0.414_213_562) + part(0.732_050_807) - 1.5;
    (1.2 * normal).exp()
}

/// Nanoseconds of one clock that never goes back.
fn now() -> Nanos {
    static START: std::sync::OnceLock<(Instant, u64)> = std::sync::OnceLock::new();
    let (start, unix) = START.get_or_init(|| {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (Instant::now(), u64::try_from(unix.as_nanos()).unwrap_or(0))
    });
    unix + u64::try_from(start.elapsed().as_nanos()).unwrap_or(0)
}

/// A seat and its run.
struct Sitter {
    agent: Agent,
    run: Run,
    number: u32,
    registry: Arc<Registry>,
    events: mpsc::Sender<AgentEvent>,
    /// When the scenarios begin and how long they last.
    start: Option<(Nanos, u64)>,
    began: bool,
    ended: bool,
    end: Option<(u8, Option<String>)>,
    bytes: u64,
    messages: u64,
}

/// Takes part in a run, to its end. Returns the bytes and the number of its messages.
async fn sit(
    run: Run,
    number: u32,
    (registry, frame): (Arc<Registry>, Arc<Frame>),
) -> anyhow::Result<(u64, u64)> {
    let (events, mut heard) = mpsc::channel(1024);
    watch(run.clone(), events.clone());
    let config = AgentConfig {
        run: run.id().to_owned(),
        agent: format!("seat/{number}"),
        host: "simulated".to_owned(),
        incarnation: now() + u64::from(number),
        version: leader_version(&run).await?,
        cores: 1,
        memory: 0,
        index: Some(number),
        wait: 60_000_000_000,
        substitute: None,
    };
    let agent = Agent::new(config, now());
    let mut sitter = Sitter {
        agent,
        run,
        number,
        registry,
        events,
        start: None,
        began: false,
        ended: false,
        end: None,
        bytes: 0,
        messages: 0,
    };
    sitter.handle(AgentEvent::Connected);
    let mut seconds = interval(Duration::from_secs(1));
    while sitter.end.is_none() {
        let wait = sitter.agent.wake_at(now()).unwrap_or(u64::MAX).saturating_sub(now());
        let event = tokio::select! {
            event = heard.recv() => event.context("its tasks are gone")?,
            _ = seconds.tick() => { sitter.second(&frame); continue }
            () = sleep(Duration::from_nanos(wait)) => AgentEvent::Wake,
        };
        sitter.handle(event);
    }
    match sitter.end {
        Some((0, _)) => Ok((sitter.bytes, sitter.messages)),
        Some((code, message)) => bail!("seat {number} ended with {code}: {message:?}"),
        None => unreachable!("it ended"),
    }
}

/// Waits for the plan: the version in it is the leader's.
async fn leader_version(run: &Run) -> anyhow::Result<String> {
    for _ in 0..600 {
        if let Ok(Some(change)) = run.key_now("plan").await
            && let Some(value) = change.value
        {
            return Ok(brunt_cluster::Plan::read(&value)?.version);
        }
        sleep(Duration::from_millis(100)).await;
    }
    bail!("no leader came")
}

impl Sitter {
    fn second(&mut self, frame: &Arc<Frame>) {
        let Some((start, length)) = self.start.filter(|_| !self.ended) else { return };
        let now = now();
        if now < start {
            return;
        }
        if !std::mem::replace(&mut self.began, true) {
            self.handle(AgentEvent::Started { late_ns: 0 });
        }
        if now >= start + length {
            self.ended = true;
            self.handle(AgentEvent::Ended);
            return;
        }
        self.handle(AgentEvent::Frame(Arc::clone(frame)));
        let vitals = Vitals { vus: 10, vus_max: 10, cpu: 0.5, ..Vitals::default() };
        self.handle(AgentEvent::Vitals(vitals));
    }

    fn handle(&mut self, event: AgentEvent) {
        let mut actions = Vec::new();
        self.agent.handle(now(), event, &mut actions);
        for action in actions {
            self.act(action);
        }
    }

    /// As `brunt agent` does, but for the engine.
    fn act(&mut self, action: AgentAction) {
        let (run, events, number) = (self.run.clone(), self.events.clone(), self.number);
        match action {
            AgentAction::Write(write) => drop(tokio::spawn(async move {
                if let Some(event) = written(&run, write).await {
                    drop(events.send(event).await);
                }
            })),
            AgentAction::Publish(publication) => {
                self.bytes += publication.payload.len() as u64;
                self.messages += 1;
                drop(tokio::spawn(async move {
                    let (seq, id) = (publication.seq, format!("{}.{}", run.id(), publication.id));
                    let bytes = bytes::Bytes::from_owner(publication.payload);
                    let event = match run.put_frame(number, &id, bytes).await {
                        Ok(_) => AgentEvent::Acked { seq },
                        Err(_) => AgentEvent::NotAcked { seq },
                    };
                    drop(events.send(event).await);
                }));
            }
            AgentAction::Beat(beat) => drop(tokio::spawn(async move {
                let json = serde_json::to_vec(&beat).unwrap_or_default();
                run.say(&format!("beat.{number}"), json).await;
            })),
            AgentAction::AskClock(ask) => drop(tokio::spawn(async move {
                let json = serde_json::to_vec(&ask).unwrap_or_default();
                if let Ok(bytes) = run.ask("clock", json, Duration::from_secs(2)).await
                    && let Ok(reply) = serde_json::from_slice(&bytes)
                {
                    drop(events.send(AgentEvent::ClockReply(reply)).await);
                }
            })),
            AgentAction::Load { plan, .. } => {
                self.start = Some((u64::MAX, plan.limits.run_ms * 1_000_000));
                let (digest, registry) = (plan.digest.clone(), Arc::clone(&self.registry));
                self.handle(AgentEvent::Loaded(Ok(Loaded { digest, registry })));
            }
            AgentAction::Start { at, .. } => {
                self.start = self.start.map(|(_, length)| (at, length));
            }
            AgentAction::Stop { .. } => {
                self.ended = true;
                self.handle(AgentEvent::Ended);
            }
            AgentAction::Finish { code, message, .. } => self.end = Some((code, message)),
            // The script has no setup() and no teardown().
            _ => {}
        }
    }
}

/// Carries a write out.
async fn written(run: &Run, write: Write) -> Option<AgentEvent> {
    let Write { key, value, expect } = write;
    let name = key.to_string();
    let put = match (value, expect) {
        (Some(value), Expect::Absent) => run.create_key(&name, value).await,
        (Some(value), Expect::Revision(revision)) => run.update_key(&name, value, revision).await,
        (None, _) => return None,
    };
    match put.ok()? {
        Put::Done(revision) => Some(AgentEvent::Wrote { key, revision }),
        Put::Lost => {
            let now = run.key_now(&name).await.ok()?;
            let current = now.and_then(|change| Some((change.value?, change.revision)));
            Some(AgentEvent::Conflict { key, current })
        }
    }
}

/// Brings the keys, and what the leader says that it has.
fn watch(run: Run, events: mpsc::Sender<AgentEvent>) {
    let (of_keys, of_talk) = (run.clone(), run);
    let told = events.clone();
    tokio::spawn(async move {
        loop {
            if let Ok(mut keys) = of_keys.watch_keys().await {
                let limit = Duration::from_secs(6);
                while let Ok(Some(news)) = timeout(limit, keys.next()).await {
                    let event = match news {
                        News::Current => AgentEvent::Current,
                        News::Changed(change) => match Key::parse(&change.key) {
                            Some(key) => {
                                let (value, revision) = (change.value, change.revision);
                                AgentEvent::Changed { key, value, revision }
                            }
                            None => continue,
                        },
                    };
                    if told.send(event).await.is_err() {
                        return;
                    }
                }
            }
            sleep(Duration::from_millis(500)).await;
        }
    });
    tokio::spawn(async move {
        let Ok(mut talk) = of_talk.listen("seen").await else { return };
        while let Some(said) = talk.next().await {
            if let Ok(seen) = serde_json::from_slice(&said.bytes)
                && events.send(AgentEvent::Seen(seen)).await.is_err()
            {
                return;
            }
        }
    });
}
