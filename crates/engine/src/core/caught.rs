//! Panics of what a core runs.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;

use super::Core;
use crate::control::AbortReason;

/// Awaits; a panic ends the run with an error that names `what`, and gives `None`. The future stays in its place: a
/// future that is handed on has its room twice.
pub(super) async fn caught<F: Future>(
    core: &Core,
    what: &str,
    work: Pin<&mut F>,
) -> Option<F::Output> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(output) => Some(output),
        Err(payload) => {
            let message = format!("{what} panicked on core {}: {}", core.index(), words(&*payload));
            log::error!("{message}");
            core.control().abort(AbortReason::Panic { message });
            None
        }
    }
}

/// The message of a panic.
pub(crate) fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
