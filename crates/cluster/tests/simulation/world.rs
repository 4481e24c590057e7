//! The world: machines with clocks of their own, wires that are cut, processes that die.

mod births;
mod does;
mod troubles;
mod wire;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use brunt_cluster::{Agent, AgentEvent, Leader, LeaderEvent, Outcome, Step, Totals};
use brunt_metrics::Registry;
use fastrand::Rng;

use crate::broker::Broker;
use crate::chaos::{MILLI, SECOND, Setting, Trouble};
use crate::load::{Load, Truth};
use crate::steering::Book;

/// The wall clock of a machine without skew, at the beginning.
const EPOCH: u64 = 1_700_000_000 * SECOND;
/// No run takes longer.
const END: u64 = 900 * SECOND;
/// From one tick of an agent's cores to the next.
pub(crate) const TICK: u64 = 250 * MILLI;

/// Something that happens at a moment.
pub(crate) enum Event {
    Wake,
    ToAgent(AgentEvent),
    ToLeader(LeaderEvent),
    /// A request to the broker arrives.
    Request(Request),
    /// The adapter sees what the wire does.
    LinkSeen,
    LinkUp,
    AckTimeout {
        seq: u64,
    },
    /// A tick of the load.
    Tick,
    Trouble(Trouble),
    BrokerUp {
        emptied: bool,
    },
    Revive,
    /// A message that may be lost, at the broker.
    Core(Core),
}

/// A request whose answer comes back on the same connection.
pub(crate) enum Request {
    Write(brunt_cluster::Write),
    Publish(brunt_cluster::Publication),
    PutCheckpoint(Vec<u8>),
    Purge(u64),
    PutSetup(String),
    GetSetup,
    Watch,
    Open,
    Consume,
}

#[derive(Clone)]
pub(crate) enum Core {
    Beat(brunt_cluster::Beat),
    Ask(usize, brunt_cluster::ClockAsk),
    Reply(usize, brunt_cluster::ClockReply),
}

pub(crate) enum Process {
    Agent(Box<Agent>, Box<Load>),
    Leader(Box<Leader>, Totals),
    None,
}

/// A machine with one process.
pub(crate) struct Node {
    pub(crate) process: Process,
    /// Events of earlier processes are stale.
    life: u64,
    /// Answers on earlier connections are lost.
    connection: u64,
    is_cut: bool,
    /// The adapter believes to be connected, by this connection.
    has_connected: bool,
    own: u64,
    latency: u64,
    skew: i64,
    drift: i64,
    wake: u64,
    pub(crate) code: Option<Option<u8>>,
    pub(crate) message: Option<String>,
    unacked: BTreeMap<u64, u64>,
    /// The process is another one's, too: it makes the load of somebody else there.
    pub(crate) host: Option<usize>,
    pub(crate) incarnation: u64,
}

/// A simulated run.
pub(crate) struct World {
    pub(crate) setting: Setting,
    pub(crate) rng: Rng,
    pub(crate) now: u64,
    events: BinaryHeap<Reverse<(u64, u64, usize, u64)>>,
    queued: BTreeMap<u64, Event>,
    count: u64,
    pub(crate) broker: Broker,
    pub(crate) nodes: Vec<Node>,
    registry: Arc<Registry>,
    pub(crate) truth: Truth,
    pub(crate) outcomes: Vec<Outcome>,
    /// Whether the leader was killed after its summary and before the end.
    pub(crate) leader_kills: usize,
    pub(crate) setups: usize,
    pub(crate) teardowns: usize,
    steps: BTreeMap<u64, Step>,
    pub(crate) book: Book,
    pub(crate) told: Vec<String>,
    nonces: u64,
    /// The leader's consumer has begun.
    consumes: bool,
    /// It knows what the store has.
    has_opened: bool,
    /// It said that all measurements before this moment of the run were told.
    pub(crate) whole: u64,
}

