//! The meaning of the pairs of a DSN.

use std::time::Duration;

use super::pairs::Pairs;
use crate::config::{Outside, Tls, TlsMode};

/// One of the servers that may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// A name, an address, or the folder of a socket.
    pub(crate) name: String,
    /// The port, which is a part of the name of a socket.
    pub(crate) port: u16,
}

impl Host {
    /// The path of its socket, if it is one.
    pub(crate) fn socket(&self) -> Option<String> {
        self.name.starts_with('/').then(|| format!("{}/.s.PGSQL.{}", self.name, self.port))
    }

    /// As messages show it.
    pub(crate) fn shown(&self) -> String {
        match (self.socket(), self.name.contains(':')) {
            (Some(path), _) => format!("unix {path}"),
            (None, true) => format!("tcp [{}]:{}", self.name, self.port),
            (None, false) => format!("tcp {}:{}", self.name, self.port),
        }
    }
}

/// The kind of server that a DSN wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Attributes {
    #[default]
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
}

/// How a PostgreSQL server is reached and spoken with.
#[derive(Clone)]
pub struct Settings {
    pub(crate) hosts: Vec<Host>,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    pub(crate) tls: Tls,
    /// TLS is spoken only where the server does not let us in without it (`allow`).
    pub(crate) is_plain_first: bool,
    pub(crate) connect_timeout: Duration,
    pub(crate) attributes: Attributes,
    /// Run-time parameters of the session.
    pub(crate) parameters: Pairs,
}

