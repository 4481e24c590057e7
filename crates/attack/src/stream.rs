//! Records on their way to a file or pipe: encoded on the cores, written by a thread.

use std::io::{self, Write};
use std::thread::JoinHandle;

use brunt_records::{Encoder, Format, Record};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::control::Control;
use crate::sink::Sink;

/// The bytes of encoded records that a core gathers before it hands them on.
const BATCH: usize = 32 * 1024;

/// The bytes that may wait on one core before no more hits are begun.
const WAITING_MAX: usize = 32 << 20;

/// The maximum number of batches that wait for the writer.
const QUEUE: usize = 64;

/// A thread that writes what cores encode. Memory is bounded: see [`Sink::has_room`].
#[derive(Debug)]
pub struct Stream {
    batches: mpsc::Sender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    format: Format,
}

impl Stream {
    /// Starts the thread, which writes records in `format`. Should writing fail, it stops the attack.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(
        to: impl Write + Send + 'static,
        format: Format,
        control: Control,
    ) -> io::Result<Self> {
        let (batches, coming) = mpsc::channel(QUEUE);
        let writer = std::thread::Builder::new().name("brunt-records".to_owned());
        let writer = writer.spawn(move || {
            let result = write_all(to, format, coming);
            if result.is_err() {
                control.stop();
            }
            result
        })?;
        Ok(Self { batches, writer, format })
    }

    /// The sink of one core. Records of one core are written in the order of their ends; those of different cores are
    /// mixed in batches.
    pub fn sink(&self) -> Box<dyn Sink> {
        let buffer = Vec::with_capacity(BATCH + BATCH / 4);
        Box::new(Encoded {
            encoder: Encoder::after_beginning(self.format, buffer),
            batches: self.batches.clone(),
            is_broken: false,
        })
    }

    /// Waits until all is written. The sinks must be gone by then, which they are when the attack has ended.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(self) -> io::Result<()> {
        drop(self.batches);
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

fn write_all(
    mut to: impl Write,
    format: Format,
    mut coming: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    // The beginning is written with the first record: without one, there is none.
    let mut beginning = format.beginning();
    while let Some(batch) = coming.blocking_recv() {
        to.write_all(&std::mem::take(&mut beginning))?;
        to.write_all(&batch)?;
    }
    to.flush()
}

struct Encoded {
    encoder: Encoder<Vec<u8>>,
    batches: mpsc::Sender<Vec<u8>>,
    /// The writer is gone: all records that come are dropped.
    is_broken: bool,
}

impl Encoded {
    fn hand_on(&mut self) {
        let fresh = Vec::with_capacity(BATCH + BATCH / 4);
        match self.batches.try_send(std::mem::replace(self.encoder.get_mut(), fresh)) {
            Ok(()) => {}
            Err(TrySendError::Full(batch)) => *self.encoder.get_mut() = batch,
            Err(TrySendError::Closed(_)) => self.is_broken = true,
        }
    }
}

impl Sink for Encoded {
    fn take(&mut self, record: &Record) {
        if self.is_broken {
            return;
        }
        self.encoder.encode(record).expect("memory takes all");
        if self.encoder.get_mut().len() >= BATCH && self.batches.capacity() > 0 {
            self.hand_on();
        }
    }

    fn tick(&mut self) {
        if !self.encoder.get_mut().is_empty() {
            self.hand_on();
        }
    }

    fn has_room(&self) -> bool {
        self.encoder.get_ref().len() < WAITING_MAX
    }

    fn finish(&mut self) {
        if !self.encoder.get_mut().is_empty() {
            // Closed: the writer tells why.
            let _ = self.batches.blocking_send(std::mem::take(self.encoder.get_mut()));
        }
    }
}
