//! `connect()`: its parameters, and the way to a server.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use brunt_grpc::{Channel, Limits, Metadata, Way};
use brunt_http::{OwnedTarget, Target};
use brunt_js::{CoreSlot, Host, SlotKey};
use brunt_net::{Dialer, Failure, Network, Offer, Proxies, Settings, TlsAuth};
use brunt_quickjs::{Ctx, Value};
use tokio::time::{sleep, timeout};

use super::params::{Refusal, metadata};
use crate::connections::Connections;
use crate::go_error::go_type;
use crate::go_text;
use crate::reading::{Room, keys_of, length_of, timeout_of};
use crate::state::VuState;

/// Networks that a core remembers; a script that makes up certificates without end starts over. Links keep theirs.
const NETWORKS_MAX: usize = 32;

/// Connecting may take so long, unless the script says otherwise.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The params of `connect()`.
pub(super) struct Params {
    is_plaintext: bool,
    pub(super) timeout: Duration,
    pub(super) reflects: bool,
    pub(super) reflect_metadata: Option<Metadata>,
    limits: Limits,
    authority: Option<String>,
    tls: Tls,
}

/// The certificates of `connect()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tls {
    cert: String,
    key: String,
    password: Option<String>,
    authorities: Vec<String>,
}

impl Params {
    pub(super) fn read(given: &Value<'_>) -> Result<Self, Refusal> {
        let mut params = Self {
            is_plaintext: false,
            timeout: TIMEOUT,
            reflects: false,
            reflect_metadata: None,
            limits: Limits::default(),
            authority: None,
            tls: Tls::default(),
        };
        if !given.is_object() {
            return Ok(params);
        }
        for key in keys_of(given)? {
            let name = key.text().unwrap_or_default();
            let value = given.get(&key)?;
            let wrong = |needs: &str| -> Result<Refusal, Refusal> {
                let shown = go_text::syntax(&value);
                Ok(Refusal::Told(format!(
                    "invalid {name} value: '{shown}', it needs to be {needs}"
                )))
            };
            match name.as_str() {
                "plaintext" | "reflect" => {
                    let Some(is_on) = value.as_bool() else { return Err(wrong("boolean")?) };
                    if name == "reflect" {
                        params.reflects = is_on;
                    } else {
                        params.is_plaintext = is_on;
                    }
                }
                "timeout" => {
                    params.timeout = timeout_of(&value)
                        .map_err(|told| format!("invalid timeout value: {told}"))?;
                }
                "reflectMetadata" => params.reflect_metadata = metadata(&value, &name)?,
                "maxReceiveSize" | "maxSendSize" => {
                    let size = value.as_number().filter(|_| go_type(&value) == "int64");
                    let Some(size) = size else { return Err(wrong("an integer")?) };
                    if size < 0.0 {
                        // The quote that is missing is missing in k6.
                        return Err(Refusal::Told(format!(
                            "invalid {name} value: '{size}, it needs to be a positive integer"
                        )));
                    }
                    let limit = if name == "maxSendSize" {
                        &mut params.limits.send
                    } else {
                        &mut params.limits.receive
                    };
                    *limit = size as usize;
                }
                "authority" => {
                    let Some(text) = value.as_str() else { return Err(wrong("a string")?) };
                    params.authority = Some(text.as_str().to_owned()).filter(|it| !it.is_empty());
                }
                "tls" => params.tls = Tls::read(&value)?,
                _ => return Err(Refusal::Told(format!("unknown connect param: {name:?}"))),
            }
        }
        Ok(params)
    }
}

/// The form of certificates and keys.
const PEM: &str = "a PEM formatted string";