impl World {
    pub(crate) fn new(setting: Setting) -> Self {
        let mut rng = Rng::with_seed(setting.seed ^ 0x9e37_79b9_7f4a_7c15);
        let nodes = (0..=setting.agents + setting.spares)
            .map(|_| {
                let skew = rng.u64(0..=2 * setting.skew) as i64 - setting.skew as i64;
                let drift = rng.u64(0..=2 * setting.drift) as i64 - setting.drift as i64;
                Node {
                    process: Process::None,
                    life: 0,
                    connection: 0,
                    is_cut: false,
                    has_connected: false,
                    own: 0,
                    latency: rng.u64(MILLI / 10..=setting.latency),
                    skew,
                    drift,
                    wake: u64::MAX,
                    code: None,
                    message: None,
                    unacked: BTreeMap::new(),
                    host: None,
                    incarnation: 0,
                }
            })
            .collect();
        let mut world = Self {
            rng,
            now: 0,
            events: BinaryHeap::new(),
            queued: BTreeMap::new(),
            count: 0,
            broker: Broker::default(),
            nodes,
            registry: Arc::new(Registry::new()),
            truth: Truth::default(),
            outcomes: Vec::new(),
            leader_kills: 0,
            setups: 0,
            teardowns: 0,
            steps: BTreeMap::new(),
            book: Book::default(),
            told: Vec::new(),
            nonces: 0,
            consumes: false,
            has_opened: false,
            whole: 0,
            setting,
        };
        for node in 0..world.nodes.len() {
            let at = world.rng.u64(0..2 * SECOND);
            world.at(at, node, Event::Revive);
        }
        for (at, trouble) in world.setting.troubles.clone() {
            world.at(at, 0, Event::Trouble(trouble));
        }
        world
    }

    fn at(&mut self, at: u64, node: usize, event: Event) {
        self.count += 1;
        let life = self.nodes[node].life;
        self.events.push(Reverse((at.max(self.now), self.count, node, life)));
        self.queued.insert(self.count, event);
    }

    /// A machine's own clock.
    pub(crate) fn clock(&self, node: usize) -> u64 {
        let node = &self.nodes[node];
        let drift = self.now as i64 / 1_000_000 * node.drift;
        (EPOCH + self.now).saturating_add_signed(node.skew + drift)
    }

    /// The true moment at which a machine's clock shows this.
    pub(crate) fn moment(&self, node: usize, local: u64) -> u64 {
        let ahead = local.saturating_sub(self.clock(node));
        // A slow clock takes longer; a little too late is early enough.
        self.now + ahead + ahead / 4000 + u64::from(ahead > 0)
    }

    /// Runs until all processes are over.
    pub(crate) fn run(&mut self) {
        while let Some(Reverse((at, number, node, life))) = self.events.pop() {
            let event = self.queued.remove(&number).expect("each event is queued once");
            assert!(at < END, "the run does not end: {}", self.state());
            assert!(self.count < 5_000_000, "events without end: {}", self.state());
            self.now = at;
            self.happens(node, life, event);
            if self.nodes.iter().all(|node| node.code.is_some()) {
                break;
            }
        }
        assert!(
            self.nodes.iter().all(|node| node.code.is_some()),
            "nothing happens: {}",
            self.state()
        );
    }

