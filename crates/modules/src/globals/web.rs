//! The globals of browsers for bodies and requests: `Blob`, `File`, `FormData`, `Headers`, `Request`, `Response`,
//! `fetch`, streams, `AbortController`, `EventTarget`.
//!
//! `Blob`, `File` and `FormData` are native: they hold a [`Payload`](brunt_http::Payload), and nothing is copied when
//! they are made, put into one another or sent. The others are JavaScript (the `.js` files of this folder, see
//! [`parts`]): their standards are algorithms on promises. A VM pays for what its script names, and only from then on.

pub(crate) mod blob;
pub(crate) mod bodies;
pub(crate) mod feed;
mod fetch;
mod form_data;
pub(crate) mod form_parts;
pub(crate) mod jslib_form;
pub(crate) mod parts;
pub(crate) mod streams;

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Members};

use self::parts::Set;
use crate::lazy::{LazyGlobal, lazy};

/// Globals that are made when they are first read.
macro_rules! offered {
    ($($kind:ident $name:literal)*) => {
        $(
            struct $kind;
            impl LazyGlobal for $kind {
                const NAME: &'static CStr = $name;
                fn make(ctx: Ctx<'_>) -> JsResult<'_> {
                    made(ctx, Self::NAME)
                }
            }
        )*
        static OFFERED: [(&CStr, LazyLock<Members>); [$($name),*].len()] =
            [$(($name, LazyLock::new(|| lazy::<$kind>(Members::new())))),*];
    };
}

offered! {
    AbortController c"AbortController"
    AbortSignal c"AbortSignal"
    Blob c"Blob"
    ByteLengthQueuingStrategy c"ByteLengthQueuingStrategy"
    CountQueuingStrategy c"CountQueuingStrategy"
    Event c"Event"
    EventTarget c"EventTarget"
    EventSource c"EventSource"
    Fetch c"fetch"
    File c"File"
    Form c"FormData"
    Headers c"Headers"
    ReadableStream c"ReadableStream"
    ReadableStreamDefaultController c"ReadableStreamDefaultController"
    ReadableStreamDefaultReader c"ReadableStreamDefaultReader"
    Request c"Request"
    Response c"Response"
    WritableStream c"WritableStream"
    WritableStreamDefaultController c"WritableStreamDefaultController"
    WritableStreamDefaultWriter c"WritableStreamDefaultWriter"
}

fn made<'js>(ctx: Ctx<'js>, name: &CStr) -> JsResult<'js> {
    let name = name.to_str().expect("names of globals are ASCII");
    match name {
        "Blob" => blob::class(ctx),
        "File" => blob::file_class(ctx),
        "FormData" => form_data::class(ctx),
        "AbortController" | "AbortSignal" => parts::export(ctx, Set::Abort, name),
        "Event" | "EventTarget" => parts::export(ctx, Set::Events, name),
        "EventSource" => fetch::export(ctx, Set::Source, name),
        "Headers" | "Request" | "Response" | "fetch" => fetch::export(ctx, Set::Fetch, name),
        _ => parts::export(ctx, Set::Streams, name),
    }
}

/// Gives the VM those of the globals that its script may name.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let program = ctx.host::<Host>().map(Host::program);
    for (name, members) in &OFFERED {
        let name = name.to_str().expect("names of globals are ASCII");
        if program.is_none_or(|program| program.may_use(name)) {
            ctx.global().define_members(members)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
