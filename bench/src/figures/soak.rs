//! Memory over the length of a test.

use std::time::Duration;

use super::Bench;
use crate::client::{Client, ScriptRun, exported};
use crate::report::{Figure, Verdict, median, short};
use crate::server::{Server, Speech};

/// Brunt alone, at full rate.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let server = Server::start(None)?;
    let seconds = bench.settings.soak_seconds;
    let (spent, metrics) = ScriptRun {
        program: &bench.settings.brunt,
        client: Client::Brunt,
        script: &bench.file("get.js"),
        flags: ["--vus", "250", "--duration", &format!("{seconds}s")].map(str::to_owned).to_vec(),
        env: vec![("URL", server.url(Speech::Plain))],
        core: None,
        seconds,
    }
    .run()?;
    // "After the first minute", or after a sixth of a shorter run.
    let settled = Duration::from_secs((seconds / 6).min(60));
    let end = Duration::from_secs(seconds);
    let window = end.saturating_sub(settled) / 10;
    let early = resident(&spent.rss, settled, settled + window);
    let late = resident(&spent.rss, end.saturating_sub(window), end);
    let growth = early.zip(late).map(|(early, late)| (late - early) / early * 100.0);
    let mb = |kb: Option<f64>| kb.map_or("-".into(), |kb| short(kb / 1000.0));
    let requests = exported(&metrics, "http_reqs", "count")?;
    Ok(vec![Figure {
        title: format!("Memory of brunt over {seconds} s at full rate"),
        method: format!(
            "250 VUs, GET and check; resident memory is read every 50 ms. Early: the {0} s after the \
             first {1} s. Late: the last {0} s. Medians of each.",
            short(window.as_secs_f64()),
            settled.as_secs()
        ),
        header: vec!["early MB", "late MB", "growth %", "peak MB", "requests"],
        rows: vec![vec![
            mb(early),
            mb(late),
            growth.map_or("-".into(), short),
            mb(Some(spent.rss_peak_kb as f64)),
            format!("{requests:.0}"),
        ]],
        verdicts: vec![Verdict::at_most(
            "grows less than 2 % after the first minute of ten",
            growth,
            2.0,
        )],
    }])
}

/// The median resident size in kB between two moments.
pub(super) fn resident(samples: &[(Duration, u64)], from: Duration, to: Duration) -> Option<f64> {
    let sizes: Vec<f64> = samples
        .iter()
        .filter(|(at, _)| (from..=to).contains(at))
        .map(|(_, kb)| *kb as f64)
        .collect();
    median(&sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_sees_its_own_samples_only() {
        let at = |s: u64, kb: u64| (Duration::from_secs(s), kb);
        let samples = [at(0, 1), at(1, 10), at(2, 20), at(3, 30), at(9, 99)];
        let window =
            |from, to| resident(&samples, Duration::from_secs(from), Duration::from_secs(to));
        assert_eq!(window(1, 3), Some(20.0));
        assert_eq!(window(4, 8), None);
    }
}
