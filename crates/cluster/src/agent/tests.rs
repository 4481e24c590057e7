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

/// Its pod was killed, and a new one has its place. The leader had lost its broker meanwhile and wrote the plan again, so that the
/// plan comes last.
#[test]
fn a_process_in_the_place_of_an_earlier_one_knows_it_in_any_order_of_keys() {
    let nonce = plan(2).nonce;
    let seat = serde_json::json!({
        "nonce": nonce, "agent": "a/1", "host": "a", "incarnation": 8, "version": "0", "cores": 1, "memory": 0,
    });
    let phase = serde_json::json!({ "nonce": nonce, "phase": "run", "since": 0, "start_ns": 1 });
    let plan = serde_json::to_value(plan(2)).expect("it is plain data");
    let values = [(Key::Plan, plan), (Key::Phase, phase), (Key::Seat(1), seat)];
    for order in [[0, 1, 2], [2, 1, 0]] {
        let (mut agent, mut out) = (agent(), Vec::new());
        agent.handle(0, AgentEvent::Connected, &mut out);
        for (at, revision) in order.into_iter().zip(1..) {
            let (key, value) = &values[at];
            let value = Some(value.to_string().into_bytes());
            agent.handle(1, AgentEvent::Changed { key: *key, value, revision }, &mut out);
        }
        agent.handle(2, AgentEvent::Current, &mut out);
        let is_told =
            |action: &AgentAction| matches!(action, AgentAction::Beat(beat) if beat.seat == 1);
        assert!(out.iter().any(is_told), "the leader hears of it at once, {order:?}: {out:?}");
        agent.handle(5 * crate::time::SECOND, AgentEvent::Wake, &mut out);
        let is_lost = |action: &AgentAction| {
            matches!(action, AgentAction::Finish { code: code::INCOMPLETE, .. })
        };
        assert!(out.iter().any(is_lost), "{order:?}: {out:?}");
    }
}
