//! The parts that the broker threads of leaders and agents share: writes, the watch of keys, talk.

use std::time::Duration;

use brunt_cluster::{Expect, Key, Level, Write};
use brunt_nats::{Link, News, Put, Run, Talk};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// From one attempt to the next.
const AGAIN: Duration = Duration::from_millis(500);

/// A watch of keys that tells nothing for so long is begun anew: the leader's sign of life alone changes each two seconds.
const SILENT: Duration = Duration::from_secs(6);

/// How a write ended.
pub(super) enum Written {
    /// With this revision.
    Done(Key, u64),
    /// It was refused; the key as it is.
    Conflict(Key, Option<(Vec<u8>, u64)>),
}

/// Carries a write out. `None`: no answer came; the machine asks for it again.
pub(super) async fn write(run: &Run, write: Write) -> Option<Written> {
    let Write { key, value, expect } = write;
    let name = key.to_string();
    let put = match (value, expect) {
        (Some(value), Expect::Absent) => run.create_key(&name, value).await,
        (Some(value), Expect::Revision(revision)) => run.update_key(&name, value, revision).await,
        (None, Expect::Revision(revision)) => run.remove_key(&name, revision).await,
        // It is to be absent, and is.
        (None, Expect::Absent) => return Some(Written::Done(key, 0)),
    };
    match put {
        Ok(Put::Done(revision)) => Some(Written::Done(key, revision)),
        Ok(Put::Lost) => {
            let now = run.key_now(&name).await.ok()?;
            let current = now.and_then(|change| Some((change.value?, change.revision)));
            Some(Written::Conflict(key, current))
        }
        Err(error) => {
            log::debug!("{name}: {error}");
            None
        }
    }
}

/// News of the keys of a run.
pub(super) enum KeyNews {
    Changed { key: Key, value: Option<Vec<u8>>, revision: u64 },
    Current,
}

/// Watches the keys of a run for as long as the task lives; a broken watch is begun anew, with all keys as they are.
pub(super) fn watch_keys<E: Send + 'static>(
    run: Run,
    events: mpsc::Sender<E>,
    event: impl Fn(KeyNews) -> E + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            match run.watch_keys().await {
                Err(error) => log::debug!("{error}"),
                Ok(mut keys) => {
                    while let Ok(Some(news)) = timeout(SILENT, keys.next()).await {
                        let news = match news {
                            News::Current => KeyNews::Current,
                            News::Changed(change) => match Key::parse(&change.key) {
                                None => continue,
                                Some(key) => KeyNews::Changed {
                                    key,
                                    value: change.value,
                                    revision: change.revision,
                                },
                            },
                        };
                        if events.send(event(news)).await.is_err() {
                            return;
                        }
                    }
                }
            }
            sleep(AGAIN).await;
        }
    })
}

/// Tells each time the connection comes up, with stream and buckets there, and each time it is lost. `makes`: this side makes
/// them where they are missing, else it waits for them.
pub(super) fn watch_link<E: Send + 'static>(
    run: Run,
    makes: bool,
    events: mpsc::Sender<E>,
    event: impl Fn(bool) -> E + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut link: watch::Receiver<Link> = run.broker().link();
        let mut seen = 0;
        loop {
            let now = *link.borrow_and_update();
            if now.is_up && now.count != seen {
                let broker = run.broker();
                let there = if makes { broker.prepare().await } else { broker.look().await };
                match there {
                    Ok(()) => {
                        seen = now.count;
                        if events.send(event(true)).await.is_err() {
                            return;
                        }
                    }
                    Err(error) => {
                        log::debug!("{error}");
                        sleep(AGAIN).await;
                        continue;
                    }
                }
            } else if !now.is_up && events.send(event(false)).await.is_err() {
                return;
            }
            if link.changed().await.is_err() {
                return;
            }
        }
    })
}

/// Hands on what is said about a thing, as JSON; nonsense of strangers is left out.
pub(super) fn listen<E: Send + 'static, T: serde::de::DeserializeOwned + Send>(
    run: Run,
    about: &'static str,
    events: mpsc::Sender<E>,
    event: impl Fn(T) -> E + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let talk: Result<Talk, _> = run.listen(about).await;
            match talk {
                Err(error) => log::debug!("{error}"),
                Ok(mut talk) => {
                    while let Some(said) = talk.next().await {
                        if let Ok(message) = serde_json::from_slice(&said.bytes)
                            && events.send(event(message)).await.is_err()
                        {
                            return;
                        }
                    }
                }
            }
            sleep(AGAIN).await;
        }
    })
}

/// A message as JSON.
pub(super) fn json(message: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("names and numbers are JSON")
}

/// Logs a word of a machine.
pub(super) fn tell(level: Level, text: &str) {
    match level {
        Level::Info => log::info!("{text}"),
        Level::Warn => log::warn!("{text}"),
        Level::Error => log::error!("{text}"),
    }
}
