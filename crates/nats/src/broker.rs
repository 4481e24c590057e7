//! The connection, and the stream and buckets behind it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, kv, stream};
use async_nats::{Client, ConnectErrorKind, Event};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::error::told;
use crate::{Access, BrokerError};

/// The stream of frames.
pub(crate) const FRAMES: &str = "BRUNT_FRAMES";
/// The bucket of keys.
pub(crate) const RUNS: &str = "brunt_runs";
/// The bucket of files.
pub(crate) const FILES: &str = "brunt_files";
/// The bucket of values that agents share.
pub(crate) const VALUES: &str = "brunt_data";

/// Their names for people.
const STREAM: &str = "the stream BRUNT_FRAMES";
/// See [`STREAM`].
const KEYS: &str = "the bucket brunt_runs";
/// See [`STREAM`].
const OBJECTS: &str = "the object store brunt_files";
/// See [`STREAM`].
const SHARED: &str = "the bucket brunt_data";

/// Frames, keys and files that were not removed are forgotten after this.
const KEPT: Duration = Duration::from_hours(24);

/// Shared values that were not written for this time are forgotten: longer than any test.
const SHARED_KEPT: Duration = Duration::from_hours(30 * 24);

/// This many values of a shared key are kept, so that a process whose write brought no answer finds it among later ones.
const SHARED_HISTORY: i64 = 64;

/// Frames that may wait at the broker, in bytes; then agents keep theirs, and try again.
const FRAMES_MAX: i64 = 1 << 30;

/// A repeated frame is recognised for so long.
const DUPLICATES: Duration = Duration::from_mins(2);

/// Smaller messages than this are of no use, in bytes: a frame of 512 KiB, its headers, a chunk of a file.
const PAYLOAD_LEAST: usize = 600 << 10;

/// A connection over which nothing came for three of these is given up.
const PING_EVERY: Duration = Duration::from_secs(2);

/// One attempt to connect, or to do something, takes at most so long.
const ATTEMPT: Duration = Duration::from_secs(5);

/// From one attempt to connect to the next.
const AGAIN: Duration = Duration::from_millis(500);

/// Messages of one subscription that may wait; what comes then is dropped by the client, and told.
const WAITING_MAX: usize = 1 << 14;

/// A connection to the broker, which comes back by itself. Cheap to clone.
#[derive(Clone)]
pub struct Broker {
    pub(crate) client: Client,
    pub(crate) context: Context,
    shown: Arc<str>,
    link: watch::Receiver<Link>,
    /// The last thing that the server did not allow.
    forbidden: watch::Receiver<Option<String>>,
}

/// How the connection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// It is up.
    pub is_up: bool,
    /// How often it has come up. Watches and subscriptions of before may have missed something: begin them anew.
    pub count: u64,
}

/// Something that the user should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The first attempt failed; more follow, for so long.
    Waiting {
        /// The addresses.
        servers: String,
        /// The fault.
        reason: String,
        /// How long it is tried.
        limit: Duration,
    },
    /// The connection is lost; attempts to get it back go on without an end.
    Lost,
    /// It is back.
    Back,
    /// The client was too slow, and messages are lost that may be lost.
    Slow,
    /// The server said something, such as that a subject is forbidden.
    Refused(String),
}

