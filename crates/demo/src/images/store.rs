//! The objects: the built-in picture, which is in every bucket, and what was stored since.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};

use super::example;

/// The object that is always there.
pub(super) const EXAMPLE: &str = "example.jpg";
/// The maximum number of objects stored; more are refused.
const OBJECTS_MAX: usize = 1000;
/// The maximum number of bytes stored; more are refused.
const BYTES_MAX: usize = 64 << 20;

/// All objects.
#[derive(Debug)]
pub(super) struct Store {
    example_size: (u32, u32),
    example: Arc<OnceLock<Bytes>>,
    saved: Mutex<Saved>,
}

#[derive(Debug, Default)]
struct Saved {
    objects: HashMap<(String, String), Stored>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Stored {
    bytes: Bytes,
    content_type: &'static str,
}

/// An object that is there.
#[derive(Debug, Clone)]
pub(super) struct Object {
    kind: Kind,
    pub(super) content_type: &'static str,
}

#[derive(Debug, Clone)]
enum Kind {
    Example(Arc<OnceLock<Bytes>>, (u32, u32)),
    Saved(Bytes),
}

impl Object {
    /// Its bytes. Drawing the built-in picture takes a while the first time: ask where one may
    /// block.
    pub(super) fn bytes(&self) -> Bytes {
        match &self.kind {
            Kind::Saved(bytes) => bytes.clone(),
            Kind::Example(cell, (width, height)) => {
                cell.get_or_init(|| example::draw(*width, *height).into()).clone()
            }
        }
    }
}

/// There is no room for another object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Store {
    pub(super) fn new(example_size: (u32, u32)) -> Self {
        Self { example_size, example: Arc::default(), saved: Mutex::default() }
    }

    /// The object of this name, if there is one.
    pub(super) fn find(&self, bucket: &str, name: &str) -> Option<Object> {
        let saved = self.lock();
        if let Some(stored) = saved.objects.get(&(bucket.to_owned(), name.to_owned())) {
            let Stored { bytes, content_type } = stored.clone();
            return Some(Object { kind: Kind::Saved(bytes), content_type });
        }
        (name == EXAMPLE).then(|| Object {
            kind: Kind::Example(self.example.clone(), self.example_size),
            content_type: "image/jpeg",
        })
    }

    /// Stores an object, in place of another of this name.
    ///
    /// # Errors
    /// [`Full`]; nothing has changed then.
    pub(super) fn save(
        &self,
        bucket: &str,
        name: &str,
        bytes: Bytes,
        content_type: &'static str,
    ) -> Result<(), Full> {
        let mut saved = self.lock();
        let key = (bucket.to_owned(), name.to_owned());
        let before = saved.objects.get(&key).map_or(0, |stored| stored.bytes.len());
        let total = saved.bytes - before + bytes.len();
        let room = saved.objects.len() < OBJECTS_MAX || saved.objects.contains_key(&key);
        if total > BYTES_MAX || !room {
            return Err(Full);
        }
        saved.bytes = total;
        saved.objects.insert(key, Stored { bytes, content_type });
        Ok(())
    }

    /// Forgets what was stored.
    pub(super) fn clear(&self) {
        *self.lock() = Saved::default();
    }

    /// `{"objects", "bytes"}`, the built-in picture not counted.
    pub(super) fn report(&self) -> Value {
        let saved = self.lock();
        json!({ "objects": saved.objects.len(), "bytes": saved.bytes })
    }

    fn lock(&self) -> MutexGuard<'_, Saved> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_in_every_bucket_and_can_be_covered() {
        let store = Store::new((32, 32));
        assert!(store.find("a", EXAMPLE).is_some() && store.find("b", EXAMPLE).is_some());
        assert!(store.find("a", "other.jpg").is_none());
        store.save("a", EXAMPLE, Bytes::from_static(b"mine"), "image/png").unwrap();
        assert_eq!(store.find("a", EXAMPLE).unwrap().bytes(), "mine");
        assert_ne!(store.find("b", EXAMPLE).unwrap().bytes(), "mine");
        store.clear();
        assert_ne!(store.find("a", EXAMPLE).unwrap().bytes(), "mine");
    }

    #[test]
    fn there_is_an_end_to_storing() {
        let store = Store::new((32, 32));
        let big = Bytes::from(vec![0; BYTES_MAX]);
        store.save("a", "big", big.clone(), "image/png").unwrap();
        // In its own place it fits again; beside itself it doesn't.
        store.save("a", "big", big.clone(), "image/png").unwrap();
        assert_eq!(store.save("a", "more", Bytes::from_static(b"x"), "image/png"), Err(Full));
        store.clear();
        for index in 0..OBJECTS_MAX {
            store.save("a", &index.to_string(), Bytes::new(), "image/png").unwrap();
        }
        assert_eq!(store.save("a", "one more", Bytes::new(), "image/png"), Err(Full));
    }
}
