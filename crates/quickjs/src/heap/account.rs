//! The memory that VMs were promised: each of them, and all together.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are promised at least, beyond what was asked for.
pub(super) const STEP: usize = 64 * 1024;
/// From this size on an allocation of a VM over its limit fails.
pub(super) const LARGE: usize = 64 * 1024;
/// Most that a VM over its limit is given for small allocations.
const SLACK: usize = 32 * 1024 * 1024;
/// A promise that exceeds the heap by this much is worth taking back.
const IDLE: usize = 1024 * 1024;

/// The limit of new VMs.
pub(super) static EACH: AtomicUsize = AtomicUsize::new(0);
/// The limit of all VMs.
pub(super) static ALL: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The bytes that were promised to all VMs.
static PROMISED: AtomicUsize = AtomicUsize::new(0);

/// Which limit a VM went over, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// Its own.
    Vm(usize),
    /// The limit of all VMs together.
    Process(usize),
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Vm(bytes) | Self::Process(bytes)) = *self;
        let (number, unit) = match bytes {
            0..0x00A0_0000 => (bytes / 1024, "KiB"),
            0x00A0_0000..0x2_8000_0000 => (bytes / (1024 * 1024), "MiB"),
            _ => (bytes / (1024 * 1024 * 1024), "GiB"),
        };
        match self {
            Self::Vm(_) => write!(f, "memory limit of the VU ({number} {unit}) exceeded"),
            Self::Process(_) => {
                write!(f, "memory limit of all VUs together ({number} {unit}) exceeded")
            }
        }
    }
}

/// The account of one VM.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Most bytes of its heap; 0 is no limit.
    pub(super) max: Cell<usize>,
    /// Of [`PROMISED`].
    promised: Cell<usize>,
    pub(super) over: Cell<Option<OverLimit>>,
    /// The heap when it went over the limit.
    pub(super) over_at: Cell<usize>,
    /// The heap after the last collection for that reason: what scripts hold on to.
    pub(super) kept: Cell<usize>,
}

/// Promises more bytes, of which no VM takes account.
///
/// # Errors
/// All together would have more than they may.
pub(super) fn take(bytes: usize) -> Result<(), OverLimit> {
    let all = ALL.load(Ordering::Relaxed);
    let before = PROMISED.fetch_add(bytes, Ordering::Relaxed);
    if before.saturating_add(bytes) > all {
        give_back(bytes);
        return Err(OverLimit::Process(all));
    }
    Ok(())
}

/// They are gone.
pub(super) fn give_back(bytes: usize) {
    PROMISED.fetch_sub(bytes, Ordering::Relaxed);
}

impl Account {
    pub(super) fn promise(&self, bytes: usize) {
        let before = self.promised.replace(bytes);
        if bytes >= before {
            PROMISED.fetch_add(bytes - before, Ordering::Relaxed);
        } else {
            PROMISED.fetch_sub(before - bytes, Ordering::Relaxed);
        }
    }

    /// From now on the VM is over this limit, unless it is over one already.
    pub(super) fn refuse(&self, over: OverLimit, used: usize) {
        if self.over.get().is_none() {
            self.over.set(Some(over));
            self.over_at.set(used);
        }
    }

    /// The next promise to a heap of `used` bytes that wants `size` more; `None` if it must not have them.
    pub(super) fn more(&self, used: usize, size: usize) -> Option<usize> {
        if self.promised.get() == 0 {
            // No limit of ours: the engine has one of a test.
            return None;
        }
        let wanted = used.saturating_add(size);
        let max = self.max.get();
        if self.over.get().is_none() {
            let generous = wanted.saturating_add(STEP.max((used / 16).min(4 * IDLE)));
            let promise = if max > 0 { generous.min(max) } else { generous };
            let growth = promise.saturating_sub(self.promised.get());
            let all = ALL.load(Ordering::Relaxed);
            if max > 0 && wanted >= max {
                self.over.set(Some(OverLimit::Vm(max)));
            } else if PROMISED.load(Ordering::Relaxed).saturating_add(growth) > all {
                self.over.set(Some(OverLimit::Process(all)));
            } else {
                self.promise(promise);
                return Some(promise);
            }
            self.over_at.set(used);
        }
        let slack = if max > 0 { (max / 4).clamp(IDLE, SLACK) } else { SLACK };
        if size >= LARGE || wanted > self.over_at.get().saturating_add(slack) {
            return None;
        }
        self.promise(wanted + 1);
        Some(wanted + 1)
    }

    /// The new promise to a heap of `used` bytes: it is taken back when much of it is idle, and never more than the
    /// limit. `None`: it stays.
    pub(super) fn settled(&self, used: usize) -> Option<usize> {
        let promised = self.promised.get();
        let max = match self.max.get() {
            0 => usize::MAX,
            max => max,
        };
        if promised <= max && promised.saturating_sub(used) <= IDLE.max(used / 4) {
            return None;
        }
        let promise = used.saturating_add(STEP).min(max);
        self.promise(promise);
        Some(promise)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.promise(0);
    }
}
