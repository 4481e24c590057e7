//! The command line and the options as the run file may keep them: without values of variables, keys and passwords.

use std::ffi::OsString;

use brunt_runfile::exchange::address;
use serde_json::Value;

/// In place of a secret.
const STRUCK: &str = "***";

/// Flags of `attack` with headers in them.
const HEADERS: [&str; 2] = ["header", "proxy-header"];

/// Flags of destinations with settings behind commas, headers among them.
const DESTINATIONS: [&str; 2] = ["--log-output", "--traces-output"];

/// The flag of servers: addresses behind commas, which may have a login, and no scheme.
const SERVERS: &str = "--nats";

/// How the word behind a flag is shown.
#[derive(Clone, Copy)]
enum Next {
    Plain,
    Named,
    Header(&'static str),
    Destination,
    Servers,
}

/// The words of the command line.
pub(crate) fn shown(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut out = Vec::new();
    let mut next = Next::Plain;
    for word in words {
        let word = word.to_string_lossy().into_owned();
        match std::mem::replace(&mut next, Next::Plain) {
            Next::Plain => {}
            Next::Named => {
                out.push(named(&word));
                continue;
            }
            Next::Header(flag) => {
                out.push(value(flag, &word));
                continue;
            }
            Next::Destination => {
                out.push(destination(&word));
                continue;
            }
            Next::Servers => {
                out.push(servers(&word));
                continue;
            }
        }
        let shown = match word.split_once('=') {
            Some((flag @ ("--env" | "--secret-source"), value)) => {
                format!("{flag}={}", named(value))
            }
            Some((flag, text)) if HEADERS.contains(&flag.trim_start_matches('-')) => {
                format!("{flag}={}", value(HEADERS[0], text))
            }
            Some((flag, text)) if DESTINATIONS.contains(&flag) => {
                format!("{flag}={}", destination(text))
            }
            Some((SERVERS, text)) => format!("{SERVERS}={}", servers(text)),
            _ => {
                let header = |flag: &&str| *flag == word.trim_start_matches('-');
                if let Some(flag) = HEADERS.into_iter().find(header) {
                    next = Next::Header(flag);
                    word
                } else if let Some(length) = variable(&word).filter(|length| *length > 0) {
                    let (flag, text) = word.split_at(word.len() - length);
                    format!("{flag}{}", named(text))
                } else {
                    next = match word.as_str() {
                        "--env" | "--secret-source" => Next::Named,
                        flag if variable(flag).is_some() => Next::Named,
                        flag if DESTINATIONS.contains(&flag) => Next::Destination,
                        SERVERS => Next::Servers,
                        _ => Next::Plain,
                    };
                    address(&word)
                }
            }
        };
        out.push(shown);
    }
    out
}

/// The length of the `NAME=value` in a word of short flags, such as `-eNAME=value`, `-e=NAME=value` or `-qe`: 0 if it is the next
/// word.
fn variable(word: &str) -> Option<usize> {
    /// Short flags that take no value.
    const SWITCHES: &str = "qvhpwl";
    let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'))?;
    let at = flags.find(|c| !SWITCHES.contains(c)).filter(|at| flags[*at..].starts_with('e'))?;
    let value = &flags[at + 1..];
    Some(value.strip_prefix('=').unwrap_or(value).len())
}

/// `loki=http://h/x,label.a=b,header.Authorization=…` without the values of headers.
fn destination(text: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((name, _)) if name.trim_start().starts_with("header.") => format!("{name}={STRUCK}"),
        _ => address(part),
    };
    text.split(',').map(part).collect::<Vec<_>>().join(",")
}

/// `nats://USER:PASSWORD@a:4222,b:4222` without logins.
fn servers(text: &str) -> String {
    let one = |part: &str| match part.rsplit_once('@') {
        Some((login, host)) => {
            let scheme = login.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}{STRUCK}@{host}", scheme.unwrap_or_default())
        }
        None => part.to_owned(),
    };
    text.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// The value of a flag of `attack`: of a header only the name.
pub(crate) fn value(flag: &str, text: &str) -> String {
    match text.split_once(':') {
        Some((name, _)) if HEADERS.contains(&flag) => format!("{name}: {STRUCK}"),
        _ => address(text),
    }
}

/// `NAME=value` without the value.
fn named(text: &str) -> String {
    match text.split_once('=') {
        Some((name, _)) => format!("{name}={STRUCK}"),
        None => text.to_owned(),
    }
}

/// The options, without certificates and their keys, and without the values of `env`.
pub(in crate::run) fn options(mut options: Value) -> Value {
    strike(&mut options);
    options
}

fn strike(value: &mut Value) {
    match value {
        Value::Object(all) => {
            for (key, value) in all {
                match (key.as_str(), value) {
                    ("tlsAuth", Value::Array(each)) => {
                        for value in each.iter_mut().filter_map(Value::as_object_mut) {
                            for key in ["cert", "key", "password"] {
                                if let Some(secret) =
                                    value.get_mut(key).filter(|one| !one.is_null())
                                {
                                    *secret = STRUCK.into();
                                }
                            }
                        }
                    }
                    ("env", Value::Object(variables)) => {
                        variables.values_mut().for_each(|value| *value = STRUCK.into());
                    }
                    (_, value) => strike(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(strike),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_variables_and_passwords_are_struck_out() {
        let line = "run -e A=1 -eB=2 -e=C=3 --env D=4 --secret-source mock=x=y --out influxdb=http://u:p@h:1/d s.js";
        let words = line.split(' ').map(OsString::from);
        assert_eq!(
            shown(words).join(" "),
            "run -e A=*** -eB=*** -e=C=*** --env D=*** --secret-source mock=*** --out influxdb=http://***SECRET_REDACTED***@h:1/d s.js"
        );
        let line = "run -qe A=1 -qvB=2 -vqeC=3 --log-output=loki=http://h/x,label.a=b,header.X=s --traces-output otel=h,header.Y=t \
                    -u 5 -eD=4 s.js";
        let words = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from);
        assert_eq!(
            shown(words).join(" "),
            "run -qe A=*** -qvB=2 -vqeC=*** --log-output=loki=http://h/x,label.a=b,header.X=*** --traces-output otel=h,header.Y=*** \
             -u 5 -eD=*** s.js"
        );
        let line =
            "attack -header Authorization:x --header=X-A:b -rate=5 -proxy-header A:b -targets t";
        let words = line.split(' ').map(OsString::from);
        assert_eq!(
            shown(words).join(" "),
            "attack -header Authorization: *** --header=X-A: *** -rate=5 -proxy-header A: *** -targets t"
        );
    }

    #[test]
    fn logins_at_nats_servers_are_struck_out() {
        let line = "run --nats nats://u:p@a:1,u:p@b:2,c:3 --nats=tls://u@h s.js";
        let words = line.split(' ').map(OsString::from);
        let shown = shown(words).join(" ");
        assert_eq!(shown, "run --nats nats://***@a:1,***@b:2,c:3 --nats=tls://***@h s.js");
    }

    #[test]
    fn options_lose_keys_and_variables() {
        let all = json!({ "vus": 1, "tlsAuth": [{ "cert": "c", "key": "k", "domains": ["d"] }],
            "scenarios": { "a": { "env": { "B": "c" } } } });
        let shown = json!({ "vus": 1, "tlsAuth": [{ "cert": "***", "key": "***", "domains": ["d"] }],
            "scenarios": { "a": { "env": { "B": "***" } } } });
        assert_eq!(options(all), shown);
    }
}
