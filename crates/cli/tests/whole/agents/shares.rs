//! The parts of a test: their sum is the test of one machine.

use std::collections::BTreeSet;

use super::fleet::{Agent, Nats, leader, requests};
use super::{handled, number, script};
use crate::support::{DemoServer, Told};

/// All executors, none of which a busy machine makes lose an iteration but those of arrival rates.
const ALL: &str = "const of = (executor, more) => ({ executor, gracefulStop: '30s', ...more });\n\
    export const options = { scenarios: {\n\
      shared: of('shared-iterations', { vus: 5, iterations: 23, maxDuration: '60s' }),\n\
      each: of('per-vu-iterations', { vus: 5, iterations: 3, maxDuration: '60s' }),\n\
      rate: of('constant-arrival-rate', { rate: 10, duration: '2s', preAllocatedVUs: 5, maxVUs: 5 }),\n\
      ramp: of('ramping-arrival-rate', { startRate: 5, stages: [{ target: 15, duration: '2s' }], preAllocatedVUs: 5, maxVUs: 5 }),\n\
      steady: of('constant-vus', { vus: 3, duration: '1s' }),\n\
      stages: of('ramping-vus', { startVUs: 2, stages: [{ target: 4, duration: '1s' }] }),\n\
      outside: { executor: 'externally-controlled', vus: 3, maxVUs: 4, duration: '1s' },\n\
    } };\n\
    export default function () {\n\
      // The end of this one cuts iterations short, perhaps in the middle of a request.\n\
      if (exec.scenario.name !== 'outside') hit();\n\
      if (['steady', 'stages', 'outside'].includes(exec.scenario.name)) sleep(0.2);\n\
      console.log(`DID ${exec.scenario.name} ${exec.scenario.iterationInTest} VU ${exec.vu.idInTest} SEAT ${__ENV.BRUNT_SEAT}`);\n\
    }\n";

/// Scenario, number of the iteration in the test, number of the VU, seat.
fn done(agents: &[Told]) -> Vec<(String, u64, u64, u64)> {
    let lines = agents.iter().flat_map(|agent| agent.stderr.lines());
    let words = lines.filter_map(|line| line.split_once("DID ")).map(|(_, rest)| rest);
    words
        .map(|rest| {
            let words: Vec<&str> = rest.split(' ').collect();
            let number = |text: &str| {
                text.trim_matches(|it: char| !it.is_ascii_digit()).parse().expect("a number")
            };
            (
                words[0].to_owned(),
                number(words[1]),
                number(words[3]),
                number(words[5].split_whitespace().next().unwrap_or_default()),
            )
        })
        .collect()
}

#[test]
fn every_iteration_and_every_vu_is_one_agents() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    for count in [1, 3, 4, 7] {
        let before = requests(&demo);
        let agents = Agent::several(&nats, count);
        let told = leader(&nats, &demo, count, &script(ALL), "").told();
        assert_eq!(told.code, 0, "{told:?}");
        let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
        let done = done(&agents);
        let all = handled(&told);
        assert_eq!(done.len() as u64, number(&all["iterations"]), "{count}: {all}");
        assert_eq!(requests(&demo) - before, number(&all["requests"]), "{count}: {all}");
        let of = |name: &str| done.iter().filter(|(of, ..)| of == name).count() as u64;
        assert_eq!((of("shared"), of("each")), (23, 15), "{count}");
        assert_eq!(of("rate") + of("ramp") + number(&all["dropped"]), 21 + 20, "{count}");
        let unique: BTreeSet<_> = done.iter().map(|(name, number, ..)| (name, number)).collect();
        assert_eq!(unique.len(), done.len(), "{count}: {done:?}");
        let vus: BTreeSet<_> = done.iter().map(|(_, _, vu, seat)| (vu, seat)).collect();
        let ids: BTreeSet<_> = vus.iter().map(|(vu, _)| vu).collect();
        assert_eq!(ids.len(), vus.len(), "{count}: a VU of two agents: {vus:?}");
    }
}

/// Durations that differ, exactly as the metric has them.
const TRENDS: &str = "import { Trend } from 'k6/metrics';\n\
    const trend = new Trend('mine');\n\
    export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 6, iterations: 3000 } },\n\
      summaryTrendStats: ['count', 'min', 'max', 'med', 'p(95)', 'p(99)', 'p(99.9)'] };\n\
    export default function () { trend.add(Math.exp(exec.scenario.iterationInTest / 400) * (1 + Number(__ENV.BRUNT_SEAT))); }\n";

#[test]
fn percentiles_are_those_of_all_values_together() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut folders: Vec<crate::support::Brunt> = (0..3)
        .map(|_| crate::support::brunt(&format!("agent --nats {} --once --workers 1", nats.url())))
        .collect();
    let agents: Vec<_> = folders.iter_mut().map(crate::support::Brunt::start).collect();
    let text = script(TRENDS).replace("vus: data", "mine: data.metrics.mine.values, vus: data");
    let told =
        leader(&nats, &demo, 3, &text, "--agent-tag --agent-shares 2,1,1 --out csv=all.csv").told();
    assert_eq!(told.code, 0, "{told:?}");
    for agent in agents {
        assert_eq!(agent.wait().code, 0);
    }
    let mut values = Vec::new();
    let mut tags = BTreeSet::new();
    for folder in &folders {
        let seat = (1..=3).find(|seat| folder.path(&format!("all-{seat}.csv")).exists());
        let file = folder.read(&format!("all-{}.csv", seat.expect("a file of the agent's")));
        for line in file.lines().filter(|line| line.starts_with("mine,")) {
            let value: f64 =
                line.split(',').nth(2).and_then(|it| it.parse().ok()).expect("a value");
            values.push(value);
            let tag = line.split([',', '&']).find(|part| part.starts_with("agent="));
            tags.insert(tag.expect("the tag of the agent").to_owned());
        }
    }
    assert_eq!(tags.len(), 3, "{tags:?}");
    values.sort_by(f64::total_cmp);
    let all = handled(&told);
    let mine = &all["mine"];
    assert_eq!((values.len(), number(&mine["count"])), (3000, 3000), "{mine}");
    let close = |stat: &str, exact: f64, bound: f64| {
        let got = mine[stat].as_f64().expect("a number");
        assert!((got - exact).abs() <= exact * bound, "{stat}: {got}, not {exact}");
    };
    // Numbers of CSV files have six digits behind the point.
    close("min", values[0], 1e-5);
    close("max", values[2999], 1e-5);
    for (stat, percent) in [("med", 50.0_f64), ("p(95)", 95.0), ("p(99)", 99.0), ("p(99.9)", 99.9)]
    {
        let place = percent / 100.0 * 2999.0;
        let (below, part) = (place as usize, place.fract());
        let exact = values[below] + (values[(below + 1).min(2999)] - values[below]) * part;
        close(stat, exact, 0.001);
    }
}
