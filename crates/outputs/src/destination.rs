//! Where lines go: a file, a gzip file, the standard output.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes gathered before they are written: some hundred lines.
const BUFFER: usize = 128 * 1024;

/// How long the reader of a named pipe is waited for.
#[cfg(unix)]
const PIPE_WAIT: std::time::Duration = std::time::Duration::from_secs(10);

/// A buffer in front of a place. Bytes pushed to [`buffer`](Self::buffer) are written when
/// [`spill`](Self::spill) finds enough.
pub(crate) struct Destination {
    pub(crate) buffer: Vec<u8>,
    place: Place,
}

enum Place {
    Plain(Box<dyn Write + Send>),
    Gzip(GzEncoder<File>),
}

/// Opens a file for writing. A named pipe is opened only when somebody reads it: that is not waited for without end.
fn create(path: &str) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
            let (opened, answer) = std::sync::mpsc::sync_channel(1);
            let path = path.to_owned();
            std::thread::Builder::new()
                .name("output-pipe".to_owned())
                .spawn(move || drop(opened.send(File::create(path))))?;
            let unread = || {
                let limit = brunt_duration::wait::format(PIPE_WAIT);
                io::Error::other(format!("no process read this pipe within {limit}"))
            };
            return answer.recv_timeout(PIPE_WAIT).map_err(|_| unread())?;
        }
    }
    File::create(path)
}

impl Destination {
    /// A file, created or emptied; gzipped if its name ends so. `-` or nothing is the standard
    /// output.
    pub(crate) fn create(path: &str) -> io::Result<Self> {
        let place = if is_stdout(path) {
            Place::Plain(Box::new(io::stdout()))
        } else {
            let file = create(path)?;
            if Path::new(path).extension().is_some_and(|extension| extension == "gz") {
                // The fastest: a test makes more lines a second than a better one could take.
                Place::Gzip(GzEncoder::new(file, Compression::fast()))
            } else {
                Place::Plain(Box::new(file))
            }
        };
        Ok(Self::of(place))
    }

    fn of(place: Place) -> Self {
        Self { buffer: Vec::with_capacity(BUFFER + BUFFER / 8), place }
    }

    /// Anything that takes bytes, for tests and benches.
    #[cfg(test)]
    pub(crate) fn to(place: impl Write + Send + 'static) -> Self {
        Self::of(Place::Plain(Box::new(place)))
    }

    /// Writes the buffer if it is full. To be called after each line.
    #[inline]
    pub(crate) fn spill(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER { Ok(()) } else { self.write_out() }
    }

    fn write_out(&mut self) -> io::Result<()> {
        let result = match &mut self.place {
            Place::Plain(place) => place.write_all(&self.buffer),
            Place::Gzip(place) => place.write_all(&self.buffer),
        };
        self.buffer.clear();
        result
    }

    /// Writes what there is. A gzip file keeps the rest of a block until it is full: many small
    /// blocks would not compress.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        match &mut self.place {
            Place::Plain(place) => place.flush(),
            Place::Gzip(_) => Ok(()),
        }
    }

    /// Writes what there is, and the trailer of a gzip file.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        match &mut self.place {
            Place::Plain(_) => Ok(()),
            Place::Gzip(place) => place.try_finish(),
        }
    }
}

/// Whether a file name means the standard output.
pub(crate) fn is_stdout(path: &str) -> bool {
    matches!(path, "" | "-")
}
