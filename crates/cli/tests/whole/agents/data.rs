//! Rows, queues and counters of `brunt/data` over agents: each row, value and number once in the whole test.

use std::collections::BTreeSet;

use super::fleet::{Agent, Nats, leader, requests, stored_values, wait_for_requests};
use super::{handled, number, script};
use crate::support::{DemoServer, Told, brunt, free_port, repository};

const IMPORT: &str = "import { rows, queue, counter } from 'brunt/data';\n";

/// The numbers behind `mark` in the logs of agents.
fn logged(agents: &[Told], mark: &str) -> Vec<u64> {
    let lines = agents.iter().flat_map(|agent| agent.stderr.lines());
    let words = lines.filter_map(|line| Some(line.split_once(mark)?.1));
    words
        .map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or_else(|_| panic!("{mark}{rest} is no number"))
        })
        .collect()
}

/// The numbers, in order, none of which came twice.
fn once(numbers: Vec<u64>) -> BTreeSet<u64> {
    let count = numbers.len();
    let once: BTreeSet<u64> = numbers.into_iter().collect();
    assert_eq!(once.len(), count, "some came twice");
    once
}

fn all(agents: Vec<Agent>) -> Vec<Told> {
    agents.into_iter().map(Agent::wait).collect()
}

/// Iterations that take rows; `more` are options of the rows.
fn takers(total: u32, more: &str, scenario: &str, body: &str) -> String {
    let rest = format!(
        "{IMPORT}
        const all = rows('all rows', () => Array.from({{ length: {total} }}, (_, id) => ({{ id }})), {{ share: 'leased', {more} }});
        const given = counter('given', {{ start: 5 }});
        export const options = {{ scenarios: {{ a: {{ {scenario} }} }} }};
        export default function () {{ {body} }}\n"
    );
    script(&rest).replace("told = {", "told = { given: given.value, last: all.next(),")
}

#[test]
fn each_leased_row_goes_to_one_agent() {
    let monitor = free_port();
    let nats = Nats::start_with(&["--jetstream", "-m", &monitor.to_string()], "");
    let demo = DemoServer::start();
    for more in ["whenEmpty: 'null'", "whenEmpty: 'null', strategy: 'shuffle'"] {
        let agents = Agent::several(&nats, 3);
        let text = takers(
            2500,
            more,
            // Each agent has as many iterations as there are rows: it uses up all that it leases.
            "executor: 'shared-iterations', vus: 12, iterations: 7500",
            "const row = all.next(); if (row === null) return; const n = given.add(); console.log(`ROW ${row.id} N ${n} .`);",
        );
        let told = leader(&nats, &demo, 3, &text, "").told();
        assert_eq!(told.code, 0, "{told:?}");
        let agents = all(agents);
        assert!(once(logged(&agents, "ROW ")).into_iter().eq(0..2500), "{more}");
        assert!(once(logged(&agents, " N ")).into_iter().eq(6..=2505), "{more}");
        let shares = agents.iter().map(|agent| agent.stderr.matches("ROW ").count());
        assert!(shares.clone().all(|share| share > 50), "{:?}", shares.collect::<Vec<_>>());
        let told = handled(&told);
        assert_eq!((number(&told["given"]), told["last"].is_null()), (2505, true), "{told}");
        assert_eq!(stored_values(monitor), 0, "the values of the run are removed at its end");
    }
}

#[test]
fn the_end_of_leased_rows_stops_all_agents() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 3);
    let text = takers(
        2500,
        "",
        "executor: 'constant-vus', vus: 6, duration: '60s'",
        "const row = all.next(); console.log(`ROW ${row.id} .`); given.add();",
    )
    .replace("last: all.next(),", "");
    let told = leader(&nats, &demo, 3, &text, "").told();
    assert_eq!(told.code, 108, "{told:?}");
    assert!(told.error().contains("are used up: all 2500 rows of the test"), "{told:?}");
    let rows = once(logged(&all(agents), "ROW "));
    // The agent that finds nothing left stops the others, which have a row or two in their hands; one that got no CPU has the rest of
    // two blocks of at most 208.
    assert!((2500 - 2 * 2 * 208..=2500).contains(&rows.len()), "{}", rows.len());
}

