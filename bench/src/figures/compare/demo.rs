//! The promises held against the demo target itself: real runs, compared by the built binary.
//!
//! Two hundred comparisons of three runs a side would be 1200 runs. So a pool of runs is made once, equal ones and ones of a
//! slower route in turn, and of the pool sides are dealt: each comparison is of other runs, though runs come back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Bench;
use crate::process;
use crate::report::{Figure, Verdict};
use crate::target::Target;

/// Runs a side.
const SIDE: usize = 3;
/// Milliseconds that an answer takes.
const MS: u32 = 50;
/// A tenth more.
const MS_SLOWER: u32 = 55;
/// Comparisons of equal runs, and with slower ones.
const EQUAL: usize = 200;
const SLOWER: usize = 100;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Figure> {
    let settings = &bench.settings;
    let (count, seconds) = (settings.compared_runs, settings.compared_seconds);
    let target = Target::start(&settings.brunt, None)?;
    let mut pools: [Vec<PathBuf>; 2] = Default::default();
    for place in 0..count {
        // A B B A: a machine that drifts does so for both.
        let order = if place % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let file = bench.file(&format!("compared-{side}-{place}.brunt"));
            run(bench, &target, if side == 0 { MS } else { MS_SLOWER }, seconds, &file)?;
            pools[side].push(file);
        }
    }
    let [equal, slower] = pools;
    let mut dealer = Dealer(1);
    let mut of_equal = Words::default();
    for _ in 0..EQUAL {
        let dealt = dealer.deal(&equal, 2 * SIDE);
        of_equal.add(&compared(bench, &dealt[..SIDE], &dealt[SIDE..])?);
    }
    let mut of_slower = Words::default();
    for _ in 0..SLOWER {
        let (a, b) = (dealer.deal(&equal, SIDE), dealer.deal(&slower, SIDE));
        of_slower.add(&compared(bench, &a, &b)?);
    }
    let row = |name: String, words: &Words| {
        let shown = [words.worse, words.better, words.same, words.unclear].map(|n| n.to_string());
        std::iter::once(name).chain(shown).collect()
    };
    Ok(Figure {
        title: "Verdicts of comparisons, of the demo target".into(),
        method: format!(
            "`brunt compare`, {SIDE} runs of {seconds} s a side, 4 VUs on `/delay/{MS}`, and on `/delay/{MS_SLOWER}` for the slower one. \
             {count} runs of each are made in turn (A B B A), sides are dealt of them without putting back."
        ),
        header: vec!["compared", "worse", "better", "same", "unclear"],
        rows: vec![
            row(format!("{EQUAL} × equal"), &of_equal),
            row(format!("{SLOWER} × 10 % slower"), &of_slower),
        ],
        verdicts: vec![
            Verdict::at_most(
                "percent of comparisons of equal runs that say worse or better: at most 5",
                Some((of_equal.worse + of_equal.better) as f64 * 100.0 / EQUAL as f64),
                5.0,
            ),
            Verdict::at_least(
                format!("10 % slower is found in 95 of {SLOWER}"),
                Some(of_slower.worse as f64),
                95.0,
            ),
        ],
    })
}

fn run(bench: &Bench, target: &Target, ms: u32, seconds: u64, file: &Path) -> anyhow::Result<()> {
    let mut command = process::command(&bench.settings.brunt, None);
    command.args(["run", "--quiet", "--no-summary", "--out"]);
    command.arg(format!("run={}", file.display()));
    for (name, value) in
        [("TARGET", target.url("")), ("MS", ms.to_string()), ("SECONDS", seconds.to_string())]
    {
        command.arg("-e").arg(format!("{name}={value}"));
    }
    command.arg(bench.file("compare.js"));
    let spent = process::run(command, Duration::from_secs(seconds + 60))?;
    ensure!(spent.code == Some(0), "brunt run: {}", process::tail(&spent.stderr));
    Ok(())
}

/// The verdict of the built binary.
fn compared(bench: &Bench, a: &[&PathBuf], b: &[&PathBuf]) -> anyhow::Result<String> {
    let mut command = process::command(&bench.settings.brunt, None);
    command.args(["compare", "--format", "json"]).args(a).arg("--").args(b);
    let spent = process::run(command, Duration::from_mins(1))?;
    ensure!(spent.code == Some(0), "brunt compare: {}", process::tail(&spent.stderr));
    let told: Value = serde_json::from_str(&spent.stdout).context("the answer is JSON")?;
    Ok(told["verdict"].as_str().unwrap_or_default().to_owned())
}

/// How often each word was said.
#[derive(Default)]
struct Words {
    worse: usize,
    better: usize,
    same: usize,
    unclear: usize,
}

impl Words {
    fn add(&mut self, word: &str) {
        let count = match word {
            "worse" => &mut self.worse,
            "better" => &mut self.better,
            "same" => &mut self.same,
            _ => &mut self.unclear,
        };
        *count += 1;
    }
}

/// Draws without putting back, from a seed.
struct Dealer(u64);

impl Dealer {
    fn deal<'a>(&mut self, pool: &'a [PathBuf], count: usize) -> Vec<&'a PathBuf> {
        let mut left: Vec<&PathBuf> = pool.iter().collect();
        (0..count.min(pool.len()))
            .map(|_| {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                left.swap_remove((self.0 >> 33) as usize % left.len())
            })
            .collect()
    }
}
