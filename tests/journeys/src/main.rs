//! `cargo run -p brunt-journeys [-- --keep FOLDER] [NAME…]` records the journeys, writes their scripts, runs them with the binary
//! that `BRUNT` names, and prints the figure: values that need correlation, how many of them were found, and what the applications
//! saw of the replay. `--keep` keeps the scripts.
//!
//! `… -- --har FILE NAME ORIGIN…` makes one journey at an application that runs there already, and writes what was recorded.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line tool")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use brunt_journeys::{ALL, ITERATIONS, Journey, Rehearsal, USERS, User};

/// Records a journey at an application that runs elsewhere.
fn write(mut words: impl Iterator<Item = String>) -> std::io::Result<()> {
    let mut word =
        || words.next().expect("after --har: a file, a journey, the application's origins");
    let (file, name) = (word(), word());
    let origins: Vec<String> = std::iter::once(word()).chain(words).collect();
    let taken = Journey::of(&name).record_at(&origins, &User::new(0), 1);
    brunt_traffic::har::write(&taken.recording, std::fs::File::create(file)?)
}

fn main() -> std::io::Result<()> {
    let (mut keep, mut names) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep" => keep = words.next().map(PathBuf::from),
            "--har" => return write(words),
            name => names.push(name.to_owned()),
        }
    }
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fast/brunt");
    let brunt = std::env::var_os("BRUNT").map_or_else(default, PathBuf::from).canonicalize()?;
    println!("Journeys, recorded once, then {USERS} users and {ITERATIONS} iterations\n");
    println!(
        "{:<18} {:<26} {:>6} {:>6} {:>6} {:>8} {:>6} {:>8} {:>7}",
        "journey", "style", "values", "found", "wrong", "literal", "done", "refused", "failed"
    );
    let (mut needed, mut found, mut wrong, mut stories) = (0, 0, 0, String::new());
    for journey in ALL {
        if !names.is_empty() && !names.iter().any(|name| name == journey.name) {
            continue;
        }
        let rehearsal = Rehearsal::new(journey, 1);
        let own = tempfile::tempdir()?;
        let folder = keep.as_ref().map_or(own.path().to_owned(), |keep| keep.join(journey.name));
        rehearsal.write(&folder)?;
        let replayed = rehearsal.replay(&brunt, &folder)?;
        let (figure, literals) = (rehearsal.figure(), rehearsal.literals());
        let wrong_texts = rehearsal.wrong();
        (needed, found) = (needed + figure.needed, found + figure.found);
        println!(
            "{:<18} {:<26} {:>6} {:>6} {:>6} {:>8} {:>6} {:>8} {:>7}",
            journey.name,
            journey.style,
            figure.needed,
            figure.found,
            wrong_texts.len(),
            literals.len(),
            replayed.truth.done,
            replayed.truth.refused.len(),
            replayed.failed.values().sum::<u64>()
        );
        let is_whole =
            figure.found == figure.needed && wrong_texts.is_empty() && literals.is_empty();
        if !replayed.is_proven() || !is_whole {
            wrong += 1;
            let _ = writeln!(stories, "\n{}: {}", journey.name, replayed.story());
            for line in &wrong_texts {
                let _ = writeln!(stories, "  wrong: {line}");
            }
            let missed = figure.missed.iter().map(|need| ("missed", need));
            let literal = literals.iter().map(|(_, need)| ("literal", *need));
            for (what, need) in missed.chain(literal) {
                let request = &rehearsal.taken.recording.exchanges[need.exchange].request;
                let _ = writeln!(
                    stories,
                    "  {what}: exchange {} ({} {}) {:?} {:.40}",
                    need.exchange,
                    request.method,
                    request.url.path(),
                    need.place,
                    need.text
                );
            }
        }
    }
    println!("\n{found} of {needed} values are found; {wrong} journeys are not proven.{stories}");
    Ok(())
}
