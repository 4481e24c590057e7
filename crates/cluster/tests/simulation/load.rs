//! The load of simulated agents, the target's own count of it, and the law.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use brunt_cluster::{
    AgentEvent, Fault, Loaded, Outcome, Plan, SeatReport, Steering, TeardownEnd, Totals, Vitals,
    code,
};
use brunt_metrics::{
    CheckDelta, Frame, Registry, Series, SeriesDelta, Sink, TagSet, TrendSink, builtin,
};
use brunt_schedule::{Arrivals, Executor, Rhythm, Scenario, Segment};

use crate::chaos::{MILLI, Setting, Trouble};
use crate::world::{Process, TICK, World};

/// Iterations of all agents a second, where loads are taken over.
const RATE: u64 = 40;

impl Setting {
    /// The scenario of all agents, where loads are taken over.
    pub(crate) fn scenario(&self) -> Scenario {
        Scenario {
            name: "all".into(),
            executor: Executor::ConstantArrivalRate {
                rate: RATE,
                time_unit: Duration::from_secs(1),
                duration: Duration::from_nanos(self.duration),
                pre_allocated_vus: 1000,
                max_vus: 1000,
            },
            start_time: Duration::ZERO,
            graceful_stop: Duration::from_secs(1),
            exec: "default".into(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            warmup: Duration::ZERO,
            rhythm: Rhythm::default(),
        }
    }
}

/// The iterations of a load that may be taken over: each has its number and its time.
#[derive(Debug)]
struct Turns {
    nonce: u64,
    root: u32,
    arrivals: Arrivals,
    /// The start, by the machine's clock.
    at: u64,
    next: u64,
    has_lapsed: bool,
}

impl Turns {
    fn due(&self, turn: u64) -> Option<u64> {
        Some(self.at + self.arrivals.due(turn)?.as_nanos() as u64)
    }
}

/// The load of a process.
#[derive(Debug, Default)]
pub(crate) struct Load {
    turns: Option<Turns>,
    /// No iteration begins from then on, by the machine's clock.
    lease: Option<u64>,
    is_stopped: bool,
    /// Planned, by the true time.
    start: Option<u64>,
    until: u64,
    next: u64,
    has_begun: bool,
    has_ended: bool,
    iterations: u64,
    pub(crate) steering: Steering,
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
    /// Run, seat, number: where loads are taken over.
    done: BTreeSet<(u64, u32, u64)>,
}

/// All that one process sent.
#[derive(Debug)]
struct Sent {
    node: usize,
    incarnation: u64,
    is_alive: bool,
    name: String,
    substitute: Option<u32>,
    /// Requests, each with the time of the run by the planned start.
    ticks: Vec<(u64, u64)>,
    /// The true moment of each of those that were sent by the scenarios, and how many they were.
    moments: Vec<(u64, u64)>,
    /// The true moment of the first.
    began: Option<u64>,
}

impl Truth {
    pub(crate) fn born(
        &mut self,
        node: usize,
        incarnation: u64,
        name: String,
        substitute: Option<u32>,
    ) {
        self.sent.push(Sent {
            node,
            incarnation,
            is_alive: true,
            name,
            substitute,
            ticks: Vec::new(),
            moments: Vec::new(),
            began: None,
        });
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

    /// Requests that a machine's scenarios sent between two true moments.
    pub(crate) fn sent_between(&self, node: usize, from: u64, to: u64) -> u64 {
        let of_node = self.sent.iter().filter(|sent| sent.node == node);
        let moments = of_node.flat_map(|sent| &sent.moments);
        moments.filter(|(at, _)| (from..to).contains(at)).map(|(_, count)| count).sum()
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

    pub(crate) fn load(&mut self, node: usize, plan: &Plan, root: u32) {
        if self.setting.takes_over {
            let segment = plan.segment(root).expect("a seat of the plan");
            let arrivals = self.setting.scenario().arrivals(&segment).expect("an arrival rate");
            let turns =
                Turns { nonce: plan.nonce, root, arrivals, at: 0, next: 0, has_lapsed: false };
            if let Process::Agent(_, load) = &mut self.nodes[node].process {
                load.turns = Some(turns);
            }
        }
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
        let frame = self.frame(node, (3, 0, 0), 0);
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
        let mut frame = self.frame(node, (2, 0, 0), u64::MAX);
        // Cores tell what they measured at once.
        Arc::make_mut(&mut frame).at += after - 10 * MILLI;
        self.later(node, after - 10 * MILLI, AgentEvent::Frame(frame));
        self.later(node, after, AgentEvent::TeardownDone(TeardownEnd::default()));
    }

    pub(crate) fn lease(&mut self, node: usize, until: u64) {
        assert!(self.setting.takes_over, "nobody takes loads over");
        if let Process::Agent(_, load) = &mut self.nodes[node].process {
            load.lease = Some(until);
        }
    }

    pub(crate) fn start(&mut self, node: usize, at: u64, from: Option<u64>) {
        let local = self.clock(node);
        let first = from.map_or(0, |from| self.moment(node, from));
        let end = self.moment(node, at + self.setting.duration);
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
        load.next = start.max(self.now).max(first);
        if let Some(turns) = &mut load.turns {
            turns.at = at;
            load.until = end;
            let since = Duration::from_nanos(from.unwrap_or(at) - at);
            turns.next = turns.arrivals.due_before(since);
        }
        let next = load.next;
        self.tick_at(node, next);
    }

    pub(crate) fn stop(&mut self, node: usize) {
        let late = self.rng.u64(0..300) * MILLI;
        let now = self.now;
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        if load.runs() {
            load.is_stopped = true;
            load.until = load.until.min(now + late);
            load.next = load.until.max(now);
            let next = load.next;
            self.tick_at(node, next);
        }
    }

    pub(crate) fn tick(&mut self, node: usize) {
        let now = self.now;
        if self.setting.takes_over {
            return self.tick_turns(node);
        }
        let count = self.rng.u64(1..20);
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        let Some(start) = load.start else { return };
        if load.has_ended || load.next != now {
            return;
        }
        if now >= load.until {
            load.has_ended = true;
            self.ends_steered(node);
            self.tell_agent(node, AgentEvent::Ended);
            return;
        }
        let is_first = !std::mem::replace(&mut load.has_begun, true);
        let count = if load.steering.paused { 0 } else { count };
        load.iterations += count;
        load.next = (now + TICK).min(load.until);
        let (next, iterations) = (load.next, load.iterations);
        if is_first {
            self.truth.alive(node).began = Some(now);
            self.tell_agent(node, AgentEvent::Started { late_ns: now - start });
        }
        if count > 0 {
            self.truth.alive(node).moments.push((now, count));
            let frame = self.frame(node, (count, count, 0), now.saturating_sub(start));
            self.tell_agent(node, AgentEvent::Frame(frame));
        }
        let vitals = Vitals { vus: 5, vus_max: 5, iterations, ..Vitals::default() };
        self.tell_agent(node, AgentEvent::Vitals(vitals));
        self.tick_at(node, next);
    }

    /// A tick where loads are taken over: does what is due, each number once.
    fn tick_turns(&mut self, node: usize) {
        let (now, local) = (self.now, self.clock(node));
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        let (Some(start), Some(turns)) = (load.start, &mut load.turns) else { return };
        if load.has_ended || load.next != now {
            return;
        }
        let (mut did, mut missed) = (0, 0);
        let may_begin = load.lease.is_none_or(|lease| local < lease) && !load.is_stopped;
        while may_begin && turns.due(turns.next).is_some_and(|due| due <= local) {
            if turns.has_lapsed {
                missed += 1;
            } else {
                let number = (turns.nonce, turns.root, turns.next);
                assert!(self.truth.done.insert(number), "an iteration twice: {number:?}");
                did += 1;
            }
            turns.next += 1;
        }
        turns.has_lapsed = !may_begin;
        load.iterations += did;
        let is_first = !std::mem::replace(&mut load.has_begun, true);
        load.has_ended = now >= load.until;
        load.next = (now + TICK).min(load.until);
        let (next, iterations, has_ended) = (load.next, load.iterations, load.has_ended);
        if is_first {
            self.truth.alive(node).began = Some(now);
            self.tell_agent(node, AgentEvent::Started { late_ns: now.saturating_sub(start) });
        }
        if did + missed > 0 {
            let frame = self.frame(node, (did, did, missed), now.saturating_sub(start));
            self.tell_agent(node, AgentEvent::Frame(frame));
        }
        let vitals = Vitals { vus: 5, vus_max: 5, iterations, ..Vitals::default() };
        self.tell_agent(node, AgentEvent::Vitals(vitals));
        if has_ended {
            self.tell_agent(node, AgentEvent::Ended);
        } else {
            self.tick_at(node, next);
        }
    }

    /// A frame of these numbers of requests, iterations and missed iterations; from now on the target has had the requests.
    fn frame(
        &mut self,
        node: usize,
        (count, iterations, missed): (u64, u64, u64),
        run_ns: u64,
    ) -> Arc<Frame> {
        self.truth.alive(node).ticks.push((run_ns, count));
        let at = self.clock(node);
        let series = |metric| Arc::new(Series { metric, tags: TagSet::default() });
        let counted = |metric, count: u64| SeriesDelta {
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
            series: vec![
                counted(builtin::ITERATIONS, iterations),
                counted(builtin::HTTP_REQS, count),
                counted(builtin::DROPPED_ITERATIONS, missed),
                durations,
            ],
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
        if self.setting.takes_over {
            self.check_takeovers(outcome);
        }
        let told = (ledger.requests, ledger.iterations, ledger.checks);
        assert_eq!(told, (sum.requests, sum.iterations, sum.checks), "{}", self.state());
        let counted: u64 = outcome.report.seats.iter().map(|seat| seat.totals.requests).sum();
        assert!(counted <= self.truth.requests(), "more than was sent: {}", self.state());
    }

    /// Where a load was taken over, all that its plan has was done, or is counted as missed.
    fn check_takeovers(&self, outcome: &Outcome) {
        let is_cut = self.setting.troubles.iter().any(|(_, trouble)| {
            matches!(trouble, Trouble::Interrupt | Trouble::ScriptAborts { .. })
        });
        let is_whole_run = matches!(outcome.code, None | Some(111)) && !is_cut;
        for root in 1..=self.setting.agents {
            let mut chain = vec![&outcome.report.seats[root - 1]];
            while let Some(next) = chain.last().and_then(|seat| seat.taken_by) {
                chain.push(&outcome.report.seats[next as usize - 1]);
            }
            let is_whole = chain.last().is_some_and(|seat| seat.is_whole);
            let began = chain.iter().all(|seat| !seat.states.is_empty());
            if chain.len() < 2 || !is_whole || !is_whole_run || !began {
                continue;
            }
            let segment = Plan::sequence_of(&vec![1; self.setting.agents]);
            let bounds: Vec<&str> = segment.split(',').collect();
            let own = format!("{}:{}", bounds[root - 1], bounds[root]);
            let segment = Segment::parse(Some(&own), Some(&segment)).expect("a segment");
            let arrivals = self.setting.scenario().arrivals(&segment).expect("an arrival rate");
            let done: u64 = chain.iter().map(|seat| seat.totals.iterations).sum();
            let missed: u64 = chain.iter().map(|seat| seat.missed).sum();
            assert_eq!(done + missed, arrivals.count(), "seat {root}: {chain:#?} {}", self.state());
        }
    }

    fn check_seat(&self, seat: &SeatReport, outcome: &Outcome) {
        let Some(agent) = &seat.agent else { return };
        let is_of_seat = |sent: &&Sent| {
            let substitute = (seat.seat > self.setting.agents as u32).then_some(seat.seat);
            sent.incarnation == agent.incarnation
                && agent.agent == sent.name
                && sent.substitute == substitute
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
