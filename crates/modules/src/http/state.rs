//! State of HTTP: what the VUs of a core share, and a VU's client, response callback and downloads.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use brunt_http::{Client, Headers, Network, OwnedTarget, Target, TargetError};
use brunt_js::{CoreSlot, Host, Remains, SlotKey, VuSlot};
use brunt_quickjs::{Ctx, JsResult, touched};
use rustc_hash::FxHashMap;

use super::download::Download;
use super::expected::Callback;
use super::limiter::{self, Limiter};
use super::record::SeriesCache;
use super::url::mask;
use crate::config::SystemTags;
use crate::connections::{Connections, CoreNetwork};
use crate::state::VuState;
use crate::throwing::not_in_init;
use crate::vu_jar::VuJar;
use crate::watch::Watcher;

/// The state that one core's VUs share.
pub(super) struct HttpShared {
    network: Rc<Network>,
    pub(super) series: RefCell<SeriesCache>,
    pub(super) system_tags: SystemTags,
    pub(super) limiter: Option<Arc<Limiter>>,
    /// The headers of a request without any of its own.
    headers: Rc<Headers>,
    /// URLs that were taken apart before.
    places: RefCell<FxHashMap<Box<str>, Rc<Place>>>,
    /// The watcher of each exchange, if there is one.
    pub(super) watcher: Option<Rc<Arc<dyn Watcher>>>,
    /// The watcher of exchanges that failed, if there is no other.
    pub(super) failures: Option<Arc<dyn Watcher>>,
}

/// URLs that are remembered; a test that makes up URLs without end starts over.
const PLACES_MAX: usize = 1024;

/// A URL taken apart.
pub(super) struct Place {
    pub(super) target: OwnedTarget,
    /// The URL as tags show it. All VUs of the core read this one, so that it stays in the cache.
    pub(super) shown: Box<str>,
}

impl CoreSlot for HttpShared {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(host: &Host) -> Self {
        let shared = &host.slot::<VuState>().shared;
        let config = shared.config();
        let mut headers = Headers::new();
        if !config.user_agent.is_empty()
            && headers.append("User-Agent", &config.user_agent).is_err()
        {
            log::warn!("the user agent has characters that no header may have; it is left out");
        }
        Self {
            network: Rc::clone(&host.core_slot::<CoreNetwork>().0),
            headers: Rc::new(headers),
            series: RefCell::new(SeriesCache::new(config.routes.as_ref())),
            system_tags: config.system_tags,
            limiter: limiter::of(shared),
            places: RefCell::default(),
            watcher: config.watcher.clone().map(Rc::new),
            failures: config.failures.clone(),
        }
    }
}

impl HttpShared {
    /// Each request has a connection of its own.
    pub(super) fn closes(&self) -> bool {
        self.network.closes_each()
    }

    /// A URL taken apart.
    pub(super) fn place(&self, url: &str) -> Result<Rc<Place>, TargetError> {
        if let Some(place) = self.places.borrow().get(url) {
            return Ok(Rc::clone(place));
        }
        let target = Target::parse(url)?.to_owned_target();
        let place = Rc::new(Place { target, shown: mask(url).into() });
        let mut places = self.places.borrow_mut();
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        places.insert(url.into(), Rc::clone(&place));
        Ok(place)
    }
}

/// A VU's own state.
pub(super) struct HttpState {
    pub(super) shared: Rc<HttpShared>,
    pub(super) client: Rc<Client>,
    pub(super) jar: VuJar,
    pub(super) callback: RefCell<Callback>,
    /// The headers of a request without any of its own.
    pub(super) headers: Rc<Headers>,
    /// Responses whose bodies are streamed, in this iteration.
    downloads: RefCell<Vec<Weak<Download>>>,
}

impl VuSlot for HttpState {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(host: &Host) -> Self {
        let shared = host.core_slot::<HttpShared>();
        Self {
            client: host.slot::<Connections>().client(),
            headers: Rc::clone(&shared.headers),
            shared,
            jar: host.slot::<VuJar>().clone(),
            callback: RefCell::default(),
            downloads: RefCell::default(),
        }
    }
}

impl HttpState {
    /// A stream that ends with the iteration, if not before.
    pub(super) fn keep_track_of(&self, download: &Rc<Download>) {
        let mut downloads = self.downloads.borrow_mut();
        downloads.retain(|known| known.strong_count() > 0);
        downloads.push(Rc::downgrade(download));
    }

    /// The script has nothing left to do: responses that it left unread come to their end, if that is near. `None` if
    /// there are none.
    pub(super) fn unread_downloads(&self) -> Option<Remains> {
        let downloads = self.downloads.borrow();
        let unread = downloads.iter().filter_map(Weak::upgrade).filter(|each| each.is_left());
        let unread: Vec<_> = unread.collect();
        if unread.is_empty() {
            return None;
        }
        Some(Box::pin(async move {
            for download in unread {
                poll_fn(|cx| download.spool.poll_end(cx)).await;
            }
        }))
    }

    /// The iteration is over: what has not come yet doesn't come any more.
    pub(super) fn end_downloads(&self) {
        for download in self.downloads.take().iter().filter_map(Weak::upgrade) {
            download.cut();
        }
    }

    /// Says where it is, for those who watch what is touched.
    pub(super) fn note(&self) {
        touched::note(self);
        self.jar.note();
    }
}

/// The VU's state of HTTP, where requests can be made.
///
/// # Errors
/// In init code.
pub(super) fn http_of(ctx: Ctx<'_>) -> JsResult<'_, (&Host, &HttpState)> {
    http_for(ctx, "Making http requests")
}

/// [`http_of`], with what is being tried.
pub(super) fn http_for<'js>(
    ctx: Ctx<'js>,
    what: &str,
) -> JsResult<'js, (&'js Host, &'js HttpState)> {
    not_in_init(ctx, what)?;
    let host = Host::of(ctx);
    Ok((host, host.slot()))
}
