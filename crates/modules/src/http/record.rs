//! From an exchange to its samples: nine metrics, one time, one set of tags.

use std::hash::{Hash, Hasher};
use std::net::SocketAddr;
use std::sync::Arc;

use brunt_http::{Exchange, Timings};
use brunt_metrics::{Metadata, Recorder, SeriesId, TagSet, TagsId, WARMUP_TAG, builtin};
use brunt_routes::{Book, Reader};
use rustc_hash::{FxHashMap, FxHasher};

use crate::config::SystemTags;

/// The parts of the tags of an exchange.
pub(super) struct Labels<'a> {
    /// The VU's tags.
    pub(super) base: TagsId,
    pub(super) method: &'a str,
    /// The URL, credentials masked.
    pub(super) url: &'a str,
    /// The values that replace `url` and `name`, if any.
    pub(super) name: Option<&'a str>,
    /// That name is one of the request's own tags, and so is a tag whether or not system tags are on.
    pub(super) is_named: bool,
    /// The request's own tags, `name` not among them.
    pub(super) tags: &'a [(String, String)],
    pub(super) status: u16,
    /// `HTTP/1.1`; empty without a response.
    pub(super) proto: &'static str,
    /// `tls1.3`; empty without TLS.
    pub(super) tls_version: &'static str,
    /// The statement of the certificate's authority; empty without TLS.
    pub(super) ocsp_status: &'static str,
    pub(super) remote: Option<SocketAddr>,
    /// Whether the status was expected; `None` without a callback.
    pub(super) expected: Option<bool>,
    pub(super) error: &'a str,
    pub(super) error_code: u16,
}

/// The series of one exchange's tags.
#[derive(Clone, Copy)]
pub(super) struct Block {
    reqs: SeriesId,
    duration: SeriesId,
    blocked: SeriesId,
    connecting: SeriesId,
    tls: SeriesId,
    sending: SeriesId,
    waiting: SeriesId,
    receiving: SeriesId,
    failed: SeriesId,
    /// Bytes sent and received; none where routes are not told apart.
    bytes: Option<(SeriesId, SeriesId)>,
}

/// Tags that were seen on this core, so that the steady state makes none.
#[derive(Default)]
pub(crate) struct SeriesCache {
    epoch: u32,
    known: FxHashMap<u64, (Key, Block)>,
    /// The routes of the run, if requests are told apart by them. Asked for tags that are not known alone.
    routes: Option<Reader>,
}

impl SeriesCache {
    /// An empty one, with the routes of the run.
    pub(super) fn new(routes: Option<&Arc<Book>>) -> Self {
        Self { routes: routes.map(Reader::new), ..Self::default() }
    }
}

/// Sets of tags that are remembered; a test that makes up URLs without end starts over.
const KNOWN_MAX: usize = 4096;

/// The bytes of one of them; what is longer is looked up each time.
const KEY_MAX: usize = 4096;

/// All that tells two exchanges' tags apart.
#[derive(PartialEq, Eq)]
struct Key {
    base: TagsId,
    method: Box<str>,
    name: Box<str>,
    is_named: bool,
    tags: Box<[(String, String)]>,
    status: u16,
    proto: &'static str,
    tls_version: &'static str,
    ocsp_status: &'static str,
    remote: Option<SocketAddr>,
    expected: Option<bool>,
    error: Box<str>,
    error_code: u16,
}

