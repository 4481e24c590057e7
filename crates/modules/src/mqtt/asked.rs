//! The arguments of a client: its identity, its broker, its actions.

use std::rc::Rc;
use std::time::Duration;

use brunt_http::Client as Http;
use brunt_quickjs::{Call, Ctx, JsResult, Root, Value};
use rumqttc::mqttbytes::{QoS, valid_filter, valid_topic};

use super::session::{Login, Session, Will};
use super::wire::Place;
use crate::extension::OwnTags;
use crate::reading::Room;

/// The longest text that MQTT carries.
const TEXT_MAX: usize = 65_535;

/// A member of an object as text; `None` if it is not there.
fn text<'js>(of: &Value<'js>, name: &str) -> JsResult<'js, Option<String>> {
    let value = of.get(name)?;
    if value.is_nullish() { Ok(None) } else { value.to_string_lossy().map(Some) }
}

fn quality<'js>(options: &Value<'js>) -> JsResult<'js, Result<QoS, String>> {
    if !options.is_object() {
        return Ok(Ok(QoS::AtMostOnce));
    }
    let given = options.get("qos")?;
    if given.is_nullish() {
        return Ok(Ok(QoS::AtMostOnce));
    }
    let number = given.to_number()?;
    let level = if number.fract() == 0.0 { number as i64 } else { -1 };
    Ok(match level {
        0 => Ok(QoS::AtMostOnce),
        1 => Ok(QoS::AtLeastOnce),
        2 => Ok(QoS::ExactlyOnce),
        _ => Err(format!("the quality of service is 0, 1 or 2, not {}", given.to_string_lossy()?)),
    })
}

fn bytes<'js>(value: &Value<'js>) -> JsResult<'js, Vec<u8>> {
    if value.is_nullish() {
        return Ok(Vec::new());
    }
    match value.with_bytes(<[u8]>::to_vec) {
        Some(bytes) => Ok(bytes),
        None => value.to_string_lossy().map(String::into_bytes),
    }
}

/// Options of the constructor.
pub(super) struct Identity {
    client_id: Option<String>,
    username: Option<String>,
    password: Option<String>,
    provider: Option<Root>,
    will: Option<Will>,
}

impl Identity {
    pub(super) fn read<'js>(
        ctx: Ctx<'js>,
        options: &Value<'js>,
    ) -> JsResult<'js, Result<Self, String>> {
        let none =
            Self { client_id: None, username: None, password: None, provider: None, will: None };
        if options.is_nullish() {
            return Ok(Ok(none));
        }
        if !options.is_object() {
            return Ok(Err("the options of a client are an object".to_owned()));
        }
        // The declarations say one, the documentation the other.
        let client_id = match text(options, "client_id")? {
            None => text(options, "clientId")?,
            some => some,
        };
        let provider = options.get("credentials_provider")?;
        let provider = provider.is_function().then(|| ctx.root(provider));
        let given = options.get("will")?;
        let will = if given.is_object() {
            let topic = text(&given, "topic")?.unwrap_or_default();
            if let Err(why) = topic_of_message(&topic) {
                return Ok(Err(format!("the will: {why}")));
            }
            let qos = match quality(&given)? {
                Ok(qos) => qos,
                Err(why) => return Ok(Err(format!("the will: {why}"))),
            };
            let (payload, retain) = (bytes(&given.get("payload")?)?, given.get("retain")?.truthy());
            if payload.len() > TEXT_MAX {
                return Ok(Err(format!("the will is longer than {TEXT_MAX} bytes")));
            }
            Some(Will { topic, payload, qos, retain })
        } else {
            None
        };
        let (username, password) = (text(options, "username")?, text(options, "password")?);
        for text in [&client_id, &username, &password].into_iter().flatten() {
            if text.len() > TEXT_MAX {
                return Ok(Err(too_long("an option")));
            }
        }
        Ok(Ok(Self { client_id, username, password, provider, will }))
    }

    pub(super) fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// The login for the broker. The script's provider of credentials is asked, if there is one.
    pub(super) fn login<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Result<Login, String>> {
        let (mut username, mut password) = (self.username.clone(), self.password.clone());
        if let Some(provider) = &self.provider {
            let given = ctx.rooted(provider).call(&ctx.undefined(), &[])?;
            if !given.is_object() {
                return Ok(Err("credentials_provider gave no object".to_owned()));
            }
            username = text(&given, "username")?;
            password = text(&given, "password")?;
            for text in [&username, &password].into_iter().flatten() {
                if text.len() > TEXT_MAX {
                    return Ok(Err(too_long("a credential")));
                }
            }
        }
        let client_id = self.client_id.clone().unwrap_or_default();
        Ok(Ok(Login { client_id, username, password, will: self.will.clone() }))
    }
}

fn too_long(what: &str) -> String {
    format!("{what} is longer than {TEXT_MAX} bytes")
}

/// Where a broker is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broker {
    url: String,
    host: String,
    port: u16,
    is_secure: bool,
    /// The address of its WebSocket, path and all.
    web: Option<String>,
}

