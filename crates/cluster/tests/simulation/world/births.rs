//! Processes begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use brunt_cluster::{
    Agent, AgentConfig, AgentEvent, Archive, Leader, LeaderConfig, LeaderEvent, Limits, Plan,
    Policy, Steering, TakeOver, Totals,
};
use brunt_metrics::TagSet;

use super::{Node, Process, World};
use crate::chaos::{MILLI, SECOND};

impl World {
    /// A process begins.
    pub(super) fn revive(&mut self, node: usize) {
        if !matches!(self.nodes[node].process, Process::None) || self.nodes[node].code.is_some() {
            return;
        }
        let local = self.clock(node);
        self.nodes[node].life += 1;
        if node == 0 {
            (self.consumes, self.has_opened, self.whole) = (false, false, 0);
            let config = self.leader_config(local);
            let leader = Box::new(Leader::new(config, local));
            self.nodes[0].process = Process::Leader(leader, Totals::default());
        } else {
            let config = AgentConfig {
                run: "run".into(),
                agent: format!("agent-{node}"),
                host: format!("host-{node}"),
                incarnation: local,
                version: "1".into(),
                cores: 2,
                memory: 0,
                index: (self.setting.seed.is_multiple_of(3)).then_some(node as u32),
                wait: 120 * SECOND,
                substitute: None,
            };
            self.nodes[node].incarnation = local;
            self.truth.born(node, local, config.agent.clone(), None);
            self.nodes[node].process =
                Process::Agent(Box::new(Agent::new(config, local)), Box::default());
            self.tell(node, AgentEvent::Wake, LeaderEvent::Wake);
        }
        self.see_link(node);
    }

    /// A process begins to make the load of another one, too.
    pub(super) fn substitute(&mut self, host: usize, takeover: TakeOver) {
        let (node, local) = (self.nodes.len(), self.clock(host));
        let own = &self.nodes[host];
        let incarnation = own.incarnation;
        self.nodes.push(Node {
            process: Process::None,
            life: 1,
            connection: 0,
            is_cut: false,
            has_connected: false,
            own: 0,
            latency: own.latency,
            skew: own.skew,
            drift: own.drift,
            wake: u64::MAX,
            code: None,
            message: None,
            unacked: BTreeMap::new(),
            host: Some(host),
            incarnation,
        });
        let agent = format!("agent-{host}");
        self.truth.born(node, incarnation, agent.clone(), Some(takeover.seat));
        let config = AgentConfig {
            run: "run".into(),
            agent,
            host: format!("host-{host}"),
            incarnation,
            version: "1".into(),
            cores: 2,
            memory: 0,
            index: None,
            wait: 120 * SECOND,
            substitute: Some(takeover),
        };
        self.nodes[node].process =
            Process::Agent(Box::new(Agent::new(config, local)), Box::default());
        self.tell(node, AgentEvent::Wake, LeaderEvent::Wake);
        self.see_link(node);
    }

    pub(super) fn leader_config(&mut self, incarnation: u64) -> LeaderConfig {
        self.nonces += 1;
        let (agents, setting) = (self.setting.agents as u32, &self.setting);
        let plan = Plan {
            format: brunt_cluster::FORMAT,
            version: "1".into(),
            nonce: self.nonces,
            seats: agents,
            sequence: Plan::sequence_of(&vec![1; agents as usize]),
            archive: Archive { sha256: "x".into(), size: 1 },
            digest: "same".into(),
            frame_ms: 1000,
            beat_ms: 1000,
            has_setup: setting.has_setup,
            has_teardown: setting.has_teardown,
            limits: Limits {
                agents_wait_ms: 40_000,
                load_ms: 30_000,
                setup_ms: 10_000,
                run_ms: setting.duration / MILLI,
                stopping_ms: 10_000,
                teardown_ms: 10_000,
                close_ms: 30_000,
                agent_timeout_ms: 8000,
                leader_timeout_ms: 60_000,
            },
            policy: match setting {
                _ if setting.stops_on_loss => Policy::Stop,
                _ if setting.takes_over => Policy::TakeOver,
                _ => Policy::GoOn,
            },
            allow_lost: 0,
            settings: serde_json::Map::new(),
        };
        LeaderConfig {
            id: "leader".into(),
            incarnation,
            plan,
            registry: Arc::clone(&self.registry),
            kept_tags: Vec::new(),
            run_tags: TagSet::default(),
            scenarios: vec![setting.scenario()],
            has_scenario_tag: true,
            steering: Steering::beginning(self.setting.is_held),
        }
    }
}
