use super::*;
use crate::plan::tests::plan;
use crate::steering::Steering;

fn agent() -> Agent {
    let config = AgentConfig {
        run: "r".into(),
        agent: "a/1".into(),
        host: "a".into(),
        incarnation: 9,
        version: "0".into(),
        cores: 1,
        memory: 0,
        index: None,
        wait: 1_000 * MILLI,
        substitute: None,
    };
    Agent::new(config, 0)
}

/// Whether the agent asks for a seat when the watch tells the keys in this order.
fn asks_for_a_seat(keys: &[Key]) -> bool {
    let (mut agent, mut out) = (agent(), Vec::new());
    agent.handle(0, AgentEvent::Connected, &mut out);
    let phase = Phase {
        nonce: plan(2).nonce,
        phase: Step::Gather,
        since: 0,
        start_ns: None,
        setup: None,
        teardown: None,
        reason: None,
        takeovers: Vec::new(),
        told: None,
        ended: None,
        steering: Steering::default(),
    };
    for (revision, key) in (1..).zip(keys) {
        let value = match key {
            Key::Plan => serde_json::to_vec(&plan(2)),
            _ => serde_json::to_vec(&phase),
        };
        let value = Some(value.expect("it is plain data"));
        agent.handle(1, AgentEvent::Changed { key: *key, value, revision }, &mut out);
    }
    agent.handle(2, AgentEvent::Current, &mut out);
    let is_seat = |write: &crate::Write| matches!(write.key, Key::Seat(_));
    out.iter().any(|action| matches!(action, AgentAction::Write(write) if is_seat(write)))
}

/// Both keys are written at the same time: either may be first in the store.
#[test]
fn a_phase_that_comes_before_its_plan_counts() {
    assert!(asks_for_a_seat(&[Key::Plan, Key::Phase]));
    assert!(asks_for_a_seat(&[Key::Phase, Key::Plan]));
    assert!(!asks_for_a_seat(&[Key::Plan]));
}
