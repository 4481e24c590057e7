//! Ways to log in.

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::client_ed25519::ClientEd25519;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::auth::plugins::{ChallengeResponsePlugin as _, Context};
use rsa::pkcs1::DecodeRsaPublicKey as _;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPublicKey};

use super::packet::malformed;
use crate::config::mysql::Options;
use crate::failure::{Failure, Trouble};

/// A login that is under way.
#[derive(Debug)]
pub(super) struct Login<'a> {
    pub(super) password: &'a str,
    pub(super) options: &'a Options,
    /// No stranger can listen: TLS, or a socket in the file system.
    pub(super) is_private: bool,
    pub(super) is_secure: bool,
    /// The password is mixed with it.
    pub(super) nonce: Vec<u8>,
    pub(super) plugin: String,
}

const FAST_SUCCESS: &[u8] = &[3];
const FULL: &[u8] = &[4];
const KEY_OF_SHA256: u8 = 1;
const KEY_OF_CACHING_SHA2: u8 = 2;

fn refused(text: impl Into<String>) -> Failure {
    Failure::new(Trouble::Connect, text)
}

impl Login<'_> {
    /// The first answer to the nonce.
    pub(super) fn first(&self) -> Result<Vec<u8>, Failure> {
        let password = self.password.as_bytes();
        match self.plugin.as_str() {
            "mysql_native_password" => {
                if !self.options.allow_native_passwords {
                    let why = "this user requires mysql native password authentication";
                    return Err(refused(why));
                }
                let nonce = self.nonce.get(..20).unwrap_or(&self.nonce);
                Ok(scramble_native(nonce, password).map(Vec::from).unwrap_or_default())
            }
            "caching_sha2_password" => {
                let nonce = self.nonce.first_chunk::<20>().ok_or_else(malformed)?;
                Ok(scramble_sha256(nonce, password).map(Vec::from).unwrap_or_default())
            }
            "sha256_password" => {
                if password.is_empty() {
                    Ok(vec![0])
                } else if self.is_secure {
                    Ok(self.clear())
                } else if let Some(key) = &self.options.server_key {
                    self.encrypted(key.as_bytes())
                } else {
                    Ok(vec![KEY_OF_SHA256])
                }
            }
            "client_ed25519" => {
                let nonce = self.nonce.first_chunk::<32>().ok_or_else(malformed)?;
                let response = ClientEd25519::default().run(Password(password), nonce);
                let response = response.map_err(|why| refused(why.to_string()))?;
                Ok(response.data().map(<[u8]>::to_vec).unwrap_or_default())
            }
            "mysql_clear_password" | "dialog" => {
                if !self.options.allow_cleartext_passwords {
                    return Err(refused(
                        "this user requires clear text authentication. If you still want to use it, please add \
                         'allowCleartextPasswords=1' to your DSN",
                    ));
                }
                Ok(self.clear())
            }
            "mysql_old_password" => Err(self.old()),
            _ => Err(refused(format!(
                "this authentication plugin is not supported: {}",
                self.plugin
            ))),
        }
    }

    /// The answer to more data of the server, if there is one.
    pub(super) fn next(&self, data: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match self.plugin.as_str() {
            "caching_sha2_password" => match data {
                FAST_SUCCESS => Ok(None),
                FULL if self.is_private => Ok(Some(self.clear())),
                FULL => match &self.options.server_key {
                    Some(key) => self.encrypted(key.as_bytes()).map(Some),
                    None => Ok(Some(vec![KEY_OF_CACHING_SHA2])),
                },
                key if key.starts_with(b"-----") => self.encrypted(key).map(Some),
                _ => Err(malformed()),
            },
            "sha256_password" => self.encrypted(data).map(Some),
            _ => Err(malformed()),
        }
    }

    /// A server of before MySQL 4.1, or a password that was made then.
    pub(super) fn old(&self) -> Failure {
        refused(if self.options.allow_old_passwords {
            "this user requires old password authentication, which can be broken in seconds and is not spoken here: \
             give the user a new password (ALTER USER … IDENTIFIED BY …)"
        } else {
            "this user requires old password authentication. If you still want to use it, please add \
             'allowOldPasswords=1' to your DSN. See also https://github.com/go-sql-driver/mysql/wiki/old_passwords"
        })
    }

    fn clear(&self) -> Vec<u8> {
        let mut bytes = self.password.as_bytes().to_vec();
        bytes.push(0);
        bytes
    }

    /// The password, mixed with the nonce, for the holder of the key alone.
    fn encrypted(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        let no_key = || refused("no Pem data found, data: the server's key is no RSA key in PEM");
        let text = std::str::from_utf8(key).map_err(|_| no_key())?.trim_matches(['\0', '\n', ' ']);
        let key = RsaPublicKey::from_public_key_pem(text)
            .or_else(|_| RsaPublicKey::from_pkcs1_pem(text).map_err(|_| no_key()))
            .map_err(|_| no_key())?;
        if self.nonce.is_empty() {
            return Err(malformed());
        }
        let mut bytes = self.clear();
        for (byte, mixed) in bytes.iter_mut().zip(self.nonce.iter().take(20).cycle()) {
            *byte ^= mixed;
        }
        key.encrypt(&mut OsRng, Oaep::new::<sha1::Sha1>(), &bytes)
            .map_err(|why| refused(format!("the password cannot be encrypted: {why}")))
    }
}

