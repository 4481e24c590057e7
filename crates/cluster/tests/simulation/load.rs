//! The load of simulated agents, the target's own count of it, and the law.

use std::sync::Arc;

use brunt_cluster::{
    AgentEvent, Fault, Loaded, Outcome, SeatReport, TeardownEnd, Totals, Vitals, code,
};
use brunt_metrics::{
    CheckDelta, Frame, Registry, Series, SeriesDelta, Sink, TagSet, TrendSink, builtin,
};

use crate::chaos::MILLI;
use crate::world::{Process, TICK, World};

/// The load of a process.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Planned, by the true time.
    start: Option<u64>,
    until: u64,
    next: u64,
    has_begun: bool,
    has_ended: bool,
    iterations: u64,
}

impl Load {
    /// Whether it is to make load, or makes it.
    pub(crate) fn runs(&self) -> bool {
        self.start.is_some() && !self.has_ended
    }
}

/// All that was sent to the target, by process.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    sent: Vec<Sent>,
}

/// All that one process sent.
#[derive(Debug)]
struct Sent {
    node: usize,
    incarnation: u64,
    is_alive: bool,
    /// Requests, each with the time of the run by the planned start.
    ticks: Vec<(u64, u64)>,
    /// The true moment of the first.
    began: Option<u64>,
}

impl Truth {
    pub(crate) fn born(&mut self, node: usize, incarnation: u64) {
        self.sent.push(Sent { node, incarnation, is_alive: true, ticks: Vec::new(), began: None });
    }

    pub(crate) fn died(&mut self, node: usize, _: u64) {
        for sent in self.sent.iter_mut().filter(|sent| sent.node == node) {
            sent.is_alive = false;
        }
    }

    fn alive(&mut self, node: usize) -> &mut Sent {
        let sent = self.sent.iter_mut().find(|sent| sent.node == node && sent.is_alive);
        sent.expect("who sends is alive")
    }

    /// The true moments at which loads began.
    pub(crate) fn began(&self) -> Vec<u64> {
        self.sent.iter().filter_map(|sent| sent.began).collect()
    }

    /// All requests.
    pub(crate) fn requests(&self) -> u64 {
        self.sent.iter().flat_map(|sent| &sent.ticks).map(|(_, count)| count).sum()
    }
}

impl World {
    pub(crate) fn setup_data(&self) -> String {
        let size = if self.setting.large_data { 300_000 } else { 20 };
        format!("{:?}", "x".repeat(size))
    }

    pub(crate) fn load(&mut self, node: usize) {
        let after = self.rng.u64(10..2000) * MILLI;
        let fails = self.setting.load_fails && node == 1;
        let result = if fails {
            Err(Fault::new(code::SCRIPT, "ReferenceError: x is not defined"))
        } else {
            Ok(Loaded { digest: "same".into(), registry: Arc::new(Registry::new()) })
        };
        self.later(node, after, AgentEvent::Loaded(result));
    }

    pub(crate) fn set_up(&mut self, node: usize) {
        self.setups += 1;
        let frame = self.frame(node, 3, 0);
        self.later(node, 10 * MILLI, AgentEvent::Frame(frame));
        let after = self.rng.u64(20..3000) * MILLI;
        let result = if self.setting.setup_fails {
            Err(Fault::new(code::SCRIPT, "setup() threw"))
        } else {
            Ok(Some(self.setup_data()))
        };
        self.later(node, after, AgentEvent::SetupDone(result));
    }

    pub(crate) fn tear_down(&mut self, node: usize) {
        self.teardowns += 1;
        let after = self.rng.u64(20..3000) * MILLI;
        let frame = self.frame(node, 2, u64::MAX);
        self.later(node, after - 10 * MILLI, AgentEvent::Frame(frame));
        self.later(node, after, AgentEvent::TeardownDone(TeardownEnd::default()));
    }

    pub(crate) fn start(&mut self, node: usize, at: u64) {
        let local = self.clock(node);
        let start = if at >= local { self.moment(node, at) } else { self.now - (local - at) };
        let seat = |index: usize| match &self.nodes[index].process {
            Process::Agent(agent, load) => Some((agent.seat(), load.runs())),
            _ => None,
        };
        let own = seat(node).and_then(|(seat, _)| seat);
        for other in 1..self.nodes.len() {
            let is_same = seat(other) == Some((own, true));
            assert!(!is_same, "two processes make the load of seat {own:?}: {}", self.state());
        }
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        assert!(load.start.is_none(), "a process begins twice");
        load.start = Some(start);
        load.until = start + self.setting.duration;
        load.next = start.max(self.now);
        let next = load.next;
        self.tick_at(node, next);
    }

    pub(crate) fn stop(&mut self, node: usize) {
        let late = self.rng.u64(0..300) * MILLI;
        let now = self.now;
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        if load.runs() {
            load.until = load.until.min(now + late);
            load.next = load.until.max(now);
            let next = load.next;
            self.tick_at(node, next);
        }
    }

