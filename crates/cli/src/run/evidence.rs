//! Exchanges for the run file: chosen on the core that made them, kept in one place.

use std::cell::RefCell;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use brunt_modules::watch::{Place, Seen, Watcher};
use brunt_runfile::exchange::{BODY_MAX, Evidence, EvidenceStore, Exchange, Phases, Picker, Why};

use crate::secrets;

thread_local! {
    /// A core's own choice: most exchanges end here, after a look at two numbers.
    static PICKER: RefCell<Picker> = RefCell::default();
}

/// More of a body than is kept: a secret that lies across its end is to be found.
const BODY_SEEN: usize = BODY_MAX + (16 << 10);

/// Chooses exchanges. The lock is taken for those alone that are kept: some hundreds in a run of any length.
#[derive(Debug, Default)]
pub(super) struct Witness {
    store: Mutex<EvidenceStore>,
}

impl Witness {
    /// The news since the last call, without what is secret. On the thread of the output: to look through bodies takes time.
    pub(super) fn take(&self) -> Evidence {
        let mut evidence = self.store().take();
        for (_, _, exchange) in &mut evidence.added {
            exchange.clean(|text| {
                let mut clean = text.to_owned();
                secrets::redact(secrets::redactor()?, &mut clean);
                (clean != text).then_some(clean)
            });
        }
        evidence
    }

    /// Exchanges for which there was no room.
    pub(super) fn left_out(&self) -> u64 {
        self.store().left_out()
    }

    fn store(&self) -> MutexGuard<'_, EvidenceStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Witness {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        let timings = seen.timings();
        let status = seen.response().map_or(0, |response| response.status());
        let code = match seen.failure_code() {
            0 if status >= 400 => 1000 + u32::from(status),
            code => code,
        };
        let name = seen.name.unwrap_or(seen.url);
        let kind = (code != 0).then(|| kind(code, seen.method(), name));
        let nanos = timings.duration();
        let picked = PICKER.with_borrow_mut(|picker| picker.pick(nanos, kind, fastrand::u64(..)));
        if !picked.is_kept() {
            return;
        }
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let request = seen.request_body().unwrap_or_default();
        let (kept, size) = (!request.is_empty(), request.len() as u64);
        let response = seen.response_body();
        let exchange = Exchange {
            at: seen.moments().0,
            scenario: vu.scenario.to_owned(),
            method: seen.method().to_owned(),
            url: seen.url.to_owned(),
            name: name.to_owned(),
            status,
            code,
            error: seen.failure(),
            duration: millis(nanos),
            phases: Some(Phases {
                blocked: millis(timings.blocked),
                lookup: millis(timings.looking_up),
                connecting: millis(timings.connecting),
                tls: millis(timings.tls_handshaking),
                sending: millis(timings.sending),
                waiting: millis(timings.waiting),
                receiving: millis(timings.receiving),
            }),
            request_headers: headers(&seen.request_head()),
            request_body: kept.then(|| request[..request.len().min(BODY_SEEN)].to_vec()),
            request_size: size,
            proto: seen.response().map(|one| one.version().to_owned()).unwrap_or_default(),
            response_headers: seen.response_head().map(|head| headers(&head)).unwrap_or_default(),
            response_body: (!response.is_empty())
                .then(|| response[..response.len().min(BODY_SEEN)].to_vec()),
            response_size: response.len() as u64,
        };
        let mut store = self.store();
        for why in picked.reasons() {
            let exchange = exchange.clone();
            match why {
                Why::Failure => store.failed(kind.unwrap_or_default(), exchange),
                Why::Slow => store.slow(nanos, exchange),
                Why::Random => store.random(picked.lot.unwrap_or_default(), exchange),
            }
        }
    }

    fn sees_all(&self) -> bool {
        false
    }

    fn check(&self, _: &Place<'_>, _: &str, _: bool) {}
}

/// A number for a kind of failure.
fn kind(code: u32, method: &str, name: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (code, method, name).hash(&mut hasher);
    hasher.finish()
}

/// The headers of a head, without its first line.
fn headers(head: &str) -> Vec<(String, String)> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn headers_are_the_lines_below_the_first() {
        let head = "GET / HTTP/1.1\nHost: a:80\nX: \n\n";
        let pairs = [("Host", "a:80"), ("X", "")];
        assert_eq!(super::headers(head), pairs.map(|(key, value)| (key.into(), value.into())));
    }
}
