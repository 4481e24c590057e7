//! Where copies of bodies are kept: in memory, in files, or not at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use brunt_traffic::Body;
use bytes::BytesMut;

use crate::config::Limits;

/// The room that all bodies share.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    limits: Limits,
    memory: Budget,
    disk: Budget,
    messages: Budget,
    /// The number of the next file.
    next: AtomicU64,
}

/// The rest of something.
#[derive(Debug)]
struct Budget(AtomicU64);

impl Budget {
    /// Takes this number of bytes, if they are left.
    fn take(&self, size: u64) -> bool {
        let less = |left: u64| left.checked_sub(size);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn give(&self, size: u64) {
        self.0.fetch_add(size, Ordering::Relaxed);
    }
}

impl Store {
    pub(crate) fn new(folder: &Path, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            folder: folder.to_owned(),
            limits,
            memory: Budget(AtomicU64::new(limits.memory)),
            disk: Budget(AtomicU64::new(limits.disk)),
            messages: Budget(AtomicU64::new(limits.messages)),
            next: AtomicU64::new(0),
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether there is room for a message of this size.
    pub(crate) fn has_room_for_message(&self, size: usize) -> bool {
        self.messages.take(size as u64)
    }

    /// A file of our own.
    fn file(&self) -> io::Result<(PathBuf, File)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("body-{number:06}"));
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok((path, file))
    }
}

/// A body, as far as it has come.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<Store>,
    limit: u64,
    /// In bytes, kept or not.
    size: u64,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Memory(BytesMut),
    File(PathBuf, File),
    Dropped(String),
}

impl Keeper {
    /// `limit`: of a larger body, only the size is kept.
    pub(crate) fn new(store: &Arc<Store>, limit: u64) -> Self {
        Self { store: Arc::clone(store), limit, size: 0, held: Held::Memory(BytesMut::new()) }
    }

    /// In bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Whether nothing more is kept.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.held, Held::Dropped(_))
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let size = bytes.len() as u64;
        self.size += size;
        if self.is_full() {
            return;
        }
        if self.size > self.limit {
            self.drop_all(format!("it is larger than {} MiB", self.limit >> 20));
            return;
        }
        if let Held::Memory(held) = &mut self.held {
            if self.size <= self.store.limits.body_in_memory && self.store.memory.take(size) {
                held.extend_from_slice(bytes);
                return;
            }
            if let Err(error) = self.spill() {
                self.drop_all(format!("it could not be written: {error}"));
                return;
            }
        }
        if !self.store.disk.take(size) {
            self.drop_all(format!(
                "all bodies are larger than {} MiB",
                self.store.limits.disk >> 20
            ));
            return;
        }
        if let Held::File(_, file) = &mut self.held
            && let Err(error) = file.write_all(bytes)
        {
            self.drop_all(format!("it could not be written: {error}"));
        }
    }

    /// From memory to a file.
    fn spill(&mut self) -> io::Result<()> {
        let Held::Memory(held) = &mut self.held else { return Ok(()) };
        let held = std::mem::take(held);
        self.store.memory.give(held.len() as u64);
        let (path, mut file) = self.store.file()?;
        let written = file.write_all(&held);
        self.held = Held::File(path, file);
        let is_room = self.store.disk.take(held.len() as u64);
        if is_room { written } else { Err(io::Error::other("all bodies are too large")) }
    }

    fn drop_all(&mut self, why: String) {
        match std::mem::replace(&mut self.held, Held::Dropped(why)) {
            Held::Memory(held) => self.store.memory.give(held.len() as u64),
            Held::File(path, file) => {
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                self.store.disk.give(size);
                let _ = std::fs::remove_file(path);
            }
            Held::Dropped(_) => {}
        }
    }

    /// The body, and no more of it here.
    pub(crate) fn finish(&mut self) -> Body {
        let size = self.size;
        match std::mem::replace(&mut self.held, Held::Dropped(String::new())) {
            Held::Memory(held) if held.is_empty() => Body::Empty,
            Held::Memory(held) => Body::Bytes(held.freeze()),
            Held::File(path, _) => Body::File { path, size },
            Held::Dropped(why) => Body::Absent { why, size: Some(size) },
        }
    }

    /// Gives the room of a finished body back.
    pub(crate) fn forget(store: &Store, body: Body) {
        match body {
            Body::Bytes(bytes) => store.memory.give(bytes.len() as u64),
            Body::File { path, size } => {
                store.disk.give(size);
                let _ = std::fs::remove_file(path);
            }
            Body::Empty | Body::Absent { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &Path, body_in_memory: u64, memory: u64, disk: u64) -> Arc<Store> {
        Store::new(folder, Limits { body_in_memory, memory, disk, ..Limits::default() })
    }

    fn kept(store: &Arc<Store>, limit: u64, parts: &[&[u8]]) -> Body {
        let mut keeper = Keeper::new(store, limit);
        for part in parts {
            keeper.push(part);
        }
        keeper.finish()
    }

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn small_in_memory_larger_in_a_file_largest_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), 8, 100, 100);
        assert!(matches!(kept(&store, 20, &[]), Body::Empty));
        assert_eq!(kept(&store, 20, &[b"1234", b"5678"]).in_memory(), Some(&b"12345678"[..]));
        let body = kept(&store, 20, &[b"1234", b"56789", b"0"]);
        assert!(matches!(body, Body::File { size: 10, .. }), "{body:?}");
        assert_eq!(body.read().unwrap(), "1234567890");
        let body = kept(&store, 20, &[b"1234567890", b"1234567890", b"1", b"2"]);
        assert!(matches!(&body, Body::Absent { size: Some(22), why } if why.contains("larger")));
        assert_eq!(files(folder.path()), 1, "the file of the one that grew too large is gone");
        Keeper::forget(&store, kept(&store, 20, &[b"123456789"]));
        assert_eq!(files(folder.path()), 1);
    }

    #[test]
    fn all_together_have_a_limit_too() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), 8, 10, 12);
        assert!(matches!(kept(&store, 20, &[b"12345678"]), Body::Bytes(_)));
        assert!(matches!(kept(&store, 20, &[b"12345678"]), Body::File { .. }));
        let body = kept(&store, 20, &[b"12345678"]);
        assert!(matches!(&body, Body::Absent { size: Some(8), why } if why.contains("all bodies")));
        assert!(matches!(kept(&store, 20, &[b"12"]), Body::Bytes(_)));
    }
}