impl std::fmt::Debug for Settings {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// The variables of the environment that stand for a pair.
const VARIABLES: [(&str, &str); 17] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGTZ", "timezone"),
    ("PGDATESTYLE", "datestyle"),
    ("PGCLIENTENCODING", "client_encoding"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
];

/// Pairs of the DSN that are kept from the server and change nothing here.
const QUIET: [&str; 6] = [
    "sslsni",
    "krbsrvname",
    "krbspn",
    "load_balance_hosts",
    "binary_parameters",
    "min_protocol_version",
];

/// Reads pairs; those of the DSN win over the environment, later ones over earlier ones.
pub(super) fn read(given: Pairs, outside: &dyn Outside) -> Result<Settings, String> {
    let of_environment = VARIABLES.iter().filter_map(|(variable, name)| {
        outside.variable(variable).map(|value| ((*name).to_owned(), value))
    });
    let mut pairs = Pairs::new();
    for (name, value) in of_environment.chain(given) {
        pairs.retain(|(known, _)| *known != name);
        pairs.push((name, value));
    }
    let mut take = |name: &str| -> Option<String> {
        let place = pairs.iter().position(|(known, _)| known == name)?;
        Some(pairs.remove(place).1).filter(|value| !value.is_empty())
    };
    let hosts = hosts(take("host"), take("hostaddr"), take("port"))?;
    let user =
        take("user").or_else(|| outside.variable("USER")).unwrap_or_else(|| "root".to_owned());
    let database = take("dbname").unwrap_or_else(|| user.clone());
    let mut password = take("password").unwrap_or_default();
    let passfile = take("passfile").or_else(|| outside.variable("PGPASSFILE"));
    if let Some(file) = passfile.filter(|_| password.is_empty()) {
        let text = outside.file(&file).map_err(|error| format!("passfile {file}: {error}"))?;
        password = of_passfile(&text, &hosts[0], &database, &user).unwrap_or_default();
    }
    let connect_timeout = match take("connect_timeout") {
        Some(text) => text.parse::<i64>().map_err(|_| {
            format!("pq: wrong value for \"connect_timeout\": strconv.ParseInt: parsing {text:?}: invalid syntax")
        })?,
        None => 0,
    };
    let attributes = attributes(take("target_session_attrs").as_deref())?;
    let is_inline = take("sslinline").is_some_and(|value| value == "true" || value == "1");
    let files = ["sslrootcert", "sslcert", "sslkey"].map(&mut take);
    let mode = take("sslmode");
    let tls = tls(mode.as_deref(), files, is_inline, outside)?;
    let encoding = take("client_encoding");
    if let Some(encoding) =
        encoding.filter(|it| !matches!(&*it.to_lowercase(), "utf8" | "utf-8" | "'utf8'"))
    {
        return Err(format!(
            "pq: unsupported client_encoding {encoding:?}: must be absent or \"UTF8\""
        ));
    }
    if let Some(style) = take("datestyle").filter(|style| style != "ISO, MDY") {
        return Err(format!("pq: unsupported datestyle {style:?}: must be absent or \"ISO, MDY\""));
    }
    if let Some(text) = take("binary_parameters")
        && !matches!(text.as_str(), "yes" | "no" | "true" | "false" | "1" | "0" | "t" | "f")
    {
        return Err(format!(
            "pq: wrong value for \"binary_parameters\": strconv.ParseBool: parsing {text:?}: invalid syntax"
        ));
    }
    let fallback = take("fallback_application_name");
    if !pairs.iter().any(|(name, _)| name == "application_name") {
        pairs.push(("application_name".to_owned(), fallback.unwrap_or_else(|| "brunt".to_owned())));
    }
    pairs.retain(|(name, _)| !QUIET.contains(&name.as_str()));
    Ok(Settings {
        hosts,
        user,
        password,
        database,
        tls,
        is_plain_first: mode.as_deref() == Some("allow"),
        connect_timeout: Duration::from_secs(connect_timeout.max(0).unsigned_abs()),
        attributes,
        parameters: pairs,
    })
}

fn hosts(
    names: Option<String>,
    addresses: Option<String>,
    ports: Option<String>,
) -> Result<Vec<Host>, String> {
    let names = addresses.or(names).unwrap_or_else(|| "localhost".to_owned());
    let ports = ports.unwrap_or_default();
    let ports: Vec<_> = ports.split(',').collect();
    let names = names.split(',').enumerate();
    names
        .map(|(index, name)| {
            let port = ports.get(index).or(ports.first().filter(|_| ports.len() == 1));
            let port = port.copied().filter(|port| !port.is_empty()).unwrap_or("5432");
            let port = port
                .parse()
                .map_err(|_| format!("pq: wrong value for \"port\": {port:?} is no port"))?;
            let name = if name.is_empty() { "localhost" } else { name };
            Ok(Host { name: name.to_owned(), port })
        })
        .collect()
}

fn attributes(wanted: Option<&str>) -> Result<Attributes, String> {
    Ok(match wanted {
        None | Some("any" | "prefer-standby") => Attributes::Any,
        Some("read-write") => Attributes::ReadWrite,
        Some("read-only") => Attributes::ReadOnly,
        Some("primary") => Attributes::Primary,
        Some("standby") => Attributes::Standby,
        Some(other) => {
            return Err(format!(
                "pq: wrong value for \"target_session_attrs\": {other:?} is not supported; supported values are any, read-write, read-only, primary, standby, or prefer-standby"
            ));
        }
    })
}

fn tls(
    mode: Option<&str>,
    files: [Option<String>; 3],
    is_inline: bool,
    outside: &dyn Outside,
) -> Result<Tls, String> {
    let mode = match mode.unwrap_or("require") {
        "disable" => TlsMode::Off,
        "allow" | "prefer" => TlsMode::Preferred,
        // As libpq and the Go driver have it: with an authority at hand it is asked.
        "require" if files[0].is_some() => TlsMode::Authority,
        "require" => TlsMode::Unchecked,
        "verify-ca" => TlsMode::Authority,
        "verify-full" => TlsMode::Full,
        other => {
            return Err(format!(
                "pq: wrong value for \"sslmode\": {other:?} is not supported; supported values are disable, allow, prefer, require, verify-full, or verify-ca"
            ));
        }
    };
    if mode == TlsMode::Off {
        return Ok(Tls::default());
    }
    let read = |name: &str, file: Option<String>| {
        file.filter(|file| !file.is_empty() && file != "system")
            .map(|file| {
                if is_inline {
                    return Ok(file);
                }
                outside.file(&file).map_err(|error| format!("{name} {file}: {error}"))
            })
            .transpose()
    };
    let [root, cert, key] = files;
    let roots = read("sslrootcert", root)?.into_iter().collect();
    let identity = match (read("sslcert", cert)?, read("sslkey", key)?) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => {
            return Err("pq: sslcert and sslkey belong together: one of them is missing".to_owned());
        }
    };
    Ok(Tls { mode, roots, identity, server_name: None })
}

/// The password of the first line that fits: `host:port:database:user:password`, `*` fits all.
fn of_passfile(text: &str, host: &Host, database: &str, user: &str) -> Option<String> {
    let port = host.port.to_string();
    let wanted = [host.name.as_str(), &port, database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (mut fields, mut field, mut rest) = (Vec::new(), String::new(), line.chars());
        while let Some(c) = rest.next() {
            match c {
                '\\' => field.extend(rest.next()),
                ':' => fields.push(std::mem::take(&mut field)),
                c => field.push(c),
            }
        }
        let fits = fields.len() == 4
            && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then_some(field)
    })
}
