//! The beginning of a connection: a greeting, the user, the password.

use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize as _;
use tokio::io::{AsyncRead, AsyncWrite};

use super::facts::VERSION;
use super::reply;
use super::trouble::Trouble;
use super::wire::Wire;

/// The user that is let in.
pub(crate) const USER: &str = "brunt";
/// The one database.
pub(crate) const DATABASE: &str = "demo";

const PLUGIN: &[u8] = b"mysql_native_password";
/// Characters of the challenge.
const NONCE: usize = 20;
/// utf8mb4_general_ci
const COLLATION: u8 = 45;

/// A client that was let in.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) capabilities: CapabilityFlags,
    pub(crate) database: Option<String>,
}

/// What the server offers.
fn offered() -> CapabilityFlags {
    CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_FOUND_ROWS
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_MULTI_STATEMENTS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_CONNECT_ATTRS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
}

/// Greets a client and lets it in. `None`: it was refused and told so, or is gone.
pub(crate) async fn login<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    connection: u32,
    password: Option<&str>,
) -> Option<Guest> {
    let nonce: [u8; NONCE] = std::array::from_fn(|_| fastrand::u8(b'!'..=b'~'));
    let (first, second) = nonce.split_first_chunk::<8>().expect("20 are more than 8");
    let second = [second, &[0]].concat();
    let status = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
    let greeting = HandshakePacket::new(
        10,
        VERSION.as_bytes(),
        connection,
        *first,
        Some(second),
        offered(),
        COLLATION,
        status,
        Some(PLUGIN),
    );
    wire.packets.packet(|out| greeting.serialize(out));
    wire.flush().await.ok()?;
    let packet = wire.read().await.ok()?;
    let Ok(response) = ParseBuf(&packet).parse::<HandshakeResponse<'_>>(()) else {
        return refuse(wire, &Trouble::new(1043, "08S01", "Bad handshake")).await;
    };
    let capabilities = response.capabilities() & offered();
    if !capabilities.contains(CapabilityFlags::CLIENT_PROTOCOL_41) {
        return refuse(wire, &Trouble::new(1043, "08S01", "Bad handshake")).await;
    }
    let mut proof = response.scramble_buf().to_vec();
    let is_native = response
        .auth_plugin()
        .is_none_or(|plugin| matches!(plugin, AuthPlugin::MysqlNativePassword));
    if !is_native {
        wire.packets.packet(|out| {
            out.push(0xfe);
            out.extend_from_slice(PLUGIN);
            out.push(0);
            out.extend_from_slice(&nonce);
            out.push(0);
        });
        wire.flush().await.ok()?;
        proof = wire.read().await.ok()?;
    }
    let is_right = password.is_none_or(|password| {
        let expected = scramble_native(&nonce, password.as_bytes());
        expected.map_or(proof.is_empty(), |expected| proof == expected)
    });
    if response.user() != USER.as_bytes() || !is_right {
        let user: String = String::from_utf8_lossy(response.user()).chars().take(64).collect();
        let using = if proof.is_empty() { "NO" } else { "YES" };
        let text = format!("Access denied for user '{user}'@'localhost' (using password: {using})");
        return refuse(wire, &Trouble::new(1045, "28000", text)).await;
    }
    let database = response.db_name().filter(|name| !name.is_empty());
    let database = database.map(|name| String::from_utf8_lossy(name).into_owned());
    match database.as_deref().map(check_database) {
        Some(Err(trouble)) => refuse(wire, &trouble).await,
        _ => Some(Guest { capabilities, database }),
    }
}

/// The one database is asked for.
pub(crate) fn check_database(name: &str) -> Result<(), Trouble> {
    if name == DATABASE {
        return Ok(());
    }
    let name: String = name.chars().take(64).collect();
    Err(Trouble::new(1049, "42000", format!("Unknown database '{name}'")))
}

async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    trouble: &Trouble,
) -> Option<Guest> {
    reply::refuse(&mut wire.packets, trouble);
    // A failure means that the client is gone, as it is in any case.
    let _ = wire.flush().await;
    None
}
