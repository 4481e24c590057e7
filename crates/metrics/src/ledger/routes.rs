//! Where the values of a series belong, found out once per series.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::breakdown::PartRoute;
use super::requests::Place;
use crate::series::Series;

/// Routes that are remembered (about 30 MiB); when there are more, all are forgotten and found out
/// anew as their series turn up.
const ROUTES_MAX: usize = 200_000;
/// The bytes of their tags; when there are more, likewise.
const BYTES_MAX: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct Route {
    /// Entries of the ledger: the metric and those submetrics whose tags it has.
    pub(super) entries: Box<[u32]>,
    pub(super) parts: PartRoute,
    /// Its place in the table of requests.
    pub(super) requests: Option<Place>,
}

/// By the address of a core's own series: no string is hashed or compared. The series is kept, so that
/// its address cannot become another's.
#[derive(Debug, Default)]
pub(super) struct Routes {
    by_address: FxHashMap<usize, (Arc<Series>, Route)>,
    bytes: usize,
}

impl Routes {
    pub(super) fn knows(&self, series: &Arc<Series>) -> bool {
        self.by_address.contains_key(&address(series))
    }

    pub(super) fn get(&self, series: &Arc<Series>) -> Option<&Route> {
        self.by_address.get(&address(series)).map(|(_, route)| route)
    }

    pub(super) fn put(&mut self, series: &Arc<Series>, route: Route) {
        if self.by_address.len() >= ROUTES_MAX || self.bytes >= BYTES_MAX {
            self.by_address.clear();
            self.bytes = 0;
        }
        self.bytes += series.tags.size();
        self.by_address.insert(address(series), (Arc::clone(series), route));
    }
}

fn address(series: &Arc<Series>) -> usize {
    Arc::as_ptr(series) as usize
}
