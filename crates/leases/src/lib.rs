//! Rows, queues and counters that the processes of one test share.
//!
//! ```text
//!  a VU's fiber                 the thread of the broker
//!  Counter::add ──── ask ─────▶ Cell: all that waits, in one write ──┐
//!  Queue::take  ◀─── answer ──      reads, applies, compares and sets ├──▶ Store
//!  Rows::take, from a block held here; the next block comes early ───┘
//! ```
//!
//! The cast: [`Leases`] is what one process knows of the shared things of one test; a load that is taken over has one of its own.
//! [`Rows`], [`Counter`] and [`Queue`] are found there by their names. A [`Store`] keeps one small value for each name, which is only
//! written over the value that was read (compare and set). `cell.rs` is that cycle: operations that wait together are applied together,
//! in the order in which they came, and are one write. A write that brought no answer is looked up before anything else is done, so
//! nothing is done twice.
//!
//! Every wait ends within [`LIMIT`], with an error that a script can catch; who waits is a fiber, never a core.
//!
//! Absent: NATS (crate `nats` has it, `cli` puts it behind [`Store`]), JavaScript, the meaning of rows.
#![forbid(unsafe_code)]

mod ask;
mod cell;
mod counter;
mod leases;
mod queue;
mod rows;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub use self::ask::Wait;
pub use self::counter::{Counter, WHOLE_MAX};
pub use self::leases::Leases;
pub use self::queue::{Bounds, End, Queue, VALUE_MAX};
pub use self::rows::{Lease, Rows};
pub use self::store::{Answer, Entry, MARK, Put, Store};
pub use self::wire::LIMIT;
