//! The networks of clients: those with the same rules share one on each core.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use brunt_http::{Network, Settings};
use brunt_js::{CoreSlot, Host, SlotKey};
use brunt_net::{Proxies, TlsAuth};

/// Networks that a core remembers; a script that makes up rules without end starts over. Clients keep theirs.
const NETWORKS_MAX: usize = 32;

/// A client's rules about its connections, on top of the options of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) dial_timeout: Duration,
    /// `[user:password@]host:port`; empty for none.
    pub(super) proxy: String,
    pub(super) max_conns_per_host: usize,
    /// The most bytes of a response's head; 0 is the default.
    pub(super) head_limit: usize,
    pub(super) insecure_skip_verify: bool,
    /// PEM files; both or neither.
    pub(super) certificate: String,
    pub(super) private_key: String,
}

impl Rules {
    /// The options of the test with these rules on top. Certificates are read from their files here.
    ///
    /// # Errors
    /// A sentence that names the key, its value and what is wrong.
    pub(super) fn settings(&self, options: &Settings) -> Result<Settings, String> {
        let mut settings = options.clone();
        settings.net.connect_timeout = self.dial_timeout;
        settings.idle_per_host = self.max_conns_per_host;
        settings.idle_total = 0;
        // The extension speaks HTTP/1.1 alone.
        settings.net.tls.http2 = false;
        // Proxies of the environment are not those of this module.
        settings.net.proxies = match self.proxy.as_str() {
            "" => Proxies::default(),
            proxy => Proxies::everything(proxy).map_err(|error| error.to_string())?,
        };
        if self.head_limit > 0 {
            settings.head_limit = self.head_limit;
        }
        settings.net.tls.insecure_skip_verify |= self.insecure_skip_verify;
        if !self.certificate.is_empty() {
            let read = |key: &str, path: &str| {
                // A pipe would be waited for, a device may be endless.
                let is_regular = std::fs::metadata(path).map_or(true, |about| about.is_file());
                if !is_regular {
                    return Err(format!("the {key} {path:?} of tls_config is not a regular file"));
                }
                std::fs::read_to_string(path).map_err(|error| {
                    format!("the {key} {path:?} of tls_config cannot be read: {error}")
                })
            };
            settings.net.tls.auth = vec![TlsAuth {
                cert: read("certificate", &self.certificate)?,
                key: read("private_key", &self.private_key)?,
                ..TlsAuth::default()
            }];
        }
        Ok(settings)
    }
}

/// The networks of one core.
#[derive(Debug, Default)]
pub(super) struct Networks(RefCell<Vec<(Rules, Rc<Network>)>>);

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
    /// The network for these rules.
    ///
    /// # Errors
    /// A sentence, if the rules cannot be carried out.
    pub(super) fn find(&self, rules: &Rules, options: &Settings) -> Result<Rc<Network>, String> {
        let mut known = self.0.borrow_mut();
        if let Some((_, network)) = known.iter().find(|(other, _)| other == rules) {
            return Ok(Rc::clone(network));
        }
        let network = Network::new(rules.settings(options)?, brunt_fiber::clock::now_ns)
            .map_err(|error| error.to_string())?;
        if known.len() >= NETWORKS_MAX {
            known.clear();
        }
        known.push((rules.clone(), Rc::clone(&network)));
        Ok(network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            dial_timeout: Duration::from_secs(5),
            proxy: String::new(),
            max_conns_per_host: 1,
            head_limit: 0,
            insecure_skip_verify: false,
            certificate: String::new(),
            private_key: String::new(),
        }
    }

    #[test]
    fn clients_with_the_same_rules_share_a_network() {
        let networks = Networks::default();
        let options = Settings::default();
        let one = networks.find(&rules(), &options).unwrap();
        assert!(Rc::ptr_eq(&one, &networks.find(&rules(), &options).unwrap()));
        let other = Rules { max_conns_per_host: 2, ..rules() };
        assert!(!Rc::ptr_eq(&one, &networks.find(&other, &options).unwrap()));
        for connections in 3..100 {
            let rules = Rules { max_conns_per_host: connections, ..rules() };
            networks.find(&rules, &options).unwrap();
        }
        assert!(networks.0.borrow().len() <= NETWORKS_MAX);
    }

    #[test]
    fn the_options_hold_where_the_rules_say_nothing() {
        let mut options = Settings { head_limit: 77, ..Settings::default() };
        options.net.tls.insecure_skip_verify = true;
        options.net.hosts = vec![("a.test".to_owned(), "127.0.0.1".to_owned())];
        let settings = rules().settings(&options).unwrap();
        assert!(settings.net.tls.insecure_skip_verify);
        assert_eq!((settings.net.hosts.len(), settings.head_limit), (1, 77));
        assert_eq!(settings.net.connect_timeout, Duration::from_secs(5));
    }

    #[test]
    fn what_cannot_be_carried_out_is_named() {
        let options = Settings::default();
        let proxy = Rules { proxy: "ftp://p.test:1".to_owned(), ..rules() };
        assert!(proxy.settings(&options).unwrap_err().contains("only http://"));
        let certificate = Rules {
            certificate: "no/cert.pem".to_owned(),
            private_key: "no/key.pem".to_owned(),
            ..rules()
        };
        let told = certificate.settings(&options).unwrap_err();
        assert!(told.starts_with("the certificate \"no/cert.pem\" of tls_config"), "{told}");
    }
}
