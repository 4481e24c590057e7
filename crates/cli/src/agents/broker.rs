//! The connection to the broker, with words for the user.

use std::time::Duration;

use brunt_nats::{Broker, BrokerError, Notice};

use super::Meeting;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// How long to try to reach the broker at the start.
pub(super) const REACH: Duration = Duration::from_mins(5);

/// Connects. `makes`: stream and buckets are made where they are missing. Later troubles of the connection are logged.
///
/// # Errors
/// A wrong address or file (255); all else (112).
pub(super) async fn connect(
    meeting: &Meeting,
    name: &str,
    limit: Duration,
    makes: bool,
) -> Outcome<Broker> {
    let broker = Broker::connect(&meeting.access, name, limit, tell).await.map_err(failure)?;
    // It may have come up a moment ago, and its store a moment later.
    let mut tries = 0;
    loop {
        let there = async { if makes { broker.prepare().await } else { broker.look().await } };
        let there = tokio::select! {
            there = there => there,
            failure = refusal(&broker) => return Err(failure),
        };
        match there {
            Ok(()) => return Ok(broker),
            // A leader will make them.
            Err(error) if error.is_passing() && !makes => return Ok(broker),
            Err(error) if error.is_passing() && tries < 20 => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            Err(error) => return Err(failure(error)),
        }
    }
}

/// The failure of a login that may not do what was tried; none if the server allowed all.
pub(super) fn of_rights(broker: &Broker) -> Option<Failure> {
    broker.forbidden().map(|reason| failure(BrokerError::Rights { reason }))
}

/// Waits until the server does not allow something, which gets no answer; the failure of that.
pub(super) async fn refusal(broker: &Broker) -> Failure {
    broker.refusal().await;
    let reason = broker.forbidden().unwrap_or_default();
    failure(BrokerError::Rights { reason })
}

/// The failure of a broker that can't be used.
pub(super) fn failure(error: BrokerError) -> Failure {
    let (exit, hint) = match &error {
        BrokerError::Address { .. } | BrokerError::File { .. } => (Exit::Other, None),
        BrokerError::Unreachable { .. } => (
            Exit::NotStarted,
            Some("start one with `nats-server --jetstream`, or name another by --nats"),
        ),
        BrokerError::Login { .. } => (
            Exit::NotStarted,
            Some("log in by --nats-creds or --nats-nkey, or by nats://USER:PASSWORD@HOST:PORT"),
        ),
        BrokerError::Rights { .. } => (
            Exit::NotStarted,
            Some("the guide of agents lists what leaders and agents must be allowed (Security)"),
        ),
        BrokerError::Tls { .. } => (
            Exit::NotStarted,
            Some("--nats-ca names the authority that signed the server's certificate"),
        ),
        _ => (Exit::NotStarted, None),
    };
    let failure = Failure::new(exit, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn tell(notice: Notice) {
    match notice {
        Notice::Waiting { servers, reason, limit } => log::warn!(
            "the NATS server at {servers} does not answer yet ({reason}); trying for {} more",
            brunt_duration::wait::format(limit)
        ),
        Notice::Lost => log::warn!(
            "the connection to the NATS server is lost; the load goes on, measurements are kept"
        ),
        Notice::Back => log::info!("the connection to the NATS server is back"),
        Notice::Slow => {
            log::debug!(
                "messages of the NATS server came too fast, some are lost that may be lost"
            );
        }
        Notice::Refused(reason) => log::warn!("the NATS server says: {reason}"),
    }
}
