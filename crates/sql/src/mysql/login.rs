//! From an address to a session: dialing, TLS, logging in, the settings of the DSN.

use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_net::{Dialer, Endpoint, Offer};
use mysql_common::collations::CollationId;
use tokio::time::timeout;

use super::auth::Login;
use super::definition::Reading;
use super::greeting::{
    Answer, COMPRESS, FOUND_ROWS, Greeting, MULTI_STATEMENTS, NEW_END, TLS, WITH_DATABASE,
};
use super::packet::{self, Done, Fields, malformed};
use super::session::Session;
use super::wire::Wire;
use super::zone;
use crate::config::TlsMode;
use crate::config::mysql::{Address, Options, Settings};
use crate::failure::{Failure, Trouble};

/// `utf8mb4_general_ci`, which every server knows, as the Go driver has it.
const COLLATION: u8 = 45;

/// How long dialing and logging in may take together, if the DSN does not say.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The most packets that logging in may take: a server that never comes to an end is given up.
const STEPS_MAX: usize = 32;

fn refused(text: impl Into<String>) -> Failure {
    Failure::new(Trouble::Connect, text)
}

/// Connects and logs in.
pub(super) async fn open(settings: &Settings, dialer: &Rc<Dialer>) -> Result<Session, Failure> {
    let limit = settings.options.timeout;
    let limit = if limit.is_zero() { TIMEOUT } else { limit };
    let place = match &settings.address {
        Address::Tcp { host, port } => tcp_name(host, *port),
        Address::Unix(path) => format!("unix {path}"),
        Address::Nowhere(why) => return Err(refused(why.clone())),
    };
    let opening = all(settings, dialer);
    let overdue = || refused(format!("dial {place}: i/o timeout"));
    let failure = match within(limit, opening).await.unwrap_or_else(|| Err(overdue())) {
        Ok(session) => return Ok(session),
        Err(failure) => failure,
    };
    Err(match failure.trouble() {
        // Nothing was asked of the server yet, so that another try does no harm: the Go driver says it so.
        Trouble::Broken => refused("driver: bad connection"),
        Trouble::Server | Trouble::Retry | Trouble::Usage => {
            refused(failure.text()).with_code(failure.code(), failure.number())
        }
        _ => failure,
    })
}

async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    timeout(limit, future).await.ok()
}

fn tcp_name(host: &str, port: u16) -> String {
    if host.contains(':') { format!("tcp [{host}]:{port}") } else { format!("tcp {host}:{port}") }
}

async fn all(settings: &Settings, dialer: &Rc<Dialer>) -> Result<Session, Failure> {
    let options = &*settings.options;
    let stream = dial(&settings.address, dialer).await?;
    let mut wire = Wire::new(stream, [options.read_timeout, options.write_timeout]);
    let (from, to) = wire.packet().await?;
    let first = &wire.bytes()[from..to];
    if first.first() == Some(&0xff) {
        return Err(packet::refusal(first));
    }
    let greeting = Greeting::read(first)?;
    let is_tls = match settings.tls.mode {
        TlsMode::Off => false,
        TlsMode::Preferred => greeting.capabilities & TLS != 0,
        _ if greeting.capabilities & TLS == 0 => {
            if !options.allow_fallback_to_plaintext {
                return Err(refused("TLS requested but server does not support TLS"));
            }
            false
        }
        _ => true,
    };
    let wanted = [
        (is_tls, TLS),
        (options.client_found_rows, FOUND_ROWS),
        (options.multi_statements, MULTI_STATEMENTS),
        (options.compress, COMPRESS),
        (!settings.database.is_empty(), WITH_DATABASE),
    ];
    let wanted = wanted.iter().filter(|(is_on, _)| *is_on).fold(0, |all, (_, flag)| all | flag);
    let capabilities = greeting.agreed(wanted);
    log_in(&mut wire, settings, &greeting, capabilities).await?;
    let zone = if options.parse_time {
        Some(zone::number(&options.zone).ok_or_else(|| refused("loc: more than 256 zones"))?)
    } else {
        None
    };
    let reading = Reading { zone, with_alias: options.columns_with_alias };
    let mut options = Options::clone(options);
    options.compress = capabilities & COMPRESS != 0;
    if options.compress {
        wire.squeeze();
    }
    let mut session = Session::new(wire, options, reading);
    session.status = greeting.status;
    session.id = greeting.connection_id;
    session.is_mariadb = greeting.is_mariadb();
    session.has_new_end = capabilities & NEW_END != 0;
    session.has_bulk = greeting.has_bulk();
    set_up(&mut session).await?;
    session.rest();
    // Logging in is no statement.
    session.wire.take_counts();
    Ok(session)
}

async fn dial(address: &Address, dialer: &Rc<Dialer>) -> Result<brunt_net::Opened, Failure> {
    let (host, port) = match address {
        Address::Tcp { host, port } => (host.as_str(), *port),
        _ => ("localhost", 0),
    };
    let endpoint = Endpoint { host, port, is_secure: false };
    dialer.open(&endpoint, Offer::Nothing).await.map_err(|failure| {
        refused(match address {
            Address::Unix(path) => {
                let told = failure.reason(host, None);
                told.replacen("dial tcp:", &format!("dial unix {path}:"), 1)
            }
            _ => told(failure, host, port),
        })
    })
}

/// Why dialing failed, in Go's words.
fn told(failure: brunt_net::Failure, host: &str, port: u16) -> String {
    if let Ok(ip) = host.parse() {
        return failure.reason(host, Some(SocketAddr::new(ip, port)));
    }
    let told = failure.reason(host, None);
    if let Some(why) = told.strip_prefix("dial tcp: ") {
        return format!("dial {}: {why}", tcp_name(host, port));
    }
    let is_lookup = matches!(failure, brunt_net::Failure::NoSuchHost | brunt_net::Failure::Lookup);
    if is_lookup { format!("dial tcp: {told}") } else { told }
}