impl Tls {
    fn read(given: &Value<'_>) -> Result<Self, Refusal> {
        let mut tls = Self::default();
        if go_type(given) != "map[string]interface {}" {
            let shown = go_text::syntax(given);
            return Err(Refusal::Told(format!(
                "invalid tls value: '{shown}', expected (optional) keys: cert, key, password, and cacerts"
            )));
        }
        for key in keys_of(given)? {
            let name = key.text().unwrap_or_default();
            let value = given.get(&key)?;
            let text = value.as_str().map(|text| text.as_str().to_owned());
            let wrong = |needs: &str| -> Result<Refusal, Refusal> {
                let shown = go_text::syntax(given);
                let told = format!("invalid tls {name} value: '{shown}', it needs to be {needs}");
                Ok(Refusal::Told(told))
            };
            match (name.as_str(), text) {
                ("cert", Some(text)) => tls.cert = text,
                ("key", Some(text)) => tls.key = text,
                ("cert" | "key", None) => return Err(wrong(PEM)?),
                ("password", Some(text)) => tls.password = Some(text),
                ("password", None) => return Err(wrong("a string")?),
                ("cacerts", Some(text)) => tls.authorities = vec![text],
                ("cacerts", None) => {
                    let needs = "a string or an array of PEM formatted strings";
                    if !value.is_array() {
                        return Err(wrong(needs)?);
                    }
                    let mut room = Room::new();
                    for index in 0..length_of(&value)? {
                        let entry = value.get_index(index)?;
                        let Some(text) = entry.as_str() else { return Err(wrong(needs)?) };
                        room.take(value.ctx(), text.len())?;
                        tls.authorities.push(text.as_str().to_owned());
                    }
                }
                _ => {}
            }
        }
        for (index, authority) in tls.authorities.iter().enumerate() {
            if !authority.contains("-----BEGIN CERTIFICATE-----") {
                let told = format!("failed to append ca certificate [{index}] from PEM");
                return Err(Refusal::Told(told));
            }
        }
        Ok(tls)
    }

    /// The options of the test with these certificates on top.
    fn settings(&self, options: &Settings) -> Settings {
        let mut settings = options.clone();
        settings.proxies = Proxies::default();
        settings.tls.http2 = true;
        // One without the other is nothing, as in k6.
        if !self.cert.is_empty() && !self.key.is_empty() {
            settings.tls.auth = vec![TlsAuth {
                cert: self.cert.clone(),
                key: self.key.clone(),
                password: self.password.clone(),
                domains: Vec::new(),
            }];
        }
        if !self.authorities.is_empty() {
            settings.tls.extra_roots.clone_from(&self.authorities);
            settings.tls.only_extra_roots = true;
        }
        settings
    }
}

/// The networks of one core: those with the same certificates share one.
#[derive(Default)]
struct Networks(RefCell<Vec<(Tls, Rc<Network>)>>);

impl CoreSlot for Networks {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

impl Networks {
    fn find(&self, tls: &Tls, options: &Settings) -> Result<Rc<Network>, String> {
        let mut known = self.0.borrow_mut();
        if let Some((_, network)) = known.iter().find(|(other, _)| other == tls) {
            return Ok(Rc::clone(network));
        }
        let network = Network::new(tls.settings(options), brunt_fiber::clock::now_ns);
        let network = network.map_err(|error| {
            if tls.cert.contains("-----BEGIN") {
                format!("failed to append certificate from PEM: {error}")
            } else {
                "failed to append certificate from PEM: tls: failed to find any PEM data in certificate input".to_owned()
            }
        })?;
        if known.len() >= NETWORKS_MAX {
            known.clear();
        }
        known.push((tls.clone(), Rc::clone(&network)));
        Ok(network)
    }
}

/// The way to a server, and the channel that was opened on it last.
pub(super) struct Link {
    /// As the script named it.
    pub(super) address: String,
    target: OwnedTarget,
    way: Way,
    limits: Limits,
    dialer: Rc<Dialer>,
    channel: RefCell<Option<Rc<Channel>>>,
}

impl Link {
    /// Nothing is dialed yet.
    ///
    /// # Errors
    /// k6's sentence, if the address or the certificates can't be used.
    pub(super) fn new(ctx: Ctx<'_>, address: &str, params: &Params) -> Result<Rc<Self>, String> {
        let config = VuState::of(ctx).shared.config();
        let network =
            Host::of(ctx).core_slot::<Networks>().find(&params.tls, &config.network.net)?;
        let plain = address.strip_prefix("dns:///").unwrap_or(address);
        let plain = plain.strip_prefix("passthrough:///").unwrap_or(plain);
        check(plain).map_err(|told| dialing(&told))?;
        let scheme = if params.is_plaintext { "http" } else { "https" };
        let url = format!("{scheme}://{plain}");
        let target = Target::parse(&url)
            .map_err(|_| dialing(&format!("address {plain}: it is not a host and a port")))?;
        let way = Way {
            authority: params.authority.clone().unwrap_or_else(|| plain.to_owned()),
            is_secure: !params.is_plaintext,
            user_agent: config.user_agent.clone(),
        };
        Ok(Rc::new(Self {
            address: address.to_owned(),
            target: target.to_owned_target(),
            way,
            limits: params.limits,
            dialer: Connections::of(ctx).dialer_on(&network),
            channel: RefCell::default(),
        }))
    }

