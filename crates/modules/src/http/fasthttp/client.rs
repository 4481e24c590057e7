//! `Client`: its configuration, and its connections, which no other client uses.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use brunt_http::Network;
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use super::file_stream::OUTSIDE;
use super::networks::{Networks, Rules};
use super::send::{self, Method};
use crate::connections::Connections;
use crate::globals::text::needs_new;
use crate::state::VuState;
use crate::throwing::throw;

static DIAL_TIMEOUT: Name = Name::new("dial_timeout");
static PROXY: Name = Name::new("proxy");
static MAX_CONN_DURATION: Name = Name::new("max_conn_duration");
static USER_AGENT: Name = Name::new("user_agent");
static READ_BUFFER_SIZE: Name = Name::new("read_buffer_size");
static WRITE_BUFFER_SIZE: Name = Name::new("write_buffer_size");
static READ_TIMEOUT: Name = Name::new("read_timeout");
static WRITE_TIMEOUT: Name = Name::new("write_timeout");
static MAX_CONNS_PER_HOST: Name = Name::new("max_conns_per_host");
static TLS_CONFIG: Name = Name::new("tls_config");
static INSECURE_SKIP_VERIFY: Name = Name::new("insecure_skip_verify");
static PRIVATE_KEY: Name = Name::new("private_key");
static CERTIFICATE: Name = Name::new("certificate");

/// Connecting takes at most so long, unless the script says otherwise.
const DIAL_TIMEOUT_S: u64 = 5;

const SECOND_NS: u64 = 1_000_000_000;

/// A client of a script, which its responses share: they follow links by it.
#[derive(Clone)]
pub(super) struct Client(Rc<Inner>);

/// The parts of a client.
pub(super) struct Inner {
    rules: Rules,
    pub(super) limits: Limits,
    /// The `User-Agent` of its requests; `None` is that of the options.
    pub(super) agent: Option<Rc<str>>,
    /// Made by the first request: init code has no core to be on.
    wire: OnceCell<Wire>,
}

/// How long things may take, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "each number says its unit")]
pub(super) struct Limits {
    /// A whole request; `None` waits for ever.
    pub(super) request_ns: Option<u64>,
    /// Until all of a request is written, counted from the call; `None` waits for ever.
    pub(super) write_ns: Option<u64>,
    /// The life of a connection; 0 is for ever.
    pub(super) connection_ns: u64,
}

/// The client's side of the network.
pub(super) struct Wire {
    pub(super) client: Rc<brunt_http::Client>,
    /// When the oldest connection that may still be there was opened (unix ns); 0 for none.
    pub(super) opened_at: Cell<u64>,
}

impl Class for Client {
    const NAME: &'static std::ffi::CStr = c"Client";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"delete", 1, |call| send::send(call, Method::Delete))
                .method(c"get", 1, |call| send::send(call, Method::Get))
                .method(c"options", 1, |call| send::send(call, Method::Options))
                .method(c"patch", 1, |call| send::send(call, Method::Patch))
                .method(c"post", 1, |call| send::send(call, Method::Post))
                .method(c"put", 1, |call| send::send(call, Method::Put))
        });
        &MEMBERS
    }
}

pub(super) fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    needs_new(&call, "Client")?;
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        return Err(throw(ctx, "creating client objects is allowed only in the Init context"));
    }
    let client = Client::read(ctx, &call.argument(0))?;
    // Faults of the configuration are told here, in every VU. A core looks at it once for all of its VUs.
    let state = VuState::of(ctx);
    let options = &state.shared.config().network;
    let refused = if host.core().is_some() {
        host.core_slot::<Networks>().find(&client.rules, options).err()
    } else {
        let settings = client.rules.settings(options);
        settings.and_then(|settings| Network::check(&settings).map_err(|e| e.to_string())).err()
    };
    match refused {
        Some(told) => Err(throw(ctx, &told)),
        None => ctx.instance(client),
    }
}