impl Broker {
    /// Connects, for at most `limit`, and looks whether the server is of use. `name` tells the server's people who calls.
    /// `notice` is called on the connection's tasks and must not wait.
    ///
    /// # Errors
    /// A wrong address or file, a refused login, TLS that fails: at once. No answer: after `limit`. A server that is
    /// too old or takes only small messages.
    pub async fn connect(
        access: &Access,
        name: &str,
        limit: Duration,
        notice: impl Fn(Notice) + Send + Sync + Clone + 'static,
    ) -> Result<Broker, BrokerError> {
        // Of two providers in one process rustls takes none by itself.
        drop(rustls::crypto::ring::default_provider().install_default());
        let addresses = access.addresses()?;
        let (up, link) = watch::channel(Link::default());
        let up = Arc::new(up);
        let (forbids, forbidden) = watch::channel(None);
        let forbids = Arc::new(forbids);
        let start = Instant::now();
        let mut is_told = false;
        let client = loop {
            let (up, heard, forbids) = (Arc::clone(&up), notice.clone(), Arc::clone(&forbids));
            let on_event = move |event| {
                hear(&event, (&up, &forbids), &heard);
                std::future::ready(())
            };
            let options = access.options().await?;
            let options = options
                .name(name)
                .ping_interval(PING_EVERY)
                .connection_timeout(ATTEMPT)
                .request_timeout(Some(ATTEMPT))
                .subscription_capacity(WAITING_MAX)
                .reconnect_delay_callback(|attempts| {
                    // A tenth of a second, then two, four … at most two seconds.
                    Duration::from_millis(100 << attempts.saturating_sub(1).min(4)).min(PING_EVERY)
                })
                .event_callback(on_event);
            let error = match options.connect(addresses.clone()).await {
                Ok(client) => break client,
                Err(error) => error,
            };
            let (servers, reason) = (access.shown(), told(&error));
            match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    return Err(BrokerError::Login { servers, reason });
                }
                ConnectErrorKind::Tls => return Err(BrokerError::Tls { servers, reason }),
                ConnectErrorKind::ServerParse => {
                    return Err(BrokerError::Address { address: servers, reason });
                }
                _ => {}
            }
            if start.elapsed() >= limit {
                return Err(BrokerError::Unreachable { servers, limit, reason });
            }
            if !is_told {
                is_told = true;
                notice(Notice::Waiting { servers, reason, limit });
            }
            sleep(AGAIN).await;
        };
        let context = ContextBuilder::new()
            .timeout(ATTEMPT)
            .ack_timeout(ATTEMPT)
            .max_ack_inflight(256)
            .build(client.clone());
        let shown = access.shown().into();
        let broker = Broker { client, context, shown, link, forbidden };
        broker.wait_for_link().await;
        broker.look_at_server()?;
        Ok(broker)
    }

    /// The event comes a moment after the connection.
    async fn wait_for_link(&self) {
        let mut link = self.link.clone();
        // Else the sender is gone, and with it the connection.
        drop(timeout(ATTEMPT, link.wait_for(|link| link.is_up)).await);
    }

    fn look_at_server(&self) -> Result<(), BrokerError> {
        let info = self.client.server_info();
        if !self.client.is_server_compatible(2, 10, 0) {
            return Err(BrokerError::Version { found: info.version });
        }
        if info.max_payload < PAYLOAD_LEAST {
            return Err(BrokerError::Payload { found: info.max_payload, needed: PAYLOAD_LEAST });
        }
        Ok(())
    }

    /// The addresses, without passwords.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The last thing that the server did not allow this login, in its words; none if it allowed all.
    pub fn forbidden(&self) -> Option<String> {
        self.forbidden.borrow().clone()
    }

    /// Waits until the server does not allow something: what is forbidden gets no answer.
    pub async fn refusal(&self) {
        let mut forbidden = self.forbidden.clone();
        if forbidden.wait_for(Option::is_some).await.is_err() {
            // The connection is closed: nothing will be refused.
            std::future::pending::<()>().await;
        }
    }

    /// The connection, watched.
    pub fn link(&self) -> watch::Receiver<Link> {
        self.link.clone()
    }

    /// Whether the connection is up now.
    pub fn is_up(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Makes stream and buckets where they are not there: at the beginning, and when the broker comes back, perhaps with an
    /// empty store. Those that are there stay as they are. For leaders alone: of two who make a stream at the same moment, the
    /// second can hide what the first has written.
    ///
    /// # Errors
    /// No JetStream; a stream or bucket that can't be made or used; the connection.
    pub async fn prepare(&self) -> Result<(), BrokerError> {
        let frames = stream::Config {
            name: FRAMES.to_owned(),
            description: Some("Measurements of Brunt's agents, on their way to leaders".to_owned()),
            subjects: vec!["brunt.*.f.*".to_owned()],
            max_age: KEPT,
            max_bytes: FRAMES_MAX,
            discard: DiscardPolicy::New,
            duplicate_window: DUPLICATES,
            storage: StorageType::File,
            num_replicas: 1,
            ..stream::Config::default()
        };
        let made = self.context.get_or_create_stream(frames).await;
        made.map_err(|error| refused(STREAM, &error))?;
        if self.runs().await.is_err() {
            let config = kv::Config {
                bucket: RUNS.to_owned(),
                description: "Runs of Brunt over several machines".to_owned(),
                history: 1,
                max_age: KEPT,
                storage: StorageType::File,
                num_replicas: 1,
                ..kv::Config::default()
            };
            let made = self.context.create_key_value(config).await;
            made.map_err(|error| refused(KEYS, &error))?;
        }
        if self.context.get_key_value(VALUES).await.is_err() {
            let config = kv::Config {
                bucket: VALUES.to_owned(),
                description: "Rows, queues and counters of Brunt's tests".to_owned(),
                history: SHARED_HISTORY,
                max_age: SHARED_KEPT,
                storage: StorageType::File,
                num_replicas: 1,
                ..kv::Config::default()
            };
            let made = self.context.create_key_value(config).await;
            made.map_err(|error| refused(SHARED, &error))?;
        }
        if self.files().await.is_err() {
            let config = object_store::Config {
                bucket: FILES.to_owned(),
                description: Some("Tests of Brunt for its agents".to_owned()),
                max_age: KEPT,
                storage: StorageType::File,
                num_replicas: 1,
                ..object_store::Config::default()
            };
            let made = self.context.create_object_store(config).await;
            made.map_err(|error| refused(OBJECTS, &error))?;
        }
        Ok(())
    }

    /// Looks whether stream and buckets are there.
    ///
    /// # Errors
    /// No JetStream; or they are not there yet, as no leader has come.
    pub async fn look(&self) -> Result<(), BrokerError> {
        self.frames().await?;
        self.runs().await?;
        self.files().await?;
        Ok(())
    }

    /// The stream of frames.
    pub(crate) async fn frames(&self) -> Result<Stream, BrokerError> {
        let stream = self.context.get_stream(FRAMES).await;
        stream.map_err(|error| refused(STREAM, &error))
    }

    /// The bucket of keys.
    pub(crate) async fn runs(&self) -> Result<kv::Store, BrokerError> {
        let store = self.context.get_key_value(RUNS).await;
        store.map_err(|error| refused(KEYS, &error))
    }

    /// The bucket of files.
    pub(crate) async fn files(&self) -> Result<ObjectStore, BrokerError> {
        let store = self.context.get_object_store(FILES).await;
        store.map_err(|error| refused(OBJECTS, &error))
    }

    /// Sends all that waits and ends the connection, within a second.
    pub async fn close(&self) {
        drop(timeout(Duration::from_secs(1), self.client.flush()).await);
        drop(timeout(Duration::from_secs(1), self.client.drain()).await);
    }
}

