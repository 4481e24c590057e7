//! From an address to a session: dialing, TLS, logging in.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_net::{Dialer, Endpoint, Offer, Opened};
use bytes::BytesMut;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::frontend;
use tokio::time::timeout;

use super::fault;
use super::session::{Session, State, has_nul};
use super::wire::{Wire, malformed};
use crate::config::TlsMode;
use crate::config::postgres::{Attributes, Host, Settings};
use crate::failure::{Failure, Trouble};

/// How long dialing and logging in may take together, if the DSN does not say.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The most messages of logging in: a server that never comes to an end is given up.
const STEPS_MAX: usize = 256;

fn refused(text: impl Into<String>) -> Failure {
    Failure::new(Trouble::Connect, text)
}

/// Connects to the first host that takes us, and logs in.
pub(super) async fn open(settings: &Settings, dialer: &Rc<Dialer>) -> Result<Session, Failure> {
    let mut last = refused("pq: the DSN names no host");
    for host in &settings.hosts {
        match one(settings, host, dialer).await {
            Ok(session) => return Ok(session),
            Err(failure) => last = failure,
        }
    }
    Err(match last.trouble() {
        Trouble::Server | Trouble::Retry | Trouble::Broken | Trouble::Usage => {
            refused(last.text()).with_code(last.code(), last.number())
        }
        _ => last,
    })
}

async fn one(settings: &Settings, host: &Host, dialer: &Rc<Dialer>) -> Result<Session, Failure> {
    let limit = settings.connect_timeout;
    let limit = if limit.is_zero() { TIMEOUT } else { limit };
    let opening = async {
        let mut session = enter(settings, host, dialer).await?;
        check_attributes(&mut session, settings.attributes).await?;
        session.rest();
        Ok(session)
    };
    let overdue = || Err(refused(format!("dial {}: i/o timeout", host.shown())));
    timeout(limit, opening).await.unwrap_or_else(|_| overdue())
}

/// The SQLSTATE of a server that refuses connections of this kind: with TLS, or without it.
const WRONG_WAY: &str = "28000";

/// Opens a connection, in TLS if the DSN and the server want it. `allow` and `prefer` have a second way.
async fn enter(settings: &Settings, host: &Host, dialer: &Rc<Dialer>) -> Result<Session, Failure> {
    let (first, second) = match settings.tls.mode {
        _ if host.socket().is_some() => (TlsMode::Off, None),
        TlsMode::Preferred if settings.is_plain_first => (TlsMode::Off, Some(TlsMode::Preferred)),
        TlsMode::Preferred => (TlsMode::Preferred, Some(TlsMode::Off)),
        mode => (mode, None),
    };
    match (enter_by(first, settings, host, dialer).await, second) {
        (Err(failure), Some(second)) if failure.code() == WRONG_WAY => {
            enter_by(second, settings, host, dialer).await
        }
        (entered, _) => entered,
    }
}

async fn enter_by(
    mode: TlsMode,
    settings: &Settings,
    host: &Host,
    dialer: &Rc<Dialer>,
) -> Result<Session, Failure> {
    let mut wire = Wire::new(dial(host, dialer).await?);
    if mode != TlsMode::Off {
        let mut out = BytesMut::new();
        frontend::ssl_request(&mut out);
        wire.send(&out).await?;
        match wire.byte().await? {
            b'S' => {
                let name = settings.tls.server_name.as_deref().unwrap_or(&host.name);
                let secured = wire.secure(name).await;
                secured.map_err(|failure| refused(failure.reason(&host.name, None)))?;
            }
            b'N' if mode == TlsMode::Preferred => {}
            b'N' => return Err(refused("pq: SSL is not enabled on the server")),
            _ => return Err(malformed("the answer to the wish for TLS")),
        }
    }
    let mut session = Session::new(wire);
    log_in(&mut session, settings).await?;
    Ok(session)
}

pub(super) async fn dial(host: &Host, dialer: &Rc<Dialer>) -> Result<Opened, Failure> {
    let endpoint = Endpoint { host: &host.name, port: host.port, is_secure: false };
    let socket = host.socket();
    let endpoint =
        if socket.is_some() { Endpoint { host: "localhost", ..endpoint } } else { endpoint };
    dialer.open(&endpoint, Offer::Nothing).await.map_err(|failure| {
        if let Some(path) = socket {
            let told = failure.reason("localhost", None);
            return refused(told.replacen("dial tcp:", &format!("dial unix {path}:"), 1));
        }
        if let Ok(ip) = host.name.parse() {
            return refused(failure.reason(&host.name, Some(SocketAddr::new(ip, host.port))));
        }
        let told = failure.reason(&host.name, None);
        if let Some(why) = told.strip_prefix("dial tcp: ") {
            return refused(format!("dial {}: {why}", host.shown()));
        }
        let is_lookup =
            matches!(failure, brunt_net::Failure::NoSuchHost | brunt_net::Failure::Lookup);
        refused(if is_lookup { format!("dial tcp: {told}") } else { told })
    })
}

