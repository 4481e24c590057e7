//! Keys and messages of strangers at a leader and at an agent that are in the middle of a run.
//!
//! Zero bytes divide the input. The first byte of each piece says what it is and how much time has passed; the rest is its JSON,
//! or the bytes of a frame. Nothing panics, and nothing that comes makes a machine write without end.
#![no_main]

use std::sync::Arc;

use brunt_cluster::{
    Agent, AgentAction, AgentConfig, AgentEvent, Archive, FORMAT, Key, Leader, LeaderAction,
    LeaderConfig, LeaderEvent, Limits, Loaded, Nanos, Plan, Policy, Steering, Stored,
};
use brunt_metrics::{Registry, TagSet};
use libfuzzer_sys::fuzz_target;

const SECOND: Nanos = 1_000_000_000;

/// Actions for one event: keys, a beat, a question, frames in flight, a word to the user.
const ACTIONS_MAX: usize = 200;

fn plan(policy: Policy) -> Plan {
    Plan {
        format: FORMAT,
        version: "1".into(),
        nonce: 7,
        seats: 2,
        sequence: Plan::sequence_of(&[1, 1]),
        archive: Archive { sha256: String::new(), size: 1 },
        digest: "d".into(),
        frame_ms: 1000,
        beat_ms: 1000,
        has_setup: true,
        has_teardown: true,
        limits: Limits::default(),
        policy,
        allow_lost: 0,
        settings: serde_json::Map::new(),
    }
}

/// Lets a leader write all that it wants.
fn lead(leader: &mut Leader, now: Nanos, event: LeaderEvent, revision: &mut u64) {
    let mut events = vec![event];
    while let Some(event) = events.pop() {
        let mut out = Vec::new();
        leader.handle(now, event, &mut out);
        assert!(out.len() < ACTIONS_MAX, "{} actions", out.len());
        for action in out {
            *revision += 1;
            match action {
                LeaderAction::Write(write) => {
                    events.push(LeaderEvent::Wrote { key: write.key, revision: *revision });
                }
                LeaderAction::Conclude(_) => events.push(LeaderEvent::Concluded(None)),
                _ => {}
            }
        }
        assert!(events.len() < ACTIONS_MAX, "a leader that never rests");
    }
    leader.view(now);
}

/// So an agent.
fn follow(
    agent: &mut Agent,
    now: Nanos,
    event: AgentEvent,
    registry: &Arc<Registry>,
    revision: &mut u64,
) {
    let mut events = vec![event];
    let mut steps = 0;
    while let Some(event) = events.pop() {
        steps += 1;
        assert!(steps < ACTIONS_MAX, "an agent that never rests");
        let mut out = Vec::new();
        agent.handle(now, event, &mut out);
        assert!(out.len() < ACTIONS_MAX, "{} actions", out.len());
        for action in out {
            *revision += 1;
            match action {
                AgentAction::Write(write) => {
                    events.push(AgentEvent::Wrote { key: write.key, revision: *revision });
                }
                AgentAction::Load { plan, .. } => {
                    let registry = Arc::clone(registry);
                    events.push(AgentEvent::Loaded(Ok(Loaded {
                        digest: plan.digest.clone(),
                        registry,
                    })));
                }
                AgentAction::Setup => events.push(AgentEvent::SetupDone(Ok(None))),
                AgentAction::Start { .. } => events.push(AgentEvent::Started { late_ns: 0 }),
                AgentAction::Stop { .. } => events.push(AgentEvent::Ended),
                _ => {}
            }
        }
    }
    agent.wake_at(now);
}

fn key(number: u8) -> Key {
    match number % 10 {
        0 => Key::Plan,
        1 => Key::Phase,
        2 => Key::Leader,
        3 => Key::Setup,
        8 => Key::Seat(3),
        9 => Key::Agent(3),
        4 | 5 => Key::Seat(u32::from(number % 2) + 1),
        _ => Key::Agent(u32::from(number % 2) + 1),
    }
}

