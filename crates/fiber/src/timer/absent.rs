//! Other systems: no exact alarm is wired up.

use std::convert::Infallible;
use std::io;

#[derive(Debug)]
pub(super) struct Alarm(Infallible);

impl Alarm {
    pub(super) fn new() -> io::Result<Alarm> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[expect(clippy::unused_async, reason = "on other systems it waits")]
    pub(super) async fn ring_at(&mut self, _: u64) -> io::Result<()> {
        match self.0 {}
    }
}
