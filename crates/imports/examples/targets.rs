//! `cargo run -p brunt-imports --example targets -- access.log http://127.0.0.1:8080 targets.txt pace.txt`: a log as targets.

use std::fs::File;
use std::io::BufWriter;

use brunt_imports::access_log::{Options, targets};

#[expect(clippy::print_stdout, reason = "an example tells what it did")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, base, to, pacer] = arguments.as_slice() else {
        return Err("wants a log, a base URL, and two files to write".into());
    };
    let options = Options { base: Some(base.parse()?), ..Options::default() };
    let (mut to, mut pacer) =
        (BufWriter::new(File::create(to)?), BufWriter::new(File::create(pacer)?));
    let tally = targets(File::open(log)?, &options, &mut to, &mut pacer)?;
    println!("{} requests in {} s ({})", tally.requests, tally.seconds, tally.format);
    for note in tally.notes() {
        println!("{note}");
    }
    Ok(())
}