fuzz_target!(|input: &[u8]| {
    let takes_over = input.first().is_some_and(|byte| byte % 2 == 1);
    let policy = if takes_over { Policy::TakeOver } else { Policy::GoOn };
    if let Some(key) = std::str::from_utf8(input).ok().and_then(Key::parse) {
        assert_eq!(Key::parse(&key.to_string()), Some(key));
    }
    if let Ok(plan) = Plan::read(input) {
        let json = serde_json::to_vec(&plan).expect("plain data");
        assert_eq!(Plan::read(&json).as_ref(), Ok(&plan));
        for seat in [1, plan.seats] {
            let _ = plan.segment(seat);
        }
    }
    let registry = Arc::new(Registry::new());
    let mut now = 100 * SECOND;
    let mut revision = 10;
    let config = LeaderConfig {
        id: "l/1".into(),
        incarnation: 3,
        plan: plan(policy),
        registry: Arc::clone(&registry),
        kept_tags: Vec::new(),
        run_tags: TagSet::default(),
        scenarios: Vec::new(),
        has_scenario_tag: true,
        steering: Steering::default(),
    };
    let mut leader = Leader::new(config, now);
    lead(&mut leader, now, LeaderEvent::Opened(Stored::default()), &mut revision);
    let config = AgentConfig {
        run: "r".into(),
        agent: "a/1".into(),
        host: "a".into(),
        incarnation: 9,
        version: "1".into(),
        cores: 1,
        memory: 0,
        index: None,
        wait: 60 * SECOND,
        substitute: None,
    };
    let mut agent = Agent::new(config, now);
    follow(&mut agent, now, AgentEvent::Connected, &registry, &mut revision);
    let own = Some(serde_json::to_vec(&plan(policy)).expect("plain data"));
    let own = AgentEvent::Changed { key: Key::Plan, value: own, revision };
    follow(&mut agent, now, own, &registry, &mut revision);
    follow(&mut agent, now, AgentEvent::Current, &registry, &mut revision);

    for piece in input.split(|byte| *byte == 0).take(100) {
        let Some((&control, bytes)) = piece.split_first() else { continue };
        now += u64::from(control >> 4) * SECOND / 2;
        revision += 1;
        let event = match control % 16 {
            8 => serde_json::from_slice(bytes).ok().map(LeaderEvent::Beat),
            9 => serde_json::from_slice(bytes).ok().map(LeaderEvent::AskClock),
            10 => Some(LeaderEvent::Message { payload: bytes.into(), stream_seq: revision }),
            11 => Some(LeaderEvent::Disconnected),
            12 => Some(LeaderEvent::Connected),
            13 => Some(LeaderEvent::Wake),
            14 => Some(LeaderEvent::Conflict {
                key: key(control >> 4),
                current: Some((bytes.to_vec(), revision)),
            }),
            number @ 0..8 => Some(LeaderEvent::Changed {
                key: key(number),
                value: Some(bytes.to_vec()),
                revision,
            }),
            _ => Some(LeaderEvent::Changed { key: key(control >> 4), value: None, revision }),
        };
        if let Some(event) = event {
            lead(&mut leader, now, event, &mut revision);
        }
        let event = match control % 16 {
            8 => serde_json::from_slice(bytes).ok().map(AgentEvent::Seen),
            9 => serde_json::from_slice(bytes).ok().map(AgentEvent::ClockReply),
            10 => Some(AgentEvent::Note(String::from_utf8_lossy(bytes).into_owned())),
            11 => Some(AgentEvent::Disconnected),
            12 => Some(AgentEvent::Connected),
            13 => Some(AgentEvent::Wake),
            14 => Some(AgentEvent::Conflict {
                key: key(control >> 4),
                current: Some((bytes.to_vec(), revision)),
            }),
            number @ 0..8 => Some(AgentEvent::Changed {
                key: key(number),
                value: Some(bytes.to_vec()),
                revision,
            }),
            _ => Some(AgentEvent::Changed { key: key(control >> 4), value: None, revision }),
        };
        if let Some(event) = event {
            follow(&mut agent, now, event, &registry, &mut revision);
        }
    }
});
