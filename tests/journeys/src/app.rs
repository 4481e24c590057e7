//! Applications: what they answer, and what they count.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::{Call, Reply};

/// An application.
pub trait App: Send {
    /// The reply to a request.
    fn call(&mut self, call: &Call) -> Reply;

    /// The messages that a new WebSocket gets first.
    fn opened(&mut self, socket: &str) -> Vec<Said> {
        let _ = socket;
        Vec::new()
    }

    /// The replies to a message of a WebSocket.
    fn said(&mut self, socket: &str, text: &str) -> Vec<Said> {
        let _ = (socket, text);
        Vec::new()
    }

    /// The count of what happened.
    fn truth(&self) -> &Truth;
}

/// Something that a server says over a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A message.
    Text(String),
    /// The end, with its code.
    Close(u16),
}

/// The count of what an application saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Journeys that came to their end, with all steps before it.
    pub done: usize,
    /// Requests that it refused, and why.
    pub refused: Vec<String>,
}

impl Truth {
    /// Notes a refusal.
    pub fn refuse(&mut self, call: &str, why: &str) {
        self.refused.push(format!("{call}: {why}"));
    }
}

/// Makes an application of a seed and its origins (`http://127.0.0.1:4711`).
pub type Make = fn(u64, &[String]) -> Box<dyn App>;

/// An application that several servers may share.
pub(crate) type Shared = Arc<Mutex<Box<dyn App>>>;

pub(crate) fn lock(app: &Shared) -> MutexGuard<'_, Box<dyn App>> {
    app.lock().unwrap_or_else(PoisonError::into_inner)
}