async fn log_in(session: &mut Session, settings: &Settings) -> Result<(), Failure> {
    let fixed = [
        ("user", settings.user.as_str()),
        ("database", settings.database.as_str()),
        ("client_encoding", "UTF8"),
        ("datestyle", "ISO, MDY"),
        ("extra_float_digits", "2"),
    ];
    let own = settings.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let all = fixed.into_iter().filter(|(_, value)| !value.is_empty()).chain(own);
    frontend::startup_message(all, &mut session.out).map_err(|_| has_nul())?;
    session.send().await?;
    let mut scram: Option<sasl::ScramSha256> = None;
    for _ in 0..STEPS_MAX {
        let (tag, from, to) = session.wire.message().await?;
        let body = session.wire.bytes()[from..to].to_vec();
        match tag {
            b'R' => authenticate(session, settings, &body, &mut scram).await?,
            b'K' => {
                let key = body.as_chunks::<4>().0;
                if let [id, secret, ..] = key {
                    session.key = (i32::from_be_bytes(*id), i32::from_be_bytes(*secret));
                }
            }
            b'E' => return Err(fault::refusal(&body, "")),
            b'Z' => {
                session.state = State::Idle;
                session.wire.trust();
                return Ok(());
            }
            b'S' | b'N' | b'v' => {}
            _ => return Err(malformed("logging in")),
        }
    }
    Err(malformed("logging in, which does not end"))
}

async fn authenticate(
    session: &mut Session,
    settings: &Settings,
    body: &[u8],
    scram: &mut Option<sasl::ScramSha256>,
) -> Result<(), Failure> {
    let short = || malformed("a way to log in");
    let (kind, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
    let password = settings.password.as_bytes();
    let wrong = |error: std::io::Error| refused(format!("pq: SCRAM: {error}"));
    match u32::from_be_bytes(*kind) {
        0 => return Ok(()),
        3 => frontend::password_message(password, &mut session.out).map_err(|_| has_nul())?,
        5 => {
            let salt = *rest.first_chunk::<4>().ok_or_else(short)?;
            let hash = md5_hash(settings.user.as_bytes(), password, salt);
            frontend::password_message(hash.as_bytes(), &mut session.out).map_err(|_| has_nul())?;
        }
        10 => {
            let mut offered = rest.split(|byte| *byte == 0);
            if !offered.any(|name| name == sasl::SCRAM_SHA_256.as_bytes()) {
                return Err(refused(
                    "pq: the server offers no way to log in that we know: only SCRAM-SHA-256 does",
                ));
            }
            let client = sasl::ScramSha256::new(password, sasl::ChannelBinding::unsupported());
            let first = client.message().to_vec();
            let name = sasl::SCRAM_SHA_256;
            frontend::sasl_initial_response(name, &first, &mut session.out).map_err(wrong)?;
            *scram = Some(client);
        }
        11 => {
            let client = scram.as_mut().ok_or_else(short)?;
            client.update(rest).map_err(wrong)?;
            frontend::sasl_response(client.message(), &mut session.out).map_err(wrong)?;
        }
        12 => {
            let client = scram.as_mut().ok_or_else(short)?;
            client.finish(rest).map_err(wrong)?;
            return Ok(());
        }
        other => {
            let why = format!(
                "pq: unknown authentication response: {other}: Brunt knows password, md5 and scram-sha-256"
            );
            return Err(refused(why));
        }
    }
    session.send().await
}

/// Whether the server is of the kind that the DSN wants.
async fn check_attributes(session: &mut Session, wanted: Attributes) -> Result<(), Failure> {
    let question = match wanted {
        Attributes::Any => return Ok(()),
        Attributes::ReadWrite | Attributes::ReadOnly => {
            "SELECT CASE WHEN current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() THEN 1 ELSE 0 END"
        }
        Attributes::Primary | Attributes::Standby => {
            "SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END"
        }
    };
    session.query(question).await?;
    // The statement is of our own: it has one row.
    let (mut chunk, mut is_one) = (crate::chunk::Chunk::default(), false);
    while session.rows(&mut chunk).await? {
        let columns = Rc::clone(&session.columns);
        let read = chunk.read(0, &columns, |_, cell| {
            is_one = cell == crate::cell::Cell::Int(1);
            Ok::<(), ()>(())
        });
        read.map_err(|_| malformed("a row"))?;
    }
    session.drain().await?;
    let wants_one = matches!(wanted, Attributes::ReadOnly | Attributes::Standby);
    if is_one == wants_one {
        return Ok(());
    }
    Err(refused("pq: the server is not of the kind that target_session_attrs wants"))
}
