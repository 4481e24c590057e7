//! Where records go while an attack runs.

use brunt_records::Record;

/// Takes the records of one core, on that core's thread: it must be quick, and must not block.
pub trait Sink {
    /// A hit has ended. `record` is used again for the next one.
    fn take(&mut self, record: &Record);

    /// Called every few milliseconds, and until it has room again: the moment to hand on what has gathered.
    fn tick(&mut self) {}

    /// Whether more can be taken. While not, no hits are begun, and the attack's [`Outcome`](crate::Outcome) tells for
    /// how long; those under way still end here.
    fn has_room(&self) -> bool {
        true
    }

    /// No more will come. May block until all is handed on.
    fn finish(&mut self) {}
}

impl<F: FnMut(&Record)> Sink for F {
    fn take(&mut self, record: &Record) {
        self(record);
    }
}

/// Several sinks, each of which gets all.
#[derive(Default)]
pub struct Several(Vec<Box<dyn Sink>>);

impl Several {
    /// All of them.
    pub fn new(sinks: Vec<Box<dyn Sink>>) -> Self {
        Self(sinks)
    }
}

impl Sink for Several {
    fn take(&mut self, record: &Record) {
        self.0.iter_mut().for_each(|sink| sink.take(record));
    }

    fn tick(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.tick());
    }

    fn has_room(&self) -> bool {
        self.0.iter().all(|sink| sink.has_room())
    }

    fn finish(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.finish());
    }
}
