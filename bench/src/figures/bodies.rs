//! The cost of a body: a picture of 140 kB and a small JSON part, in each form in which scripts send them.

use std::fs;

use anyhow::ensure;

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported, exported_count};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::target::Target;

/// The picture's size: a multiple of three, so that its Base64 has no padding.
const PICTURE_BYTES: usize = 139_998;
const VUS: u64 = 30;

/// A form of the same request: its name in the script, and in words.
struct Form {
    name: &'static str,
    title: &'static str,
    /// The goal: brunt's CPU per request over k6's, at most; none where k6 has no such form.
    share_of_k6: Option<f64>,
}

const FORMS: [Form; 7] = [
    Form { name: "raw", title: "one ready ArrayBuffer", share_of_k6: Some(0.5) },
    Form { name: "native", title: "native FormData and Blob", share_of_k6: None },
    Form { name: "file", title: "http.file in an object", share_of_k6: Some(0.5) },
    Form { name: "setup", title: "Base64 from setup()", share_of_k6: Some(0.5) },
    Form { name: "base64", title: "Base64 of a SharedArray, joined", share_of_k6: Some(0.5) },
    Form { name: "numbers", title: "SharedArray of byte numbers", share_of_k6: Some(0.5) },
    Form { name: "library", title: "FormData written in JavaScript", share_of_k6: Some(0.2) },
];

/// Native `FormData` beside each of k6's forms: so much of its CPU at most.
const NATIVE: [(&str, f64, &str); 5] = [
    ("library", 1.0 / 300.0, "1/300 of k6's with FormData written in JavaScript (0.00333)"),
    ("base64", 0.2, "1/5 of k6's with Base64 of a SharedArray, joined"),
    ("file", 0.5, "1/2 of k6's with http.file"),
    ("setup", 0.5, "1/2 of k6's with Base64 from setup()"),
    ("raw", 0.5, "1/2 of k6's with one ready ArrayBuffer"),
];

/// The rounds of one client with one form.
#[derive(Default)]
struct Rounds {
    micros: Vec<f64>,
    rate: Vec<f64>,
    rss_mb: Vec<f64>,
    failure: Option<String>,
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let pinned = machine::cores() > 1;
    let target = Target::start(&bench.settings.brunt, pinned.then_some(1))?;
    let picture: Vec<u8> = (0..PICTURE_BYTES).map(|at| (at * 31 % 251) as u8).collect();
    fs::write(bench.file("picture.bin"), picture)?;
    let url = target.url("/upload/detect");
    let mut results: Vec<(&Form, Client, Rounds)> = FORMS
        .iter()
        .flat_map(|form| [Client::Brunt, Client::K6].map(|client| (form, client)))
        .filter(|(form, client)| *client == Client::Brunt || form.share_of_k6.is_some())
        .map(|(form, client)| (form, client, Rounds::default()))
        .collect();
    for _ in 0..bench.settings.rounds {
        for (form, client, rounds) in &mut results {
            if rounds.failure.is_none()
                && let Err(error) = once(bench, &url, (form, *client), pinned, rounds)
            {
                rounds.failure = Some(format!("{}, {}: {error:#}", form.title, client.name()));
            }
        }
    }

    let of = |name: &str, client: Client| {
        let found = results.iter().find(|(form, other, _)| form.name == name && *other == client);
        found.and_then(|(_, _, rounds)| median(&rounds.micros))
    };
    let over = |mine: &str, client: Client, theirs: &str| {
        Some(of(mine, Client::Brunt)? / of(theirs, client)?)
    };
    let rows = results.iter().map(|(form, client, rounds)| match &rounds.failure {
        Some(failure) => failed_row(failure),
        None => vec![
            form.title.to_owned(),
            client.name().to_owned(),
            spread(&rounds.micros),
            over(form.name, *client, form.name).map_or("-".into(), short),
            spread(&rounds.rate),
            spread(&rounds.rss_mb),
        ],
    });
    let mut verdicts = vec![Verdict::at_most(
        "native FormData: at most 1.3 × one ready ArrayBuffer",
        over("native", Client::Brunt, "raw"),
        1.3,
    )];
    verdicts.extend(NATIVE.iter().map(|(name, limit, goal)| {
        let goal = format!("native FormData: at most {goal}");
        Verdict::at_most(goal, over("native", Client::K6, name), *limit)
    }));
    verdicts.extend(FORMS.iter().filter_map(|form| {
        let limit = form.share_of_k6?;
        let goal = format!("{}: at most {limit} × what the same costs in k6", form.title);
        Some(Verdict::at_most(goal, over(form.name, Client::K6, form.name), limit))
    }));
    Ok(vec![Figure {
        title: format!("A picture of 140 kB and a JSON part, {VUS} VUs"),
        method: format!(
            "POST to the demo target, which checks the multipart body and hashes its parts; {} s, {} \
             rounds{}.",
            bench.settings.seconds,
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "; nothing pinned" }
        ),
        header: vec!["form", "client", "CPU µs/request", "brunt / it", "requests/s", "peak RSS MB"],
        rows: rows.collect(),
        verdicts,
    }])
}

fn once(
    bench: &Bench,
    url: &str,
    (form, client): (&Form, Client),
    pinned: bool,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let Some(program) = bench.program(client) else {
        rounds.failure = Some(missing(client));
        return Ok(());
    };
    let seconds = bench.settings.seconds;
    let (spent, metrics) = ScriptRun {
        program: &program,
        client,
        script: &bench.file("bodies.js"),
        flags: ["--vus", &VUS.to_string(), "--duration", &format!("{seconds}s")]
            .map(str::to_owned)
            .to_vec(),
        env: vec![("URL", url.to_owned()), ("FORM", form.name.to_owned())],
        core: pinned.then_some(0),
        seconds,
    }
    .run()?;
    let failed = exported(&metrics, "http_req_failed", "value")?;
    ensure!(failed == 0.0, "requests failed (share {failed})");
    let count = |metric: &str, key: &str| exported_count(&metrics, metric, key);
    let requests = count("http_reqs", "count")?;
    // An iteration that throws makes no check: without this it would only look cheap.
    let (whole, iterations) = (count("checks", "passes")?, count("iterations", "count")?);
    ensure!(
        requests > 0 && requests == whole && requests == iterations,
        "{requests} requests, {whole} of them whole, in {iterations} iterations:\n{}",
        process::tail(&spent.stderr)
    );
    let requests = requests as f64;
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / requests);
    rounds.rate.push(requests / seconds as f64);
    rounds.rss_mb.push(spent.rss_peak_kb as f64 / 1000.0);
    Ok(())
}
