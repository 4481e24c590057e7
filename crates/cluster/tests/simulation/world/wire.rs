//! The wires between machines and the broker, and what the broker does.

use std::sync::Arc;

use brunt_cluster::{AgentEvent, Key, LeaderAction, LeaderEvent, Phase, Stored};

use super::{Core, Event, Process, Request, Reverse, World};

impl World {
    /// Sends a request to the broker.
    pub(super) fn request(&mut self, node: usize, request: Request) {
        if self.is_connected(node) {
            let at = self.now + self.nodes[node].latency;
            // The life of a request is its connection's: it may be done although its sender is gone.
            self.count += 1;
            let connection = self.nodes[node].connection;
            self.events.push(Reverse((at, self.count, node, connection)));
            self.queued.insert(self.count, Event::Request(request));
        }
    }

    pub(super) fn requested(&mut self, node: usize, connection: u64, request: Request) {
        let is_broken = connection != self.nodes[node].connection;
        if self.broker.is_down || is_broken && self.rng.bool() {
            return;
        }
        let answer = self.performed(node, request);
        if is_broken {
            return;
        }
        let at = self.now + self.nodes[node].latency;
        for event in answer {
            self.at(at, node, event);
        }
    }

    pub(super) fn performed(&mut self, node: usize, request: Request) -> Vec<Event> {
        let is_leader = node == 0;
        match request {
            Request::Write(write) => {
                let (key, value) = (write.key, write.value.clone());
                let answer = self.broker.write(write);
                if answer.is_ok() {
                    self.written(key, value);
                }
                vec![match (is_leader, answer) {
                    (true, Ok(revision)) => Event::ToLeader(LeaderEvent::Wrote { key, revision }),
                    (true, Err(current)) => Event::ToLeader(LeaderEvent::Conflict { key, current }),
                    (false, Ok(revision)) => Event::ToAgent(AgentEvent::Wrote { key, revision }),
                    (false, Err(current)) => Event::ToAgent(AgentEvent::Conflict { key, current }),
                }]
            }
            Request::Publish(publication) => {
                let seq = publication.seq;
                if self.rng.u32(0..1000) < self.setting.refused {
                    self.nodes[node].unacked.remove(&seq);
                    return vec![Event::ToAgent(AgentEvent::NotAcked { seq })];
                }
                if let Some(place) =
                    self.broker.publish(publication.id, publication.payload.clone())
                {
                    self.deliver_message(place, publication.payload);
                }
                vec![Event::ToAgent(AgentEvent::Acked { seq })]
            }
            Request::PutCheckpoint(bytes) => {
                self.broker.checkpoint = Some(bytes);
                vec![Event::ToLeader(LeaderEvent::CheckpointPut(Ok(())))]
            }
            Request::Purge(place) => {
                self.broker.purge(place);
                Vec::new()
            }
            Request::PutSetup(data) => {
                self.broker.setup = Some(data);
                vec![Event::ToAgent(AgentEvent::SetupPut(Ok(())))]
            }
            Request::GetSetup => {
                let data = self.broker.setup.clone().ok_or("no such object".to_owned());
                vec![Event::ToAgent(AgentEvent::SetupGot(data))]
            }
            Request::Consume => {
                self.consume();
                Vec::new()
            }
            Request::Open => {
                let keys = self.broker.keys.iter();
                let keys = keys.filter_map(|(key, (value, at))| Some((*key, value.clone()?, *at)));
                let stored = Stored {
                    keys: keys.collect(),
                    checkpoint: self.broker.checkpoint.clone(),
                    is_swept: false,
                };
                vec![Event::ToLeader(LeaderEvent::Opened(stored))]
            }
            Request::Watch => {
                let mut events: Vec<Event> = self
                    .broker
                    .keys
                    .iter()
                    .map(|(key, (value, revision))| {
                        let (key, value, revision) = (*key, value.clone(), *revision);
                        if is_leader {
                            Event::ToLeader(LeaderEvent::Changed { key, value, revision })
                        } else {
                            Event::ToAgent(AgentEvent::Changed { key, value, revision })
                        }
                    })
                    .collect();
                if is_leader {
                    if !self.has_opened {
                        events.clear();
                        self.request(0, Request::Open);
                    }
                    if self.consumes {
                        self.consume();
                    }
                } else {
                    events.push(Event::ToAgent(AgentEvent::Current));
                }
                events
            }
        }
    }

