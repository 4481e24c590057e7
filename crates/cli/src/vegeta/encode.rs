//! `brunt encode`: records from one format to another.

use std::{
    io::{self, BufWriter, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use brunt_records::{Encoder, Format};

use super::{
    failure,
    flag::{Flag, FlagSet, Takes},
    flags,
    stream::{self, Content, Ending, Output},
};
use crate::{Context, exit::Exit, failure::Outcome};

/// Records of an attack that is still going on are passed on so often.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

pub(super) static FLAGS: FlagSet = FlagSet {
    command: "encode",
    files: "[FILE...]",
    about: "Converts records of attacks to CSV, gob or JSON. Without files it reads standard input.",
    examples: &[
        "brunt encode result.bin > result.json",
        "brunt encode -to=csv -output=result.csv result.bin",
    ],
    flags: &[
        Flag::new("output", Takes::Text, "stdout", "Write to this file"),
        Flag::new("to", Takes::Text, "json", "Format of the output: csv, gob or json"),
    ],
};

pub(super) fn perform(context: &Context, words: &[String]) -> Outcome<Exit> {
    let Some(values) = flags(context, &FLAGS, words)? else { return Ok(Exit::Success) };
    let name = values.text("to");
    let format = Format::named(name).ok_or_else(|| {
        failure(format!("encode: unknown encoding {name:?}")).hint("use csv, gob or json")
    })?;
    if format == Format::Gob {
        super::keep_from_screen("encode", values.text("output"))?;
    }
    let out = Output::open(values.text("output"))?.into_writer();
    let out = BufWriter::with_capacity(256 << 10, out);
    let encoder = Arc::new(Mutex::new(Encoder::new(format, out)));
    let shared = Arc::clone(&encoder);
    let lock = || encoder.lock().unwrap_or_else(PoisonError::into_inner);
    let each =
        move |_, record: &_| shared.lock().unwrap_or_else(PoisonError::into_inner).encode(record);
    // Errors of this flush come back with the next record.
    let tick = || {
        let _ = lock().get_mut().flush();
        Ok(())
    };
    let ending = stream::read(values.files.clone(), Content::Kept, each, Some(FLUSH_EVERY), tick)?;
    // Held until the process ends: the reader may still be there, and no record shall be cut in two.
    let mut held = lock();
    let flushed = held.get_mut().flush();
    if let Ending::Failed(failure) = ending {
        return Err(failure);
    }
    let exit = match flushed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failure(format!("cannot write the records: {error}")))
        }
        _ => Ok(Exit::Success),
    };
    if matches!(ending, Ending::Interrupted) {
        std::mem::forget(held);
    }
    exit
}