    pub(crate) fn tick(&mut self, node: usize) {
        let now = self.now;
        let count = self.rng.u64(1..20);
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        let Some(start) = load.start else { return };
        if load.has_ended || load.next != now {
            return;
        }
        if now >= load.until {
            load.has_ended = true;
            self.tell_agent(node, AgentEvent::Ended);
            return;
        }
        let is_first = !std::mem::replace(&mut load.has_begun, true);
        load.iterations += count;
        load.next = (now + TICK).min(load.until);
        let (next, iterations) = (load.next, load.iterations);
        if is_first {
            self.truth.alive(node).began = Some(now);
            self.tell_agent(node, AgentEvent::Started { late_ns: now - start });
        }
        let frame = self.frame(node, count, now.saturating_sub(start));
        self.tell_agent(node, AgentEvent::Frame(frame));
        let vitals = Vitals { vus: 5, vus_max: 5, iterations, ..Vitals::default() };
        self.tell_agent(node, AgentEvent::Vitals(vitals));
        self.tick_at(node, next);
    }

    /// A frame of `count` requests; from now on the target has had them.
    fn frame(&mut self, node: usize, count: u64, run_ns: u64) -> Arc<Frame> {
        self.truth.alive(node).ticks.push((run_ns, count));
        let at = self.clock(node);
        let series = |metric| Arc::new(Series { metric, tags: TagSet::default() });
        let counted = |metric| SeriesDelta {
            series: series(metric),
            sink: Sink::Counter { sum: count as f64, rest: 0.0, first_at: Some(at) },
        };
        let values = (0..count).map(|n| n as f64 + 0.5);
        let durations = SeriesDelta {
            series: series(builtin::HTTP_REQ_DURATION),
            sink: Sink::Trend(TrendSink::from_values(values)),
        };
        let check = CheckDelta {
            group: "".into(),
            name: "is ok".into(),
            passes: count,
            fails: 0,
            first_at_order: 1,
        };
        Arc::new(Frame {
            at,
            series: vec![counted(builtin::ITERATIONS), counted(builtin::HTTP_REQS), durations],
            checks: vec![check],
            ..Frame::default()
        })
    }

    /// The law: each request is counted once, or the report says whose are missing, and since when.
    pub(crate) fn check(&self, outcome: &Outcome) {
        let Process::Leader(_, ledger) = &self.nodes[0].process else { return };
        let mut sum = Totals::default();
        for seat in &outcome.report.seats {
            sum.add(seat.totals);
            self.check_seat(seat, outcome);
        }
        let told = (ledger.requests, ledger.iterations, ledger.checks);
        assert_eq!(told, (sum.requests, sum.iterations, sum.checks), "{}", self.state());
        let counted: u64 = outcome.report.seats.iter().map(|seat| seat.totals.requests).sum();
        assert!(counted <= self.truth.requests(), "more than was sent: {}", self.state());
    }

    fn check_seat(&self, seat: &SeatReport, outcome: &Outcome) {
        let Some(agent) = &seat.agent else { return };
        let is_of_seat = |sent: &&Sent| {
            sent.incarnation == agent.incarnation && agent.agent == format!("agent-{}", sent.node)
        };
        let sent = self.truth.sent.iter().find(is_of_seat).expect("an agent that was born");
        let all: u64 = sent.ticks.iter().map(|(_, count)| count).sum();
        let state = || format!("{seat:#?}\n{sent:?}\n{}", self.state());
        assert!(seat.totals.requests <= all, "counted twice: {}", state());
        assert_eq!(seat.totals.requests, seat.totals.checks, "{}", state());
        if seat.is_whole {
            assert_eq!(seat.totals.requests, all, "not counted, and not told: {}", state());
            return;
        }
        if outcome.report.missing.is_empty() {
            assert_eq!(sent.began, None, "{}", state());
        } else {
            let name = format!("seat {} ", seat.seat);
            let is_told = outcome.report.missing.iter().any(|text| text.contains(&name));
            assert!(is_told, "whose is missing is not told: {}", state());
            assert!(outcome.code.is_some_and(|code| code > 0), "{:?} {}", outcome.code, state());
        }
        let since = seat.missing_since_ns.expect("a moment");
        // Ticks whose frame ended before that are counted: a frame is merged whole. Clocks differ by half a round trip.
        let slack = seat.offset_bound_ns + 50 * MILLI;
        let before = sent.ticks.iter().filter(|(at, _)| at.saturating_add(slack) < since);
        let before: u64 = before.map(|(_, count)| count).sum();
        assert!(
            seat.totals.requests >= before,
            "missing since {since}, earlier in truth: {}",
            state()
        );
        if seat.missing_messages.0 == 0 && sent.began.is_some() {
            assert!(seat.missing.requests + seat.totals.requests <= all, "{}", state());
        }
    }
}
