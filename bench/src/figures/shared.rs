//! A `SharedArray`: what it adds to each VU, and to the start.

use std::fs;

use super::Bench;
use super::many::{self, Rounds};
use crate::client::Client;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};

/// The size of the shared data as JSON.
const JSON_BYTES: usize = 1_000_000;
/// How long the VUs work.
const SECONDS: u64 = 4;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    fs::write(bench.file("records.json"), records(JSON_BYTES))?;
    let vus = bench.settings.sharing;
    // The script shares the data if the variable says 1.
    let mut results: Vec<many::Turn> = [Client::Brunt, Client::K6]
        .into_iter()
        .flat_map(|client| ["0", "1"].map(|shared| (client, shared)))
        .map(|(client, shared)| (client, vec![("SHARED", shared.to_owned())], Rounds::default()))
        .collect();
    let call = many::Call { script: "shared.js", vus, seconds: SECONDS };
    many::take_turns(bench, &call, &mut results);
    let is_shared = |env: &[(&str, String)]| env.iter().any(|(_, value)| value == "1");

    let ratio = |client: Client, of: fn(&Rounds) -> &[f64]| {
        let find = |wanted: bool| {
            let found =
                results.iter().find(|(other, env, _)| *other == client && is_shared(env) == wanted);
            found.and_then(|(_, _, rounds)| median(of(rounds)))
        };
        Some(find(true)? / find(false)?)
    };
    let memory: fn(&Rounds) -> &[f64] = |rounds| &rounds.kb_per_vu;
    let ready: fn(&Rounds) -> &[f64] = |rounds| &rounds.ready_s;
    let verdicts = vec![
        Verdict::at_most("at most 1.2 × the memory without it", ratio(Client::Brunt, memory), 1.2),
        Verdict::at_most(
            "all ready within 1.2 × the time without it",
            ratio(Client::Brunt, ready),
            1.2,
        ),
    ];
    let rows = results.iter().map(|(client, env, rounds)| {
        let shared = is_shared(env);
        if let Some(failure) = &rounds.failure {
            return failed_row(failure);
        }
        let with =
            |of| if shared { ratio(*client, of).map_or("-".into(), short) } else { "1".into() };
        vec![
            client.name().to_owned(),
            if shared { "yes" } else { "no" }.to_owned(),
            spread(&rounds.kb_per_vu),
            with(memory),
            spread(&rounds.ready_s),
            with(ready),
        ]
    });
    Ok(vec![Figure {
        title: format!("{vus} VUs with a SharedArray of 1 MB of JSON"),
        method: format!(
            "Each VU reads an element and sleeps, for {SECONDS} s, {} rounds. Peak resident memory of the \
             process over its VUs; the time from its start until `setup()` runs, which is when all VUs \
             are initialised.",
            bench.settings.rounds
        ),
        header: vec!["client", "shared", "kB per VU", "×", "ready after s", "×"],
        rows: rows.collect(),
        verdicts,
    }])
}

/// An array of records of at least `size` bytes.
fn records(size: usize) -> String {
    let mut out = String::from("[");
    let mut id = 0;
    while out.len() < size {
        if id > 0 {
            out.push(',');
        }
        let record = serde_json::json!({
            "id": id, "name": format!("user {id}"), "email": format!("user{id}@example.test"),
            "tags": ["a", "b", format!("t{}", id % 17)], "score": f64::from(id) * 1.25,
        });
        out.push_str(&record.to_string());
        id += 1;
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_are_json_of_the_size_asked_for() {
        let text = records(10_000);
        assert!((10_000..10_200).contains(&text.len()), "{}", text.len());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[7]["id"], 7);
    }
}
