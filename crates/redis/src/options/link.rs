//! `redis://user:password@host:port/database?option=value`

use std::time::Duration;

use url::Url;

use super::{Options, OptionsError, Server, Tls, Topology, wrong};

const PORT: u16 = 6379;

pub(super) fn parse(text: &str) -> Result<Options, OptionsError> {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    if !matches!(scheme, "redis" | "rediss") {
        if scheme == "unix" {
            return Err(wrong("redis: sockets of the file system are not supported by Brunt"));
        }
        return Err(wrong(format!("redis: invalid URL scheme: {scheme}")));
    }
    let url = Url::parse(text).map_err(|error| wrong(format!("parse \"{text}\": {error}")))?;
    let host = url.host_str().filter(|host| !host.is_empty()).unwrap_or("localhost");
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let server = Server { host, port: url.port().unwrap_or(PORT) };
    let mut options = Options::new(Topology::Single(server));
    options.username = decoded(url.username());
    options.password = decoded(url.password().unwrap_or_default());
    let path = url.path().trim_matches('/');
    if !path.is_empty() {
        options.database = database(path)?;
    }
    if scheme == "rediss" {
        options.tls = Some(Tls::default());
    }
    for (name, value) in url.query_pairs() {
        set(&mut options, &name, &value)?;
    }
    Ok(options)
}

fn database(text: &str) -> Result<u32, OptionsError> {
    text.parse().map_err(|_| wrong(format!("redis: invalid database number: \"{text}\"")))
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), OptionsError> {
    let number = || {
        value.parse::<u32>().map_err(|_| wrong(format!("redis: invalid {name} number: {value}")))
    };
    let time =
        || time(value).ok_or_else(|| wrong(format!("redis: invalid {name} duration: {value}")));
    if value.is_empty() && name != "db" {
        // As if it were not there.
        return Ok(());
    }
    match name {
        "db" => options.database = database(value)?,
        "client_name" => value.clone_into(&mut options.client_name),
        "protocol" => options.resp3 = number()? == 3,
        "max_retries" => options.max_retries = number()?,
        "min_retry_backoff" => options.min_backoff = time()?,
        "max_retry_backoff" => options.max_backoff = time()?,
        "dial_timeout" => options.dial_timeout = time()?,
        // With 0 or less, a command waits for ever.
        "read_timeout" => options.read_timeout = Some(time()?).filter(|limit| !limit.is_zero()),
        "pool_size" => options.pool_size = (number()? as usize).max(1),
        "pool_timeout" => options.pool_timeout = time()?,
        // Brunt has no pool that they could tune.
        "write_timeout" | "pool_fifo" | "min_idle_conns" | "max_idle_conns"
        | "max_active_conns" | "conn_max_idle_time" | "conn_max_lifetime" | "idle_timeout"
        | "max_conn_age" => {}
        _ => return Err(wrong(format!("redis: unexpected option: {name}"))),
    }
    Ok(())
}

/// Whole seconds as a number alone (less than 0 is 0), or a duration of Go's.
fn time(text: &str) -> Option<Duration> {
    match text.parse::<i64>() {
        Ok(seconds) => Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))),
        Err(_) => brunt_duration::parse_wait(text).ok(),
    }
}

/// Without the percent signs of a URL.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_tells_server_user_and_database() {
        let options = parse("redis://u%40:p%2Fw@h.test:1/2?protocol=3&dial_timeout=3s&pool_size=5");
        let options = options.unwrap();
        let server = Server { host: "h.test".to_owned(), port: 1 };
        assert_eq!(options.topology, Topology::Single(server));
        assert_eq!((options.username.as_str(), options.password.as_str()), ("u@", "p/w"));
        assert_eq!((options.database, options.resp3, options.pool_size), (2, true, 5));
        assert_eq!(options.dial_timeout, Duration::from_secs(3));
        let options = parse("rediss://h").unwrap();
        assert!(options.tls.is_some());
        let server = Server { host: "h".to_owned(), port: 6379 };
        assert_eq!(options.topology, Topology::Single(server));
        let options = parse("redis://[::1]:7").unwrap();
        assert_eq!(options.topology, Topology::Single(Server { host: "::1".to_owned(), port: 7 }));
    }

    #[test]
    fn times_are_seconds_or_durations() {
        let read = |text| parse(&format!("redis://h?dial_timeout={text}"));
        for (text, ms) in [("3", 3_000), ("0", 0), ("1m30s", 90_000), ("1.5s", 1_500)] {
            assert_eq!(read(text).unwrap().dial_timeout, Duration::from_millis(ms), "{text}");
        }
        for text in ["1.5", "1d", "1s1", "s", "x", "-1s"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn replies_may_take_for_ever() {
        for (text, limit) in [("2", Some(2)), ("0", None), ("-1", None), ("1m", Some(60))] {
            let options = parse(&format!("redis://h?read_timeout={text}")).unwrap();
            assert_eq!(options.read_timeout, limit.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("http://x", "redis: invalid URL scheme: http"),
            ("h:1", "redis: invalid URL scheme: h"),
            ("redis://:x", "parse \"redis://:x\""),
            ("redis://h/x", "invalid database number: \"x\""),
            ("redis://h?x=1", "redis: unexpected option: x"),
            ("redis://h?pool_size=x", "invalid pool_size"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