async fn log_in(
    wire: &mut Wire,
    settings: &Settings,
    greeting: &Greeting,
    capabilities: u32,
) -> Result<(), Failure> {
    let options = &settings.options;
    let is_unix = matches!(settings.address, Address::Unix(_));
    let pid = std::process::id().to_string();
    let mut attributes = vec![
        ("_client_name", "brunt"),
        ("_os", std::env::consts::OS),
        ("_platform", std::env::consts::ARCH),
        ("_pid", pid.as_str()),
    ];
    if let Address::Tcp { host, .. } = &settings.address {
        attributes.push(("_server_host", host));
    }
    attributes.extend(options.attributes.iter().map(|(name, value)| (&**name, &**value)));
    let mut answer = Answer {
        capabilities,
        has_bulk: greeting.has_bulk(),
        collation: collation(options),
        user: &settings.user,
        proof: &[],
        database: &settings.database,
        plugin: "",
        attributes: &attributes,
    };
    if capabilities & TLS != 0 {
        let mut out = Vec::new();
        let start = packet::begin(&mut out);
        answer.push_beginning(&mut out);
        let sequence = packet::end(&mut out, start, wire.sequence());
        wire.send(&out).await?;
        wire.expect(sequence);
        let host = match (&settings.tls.server_name, &settings.address) {
            (Some(name), _) => name,
            (None, Address::Tcp { host, .. }) => host,
            (None, _) => "localhost",
        };
        let secured = wire.secure(host).await;
        secured.map_err(|failure| refused(failure.reason(host, None)))?;
    }
    let plugin = match greeting.plugin.as_str() {
        "" => "mysql_native_password",
        plugin => plugin,
    };
    let mut login = Login {
        password: &settings.password,
        options,
        is_private: wire.is_secure() || is_unix,
        is_secure: wire.is_secure(),
        nonce: greeting.nonce.clone(),
        plugin: plugin.to_owned(),
    };
    let proof = match login.first() {
        Ok(proof) => proof,
        // The user may well have another way to log in: then the server says so.
        Err(_) if options.allow_native_passwords => {
            "mysql_native_password".clone_into(&mut login.plugin);
            login.first()?
        }
        Err(failure) => return Err(failure),
    };
    answer.proof = &proof;
    let plugin = login.plugin.clone();
    answer.plugin = &plugin;
    let mut out = Vec::new();
    let start = packet::begin(&mut out);
    answer.push(&mut out);
    let sequence = packet::end(&mut out, start, wire.sequence());
    wire.expect(sequence);
    wire.send(&out).await?;
    prove(wire, &mut login).await
}

/// Answers the server until it lets us in.
async fn prove(wire: &mut Wire, login: &mut Login<'_>) -> Result<(), Failure> {
    for _ in 0..STEPS_MAX {
        let (from, to) = wire.packet().await?;
        let packet = &wire.bytes()[from..to];
        let reply = match packet {
            [0x00, ..] => {
                Done::read(packet).ok_or_else(malformed)?;
                return Ok(());
            }
            [0xff, ..] => return Err(packet::refusal(packet)),
            [0xfe] => return Err(login.old()),
            [0xfe, rest @ ..] => {
                let mut fields = Fields(rest);
                login.plugin = String::from_utf8_lossy(fields.until_zero()).into_owned();
                login.nonce = fields.0.strip_suffix(b"\0").unwrap_or(fields.0).to_vec();
                Some(login.first()?)
            }
            [0x01, data @ ..] => login.next(data)?,
            _ => return Err(malformed()),
        };
        if let Some(reply) = reply {
            let mut out = Vec::new();
            let start = packet::begin(&mut out);
            out.extend_from_slice(&reply);
            let sequence = packet::end(&mut out, start, wire.sequence());
            wire.expect(sequence);
            wire.send(&out).await?;
        }
    }
    Err(malformed())
}

/// The collation of the handshake, which has room for small numbers only.
fn collation(options: &Options) -> u8 {
    let number = options.collation.as_deref().map(|name| CollationId::from(name) as u16);
    number
        .and_then(|number| u8::try_from(number).ok())
        .filter(|number| *number != 0)
        .unwrap_or(COLLATION)
}

/// The settings of the DSN that are made in SQL.
async fn set_up(session: &mut Session) -> Result<(), Failure> {
    let options = session.options.clone();
    let behind = match &options.collation {
        Some(name) => {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name || name.is_empty() {
                return Err(refused(format!("unknown collation: {name:?}")));
            }
            format!(" COLLATE {name}")
        }
        None => String::new(),
    };
    let of_collation = options.collation.iter().filter(|_| options.charsets.is_empty());
    // The name of a collation begins with that of its character set.
    let of_collation = of_collation.filter_map(|name| name.split('_').next());
    let charsets = options.charsets.iter().map(String::as_str).chain(of_collation);
    let mut refusal = None;
    for charset in charsets {
        let sql = format!("SET NAMES '{}'{behind}", charset.replace(['\'', '\\'], ""));
        refusal = session.run(sql.as_bytes()).await.err();
        match &refusal {
            Some(failure) if !failure.is_fatal() => {}
            _ => break,
        }
    }
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    if options.max_allowed_packet == 0 {
        session.packet_max().await?;
    }
    if !options.variables.is_empty() {
        let all: Vec<_> =
            options.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        session.run(format!("SET {}", all.join(",")).as_bytes()).await?;
    }
    Ok(())
}
