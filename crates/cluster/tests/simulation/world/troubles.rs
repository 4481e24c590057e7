//! Wires are cut, processes die.

use brunt_cluster::{AgentEvent, Fault, LeaderEvent};

use super::{Event, Process, Request, World};
use crate::chaos::{MILLI, Trouble};

impl World {
    /// Whether a machine can reach the broker.
    pub(super) fn reaches(&self, node: usize) -> bool {
        let host = self.nodes[node].host.unwrap_or(node);
        !self.nodes[host].is_cut && !self.broker.is_down
    }

    /// The adapter will see the state of its wire by and by.
    pub(super) fn see_link(&mut self, node: usize) {
        let late = self.rng.u64(0..3000) * MILLI;
        self.at(self.now + late, node, Event::LinkSeen);
    }

    pub(super) fn look_at_link(&mut self, node: usize) {
        if matches!(self.nodes[node].process, Process::None) {
            return;
        }
        let is_sound = self.is_connected(node);
        if self.nodes[node].has_connected && !is_sound {
            self.nodes[node].has_connected = false;
            self.tell(node, AgentEvent::Disconnected, LeaderEvent::Disconnected);
        }
        if self.reaches(node) && !self.nodes[node].has_connected {
            self.nodes[node].connection += 1;
            (self.nodes[node].has_connected, self.nodes[node].own) =
                (true, self.nodes[node].connection);
            self.tell(node, AgentEvent::Connected, LeaderEvent::Connected);
            self.request(node, Request::Watch);
        }
    }

    /// Whether the connection that a process knows of is sound.
    pub(super) fn is_connected(&self, node: usize) -> bool {
        let (reaches, node) = (self.reaches(node), &self.nodes[node]);
        reaches && node.has_connected && node.own == node.connection
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Cut { node, long } => {
                self.nodes[node].is_cut = true;
                for node in self.process_of(node) {
                    self.nodes[node].connection += 1;
                    self.see_link(node);
                }
                self.at(self.now + long, node, Event::LinkUp);
            }
            Trouble::Kill { node, back } => {
                if self.nodes[node].code.is_none() {
                    self.kill(node);
                    match back {
                        Some(back) => self.at(self.now + back, node, Event::Revive),
                        None => self.nodes[node].code = Some(Some(137)),
                    }
                }
            }
            Trouble::KillLeader { back } => {
                if self.nodes[0].code.is_none() {
                    self.leader_kills += 1;
                    self.kill(0);
                    self.at(self.now + back, 0, Event::Revive);
                }
            }
            Trouble::Broker { long, emptied } => {
                if self.broker.is_down {
                    return;
                }
                self.broker.is_down = true;
                for node in 0..self.nodes.len() {
                    self.nodes[node].connection += 1;
                    self.see_link(node);
                }
                self.at(self.now + long, 0, Event::BrokerUp { emptied });
            }
            Trouble::Steer(steer) => self.is_steered(steer),
            Trouble::Sigterm { node } => {
                for node in self.process_of(node) {
                    self.tell_agent(node, AgentEvent::Signal);
                }
            }
            Trouble::Interrupt => {
                self.tell_leader(LeaderEvent::Abort(Fault::new(105, "interrupted")));
            }
            Trouble::ScriptAborts { node } => {
                if let Process::Agent(_, load) = &self.nodes[node].process
                    && load.runs()
                {
                    self.tell_agent(node, AgentEvent::Fault(Fault::new(108, "test.abort()")));
                    self.stop(node);
                }
            }
        }
    }

    pub(super) fn kill(&mut self, node: usize) {
        for node in self.process_of(node) {
            if self.nodes[node].host.is_some() {
                self.nodes[node].code.get_or_insert(Some(137));
            }
            self.kill_one(node);
        }
    }

    fn kill_one(&mut self, node: usize) {
        self.truth.died(node, self.now);
        let node = &mut self.nodes[node];
        node.process = Process::None;
        node.life += 1;
        node.connection += 1;
        (node.wake, node.has_connected) = (u64::MAX, false);
        node.unacked.clear();
    }
}
