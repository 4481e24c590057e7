//! Exchanges for the run file: chosen on the core that made them, kept in one place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brunt_metrics::Summary;
use brunt_modules::watch::{Place, Seen, Watcher};
use brunt_routes::{Book, Reader};
use brunt_runfile::exchange::{
    BODY_MAX, Evidence, EvidenceStore, Exchange, Phases, Picker, Why, address,
};

use crate::secrets;

thread_local! {
    /// A core's own choice: most exchanges end here, after a look at two numbers.
    static PICKER: RefCell<Picker> = RefCell::default();
    /// A core's own view of the routes.
    static ROUTES: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// Kinds of failures with an example.
const EXAMPLES_MAX: usize = 1000;

/// More of a body than is kept: a secret that lies across its end is to be found.
const BODY_SEEN: usize = BODY_MAX + (16 << 10);

/// Chooses exchanges, for the run file and as examples of failures. The lock is taken for those alone that are kept: some
/// hundreds in a run of any length.
#[derive(Debug)]
pub(crate) struct Witness {
    store: Mutex<EvidenceStore>,
    routes: Option<Arc<Book>>,
    /// Slow exchanges are kept, too, and some at random.
    is_recorded: bool,
    /// By code, and by method and route: a line that asks the same.
    examples: Mutex<BTreeMap<(String, String), String>>,
}

impl Witness {
    /// One that has seen nothing. `is_recorded`: there is a run file, which wants more than failures.
    pub(crate) fn new(routes: Option<Arc<Book>>, is_recorded: bool) -> Self {
        Self { store: Mutex::default(), routes, is_recorded, examples: Mutex::default() }
    }

    /// Puts the examples of failures beside their kinds, and strikes out secrets in addresses, as the run file does.
    pub(crate) fn tell(&self, summary: &mut Summary) {
        self.take();
        let examples = self.examples();
        for route in &mut summary.routes {
            route.route = address(&route.route);
        }
        for kind in &mut summary.failures {
            kind.route = address(&kind.route);
            let name = format!("{} {}", kind.method, kind.route);
            kind.example = examples.get(&(kind.code.clone(), name)).cloned();
        }
    }

    /// The route of an exchange; its name where requests are not told apart by route.
    fn route(&self, seen: &Seen<'_>) -> String {
        let Some(book) = &self.routes else { return seen.name.unwrap_or(seen.url).to_owned() };
        ROUTES.with_borrow_mut(|reader| {
            let reader = reader.get_or_insert_with(|| Reader::new(book));
            match seen.name {
                Some(name) => reader.named(name).to_string(),
                None => reader.route(seen.method(), seen.url).to_string(),
            }
        })
    }

    fn examples(&self) -> MutexGuard<'_, BTreeMap<(String, String), String>> {
        self.examples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The news since the last call, without what is secret. On the thread of the output: to look through bodies takes time.
    pub(super) fn take(&self) -> Evidence {
        let mut evidence = self.store().take();
        let mut examples = self.examples();
        for (_, why, exchange) in &mut evidence.added {
            exchange.clean(|text| {
                let mut clean = text.to_owned();
                secrets::redact(secrets::redactor()?, &mut clean);
                (clean != text).then_some(clean)
            });
            if *why == Why::Failure && examples.len() < EXAMPLES_MAX {
                let code = if exchange.code == 0 { exchange.status.into() } else { exchange.code };
                let kind = (code.to_string(), exchange.route());
                examples.entry(kind).or_insert_with(|| exchange.curl());
            }
        }
        drop(examples);
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
        if code == 0 && !self.is_recorded {
            return;
        }
        let route = (code != 0).then(|| self.route(seen));
        let kind = route.as_ref().map(|route| kind(code, seen.method(), route));
        let nanos = timings.duration();
        let mut picked =
            PICKER.with_borrow_mut(|picker| picker.pick(nanos, kind, fastrand::u64(..)));
        if !self.is_recorded {
            (picked.slow, picked.lot) = (false, None);
        }
        if !picked.is_kept() {
            return;
        }
        let name = route.unwrap_or_else(|| self.route(seen));
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let request = seen.request_body().unwrap_or_default();
        let (kept, size) = (!request.is_empty(), request.len() as u64);
        let response = seen.response_body();
        let exchange = Exchange {
            at: seen.moments().0,
            scenario: vu.scenario.to_owned(),
            method: seen.method().to_owned(),
            url: seen.url.to_owned(),
            name,
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
            // A line for a shell asks; only the run file tells the answer.
            response_body: (!response.is_empty() && self.is_recorded)
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
