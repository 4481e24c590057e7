//! The `brunt` command: flags in, exit code out.
//!
//! `cli` alone prints, alone reads flags and environment, alone decides the exit code. The way of one
//! call:
//!
//! ```text
//! args ─> flags (what was written) ─> settings (what it means) ─> cmd, run (what is done) ─> exit
//! ```
//!
//! [`screen`] owns stdout and stderr, so that progress bars, log lines and results don't garble each
//! other; [`logging`] is where every crate's `log` records go. A command that can't do what was asked
//! returns a [`failure::Failure`]; `main` prints it once.
#![forbid(unsafe_code)]

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::{
    cmd::Call,
    context::Context,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    logging::Logging,
    screen::Screen,
    settings::GlobalSettings,
};

mod agents;
mod api;
mod archive;
mod bounded;
mod cmd;
mod context;
mod cpu;
mod describe;
mod diagnostic;
mod environment;
mod exit;
mod failure;
mod features;
mod find;
mod flags;
mod generator;
mod javascript;
mod k8s;
mod limits;
mod logging;
mod memory;
mod page;
mod piped;
mod print;
mod progress;
mod repeat;
mod run;
mod screen;
mod secrets;
mod session;
mod settings;
mod vegeta;
mod version;

/// The allocator of Rust and of the engine: built without a prefix, it replaces C's `malloc`. glibc's grows a
/// thread's heap page by page, with a system call for each, and those small pages cost a request more than its
/// instructions.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let environment = Environment::of_this_process();
    let screen = Arc::new(Screen::of_this_process(environment.get("TERM")));
    let (global, call) = match cmd::parse(std::env::args_os(), &environment) {
        Ok((global, call)) => (global, Ok(call)),
        Err(failure) => (GlobalSettings::before_flags(&environment), Err(failure)),
    };
    let logging = match Logging::start(&global.log, &screen) {
        Ok(logging) => logging,
        Err(error) => {
            let failure = Failure::from(error);
            screen.stderr(&format!("error: {}\n", failure.message()));
            return failure.exit.into();
        }
    };
    let context = Context { screen, environment, global, logging };
    let outcome = call.and_then(|call| perform(&context, call));
    let exit = outcome.unwrap_or_else(|failure| tell(&context, &failure));
    context.logging.finish();
    exit.into()
}

/// Runs the command. A panic of ours is a failure like any other, with its own exit code.
fn perform(context: &Context, call: Call) -> Outcome<Exit> {
    memory::bound_bodies();
    memory::limit_heaps_by_default();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call.perform(context)));
    caught.unwrap_or_else(|_| {
        // The panic's own message and place are on stderr already.
        Err(Failure::new(Exit::Panic, anyhow::anyhow!("a fault in Brunt: it panicked"))
            .hint("please report it, with the lines above"))
    })
}

/// Prints the failure once: a log line, and below it the place in the script.
fn tell(context: &Context, failure: &Failure) -> Exit {
    if failure.told {
        return failure.exit;
    }
    let is_drawn = !failure.diagnostics.is_empty()
        && context.global.log.format != logging::Format::Json
        && context.global.log.output == logging::Output::Stderr;
    let short = failure.short.clone().filter(|_| is_drawn);
    // Drawings have hints of their own.
    let hint = failure.hint.as_ref().filter(|_| short.is_none());
    let message = short.unwrap_or_else(|| failure.message());
    match hint {
        Some(hint) => log::error!(hint = hint.as_str(); "{message}"),
        None => log::error!("{message}"),
    }
    if is_drawn {
        context.logging.flush(Duration::from_secs(2));
        let color = context.global.color && context.screen.stderr_is_terminal();
        for place in &failure.diagnostics {
            context.screen.stderr(&place.draw(color));
        }
    }
    failure.exit
}