    /// The channel, as `connect()` waits for it: a TLS handshake that fails is tried again until the time is over, as in k6.
    pub(super) async fn open_within(&self, limit: Duration) -> Result<Rc<Channel>, String> {
        let last = RefCell::new(None);
        let opened = timeout(limit, async {
            let mut pause = RETRY_MIN;
            loop {
                match self.channel().await {
                    Err(told) if told.starts_with(HANDSHAKE) => *last.borrow_mut() = Some(told),
                    opened => return opened,
                }
                sleep(pause).await;
                pause = (pause * 8 / 5).min(RETRY_MAX);
            }
        });
        let opened = opened.await;
        let late = || Err(last.take().unwrap_or_else(|| "context deadline exceeded".to_owned()));
        opened.unwrap_or_else(|_| late())
    }

    /// The channel, dialed if there is none or if it is lost.
    pub(super) async fn channel(&self) -> Result<Rc<Channel>, String> {
        if let Some(channel) = &*self.channel.borrow()
            && channel.is_open()
        {
            return Ok(Rc::clone(channel));
        }
        let target = self.target.borrow();
        let opened = self.dialer.open(&target.endpoint(), Offer::Http).await;
        let opened = opened.map_err(|failure| refusal(failure, &target))?;
        if self.way.is_secure && !opened.is_http2() {
            return Err(handshake(
                "credentials: cannot check peer: missing selected ALPN property. If you upgraded from a grpc-go version \
                 earlier than 1.67, your TLS connections may have stopped working due to ALPN enforcement. For more \
                 details, see: https://github.com/grpc/grpc-go/issues/434",
            ));
        }
        let channel = Channel::open(opened, self.way.clone(), self.limits).await;
        let channel = channel.map_err(|error| format!("context deadline exceeded: {error}"))?;
        let channel = Rc::new(channel);
        *self.channel.borrow_mut() = Some(Rc::clone(&channel));
        Ok(channel)
    }
}

/// Go's message about addresses without a port, or with too many.
fn check(address: &str) -> Result<(), String> {
    let after = address.rfind(']').map_or(0, |at| at + 1);
    match address[after..].matches(':').count() {
        _ if address.is_empty() => Err("missing port in address".to_owned()),
        0 => Err(format!("address {address}: missing port in address")),
        1 => Ok(()),
        _ => Err(format!("address {address}: too many colons in address")),
    }
}

fn dialing(what: &str) -> String {
    format!("connection error: desc = \"transport: error while dialing: {what}\"")
}

/// How errors begin that `connect()` does not take for an answer.
const HANDSHAKE: &str = "context deadline exceeded: connection error: desc = \"transport: authentication handshake failed: ";

/// Between two tries: at first, and at most.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(2);

/// Tried again until the time is over, and told then.
fn handshake(what: &str) -> String {
    format!("{HANDSHAKE}{what}\"")
}

fn refusal(failure: Failure, target: &Target<'_>) -> String {
    // Go names the address that it dialed.
    let address = match &*target.host {
        "localhost" => format!("127.0.0.1:{}", target.port),
        host if host.contains(':') => format!("[{host}]:{}", target.port),
        host => format!("{host}:{}", target.port),
    };
    match failure {
        Failure::UnknownAuthority
        | Failure::HostMismatch(_)
        | Failure::CertificateTime(_)
        | Failure::Certificate(_) => handshake(&failure.of_certificate().unwrap_or_default()),
        // A refusal of the server is final: it is not tried again.
        Failure::Alert(_) => format!(
            "connection error: desc = \"transport: authentication handshake failed: {failure}\""
        ),
        Failure::NoTls | Failure::LocalAlert(_) | Failure::Tls(_) => {
            handshake(&failure.to_string())
        }
        Failure::Refused => dialing(&format!("dial tcp {address}: connect: connection refused")),
        Failure::NoSuchHost => dialing(&brunt_net::no_such_host(&target.host)),
        Failure::DialTimeout => dialing(&format!("dial tcp {address}: i/o timeout")),
        other => dialing(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_one_port() {
        assert_eq!(check("a:1"), Ok(()));
        assert_eq!(check("[::1]:1"), Ok(()));
        assert!(check("").unwrap_err().starts_with("missing port"));
        assert!(check("a").unwrap_err().ends_with("missing port in address"));
        assert!(check("http://a:1").unwrap_err().ends_with("too many colons in address"));
    }
}
