//! One core's state for all VUs on it.

use std::cell::RefCell;
use std::rc::Rc;

use brunt_engine::Core;
use brunt_fiber::{Fiber, StackPool, StackSettings};

use crate::host::Host;
use crate::slot::{CoreSlot, Count, Slots};

/// Init code may recurse deeper than an iteration: bundles are big. One such stack a core is in use at a time.
const INIT_STACK: usize = 8 * 1024 * 1024;

/// Counts the types of [`CoreSlot`]s.
static CORE_SLOTS: Count = Count::new();

/// Stacks of a core, and state of modules on it.
#[derive(Debug)]
pub struct CoreState {
    stacks: Rc<StackPool>,
    init_stacks: Rc<StackPool>,
    init_fibers: RefCell<Vec<Fiber>>,
    slots: Slots,
}

impl CoreState {
    /// Empty.
    pub fn new() -> Self {
        Self {
            stacks: StackPool::new(StackSettings::default()),
            init_stacks: StackPool::new(StackSettings { usable: INIT_STACK }),
            init_fibers: RefCell::default(),
            slots: Slots::default(),
        }
    }

    /// The state on a core of the engine.
    pub fn of(core: &Core) -> &Self {
        core.slot(Self::new)
    }

    /// Where the fibers of VUs get their stacks.
    pub fn stacks(&self) -> &Rc<StackPool> {
        &self.stacks
    }

    /// A fiber for init code, with a big stack. Give it back with [`CoreState::give_back`].
    ///
    /// # Errors
    /// If the system refuses a stack.
    pub fn init_fiber(&self) -> Result<Fiber, brunt_fiber::stack::StackError> {
        let kept = self.init_fibers.borrow_mut().pop();
        match kept {
            Some(fiber) => Ok(fiber),
            None => Ok(Fiber::new(self.init_stacks.take()?)),
        }
    }

    /// Keeps an idle init fiber for the next VU.
    pub fn give_back(&self, fiber: Fiber) {
        if fiber.is_idle() {
            self.init_fibers.borrow_mut().push(fiber);
        }
    }

    /// Usable bytes of an init fiber's stack.
    pub fn init_stack(&self) -> usize {
        self.init_stacks.usable()
    }

    /// State of a module on this core; made at the first call, for the VM of `host`.
    pub fn slot<T: CoreSlot>(&self, host: &Host) -> &Rc<T> {
        match self.slots.get(T::key()) {
            Some(kept) => kept,
            None => self.slots.make(T::key(), &CORE_SLOTS, || Rc::new(T::new(host))),
        }
    }
}

impl Default for CoreState {
    fn default() -> Self {
        Self::new()
    }
}