/// A password, for a plugin that asks for nothing else.
struct Password<'a>(&'a [u8]);

impl Context for Password<'_> {
    fn pass(&self) -> &[u8] {
        self.0
    }

    fn is_ipc_transport(&self) -> bool {
        false
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        &[]
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login<'a>(plugin: &str, options: &'a Options) -> Login<'a> {
        Login {
            password: "geheim",
            options,
            is_private: false,
            is_secure: false,
            nonce: b"abcdefghijklmnopqrst".to_vec(),
            plugin: plugin.to_owned(),
        }
    }

    #[test]
    fn what_is_not_allowed_says_how_to_allow_it() {
        let options = Options { allow_native_passwords: false, ..Options::default() };
        let text = |plugin| login(plugin, &options).first().unwrap_err().text().to_owned();
        assert_eq!(
            text("mysql_native_password"),
            "this user requires mysql native password authentication"
        );
        assert!(text("mysql_clear_password").contains("allowCleartextPasswords=1"));
        assert!(text("mysql_old_password").contains("allowOldPasswords=1"));
        assert!(text("ours").starts_with("this authentication plugin is not supported"));
        let options = Options { allow_cleartext_passwords: true, ..Options::default() };
        assert_eq!(login("mysql_clear_password", &options).first().unwrap(), b"geheim\0");
    }

    #[test]
    fn a_password_travels_in_clear_only_where_nobody_can_listen() {
        let options = Options::default();
        let mut it = login("caching_sha2_password", &options);
        assert_eq!(it.next(&[4]).unwrap().unwrap(), [2], "it asks for the key");
        assert_eq!(it.next(&[3]).unwrap(), None);
        it.is_private = true;
        assert_eq!(it.next(&[4]).unwrap().unwrap(), b"geheim\0");
        let it = login("sha256_password", &options);
        assert_eq!(it.first().unwrap(), [1], "it asks for the key");
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        let options = Options::default();
        let it = login("sha256_password", &options);
        for key in [
            &b"\xff"[..],
            b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n",
            // An RSA key of 64 bits.
            b"-----BEGIN PUBLIC KEY-----\nMCQwDQYJKoZIhvcNAQEBBQADEwAwEAIJAM2Jxq9JHjkRAgMBAAE=\n-----END PUBLIC KEY-----\n",
        ] {
            assert!(it.next(key).is_err());
        }
    }
}