    fn happens(&mut self, node: usize, life: u64, event: Event) {
        let is_of_world = matches!(
            event,
            Event::Trouble(_)
                | Event::BrokerUp { .. }
                | Event::Revive
                | Event::LinkUp
                | Event::Core(_)
                | Event::Request(_)
        );
        if !is_of_world && life != self.nodes[node].life {
            return;
        }
        match event {
            Event::Wake => {
                if self.nodes[node].wake == self.now {
                    self.nodes[node].wake = u64::MAX;
                    self.tell(node, AgentEvent::Wake, LeaderEvent::Wake);
                }
            }
            Event::ToAgent(event) => self.tell_agent(node, event),
            Event::ToLeader(event) => self.tell_leader(event),
            Event::Request(request) => self.requested(node, life, request),
            Event::LinkSeen => self.look_at_link(node),
            Event::LinkUp => {
                self.nodes[node].is_cut = false;
                for node in self.process_of(node) {
                    self.see_link(node);
                }
            }
            Event::AckTimeout { seq } => {
                if self.nodes[node].unacked.remove(&seq).is_some() {
                    self.tell_agent(node, AgentEvent::NotAcked { seq });
                }
            }
            Event::Tick => self.tick(node),
            Event::Trouble(trouble) => self.trouble(trouble),
            Event::BrokerUp { emptied } => {
                if emptied {
                    self.broker.empty();
                }
                self.broker.is_down = false;
                for node in 0..self.nodes.len() {
                    self.see_link(node);
                }
            }
            Event::Revive => self.revive(node),
            Event::Core(core) => self.deliver(core),
        }
    }

    /// Tells a process, whichever it is.
    fn tell(&mut self, node: usize, agent: AgentEvent, leader: LeaderEvent) {
        match self.nodes[node].process {
            Process::Agent(..) => self.tell_agent(node, agent),
            Process::Leader(..) => self.tell_leader(leader),
            Process::None => {}
        }
    }

    pub(crate) fn tell_agent(&mut self, node: usize, event: AgentEvent) {
        let local = self.clock(node);
        let Process::Agent(agent, _) = &mut self.nodes[node].process else { return };
        let mut actions = Vec::new();
        agent.handle(local, event, &mut actions);
        let wake = agent.wake_at(local);
        self.wake(node, wake);
        for action in actions {
            self.agent_does(node, action);
        }
    }

    pub(crate) fn tell_leader(&mut self, event: LeaderEvent) {
        let local = self.clock(0);
        let Process::Leader(leader, _) = &mut self.nodes[0].process else { return };
        self.has_opened |= matches!(event, LeaderEvent::Opened(_));
        let mut actions = Vec::new();
        leader.handle(local, event, &mut actions);
        let wake = leader.wake_at();
        self.wake(0, wake);
        for action in actions {
            self.leader_does(action);
        }
    }

    fn wake(&mut self, node: usize, local: Option<u64>) {
        let Some(local) = local else { return };
        let at = self.moment(node, local).max(self.now);
        if at < self.nodes[node].wake {
            self.nodes[node].wake = at;
            self.at(at, node, Event::Wake);
        }
    }

    pub(crate) fn later(&mut self, node: usize, after: u64, event: AgentEvent) {
        self.at(self.now + after, node, Event::ToAgent(event));
    }

    pub(crate) fn trouble_at(&mut self, at: u64, trouble: Trouble) {
        self.at(at, 0, Event::Trouble(trouble));
    }

    pub(crate) fn tick_at(&mut self, node: usize, at: u64) {
        self.at(at, node, Event::Tick);
    }

    /// A machine, and the loads of others that its process makes.
    pub(crate) fn process_of(&self, node: usize) -> Vec<usize> {
        let is_its = |other: &usize| *other == node || self.nodes[*other].host == Some(node);
        (0..self.nodes.len()).filter(is_its).collect()
    }

    /// All that a reader of a failure wants to know.
    pub(crate) fn state(&self) -> String {
        let nodes: Vec<String> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| {
                let state = match &node.process {
                    Process::Agent(agent, _) => {
                        format!("{:?} seat {:?}", agent.state(), agent.seat())
                    }
                    Process::Leader(leader, _) => format!("{:?}", leader.view(0).step),
                    Process::None => "none".into(),
                };
                format!("{index}: {state}, exit {:?} {:?}", node.code, node.message)
            })
            .collect();
        format!(
            "at {:.3} s\n{:#?}\n{}\ntold:\n{}",
            self.now as f64 / 1e9,
            self.setting,
            nodes.join("\n"),
            self.told.join("\n")
        )
    }
}
