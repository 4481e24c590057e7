//! Writes all that a script does into a file, for the proof by replay: each exchange with its bodies, each check, each message of a
//! socket.
//!
//! The file is named by [`VARIABLE`], which `brunt record` and `brunt convert --replay` set for the runs that they start. It is no
//! interface for others: its format changes with [`brunt_prove::write`]. Passwords and tokens are in it, so that it lies in a folder
//! that its owner alone can read, and is gone after the proof.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use brunt_modules::watch::{Place, Seen, Talk, Watcher};
use brunt_prove::{Hop, Record};
use bytes::Bytes;

use crate::{
    Context,
    failure::{Failure, Outcome},
};

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "BRUNT_INTERNAL_REPLAY_LOG";

/// Of a body so much is written: more of it tells no more about a page.
const BODY_MAX: usize = 1 << 20;

/// The most bytes of bodies in all. Behind them, exchanges are written without bodies, marked as cut.
const ALL_MAX: u64 = 256 << 20;

/// The file.
pub(super) struct ReplayLog {
    state: Mutex<State>,
}

struct State {
    file: File,
    left: u64,
    is_broken: bool,
}

impl std::fmt::Debug for ReplayLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayLog").finish_non_exhaustive()
    }
}

impl ReplayLog {
    /// Opens the file, if one is named.
    ///
    /// # Errors
    /// It can't be written.
    pub(super) fn wanted(context: &Context) -> Outcome<Option<Arc<dyn Watcher>>> {
        let Some(path) = context.environment.get(VARIABLE) else { return Ok(None) };
        let file = OpenOptions::new().append(true).open(path).map_err(|error| {
            Failure::usage(format!("{path}, which {VARIABLE} names, can't be written: {error}"))
        })?;
        let state = Mutex::new(State { file, left: ALL_MAX, is_broken: false });
        Ok(Some(Arc::new(Self { state })))
    }

    fn add(&self, record: &Record) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_broken {
            return;
        }
        // A record that is torn ends the reading: nothing may come behind it.
        if let Err(error) = state.file.write_all(&brunt_prove::write(record)) {
            state.is_broken = true;
            log::error!("the replay can't be written down: {error}");
        }
    }

    /// The part of a body for which there is room, and whether it is less than all.
    fn part(&self, body: &[u8]) -> (Bytes, bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let room = usize::try_from(state.left).unwrap_or(usize::MAX).min(BODY_MAX);
        let kept = body.len().min(room);
        state.left -= kept as u64;
        (Bytes::copy_from_slice(&body[..kept]), kept < body.len())
    }
}

impl Watcher for ReplayLog {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        let Some(iteration) = vu.iteration else { return };
        let (request_body, _) = self.part(&seen.request_body().unwrap_or_default());
        let (body, is_cut) = self.part(seen.response_body());
        let (started, ended) = seen.moments();
        self.add(&Record::Hop(Box::new(Hop {
            vu: vu.vu,
            iteration,
            started,
            ended,
            method: seen.method().to_owned(),
            url: seen.url.to_owned(),
            request_headers: headers(&seen.request_head()),
            request_body,
            status: seen.response().map_or(0, |response| response.status()),
            headers: seen.response_head().map(|head| headers(&head)).unwrap_or_default(),
            body,
            is_cut: is_cut || seen.is_streamed(),
            failure: seen.failure(),
        })));
    }

    fn check(&self, vu: &Place<'_>, name: &str, passed: bool) {
        if let Some(iteration) = vu.iteration {
            self.add(&Record::Check { vu: vu.vu, iteration, name: name.to_owned(), passed });
        }
    }

    fn talk(&self, vu: &Place<'_>, talk: &Talk<'_>) {
        if let Some(iteration) = vu.iteration
            && talk.kind == "WS"
        {
            let ((sent, _), (received, _)) = (self.part(talk.sent), self.part(talk.received));
            let title = talk.title.to_owned();
            self.add(&Record::Talk { vu: vu.vu, iteration, title, sent, received });
        }
    }
}

fn headers(head: &str) -> brunt_traffic::Headers {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    brunt_traffic::Headers(
        lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect(),
    )
}