impl Labels<'_> {
    fn shown(&self) -> &str {
        self.name.unwrap_or(self.url)
    }

    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.base.hash(&mut hasher);
        self.method.hash(&mut hasher);
        self.shown().hash(&mut hasher);
        self.tags.hash(&mut hasher);
        (self.status, self.error_code, self.expected).hash(&mut hasher);
        (self.tls_version.len() + self.ocsp_status.len()).hash(&mut hasher);
        hasher.finish()
    }

    fn size(&self) -> usize {
        let tags = self.tags.iter().map(|(key, value)| key.len() + value.len() + 48);
        self.method.len() + self.shown().len() + self.error.len() + tags.sum::<usize>()
    }

    fn matches(&self, key: &Key) -> bool {
        key.base == self.base
            && *key.method == *self.method
            && *key.name == *self.shown()
            && key.is_named == self.is_named
            && *key.tags == *self.tags
            && key.status == self.status
            && same(key.proto, self.proto)
            && same(key.tls_version, self.tls_version)
            && same(key.ocsp_status, self.ocsp_status)
            && key.remote == self.remote
            && key.expected == self.expected
            && same(&key.error, self.error)
            && key.error_code == self.error_code
    }

    fn key(&self) -> Key {
        Key {
            base: self.base,
            method: self.method.into(),
            name: self.shown().into(),
            is_named: self.is_named,
            tags: self.tags.into(),
            status: self.status,
            proto: self.proto,
            tls_version: self.tls_version,
            ocsp_status: self.ocsp_status,
            remote: self.remote,
            expected: self.expected,
            error: self.error.into(),
            error_code: self.error_code,
        }
    }
}

/// Whether two texts are equal. Empty ones, which lie nowhere, are not given to the comparison of the C library: that
/// loads through a mask, and a load from an address of nothing takes the processor 100 ns, masked or not.
#[inline]
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// Records the nine samples of an exchange.
pub(super) fn record(
    recorder: &mut Recorder,
    cache: &mut SeriesCache,
    system: SystemTags,
    labels: Labels<'_>,
    exchange: &Exchange,
    metadata: Option<&Metadata>,
) {
    let expected = labels.expected;
    let block = find(recorder, cache, system, labels);
    add(recorder, &block, exchange, expected, metadata);
}

/// The series of these labels.
pub(super) fn find(
    recorder: &mut Recorder,
    cache: &mut SeriesCache,
    system: SystemTags,
    mut labels: Labels<'_>,
) -> Block {
    // An address that is no tag must not tell series apart.
    labels.remote = labels.remote.filter(|_| system.ip);
    if !system.ocsp_status {
        labels.ocsp_status = "";
    }
    if cache.epoch != recorder.epoch() || cache.known.len() > KNOWN_MAX {
        cache.known.clear();
        cache.epoch = recorder.epoch();
    }
    let hash = labels.hash();
    match cache.known.get(&hash) {
        Some((key, block)) if labels.matches(key) => *block,
        _ => {
            let block = make(recorder, cache.routes.as_mut(), system, &labels);
            if labels.size() <= KEY_MAX {
                cache.known.insert(hash, (labels.key(), block));
            }
            block
        }
    }
}

/// Records the nine samples of an exchange, eight if no callback judges its status.
pub(super) fn add(
    recorder: &mut Recorder,
    block: &Block,
    exchange: &Exchange,
    expected: Option<bool>,
    metadata: Option<&Metadata>,
) {
    let at = exchange.finished_at;
    let Timings { blocked, connecting, tls_handshaking, sending, waiting, receiving, .. } =
        exchange.timings;
    let ms = |ns: u64| ns as f64 / 1e6;
    recorder.add(block.reqs, 1.0, at, metadata);
    recorder.add(block.duration, ms(exchange.timings.duration()), at, metadata);
    recorder.add(block.blocked, ms(blocked), at, metadata);
    recorder.add(block.connecting, ms(connecting), at, metadata);
    recorder.add(block.tls, ms(tls_handshaking), at, metadata);
    recorder.add(block.sending, ms(sending), at, metadata);
    recorder.add(block.waiting, ms(waiting), at, metadata);
    recorder.add(block.receiving, ms(receiving), at, metadata);
    if let Some(expected) = expected {
        recorder.add(block.failed, if expected { 0.0 } else { 1.0 }, at, metadata);
    }
    if let Some((sent, received)) = block.bytes {
        recorder.add(sent, exchange.bytes_sent as f64, at, None);
        recorder.add(received, exchange.bytes_received as f64, at, None);
    }
}