impl Broker {
    /// `mqtt://host:port`, `mqtts://…`, `ws://host:port/path`, `wss://…`, or without a scheme.
    fn parse(given: &str) -> Result<Self, String> {
        let given = given.trim();
        let (scheme, rest) = given.split_once("://").unwrap_or(("mqtt", given));
        let scheme = scheme.to_ascii_lowercase();
        let (is_secure, is_web) = match scheme.as_str() {
            "mqtt" | "tcp" => (false, false),
            "mqtts" | "ssl" | "tls" => (true, false),
            "ws" => (false, true),
            "wss" => (true, true),
            other => {
                return Err(format!(
                    "unknown scheme \"{other}\" of a broker's URL; there are mqtt, mqtts, tcp, ssl, \
                     tls, ws and wss"
                ));
            }
        };
        let wrong = || format!("\"{given}\" is no URL of a broker, such as mqtt://localhost:1883");
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
                (host, port.strip_prefix(':').filter(|port| !port.is_empty()))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| wrong())?,
            None => match (is_web, is_secure) {
                (false, false) => 1883,
                (false, true) => 8883,
                (true, false) => 80,
                (true, true) => 443,
            },
        };
        if host.is_empty() || port == 0 {
            return Err(wrong());
        }
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let mut url = format!("{scheme}://{shown}:{port}");
        let web = is_web.then(|| {
            let path = path.split('#').next().unwrap_or_default();
            url.push_str(path);
            let slash = if path.starts_with('/') { "" } else { "/" };
            format!("{scheme}://{shown}:{port}{slash}{path}")
        });
        Ok(Self { url, host: host.to_owned(), port, is_secure, web })
    }

    fn place<'a>(&'a self, agent: &'a str) -> Place<'a> {
        match &self.web {
            Some(url) => Place::Web { url, agent },
            None => Place::Port { is_secure: self.is_secure, host: &self.host, port: self.port },
        }
    }
}

/// Whom to connect to, and how.
pub(super) struct Connecting {
    brokers: Vec<Broker>,
    keep_alive: u16,
    pub(super) timeout: Duration,
    is_clean: bool,
    pub(super) tags: OwnTags,
}

impl Connecting {
    /// `(url, options?)` or `(options)`.
    pub(super) fn read<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let first = call.argument(0);
        let options = if first.is_object() { first.clone() } else { call.argument(1) };
        let mut urls = Vec::new();
        if first.is_string() {
            urls.push(first.to_string_lossy()?);
        }
        let (mut keep_alive, mut timeout, mut is_clean) = (60, 30_000.0, true);
        if options.is_object() {
            let servers = options.get("servers")?;
            if servers.is_array() {
                let mut room = Room::new();
                for index in 0..servers.length()?.min(1000) {
                    urls.push(room.text(&servers.get_index(index)?)?);
                }
            }
            let number = options.get("keepalive")?;
            if !number.is_nullish() {
                keep_alive = number.to_number()?.clamp(0.0, 65_535.0) as u16;
            }
            let number = options.get("connect_timeout")?;
            if !number.is_nullish() {
                timeout = number.to_number()?;
            }
            let given = options.get("clean_session")?;
            if !given.is_nullish() {
                is_clean = given.truthy();
            }
        }
        let timeout = match Duration::try_from_secs_f64(timeout / 1000.0) {
            Ok(timeout) if !timeout.is_zero() => timeout,
            _ => return Ok(Err("connect_timeout is a number of milliseconds above 0".to_owned())),
        };
        if urls.is_empty() {
            return Ok(Err("connect needs the URL of a broker".to_owned()));
        }
        let brokers: Result<Vec<_>, _> = urls.iter().map(|url| Broker::parse(url)).collect();
        let tags = OwnTags::read(call.ctx(), &options)?;
        Ok(brokers.map(|brokers| Self { brokers, keep_alive, timeout, is_clean, tags }))
    }

    /// The first broker that lets the client in, and its URL; else why the last did not.
    pub(super) async fn open(
        &self,
        http: &Rc<Http>,
        login: &Login,
        agent: &str,
    ) -> Result<(Session, String), String> {
        let mut why = String::new();
        for broker in &self.brokers {
            let opening = Session::open(
                http,
                broker.place(agent),
                login,
                self.is_clean,
                (self.keep_alive, self.timeout),
            );
            match tokio::time::timeout(self.timeout, Box::pin(opening)).await {
                Ok(Ok(session)) => return Ok((session, broker.url.clone())),
                Ok(Err(reason)) => why = reason,
                Err(_) => {
                    why = format!("{} did not let the client in: i/o timeout", broker.url);
                }
            }
        }
        Err(why)
    }

    /// As samples name it before a broker is found.
    pub(super) fn url(&self) -> &str {
        self.brokers.first().map_or("", |broker| &broker.url)
    }
}

/// The action.
pub(super) enum Doing {
    Publish { topic: String, payload: Vec<u8>, qos: QoS, retain: bool },
    Subscribe { filters: Vec<String>, qos: QoS },
    Unsubscribe { filters: Vec<String> },
    End,
}