#[test]
fn an_agent_that_dies_repeats_no_row() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut agents = Agent::several(&nats, 3);
    let text = takers(
        60_000,
        "",
        "executor: 'constant-arrival-rate', rate: 300, duration: '6s', preAllocatedVUs: 30, maxVUs: 30, gracefulStop: '1s'",
        "const row = all.next(); hit(); console.log(`ROW ${row.id} N ${given.add()} .`);",
    );
    let mut call = leader(&nats, &demo, 3, &text, "--agent-timeout 3s");
    let running = call.start();
    wait_for_requests(&demo, 300);
    let dead = agents.remove(1);
    dead.kill();
    let told = running.wait();
    assert_eq!(told.code, 111, "{told:?}");
    let mut ended = all(agents);
    ended.push(dead.wait());
    let rows = once(logged(&ended, "ROW "));
    assert!(rows.len() > 1000, "{}", rows.len());
    assert!(rows.len() as u64 + 30 >= requests(&demo), "{} rows", rows.len());
    let given = once(logged(&ended, " N "));
    let last = given.last().copied().unwrap_or_default();
    // Additions of the dead one may have been made without being told.
    assert!(last - 5 - given.len() as u64 <= 30, "{last}, {}", given.len());
}

#[test]
fn values_pass_between_agents_and_each_is_taken_once() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 3);
    let rest = format!(
        "{IMPORT}
        const jobs = queue('jobs', {{ max: 1000 }});
        const striped = rows('striped', [1, 2, 3]);
        const said = (call) => {{ try {{ return call(); }} catch (e) {{ return `${{e}}`; }} }};
        const put = counter('put'), taken = counter('taken'), sum = counter('sum'), back = counter('back');
        const once = {{ executor: 'shared-iterations', vus: 9, iterations: 450 }};
        export const options = {{ scenarios: {{ makers: {{ ...once, exec: 'make' }}, users: {{ ...once, exec: 'use' }} }} }};
        export function setup() {{ return jobs.put({{ n: 0 }}); }}
        export function make() {{ const n = put.add(); if (!jobs.put({{ n }})) throw new Error('full'); }}
        export function use() {{
          const job = jobs.take();
          if (job === null) return;
          if (job.n % 7 === 1 && !job.again && jobs.putBack({{ ...job, again: true }})) {{ back.add(); return; }}
          console.log(`JOB ${{job.n}} .`);
          sum.add(job.n); taken.add();
        }}
        export function teardown(was) {{
          for (let job; (job = jobs.take()) !== null; ) {{ sum.add(job.n); taken.add(); console.log(`JOB ${{job.n}} .`); }}
          if (!was || jobs.length !== 0) throw new Error('something is left');
          jobs.put('for the leader');
        }}
        export default function () {{}}\n"
    );
    let text = script(&rest).replace(
        "told = {",
        "told = { put: put.value, taken: taken.value, sum: sum.value, back: back.value, left: jobs.take(), rows: said(() => striped.next()),",
    );
    let told = leader(&nats, &demo, 3, &text, "").told();
    assert_eq!(told.code, 0, "{told:?}");
    let agents = all(agents);
    assert!(once(logged(&agents, "JOB ")).into_iter().eq(0..=450));
    let told = handled(&told);
    let of = |name: &str| number(&told[name]);
    assert_eq!((of("put"), of("taken"), of("sum")), (450, 451, 450 * 451 / 2), "{told}");
    assert!(of("back") > 0 && told["left"] == "for the leader", "{told}");
    let striped = told["rows"].as_str().expect("an error");
    assert!(
        striped.starts_with("GoError: rows \"striped\": each agent has its share"),
        "{striped}"
    );
}

#[test]
fn a_script_hears_of_a_broker_that_is_gone_and_counts_on_when_it_is_back() {
    let (mut nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let text = takers(
        60_000,
        "",
        "executor: 'constant-arrival-rate', rate: 20, duration: '14s', preAllocatedVUs: 260",
        "hit(); try { console.log(`N ${given.add()} .`); } catch (e) { console.log(`FAILED ${e}`); }",
    );
    let mut call = leader(&nats, &demo, 2, &text, "");
    let running = call.start();
    wait_for_requests(&demo, 20);
    nats.kill();
    // The load goes on, though iterations wait: for ten seconds at most.
    wait_for_requests(&demo, requests(&demo) + 210);
    nats.again(false);
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let agents = all(agents);
    let numbers = once(logged(&agents, "N "));
    let failed: usize = agents.iter().map(|agent| agent.stderr.matches("FAILED ").count()).sum();
    let said = "no answer of NATS within 10 s";
    assert!(agents.iter().any(|agent| agent.stderr.contains(said)), "{agents:?}");
    let end = number(&handled(&told)["given"]);
    assert!(failed > 0 && end - 5 >= numbers.len() as u64, "{failed} failed");
    assert!(end - 5 <= (numbers.len() + failed) as u64, "{end}: {} and {failed}", numbers.len());
    assert_eq!(numbers.last(), Some(&end));
}

#[test]
fn the_example_runs_over_agents_as_on_one_machine() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let line = format!("run --agents 2 --nats {} -e DEMO_URL={}", nats.url(), demo.url);
    let told = brunt(&line).word(repository("examples/shared-data.js")).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(all(agents).iter().all(|agent| agent.code == 0));
}
