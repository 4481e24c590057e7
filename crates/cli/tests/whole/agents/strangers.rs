//! Messages and keys of strangers: counted, told, and without effect.

use std::time::Duration;

use brunt_nats::{Access, Broker, Run};
use serde_json::{Value, json};

use super::fleet::{Agent, Nats, leader, requests, wait_for_requests};
use super::{LONG, handled, number, script};
use crate::support::DemoServer;

/// Does something at the broker.
pub(super) fn at<T>(access: &Access, work: impl AsyncFnOnce(Broker) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime for the test").block_on(async {
        let limit = Duration::from_secs(30);
        let broker = Broker::connect(access, "a test", limit, |_| ()).await;
        work(broker.expect("the broker of the test")).await
    })
}

/// Does something with the keys and frames of a run.
fn with<T>(nats: &Nats, run: &str, work: impl AsyncFnOnce(Run) -> T) -> T {
    let access = Access { servers: nats.url(), ..Access::default() };
    at(&access, async |broker| work(broker.run(run).expect("a name")).await)
}

/// The plan of the run, once its leader has written it.
async fn plan(run: &Run) -> Value {
    loop {
        if let Ok(Some(change)) = run.key_now("plan").await
            && let Some(value) = change.value
        {
            return serde_json::from_slice(&value).expect("JSON");
        }
    }
}

#[test]
fn frames_and_beats_of_strangers_are_counted_and_change_nothing() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents: Vec<Agent> = (0..2).map(|_| Agent::start(&nats, "--run-id r")).collect();
    let text = script(&LONG.replace("'60s'", "'4s'"));
    let mut call = leader(&nats, &demo, 2, &text, "--run-id r");
    let running = call.start();
    wait_for_requests(&demo, 20);
    with(&nats, "r", async |run| {
        for (n, bytes) in
            [b"nonsense".to_vec(), Vec::new(), vec![0xff; 600_000]].into_iter().enumerate()
        {
            let id = format!("stranger.{n}");
            let stored = run.put_frame(1, &id, bytes::Bytes::from(bytes)).await;
            assert!(stored.is_ok(), "{stored:?}");
        }
        for about in ["beat.1", "beat.9", "seen", "clock"] {
            run.say(about, b"{\"nonce\":1,\"seat\":1,\"seats\":[],\"vus\":1e9,\"t1\":0}".to_vec())
                .await;
            run.say(about, b"nonsense".to_vec()).await;
        }
        for key in ["seat.3", "agent.1x", "nonsense"] {
            run.put_key(key, b"nonsense".to_vec()).await.expect("anybody may write here");
        }
    });
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("a message of the stream was refused"), "{told:?}");
    let all = handled(&told);
    assert_eq!(all["agents"]["refused_messages"], 3, "{all}");
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    assert!(number(&all["vus"]["max"]) <= 8, "{all}");
    assert!(agents.into_iter().map(Agent::wait).all(|agent| agent.code == 0));
}

#[test]
fn an_agent_of_another_version_is_refused_by_name() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut call = leader(&nats, &demo, 1, &script(LONG), "--run-id r");
    let running = call.start();
    // The stream and the buckets are made by the leader.
    with(&nats, "r", async |run| {
        let plan = plan(&run).await;
        take_seat(&run, &plan, "0.0.1").await;
    });
    let told = running.wait();
    assert_eq!(told.code, 112, "{told:?}");
    let error = told.error();
    assert!(error.contains("runs brunt 0.0.1") && error.contains("the same version"), "{error}");
    assert_eq!(requests(&demo), 0);
}

/// Takes the first seat, as an agent of this version does.
async fn take_seat(run: &Run, plan: &Value, version: &str) {
    let seat = json!({
        "nonce": plan["nonce"], "agent": "stand-in/1", "host": "stand-in", "incarnation": 1, "version": version, "cores": 1,
        "memory": 0,
    });
    let put = run.create_key("seat.1", seat.to_string().into_bytes()).await;
    assert!(put.is_ok(), "{put:?}");
}

#[test]
fn options_that_differ_between_machines_are_refused() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut call = leader(&nats, &demo, 1, &script(LONG), "--run-id r");
    let running = call.start();
    with(&nats, "r", async |run| {
        let plan = plan(&run).await;
        take_seat(&run, &plan, plan["version"].as_str().expect("a text")).await;
        let state = json!({
            "nonce": plan["nonce"], "incarnation": 1, "serial": 1, "state": "ready", "since": 1, "digest": "another",
        });
        run.put_key("agent.1", state.to_string().into_bytes()).await.expect("a key");
    });
    let told = running.wait();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("gives other options on seat 1 (stand-in)"), "{told:?}");
    assert_eq!(requests(&demo), 0);
}

#[test]
fn a_plan_of_another_format_is_refused_by_an_agent() {
    let nats = Nats::start();
    let access = Access { servers: nats.url(), ..Access::default() };
    at(&access, async |broker| {
        broker.prepare().await.expect("stream and buckets");
        let run = broker.run("r").expect("a name");
        run.put_key("plan", b"{\"format\":2}".to_vec()).await.expect("a key");
    });
    assert!(nats.has_stream("KV_brunt_runs"));
    let told = Agent::start(&nats, "--run-id r").wait();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(
        told.error().contains("has format 2, this version of brunt knows format 1"),
        "{told:?}"
    );
}