impl std::ops::Deref for Client {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Client {
    fn read<'js>(ctx: Ctx<'js>, config: &Value<'js>) -> JsResult<'js, Self> {
        let config = if config.is_nullish() { ctx.object()? } else { config.clone() };
        if !config.is_object() {
            return Err(throw(ctx, "the configuration of a Client is an object"));
        }
        let tls = config.get(&TLS_CONFIG)?;
        let tls = if tls.is_object() { tls } else { ctx.object()? };
        let certificate = text(&tls.get(&CERTIFICATE)?)?;
        let private_key = text(&tls.get(&PRIVATE_KEY)?)?;
        match (certificate.is_empty(), private_key.is_empty()) {
            (false, true) => return Err(throw(ctx, "blank private key")),
            (true, false) => return Err(throw(ctx, "blank certificate")),
            _ => {}
        }
        if !certificate.is_empty() && Host::of(ctx).program().files().is_sealed() {
            return Err(throw(ctx, &format!("open {certificate}: {OUTSIDE}")));
        }
        let number = |name| number(ctx, &config, name);
        let (read, write) = (number(&READ_TIMEOUT)?, number(&WRITE_TIMEOUT)?);
        // Sending takes no buffer of the client's.
        number(&WRITE_BUFFER_SIZE)?;
        let agent = text(&config.get(&USER_AGENT)?)?;
        Ok(Self(Rc::new(Inner {
            rules: Rules {
                dial_timeout: Duration::from_secs(match number(&DIAL_TIMEOUT)? {
                    0 => DIAL_TIMEOUT_S,
                    seconds => seconds,
                }),
                proxy: text(&config.get(&PROXY)?)?,
                max_conns_per_host: number(&MAX_CONNS_PER_HOST)?.max(1) as usize,
                head_limit: number(&READ_BUFFER_SIZE)? as usize,
                insecure_skip_verify: tls.get(&INSECURE_SKIP_VERIFY)?.truthy(),
                certificate,
                private_key,
            },
            limits: Limits {
                request_ns: (read > 0).then(|| (read + write).saturating_mul(SECOND_NS)),
                write_ns: (write > 0).then(|| write.saturating_mul(SECOND_NS)),
                connection_ns: number(&MAX_CONN_DURATION)?.saturating_mul(SECOND_NS),
            },
            agent: (!agent.is_empty()).then(|| agent.into()),
            wire: OnceCell::new(),
        })))
    }

    /// The connections; made at the first call.
    ///
    /// # Errors
    /// If the configuration cannot be carried out.
    pub(super) fn wire<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, &Wire> {
        if let Some(wire) = self.wire.get() {
            return Ok(wire);
        }
        let options = &VuState::of(ctx).shared.config().network;
        let network = Host::of(ctx).core_slot::<Networks>().find(&self.rules, options);
        let network = network.map_err(|told| throw(ctx, &told))?;
        let client = Connections::of(ctx).new_client_on(network);
        Ok(self.wire.get_or_init(|| Wire { client, opened_at: Cell::new(0) }))
    }
}

/// A text; what is not given is empty.
fn text<'js>(value: &Value<'js>) -> JsResult<'js, String> {
    if value.is_nullish() { Ok(String::new()) } else { value.to_string_lossy() }
}

/// A whole number; what is not given, and what is negative, is 0.
fn number<'js>(ctx: Ctx<'js>, config: &Value<'js>, name: &Name) -> JsResult<'js, u64> {
    let value = config.get(name)?;
    if value.is_nullish() {
        return Ok(0);
    }
    match value.to_number()? {
        number if number.is_nan() => Err(throw(
            ctx,
            &format!(
                "{} of a Client is a whole number (times are in seconds), not {:?}",
                name.text(),
                value.to_string_lossy()?
            ),
        )),
        // A century of seconds is for ever.
        number => Ok(number.clamp(0.0, 1e10) as u64),
    }
}