fn hear(
    event: &Event,
    (up, forbids): (&watch::Sender<Link>, &watch::Sender<Option<String>>),
    notice: &impl Fn(Notice),
) {
    match event {
        Event::Connected => {
            let count = up.borrow().count + 1;
            up.send_replace(Link { is_up: true, count });
            if count > 1 {
                notice(Notice::Back);
            }
        }
        Event::Disconnected => {
            let was = *up.borrow();
            up.send_replace(Link { is_up: false, ..was });
            if was.is_up {
                notice(Notice::Lost);
            }
        }
        Event::SlowConsumer(_) => notice(Notice::Slow),
        Event::ServerError(error) => {
            let text = error.to_string();
            if text.to_lowercase().contains("permissions violation") {
                forbids.send_replace(Some(text.clone()));
            }
            notice(Notice::Refused(text));
        }
        // The client tries again by itself.
        Event::ClientError(error) => log::debug!("NATS: {error}"),
        other => log::debug!("NATS: {other}"),
    }
}

/// Without JetStream no answer comes, or one with such a code.
fn refused(what: &'static str, error: &(dyn std::error::Error + 'static)) -> BrokerError {
    let reason = told(error);
    let lower = reason.to_lowercase();
    if ["no responders", "jetstream not enabled", "jetstream unavailable", "not supported", "503"]
        .iter()
        .any(|sign| lower.contains(sign))
    {
        return BrokerError::NoJetStream(reason);
    }
    let is_passing = ["timed out", "no suitable peers", "not found", "failed to get the stream"];
    if is_passing.iter().any(|sign| lower.contains(sign)) {
        return BrokerError::Failed { what, reason };
    }
    BrokerError::Store { what, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_jetstream_is_told_from_one_that_is_slow() {
        let said = |text: &str| refused("the stream", &std::io::Error::other(text.to_owned()));
        assert!(matches!(said("no responders"), BrokerError::NoJetStream(_)));
        assert!(matches!(
            said("jetstream not enabled for account, code 10039"),
            BrokerError::NoJetStream(_)
        ));
        assert!(said("timed out").is_passing() && said("stream not found (10059)").is_passing());
        assert!(matches!(said("insufficient storage"), BrokerError::Store { .. }));
    }
}
