//! Chains of redirects: the client follows them by itself.

use brunt_traffic::{Exchange, Recording};
use rustc_hash::FxHashSet;
use url::Url;

/// Exchanges after a redirect among which its target is looked for.
const NEAR: usize = 100;

/// Which exchange follows which.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chains {
    /// For each exchange the first of its chain, if it is not the first itself.
    pub(crate) folded: Vec<Option<usize>>,
    /// For each exchange the next of its chain.
    next: Vec<Option<usize>>,
}

impl Chains {
    /// Finds them; the redirects of the exchanges in `kept` are not followed.
    pub(crate) fn new(recording: &Recording, kept: &FxHashSet<usize>) -> Self {
        let count = recording.exchanges.len();
        let mut chains = Self { folded: vec![None; count], next: vec![None; count] };
        for (index, exchange) in recording.exchanges.iter().enumerate() {
            if kept.contains(&index) {
                continue;
            }
            let Some(target) = target(exchange) else { continue };
            let status = exchange.response.as_ref().map_or(0, |response| response.status);
            let own = exchange.request.method.as_str();
            let is_followed = |method: &str| match status {
                307 | 308 => method == own,
                _ => method == "GET" || (method == "HEAD" && own == "HEAD"),
            };
            let end = count.min(index + 1 + NEAR);
            let found = (index + 1..end).find(|&at| {
                let other = &recording.exchanges[at];
                chains.folded[at].is_none()
                    && other.sent >= exchange.sent
                    && is_followed(&other.request.method)
                    && is_same(&other.request.url, &target)
            });
            if let Some(at) = found {
                chains.folded[at] = Some(chains.folded[index].unwrap_or(index));
                chains.next[index] = Some(at);
            }
        }
        chains
    }

    /// The first of its chain; itself as a rule.
    pub(crate) fn first(&self, index: usize) -> usize {
        self.folded[index].unwrap_or(index)
    }

    /// The last of its chain; itself as a rule.
    pub(crate) fn last(&self, index: usize) -> usize {
        let mut at = index;
        while let Some(next) = self.next[at] {
            at = next;
        }
        at
    }

    /// Whether the script sees the response of this exchange.
    pub(crate) fn is_seen(&self, index: usize) -> bool {
        self.next[index].is_none()
    }
}

/// Where the response sends the client.
pub(crate) fn target(exchange: &Exchange) -> Option<Url> {
    let response = exchange.response.as_ref()?;
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let mut url = exchange.request.url.join(response.headers.get("location")?).ok()?;
    url.set_fragment(None);
    Some(url)
}

fn is_same(one: &Url, other: &Url) -> bool {
    one == other
        || (one.host_str() == other.host_str()
            && one.port_or_known_default() == other.port_or_known_default()
            && one.scheme() == other.scheme()
            && crate::change::url_decode(one.path()) == crate::change::url_decode(other.path())
            && one.query().unwrap_or_default() == other.query().unwrap_or_default())
}