    /// Tells all watches of a key.
    pub(super) fn written(&mut self, key: Key, value: Option<Vec<u8>>) {
        if let (Key::Phase, Some(value)) = (key, &value) {
            let phase: Phase = serde_json::from_slice(value).expect("a phase");
            let last = self.steps.insert(phase.nonce, phase.phase);
            self.phase_is_written(&phase);
            assert!(
                last.is_none_or(|last| last <= phase.phase),
                "{last:?}, then {:?}",
                phase.phase
            );
        }
        let revision = self.broker.keys[&key].1;
        for node in 0..self.nodes.len() {
            let is_of_agents = matches!(key, Key::Agent(_));
            if !self.is_connected(node) || is_of_agents && node > 0 {
                // Agents do not look at each other's state: left out for speed.
                continue;
            }
            let at = self.now + self.nodes[node].latency;
            let value = value.clone();
            let event = if node == 0 {
                Event::ToLeader(LeaderEvent::Changed { key, value, revision })
            } else {
                Event::ToAgent(AgentEvent::Changed { key, value, revision })
            };
            self.at(at, node, event);
        }
    }

    /// The stream from its beginning.
    pub(super) fn consume(&mut self) {
        for (place, payload) in self.broker.stream.clone() {
            self.deliver_message(place, payload);
        }
    }

    /// The leader's consumer gets a message: perhaps late, perhaps twice.
    pub(super) fn deliver_message(&mut self, stream_seq: u64, payload: Arc<[u8]>) {
        if !self.is_connected(0) || !self.consumes {
            return;
        }
        let times = if self.rng.u32(0..1000) < self.setting.twice { 2 } else { 1 };
        for _ in 0..times {
            let late = self.rng.u64(0..=self.setting.jitter);
            let at = self.now + self.nodes[0].latency + late;
            let payload = payload.clone();
            self.at(at, 0, Event::ToLeader(LeaderEvent::Message { payload, stream_seq }));
        }
    }

    /// Sends a message that may be lost.
    pub(super) fn send(&mut self, from: usize, to: usize, core: Core) {
        if !self.is_connected(from) || self.rng.u32(0..1000) < self.setting.lost {
            return;
        }
        let times = if self.rng.u32(0..1000) < self.setting.twice { 2 } else { 1 };
        for _ in 0..times {
            let late = self.rng.u64(0..=self.setting.jitter);
            let at = self.now + self.nodes[from].latency + self.nodes[to].latency + late;
            self.at(at, to, Event::Core(core.clone()));
        }
    }

    pub(super) fn deliver(&mut self, core: Core) {
        let to = match &core {
            Core::Beat(_) | Core::Ask(..) => 0,
            Core::Reply(node, _) => *node,
        };
        if !self.is_connected(to) {
            return;
        }
        match core {
            Core::Beat(beat) => self.tell_leader(LeaderEvent::Beat(beat)),
            Core::Ask(node, ask) => {
                let local = self.clock(0);
                let Process::Leader(leader, _) = &mut self.nodes[0].process else { return };
                let mut actions = Vec::new();
                leader.handle(local, LeaderEvent::AskClock(ask), &mut actions);
                for action in actions {
                    match action {
                        LeaderAction::ReplyClock(reply) => {
                            self.send(0, node, Core::Reply(node, reply));
                        }
                        action => self.leader_does(action),
                    }
                }
            }
            Core::Reply(node, reply) => self.tell_agent(node, AgentEvent::ClockReply(reply)),
        }
    }
}