/// The route of these labels: what the script says, as a tag `route` or a name, else what the URL tells.
fn route_of(
    recorder: &mut Recorder,
    routes: Option<&mut Reader>,
    labels: &Labels<'_>,
) -> Option<Arc<str>> {
    let routes = routes?;
    let own = labels.tags.iter().rfind(|(key, _)| key == "route").map(|(_, value)| value.as_str());
    let of_vu = recorder.tag_set(labels.base);
    let told = own.or_else(|| of_vu.get("route")).or(labels.name);
    Some(match told {
        Some(told) => routes.named(told),
        None => routes.route(labels.method, labels.url),
    })
}

/// The series of the bytes of a route, on its own tags: they tell apart no more than route and method.
fn bytes_of(
    recorder: &mut Recorder,
    system: SystemTags,
    labels: &Labels<'_>,
    route: &str,
) -> Option<(SeriesId, SeriesId)> {
    let metrics = [builtin::HTTP_REQ_BYTES_SENT, builtin::HTTP_REQ_BYTES_RECEIVED];
    if !metrics.iter().all(|metric| recorder.registry().is_taken(*metric)) {
        return None;
    }
    let of_vu = recorder.tag_set(labels.base);
    let warmup = of_vu.get(WARMUP_TAG).map(|value| (WARMUP_TAG, value));
    let method = system.method.then_some(("method", labels.method));
    let pairs: Vec<_> = [(TagSet::ROUTE, route)].into_iter().chain(method).chain(warmup).collect();
    let tags = recorder.tags_with(TagsId::EMPTY, &pairs);
    let [sent, received] = metrics.map(|metric| recorder.series(metric, tags));
    Some((sent, received))
}

fn make(
    recorder: &mut Recorder,
    routes: Option<&mut Reader>,
    system: SystemTags,
    labels: &Labels<'_>,
) -> Block {
    let route = route_of(recorder, routes, labels);
    let status = labels.status.to_string();
    let error_code = labels.error_code.to_string();
    let ip = labels.remote.map(|remote| remote.ip().to_string()).unwrap_or_default();
    let expected = labels.expected.map_or("", |expected| if expected { "true" } else { "false" });
    let system_tags: [(bool, &str, &str); 11] = [
        (system.method, "method", labels.method),
        (system.url, "url", labels.shown()),
        (system.name || labels.is_named, "name", labels.shown()),
        (system.status, "status", &status),
        (system.proto, "proto", labels.proto),
        (system.tls_version, "tls_version", labels.tls_version),
        (system.ocsp_status, "ocsp_status", labels.ocsp_status),
        (system.ip, "ip", &ip),
        (system.expected_response, "expected_response", expected),
        (system.error, "error", labels.error),
        (system.error_code && labels.error_code != 0, "error_code", &error_code),
    ];
    let mut pairs: Vec<(&str, &str)> =
        labels.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    pairs.extend(
        system_tags
            .iter()
            // The URL and its name are tags even if they are empty.
            .filter(|(on, key, value)| *on && (!value.is_empty() || matches!(*key, "url" | "name")))
            .map(|(_, key, value)| (*key, *value)),
    );
    if let Some(route) = route.as_deref() {
        let has_own = labels.tags.iter().any(|(key, _)| key == "route")
            || recorder.tag_set(labels.base).get("route").is_some();
        if system.route && !has_own {
            pairs.push(("route", route));
        }
        pairs.push((TagSet::ROUTE, route));
    }
    let tags = recorder.tags_with(labels.base, &pairs);
    let bytes = route.and_then(|route| bytes_of(recorder, system, labels, &route));
    let mut series = |metric| recorder.series(metric, tags);
    Block {
        reqs: series(builtin::HTTP_REQS),
        duration: series(builtin::HTTP_REQ_DURATION),
        blocked: series(builtin::HTTP_REQ_BLOCKED),
        connecting: series(builtin::HTTP_REQ_CONNECTING),
        tls: series(builtin::HTTP_REQ_TLS_HANDSHAKING),
        sending: series(builtin::HTTP_REQ_SENDING),
        waiting: series(builtin::HTTP_REQ_WAITING),
        receiving: series(builtin::HTTP_REQ_RECEIVING),
        failed: series(builtin::HTTP_REQ_FAILED),
        bytes,
    }
}
