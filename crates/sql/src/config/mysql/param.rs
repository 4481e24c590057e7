//! Parameters: one name, one value.

use std::time::Duration;

use jiff::tz::TimeZone;

use super::settings::{Address, Settings};
use crate::config::{Outside, TlsMode};

/// Takes in one parameter. The error is the Go driver's text.
pub(super) fn set(
    settings: &mut Settings,
    name: &str,
    value: &str,
    outside: &dyn Outside,
) -> Result<(), String> {
    let options = &mut settings.options;
    match name {
        "parseTime" => options.parse_time = claim(value)?,
        "multiStatements" => options.multi_statements = claim(value)?,
        "allowNativePasswords" => options.allow_native_passwords = claim(value)?,
        "allowCleartextPasswords" => options.allow_cleartext_passwords = claim(value)?,
        "allowOldPasswords" => options.allow_old_passwords = claim(value)?,
        "allowFallbackToPlaintext" => options.allow_fallback_to_plaintext = claim(value)?,
        "interpolateParams" => options.interpolate_params = claim(value)?,
        "clientFoundRows" => options.client_found_rows = claim(value)?,
        "columnsWithAlias" => options.columns_with_alias = claim(value)?,
        "rejectReadOnly" => options.reject_read_only = claim(value)?,
        "checkConnLiveness" => options.check_liveness = claim(value)?,
        "compress" => options.compress = claim(value)?,
        // No file of this machine is sent because a server asks for it, whatever the DSN says.
        "allowAllFiles" => drop(claim(value)?),
        "loc" => options.zone = zone(value)?,
        "charset" => options.charsets = value.split(',').map(str::to_owned).collect(),
        "collation" => options.collation = Some(value.to_owned()),
        "timeout" => options.timeout = wait(value)?,
        "readTimeout" => options.read_timeout = wait(value)?,
        "writeTimeout" => options.write_timeout = wait(value)?,
        "timeTruncate" => drop(wait(value)?),
        "maxAllowedPacket" => {
            let invalid = || format!("strconv.Atoi: parsing {value:?}: invalid syntax");
            let size: i64 = value.parse().map_err(|_| invalid())?;
            options.max_allowed_packet = usize::try_from(size).unwrap_or(0);
        }
        "connectionAttributes" => {
            let pairs = value.split(',').filter_map(|pair| pair.split_once(':'));
            options.attributes = pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        }
        "serverPubKey" => {
            let unknown = |why| {
                format!("invalid value / unknown server pub key name: {value} (or a file: {why})")
            };
            options.server_key = Some(outside.file(value).map_err(unknown)?);
        }
        "socket" => settings.address = Address::Unix(value.to_owned()),
        _ => return set_tls(settings, name, value, outside),
    }
    Ok(())
}

fn set_tls(
    settings: &mut Settings,
    name: &str,
    value: &str,
    outside: &dyn Outside,
) -> Result<(), String> {
    let file = |path: &str| outside.file(path).map_err(|why| format!("{name}: {path}: {why}"));
    let tls = &mut settings.tls;
    match name {
        "tls" => {
            tls.mode = match value {
                "skip-verify" => TlsMode::Unchecked,
                "preferred" => TlsMode::Preferred,
                // Its files are named by `ssl-ca` and its sisters.
                "custom" => TlsMode::Full,
                other => match claim(other) {
                    Ok(true) => TlsMode::Full,
                    Ok(false) => TlsMode::Off,
                    Err(_) => {
                        return Err(format!("invalid value / unknown config name: {value}"));
                    }
                },
            }
        }
        "ssl-mode" | "ssl_mode" | "sslMode" | "sslmode" => {
            let word = value.to_ascii_uppercase().replace('-', "_");
            tls.mode = match word.as_str() {
                "DISABLED" | "DISABLE" => TlsMode::Off,
                "PREFERRED" | "PREFER" => TlsMode::Preferred,
                "REQUIRED" | "REQUIRE" | "TRUST" => TlsMode::Unchecked,
                "VERIFY_CA" => TlsMode::Authority,
                "VERIFY_IDENTITY" | "VERIFY_FULL" => TlsMode::Full,
                _ => {
                    return Err(format!(
                        "{name}: unknown mode {value:?}: write DISABLED, PREFERRED, REQUIRED, \
                         VERIFY_CA or VERIFY_IDENTITY"
                    ));
                }
            }
        }
        "ssl-ca" | "ssl_ca" | "sslCa" => {
            tls.roots.push(file(value)?);
            at_least_checked(&mut tls.mode);
        }
        "ssl-cert" | "ssl_cert" | "sslCert" => {
            tls.identity.get_or_insert_default().0 = file(value)?;
            at_least_checked(&mut tls.mode);
        }
        "ssl-key" | "ssl_key" | "sslKey" => {
            tls.identity.get_or_insert_default().1 = file(value)?;
        }
        "ssl-server-name" | "ssl_server_name" => tls.server_name = Some(value.to_owned()),
        _ => settings.options.variables.push((name.to_owned(), value.to_owned())),
    }
    Ok(())
}

/// A DSN that names an authority or a certificate wants TLS.
fn at_least_checked(mode: &mut TlsMode) {
    if *mode == TlsMode::Off {
        *mode = TlsMode::Full;
    }
}

/// Refuses what does not fit together.
pub(super) fn check(settings: &Settings) -> Result<(), String> {
    let options = &settings.options;
    if options.interpolate_params && options.is_unsafe() {
        let why = "invalid DSN: interpolateParams can not be used with unsafe collations";
        return Err(why.to_owned());
    }
    if let Some((certificate, key)) = &settings.tls.identity
        && (certificate.is_empty() || key.is_empty())
    {
        return Err("ssl-cert and ssl-key: one is nothing without the other".to_owned());
    }
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || "_.@$".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    };
    match options.variables.iter().find(|(name, _)| !is_name(name)) {
        Some((name, _)) => Err(format!("invalid DSN: {name:?} is no name of a system variable")),
        None => Ok(()),
    }
}

/// A boolean as the Go driver reads it.
fn claim(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("invalid bool value: {value}")),
    }
}

fn wait(value: &str) -> Result<Duration, String> {
    let ns = brunt_duration::parse(value).map_err(|why| why.to_string())?;
    Ok(Duration::from_nanos(u64::try_from(ns).unwrap_or(0)))
}

fn zone(name: &str) -> Result<TimeZone, String> {
    match name {
        "" | "UTC" => Ok(TimeZone::UTC),
        "Local" => Ok(TimeZone::system()),
        name => TimeZone::get(name).map_err(|_| format!("unknown time zone {name}")),
    }
}