impl Doing {
    /// The bytes that it holds.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Publish { topic, payload, .. } => topic.len() + payload.len(),
            Self::Subscribe { filters, .. } | Self::Unsubscribe { filters } => {
                filters.iter().map(|filter| filter.len() + size_of::<String>()).sum()
            }
            Self::End => 0,
        }
    }
}

/// A script's request.
pub(super) struct Asked {
    pub(super) doing: Doing,
    pub(super) tags: OwnTags,
}

impl Asked {
    pub(super) fn end<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        Ok(Ok(Self { doing: Doing::End, tags: OwnTags::read(call.ctx(), &call.argument(0))? }))
    }

    pub(super) fn publish<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let (topic, payload, options) = (call.argument(0), call.argument(1), call.argument(2));
        if !topic.is_string() {
            return Ok(Err("publish needs a topic".to_owned()));
        }
        let topic = topic.to_string_lossy()?;
        if let Err(why) = topic_of_message(&topic) {
            return Ok(Err(why));
        }
        let qos = match quality(&options)? {
            Ok(qos) => qos,
            Err(why) => return Ok(Err(why)),
        };
        let retain = options.is_object() && options.get("retain")?.truthy();
        let payload = bytes(&payload)?;
        let tags = OwnTags::read(call.ctx(), &options)?;
        Ok(Ok(Self { doing: Doing::Publish { topic, payload, qos, retain }, tags }))
    }

    pub(super) fn subscribe<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let options = call.argument(1);
        let filters = match filters(&call.argument(0))? {
            Ok(filters) => filters,
            Err(why) => return Ok(Err(why)),
        };
        let qos = match quality(&options)? {
            Ok(qos) => qos,
            Err(why) => return Ok(Err(why)),
        };
        let tags = OwnTags::read(call.ctx(), &options)?;
        Ok(Ok(Self { doing: Doing::Subscribe { filters, qos }, tags }))
    }

    pub(super) fn unsubscribe<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let filters = match filters(&call.argument(0))? {
            Ok(filters) => filters,
            Err(why) => return Ok(Err(why)),
        };
        let tags = OwnTags::read(call.ctx(), &call.argument(1))?;
        Ok(Ok(Self { doing: Doing::Unsubscribe { filters }, tags }))
    }
}

fn topic_of_message(topic: &str) -> Result<(), String> {
    if topic.is_empty() || !valid_topic(topic) || topic.contains('\0') {
        return Err(format!(
            "\"{topic}\" is not a topic for a message: + and # are not allowed in it"
        ));
    }
    if topic.len() > TEXT_MAX { Err(too_long("the topic")) } else { Ok(()) }
}

/// A topic or an array of them, with wildcards.
fn filters<'js>(given: &Value<'js>) -> JsResult<'js, Result<Vec<String>, String>> {
    let mut all = Vec::new();
    if given.is_array() {
        let mut room = Room::new();
        for index in 0..given.length()?.min(10_000) {
            all.push(room.text(&given.get_index(index)?)?);
        }
    } else if given.is_string() {
        all.push(given.to_string_lossy()?);
    }
    if all.is_empty() {
        return Ok(Err("a topic is missing, or an array of topics".to_owned()));
    }
    let wrong = all.iter().find(|filter| {
        filter.is_empty()
            || filter.len() > TEXT_MAX
            || filter.contains('\0')
            || !valid_filter(filter)
    });
    Ok(match wrong {
        Some(wrong) if wrong.len() > TEXT_MAX => Err(too_long("a topic")),
        Some(wrong) => Err(format!("\"{wrong}\" is not a topic to subscribe to")),
        None => Ok(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_are_named_in_many_ways() {
        for (given, url, is_secure) in [
            ("mqtt://a.test", "mqtt://a.test:1883", false),
            ("a.test:99", "mqtt://a.test:99", false),
            ("a.test", "mqtt://a.test:1883", false),
            ("tcp://a.test", "tcp://a.test:1883", false),
            ("mqtts://a.test", "mqtts://a.test:8883", true),
            ("TLS://[::1]:1/path", "tls://[::1]:1", true),
            ("ssl://user:word@a.test", "ssl://a.test:8883", true),
            ("ws://a.test", "ws://a.test:80", false),
            ("WSS://a.test/mqtt?a=b#c", "wss://a.test:443/mqtt?a=b", true),
        ] {
            let broker = Broker::parse(given).unwrap();
            assert_eq!((broker.url.as_str(), broker.is_secure), (url, is_secure), "{given}");
        }
        for given in
            ["", "mqtt://", "mqtt://a:0", "mqtt://a:x", "http://a", "ws:///", "mqtt://[::1"]
        {
            assert!(Broker::parse(given).is_err(), "{given}");
        }
        let web = |given| Broker::parse(given).unwrap().web.unwrap();
        assert_eq!(web("ws://[::1]:9"), "ws://[::1]:9/");
        assert_eq!(web("wss://me@a.test/mqtt?a=b#c"), "wss://a.test:443/mqtt?a=b");
    }
}
