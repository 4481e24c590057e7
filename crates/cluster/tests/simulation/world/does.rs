//! The actions of leader and agents, as an adapter does them.

use brunt_cluster::{AgentAction, AgentEvent, LeaderAction, LeaderEvent, Totals};
use brunt_metrics::Frame;

use super::{Core, Event, Process, Request, World};
use crate::chaos::{MILLI, SECOND};

impl World {
    pub(super) fn leader_does(&mut self, action: LeaderAction) {
        match action {
            LeaderAction::Write(write) => self.request(0, Request::Write(write)),
            LeaderAction::Merge(frame, run_ns) => {
                self.merged(&frame, run_ns);
                if let Process::Leader(_, ledger) = &mut self.nodes[0].process {
                    ledger.add(Totals::of(&frame));
                }
            }
            LeaderAction::Seen(seen) => {
                for node in 1..self.nodes.len() {
                    if !self.is_connected(0) || self.rng.u32(0..1000) < self.setting.lost {
                        continue;
                    }
                    let late = self.rng.u64(0..=self.setting.jitter);
                    let at = self.now + self.nodes[0].latency + self.nodes[node].latency + late;
                    self.at(at, node, Event::ToAgent(AgentEvent::Seen(seen.clone())));
                }
            }
            LeaderAction::ReplyClock(_) => unreachable!("answered where it is asked"),
            LeaderAction::PutCheckpoint(bytes) => self.request(0, Request::PutCheckpoint(bytes)),
            LeaderAction::Purge { stream_seq } => self.request(0, Request::Purge(stream_seq)),
            LeaderAction::Consume => {
                // The adapter remembers it, should the wire be cut.
                self.consumes = true;
                self.request(0, Request::Consume);
            }
            LeaderAction::Started { .. } => {}
            LeaderAction::Whole(until) => self.whole(until),
            LeaderAction::Conclude(outcome) => {
                self.check(&outcome);
                self.outcomes.push(outcome);
                // The summary takes its time.
                let at = self.now + self.rng.u64(0..200) * MILLI;
                self.at(at, 0, Event::ToLeader(LeaderEvent::Concluded(None)));
            }
            LeaderAction::Tell(_, text) => self.told.push(text),
            LeaderAction::Finish { code, message } => {
                self.nodes[0].code = Some(code);
                self.nodes[0].message = message;
                self.nodes[0].process = Process::None;
            }
        }
    }

    /// Measurements of a second that was said to be whole come no more, while all are in touch.
    fn merged(&mut self, frame: &Frame, run_ns: Option<u64>) {
        let is_calm = self.setting.troubles.is_empty() && self.setting.lost == 0;
        let is_late = run_ns.is_some_and(|run_ns| run_ns < self.whole);
        assert!(!is_calm || !is_late || frame.is_empty(), "{run_ns:?}: {}", self.state());
    }

    fn whole(&mut self, until: u64) {
        assert!(until > self.whole && until.is_multiple_of(SECOND), "{}", self.state());
        self.whole = until;
    }

    pub(super) fn agent_does(&mut self, node: usize, action: AgentAction) {
        match action {
            AgentAction::Write(write) => self.request(node, Request::Write(write)),
            AgentAction::Publish(publication) => {
                let seq = publication.seq;
                self.nodes[node].unacked.insert(seq, self.now);
                self.at(self.now + 5 * SECOND, node, Event::AckTimeout { seq });
                self.request(node, Request::Publish(publication));
            }
            AgentAction::Beat(beat) => self.send(node, 0, Core::Beat(beat)),
            AgentAction::AskClock(ask) => self.send(node, 0, Core::Ask(node, ask)),
            AgentAction::Load { plan, seat, substitute } => {
                let root = substitute.map_or(seat, |takeover| takeover.root);
                self.load(node, &plan, root);
            }
            AgentAction::Setup => self.set_up(node),
            AgentAction::PutSetup(data) => {
                if self.is_connected(node) {
                    self.request(node, Request::PutSetup(data));
                } else {
                    let failed = AgentEvent::SetupPut(Err("no broker".into()));
                    self.at(self.now + SECOND, node, Event::ToAgent(failed));
                }
            }
            AgentAction::GetSetup => {
                if self.is_connected(node) {
                    self.request(node, Request::GetSetup);
                } else {
                    let failed = AgentEvent::SetupGot(Err("no broker".into()));
                    self.at(self.now + SECOND, node, Event::ToAgent(failed));
                }
            }
            AgentAction::TakeSetup(data) => {
                assert_eq!(data.map(|data| data.len()), Some(self.setup_data().len()));
            }
            AgentAction::Start { at, from } => self.start(node, at, from),
            AgentAction::Lease { until } => self.lease(node, until),
            AgentAction::Substitute(takeover) => self.substitute(node, takeover),
            AgentAction::Steer(steering) => self.steer(node, steering),
            AgentAction::Stop { .. } => self.stop(node),
            AgentAction::Teardown => self.tear_down(node),
            AgentAction::Tell(_, text) => self.told.push(format!("agent {node}: {text}")),
            AgentAction::Finish { code, message, .. } => {
                self.truth.died(node, self.now);
                self.nodes[node].code = Some(Some(code));
                self.nodes[node].message = message;
                self.nodes[node].process = Process::None;
            }
        }
    }
}
