//! Exceptions of scripts, told to people.

use std::borrow::Cow;

use brunt_quickjs::{Ctx, OverLimit, Thrown, Value};

use crate::host::Host;

/// The beginning of the message about an unhandled rejection.
pub const UNHANDLED: &str = "Uncaught (in promise) ";

/// Why a script's function did not come to its regular end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It threw. The text is the exception with its stack, at the author's positions.
    Exception(String),
    /// It was told to stop.
    Interrupted,
    /// It ended the whole test with `exec.test.abort()`, saying this.
    Aborted(String),
    /// A native function panicked: a fault of ours.
    Panic(String),
}

impl Failure {
    /// Takes the exception that waits in the context.
    pub fn of_thrown(host: &Host, ctx: Ctx<'_>, _: Thrown) -> Self {
        let exception = ctx.take_exception();
        if let Some(payload) = ctx.take_panic() {
            return Self::Panic(panic_text(&*payload));
        }
        if let Some(over) = ctx.over_limit().filter(|_| !brunt_fiber::is_aborted()) {
            let stack = exception.map(|exception| describe(&exception.value)).unwrap_or_default();
            let frames = stack.find("\tat ").map_or("", |start| &stack[start..]);
            return Self::Exception(format!("{}{frames}", told(over)));
        }
        match exception {
            _ if brunt_fiber::is_aborted() => Self::Interrupted,
            None => Self::Interrupted,
            Some(exception) if exception.uncatchable && host.is_stopped() => Self::Interrupted,
            // Only an `Error` knows where it was made; of anything else the engine knows where it was thrown.
            Some(exception) => match Self::of_value(host, &exception.value) {
                Self::Exception(text) if !exception.place.is_empty() => {
                    Self::Exception(format!("{text}\n{}", exception.place))
                }
                other => other,
            },
        }
    }

    /// An exception that was caught.
    pub fn of_value(_: &Host, value: &Value<'_>) -> Self {
        if brunt_fiber::is_aborted() {
            return Self::Interrupted;
        }
        if let Some(over) = value.ctx().over_limit() {
            return Self::Exception(told(over));
        }
        Self::Exception(describe(value))
    }

    /// An unhandled rejection.
    pub fn of_rejection(host: &Host, reason: &Value<'_>) -> Self {
        match Self::of_value(host, reason) {
            Self::Exception(text) => Self::Exception(format!("{UNHANDLED}{text}")),
            other => other,
        }
    }
}

/// A limit that a VU went over, as an exception of the script.
pub(crate) fn told(over: OverLimit) -> String {
    let remedy = match over {
        OverLimit::Vm(_) => "; vuMemory (--vu-memory) sets it",
        OverLimit::Process(_) => "",
    };
    format!("Error: {over}{remedy}\n")
}

/// [`told`], where most of the memory is still held when the iteration is over.
pub(crate) fn told_of_held(over: OverLimit) -> String {
    format!(
        "Error: {over}, and variables outside of functions hold most of it: later iterations of this VU fail, too. Keep \
         less there (a SharedArray holds its data once for all VUs), or set a higher vuMemory (--vu-memory)\n"
    )
}

/// The text of what a panic carried.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "no message".to_owned())
}

/// An exception as k6 prints it: `Error: boom`, then lines of `\tat inner (file:///dir/s.js:1:25(3))`. A value that
/// is not an
/// `Error` prints as its string.
pub fn describe(value: &Value<'_>) -> String {
    let ctx = value.ctx();
    let text = if value.is_error() {
        let head = text_of(value);
        let stack = value.error_stack().or_else(|| value.get("stack").ok());
        match stack.and_then(|stack| stack.as_str().map(|stack| stack.to_string())) {
            // The head was taken when the error was made; a script may have renamed it since.
            Some(stack) => {
                let frames = stack.find("\tat ").map_or("", |start| &stack[start..]);
                format!("{head}\n{}", shown(ctx, frames))
            }
            None => head,
        }
    } else {
        text_of(value)
    };
    drop(ctx.take_exception());
    text
}

/// Frames as they are printed: what came on standard input lies nowhere.
fn shown<'a>(ctx: Ctx<'_>, frames: &'a str) -> Cow<'a, str> {
    let host = Host::of(ctx);
    match host.program().entry() {
        entry if entry.ends_with("/-") => frames.replace(&format!("{entry}:"), "file:///-:").into(),
        _ => frames.into(),
    }
}

fn text_of(value: &Value<'_>) -> String {
    value.to_string_lossy().unwrap_or_else(|_| {
        drop(value.ctx().take_exception());
        // A symbol is shown by its description.
        match value.get("description").ok().and_then(|description| description.as_str()) {
            Some(description) => description.to_string(),
            None => "an exception that cannot be shown as a string".to_owned(),
        }
    })
}
