//! Values that all processes hand to each other, first in, first out.
//!
//! The order is one small value of the store, an [`Index`] of numbers; each value has a key of its own. Putting takes a number and
//! then writes the value; taking takes a number and then reads the value and removes it. A value that is not there yet is waited for,
//! as its process may be about to write it; if it died, its place is closed, and the next value is taken.

mod index;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use self::index::{Asked, Index, Item, Step, Told};
pub use self::index::{Bounds, End};
use crate::ask::{Gate, Wait, ask};
use crate::cell::Cell;
use crate::wire::{ABSENT, Late, Wire, Wrote};

/// Bytes of one value at most: a message of NATS holds it.
pub const VALUE_MAX: usize = 512 << 10;

/// Bytes that each value counts for beside its text.
const COST: u64 = 32;

/// A value whose place is taken is waited for so long; then its process is dead.
const HOLE: Duration = Duration::from_secs(3);

/// From one look for it to the next.
const LOOK: Duration = Duration::from_millis(10);

/// A value whose number was taken is asked for so long; then it is lost.
const LOST: Duration = Duration::from_secs(90);

/// A queue of a test.
#[derive(Debug)]
pub struct Queue(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    wire: Arc<Late>,
    key: String,
    bounds: Bounds,
    cell: OnceLock<Cell<Index>>,
    /// Bytes of taken values, for the next operation to tell.
    freed: AtomicU64,
}

impl Queue {
    pub(crate) fn new(wire: &Arc<Late>, key: String, bounds: Bounds) -> Self {
        let (wire, freed) = (Arc::clone(wire), AtomicU64::new(0));
        Self(Arc::new(Inner { wire, key, bounds, cell: OnceLock::new(), freed }))
    }

    /// Adds a text of at most [`VALUE_MAX`] bytes; `false` if the queue is full.
    ///
    /// # Errors
    /// No answer in time: then it may have been added or not.
    pub fn add(&self, text: String, end: End) -> Wait<bool> {
        let this = Arc::clone(&self.0);
        let work = |gate| async move { this.add(text, end, &gate).await };
        ask(&self.0.wire, "the value may be in the queue or not", work, |_| {})
    }

    /// Takes the value that is first; `None` if none waits. A value that comes when its caller is gone goes back.
    ///
    /// # Errors
    /// No answer in time.
    pub fn take(&self) -> Wait<Option<String>> {
        let (this, back) = (Arc::clone(&self.0), Arc::clone(&self.0));
        let work = |gate| async move { this.take(&gate).await };
        let undelivered = move |value: Option<String>| {
            let (Some(text), Some(wire)) = (value, back.wire.get()) else { return };
            wire.runtime.spawn(async move {
                let gate = Gate::new(back.wire.over());
                if let Err(why) = back.add(text, End::Front, &gate).await {
                    log::debug!("a value could not be put back: {why}");
                }
            });
        };
        ask(&self.0.wire, "a value that comes late goes back", work, undelivered)
    }

    /// How many values wait.
    ///
    /// # Errors
    /// No answer in time.
    pub fn length(&self) -> Wait<u64> {
        let this = Arc::clone(&self.0);
        let work =
            |gate| async move { Ok(this.step(this.wire()?, Step::Look, &gate).await?.length) };
        ask(&self.0.wire, "try again", work, |_| {})
    }
}

impl Inner {
    fn wire(&self) -> Result<Arc<Wire>, String> {
        self.wire.get().ok_or_else(|| ABSENT.to_owned())
    }

    async fn step(&self, wire: Arc<Wire>, step: Step, gate: &Gate) -> Result<Told, String> {
        let open = || Cell::open(&wire, self.key.clone(), self.bounds);
        let cell = self.cell.get_or_init(open);
        let freed = self.freed.swap(0, Relaxed);
        let told = cell.ask(Asked { step, freed }, gate).await;
        if told.is_err() {
            self.freed.fetch_add(freed, Relaxed);
        }
        told
    }

    async fn add(&self, text: String, end: End, gate: &Gate) -> Result<bool, String> {
        let wire = self.wire()?;
        let by = wire.sign();
        let bytes = text.len() as u64 + COST;
        let value = format!("{by}\n{text}").into_bytes();
        loop {
            let told = self.step(Arc::clone(&wire), Step::Add(end, bytes), gate).await?;
            let Some(item) = told.item else { return Ok(false) };
            match wire.write(&self.item(item), &value, 0, is_by(&by)).await {
                Wrote::Done(_) => return Ok(true),
                // A taker thought that this process is dead, and the place is closed.
                Wrote::Lost => drop(self.freed.fetch_add(bytes, Relaxed)),
                Wrote::Unsure => {
                    return Err("NATS did not say whether the value was put in".to_owned());
                }
            }
        }
    }

    async fn take(&self, gate: &Gate) -> Result<Option<String>, String> {
        let wire = self.wire()?;
        loop {
            let told = self.step(Arc::clone(&wire), Step::Take, gate).await?;
            let Some(item) = told.item else { return Ok(None) };
            let key = self.item(item);
            if let Some(text) = fetch(&wire, &key).await? {
                self.freed.fetch_add(text.len() as u64 + COST, Relaxed);
                // A value whose removal fails is removed at the end of the run.
                let removed = wire.store.remove(&key);
                wire.runtime.spawn(async move { drop(removed.await) });
                return Ok(Some(text));
            }
        }
    }

    fn item(&self, Item { end, number }: Item) -> String {
        let side = if end == End::Front { 'f' } else { 'b' };
        format!("{}.{side}{number}", self.key)
    }
}

/// The value of a place that this process has taken; `None` if its process died before it wrote it.
async fn fetch(wire: &Wire, key: &str) -> Result<Option<String>, String> {
    let lost = Instant::now() + LOST;
    let mut until = Instant::now() + HOLE;
    loop {
        if let Some(entry) = wire.read(key, || Instant::now() < lost).await? {
            let text = String::from_utf8(entry.value).unwrap_or_default();
            let text = text.split_once('\n').map(|(_, text)| text.to_owned());
            return Ok(text.filter(|text| !text.is_empty()));
        }
        if Instant::now() < until {
            sleep(LOOK).await;
            continue;
        }
        // From here on the value can't come.
        let by = wire.sign();
        let closed = format!("{by}\n");
        match wire.write(key, closed.as_bytes(), 0, is_by(&by)).await {
            Wrote::Done(_) => return Ok(None),
            // It came in the last moment.
            Wrote::Lost => until = Instant::now() + HOLE,
            Wrote::Unsure => return Err("NATS did not give a value that was taken".to_owned()),
        }
    }
}

/// Whether a value was written under this name.
fn is_by(by: &str) -> impl Fn(&[u8]) -> Option<bool> {
    move |value| Some(value.strip_prefix(by.as_bytes()).is_some_and(|rest| rest.starts_with(b"\n")))
}
