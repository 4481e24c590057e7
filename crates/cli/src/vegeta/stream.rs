//! Records from files, with an eye on Ctrl-C and the clock while reading blocks.

use std::{fs::File, io, time::Duration};

use anyhow::Context as _;
use brunt_records::{DecodeError, Decoder, Record, Rotation, decode};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use super::failure;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    piped::Awaited,
};

/// Whether the bodies and headers of records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Kept,
    /// They need not be there, which is faster.
    LeftOut,
}

/// How the reading ended.
pub(super) enum Ending {
    /// All records were read.
    Complete,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The reader of our output has gone away.
    Unread,
    /// It could not go on; what was read before counts.
    Failed(Failure),
}

/// Why the reading thread stopped early.
enum Trouble {
    Read(Failure),
    Write(io::Error),
}

/// Reads all records of `files` (none = standard input) on a thread of its own, and hands each to `each` with the index of
/// its file. Meanwhile calls `tick` once in `every`.
///
/// Inputs that end within a record are told with a warning. The thread may stay behind, blocked in a read, when the user
/// interrupts: lock what `each` uses before you give it out.
///
/// # Errors
/// The system refuses, or `tick` fails.
pub(super) fn read(
    files: Vec<String>,
    content: Content,
    mut each: impl FnMut(usize, &Record) -> io::Result<()> + Send + 'static,
    every: Option<Duration>,
    mut tick: impl FnMut() -> Outcome<()>,
) -> Outcome<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (sender, mut end) = oneshot::channel();
        std::thread::Builder::new().name("brunt-records".to_owned()).spawn(move || {
            // After an interrupt the receiver is gone.
            let _ = sender.send(read_all(&files, content, &mut each));
        })?;
        // Without an interval the branch below is off.
        let mut clock = tokio::time::interval(every.unwrap_or(Duration::MAX / 4));
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        clock.tick().await;
        loop {
            tokio::select! {
                end = &mut end => return Ok(match end {
                    Ok(Ok(())) => Ending::Complete,
                    Ok(Err(Trouble::Write(error))) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Unread,
                    Ok(Err(Trouble::Write(error))) => {
                        let error = anyhow::Error::new(error).context("cannot write the records");
                        Ending::Failed(Failure::new(Exit::Vegeta, error))
                    }
                    Ok(Err(Trouble::Read(failure))) => Ending::Failed(failure),
                    Err(_) => Ending::Failed(Failure::new(Exit::Panic, anyhow::anyhow!("the reader panicked"))),
                }),
                _ = interrupt.recv() => return Ok(Ending::Interrupted),
                _ = terminate.recv() => return Ok(Ending::Interrupted),
                _ = clock.tick(), if every.is_some() => tick()?,
            }
        }
    })
}

fn read_all(
    files: &[String],
    content: Content,
    each: &mut impl FnMut(usize, &Record) -> io::Result<()>,
) -> Result<(), Trouble> {
    let decoders: Result<Vec<_>, Failure> = match files {
        [] => open("stdin").map(|decoder| vec![decoder]),
        files => files.iter().map(|name| open(name)).collect(),
    };
    let mut decoders = decoders.map_err(Trouble::Read)?;
    if content == Content::LeftOut {
        decoders.iter_mut().for_each(Decoder::leave_out_content);
    }
    let mut rotation = Rotation::new(decoders);
    let mut record = Record::default();
    loop {
        match rotation.next_into(&mut record) {
            Ok(Some(index)) => each(index, &record).map_err(Trouble::Write)?,
            Ok(None) => return Ok(()),
            Err(error) if error.is_truncated() => {
                log::warn!("{error}: it was cut off; all records before that are counted");
            }
            Err(error) => return Err(Trouble::Read(of_decoder(error))),
        }
    }
}

fn open(name: &str) -> Result<Decoder<'static>, Failure> {
    let decoder = if matches!(name, "stdin" | "-") {
        let instead = "brunt attack writes them: name its files, or pipe it into this command";
        decode::open(Awaited::new("records of an attack", instead), name)
    } else {
        let file = File::open(name).with_context(|| format!("cannot open {name}"));
        decode::open(file.map_err(|error| Failure::new(Exit::Vegeta, error))?, name)
    };
    decoder.map_err(of_decoder)
}

fn of_decoder(error: DecodeError) -> Failure {
    Failure::new(Exit::Vegeta, error)
}

/// Where a command writes: a file, or standard output, which is also called `stdout`.
pub(crate) enum Output {
    Stdout,
    File(File),
}

impl Output {
    /// Creates or empties the file.
    ///
    /// # Errors
    /// It can't be written (exit code 1).
    pub(super) fn open(name: &str) -> Outcome<Self> {
        if name == "stdout" {
            return Ok(Self::Stdout);
        }
        match File::create(name) {
            Ok(file) => Ok(Self::File(file)),
            Err(error) => Err(failure(format!("cannot write {name:?}: {error}"))),
        }
    }

    /// Writes all of it; false = whoever should read it has gone away.
    ///
    /// # Errors
    /// It can't be written (exit code 1).
    pub(super) fn write(&mut self, bytes: &[u8]) -> Outcome<bool> {
        use io::Write as _;
        let written = match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes).and_then(|()| stdout.flush())
            }
            Self::File(file) => file.write_all(bytes),
        };
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(failure(format!("cannot write: {error}"))),
        }
    }

    /// As a stream.
    pub(super) fn into_writer(self) -> Box<dyn io::Write + Send> {
        match self {
            Self::Stdout => Box::new(io::stdout()),
            Self::File(file) => Box::new(file),
        }
    }
}
