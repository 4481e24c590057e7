//! Drives Brunt and its peers at one server in turn, and writes down what each request cost.
//!
//! `cargo run --release -p brunt-bench -- all` measures every figure and writes `bench/RESULTS.md`;
//! a figure's own name measures that one and prints it. Each round runs every client once, against
//! the same nginx, so that a busy moment of the machine hits all of them; medians are shown with the
//! least and the greatest. CPU time is what the operating system accounted to the client's process.
//!
//! The cast: [`server`] (nginx), [`target`] (Brunt's demo target, for bodies), [`stamps`] (a server that writes down when each request arrived), [`client`] (how each peer is called and read), [`bare`] (a client that does next to nothing), [`seats`] (agents that make no load), [`process`] (runs one
//! and takes its measure), [`figures`] (what is asked), [`report`] (tables and verdicts).
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program that talks to its user")]

mod bare;
mod bench;
mod client;
mod figures;
mod machine;
mod process;
mod report;
mod seats;
mod server;
mod settings;
mod stamps;
mod target;

use anyhow::Context as _;
use clap::Parser as _;

use crate::bench::Bench;
use crate::report::Figure;
use crate::settings::{Arguments, What};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((bare::WORD, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest))
    {
        return bare::run(rest);
    }
    if let Some((seats::WORD, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest))
    {
        return seats::run(rest);
    }
    let arguments = Arguments::parse();
    let settings = arguments.settings()?;
    machine::raise_file_limit();
    let bench = Bench::new(settings)?;
    println!("{}", machine::describe());

    let mut measured: Vec<Figure> = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for (what, measure) in figures::ALL {
        if arguments.what != What::All && arguments.what != *what {
            continue;
        }
        // One figure that cannot be measured takes nothing from the others.
        let figures = measure(&bench).unwrap_or_else(|error| {
            failed.push(format!("{what:?}"));
            vec![Figure::unmeasured(*what, &error)]
        });
        for figure in figures {
            println!("{}", figure.text());
            measured.push(figure);
        }
    }

    let file = match (&arguments.out, arguments.what) {
        (Some(file), _) => Some(file.clone()),
        (None, What::All) if !arguments.quick => Some("bench/RESULTS.md".into()),
        _ => None,
    };
    if let Some(file) = file {
        let page = report::page(&measured, &bench);
        std::fs::write(&file, page).with_context(|| format!("writing {}", file.display()))?;
        println!("written to {}", file.display());
    }
    println!("{}", report::tally(&measured));
    anyhow::ensure!(failed.is_empty(), "could not be measured: {}", failed.join(", "));
    Ok(())
}
