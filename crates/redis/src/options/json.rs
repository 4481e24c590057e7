//! The object that scripts give: for one server, for a cluster, for a sentinel.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Options, OptionsError, Server, Tls, Topology, wrong};

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    username: String,
    password: String,
    client_name: String,
    database: u32,
    max_retries: Option<i64>,
    min_retry_backoff: Option<i64>,
    max_retry_backoff: Option<i64>,
    socket: Option<Socket>,
    cluster: Option<Cluster>,
    master_name: String,
    sentinel_username: String,
    sentinel_password: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Socket {
    host: String,
    port: u16,
    tls: Option<WrittenTls>,
    dial_timeout: Option<i64>,
    read_timeout: Option<i64>,
    #[serde(rename = "writeTimeout")]
    _write_timeout: Option<i64>,
    pool_size: Option<usize>,
    #[serde(rename = "maxConnAge")]
    _max_conn_age: Option<i64>,
    #[serde(rename = "minIdleConns")]
    _min_idle_conns: Option<i64>,
    pool_timeout: Option<i64>,
    #[serde(rename = "idleTimeout")]
    _idle_timeout: Option<i64>,
    #[serde(rename = "idleCheckFrequency")]
    _idle_check_frequency: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct WrittenTls {
    ca: Vec<Value>,
    cert: Value,
    key: Value,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Cluster {
    max_redirects: Option<i64>,
    #[serde(rename = "readOnly")]
    _read_only: bool,
    #[serde(rename = "routeByLatency")]
    _route_by_latency: bool,
    #[serde(rename = "routeRandomly")]
    _route_randomly: bool,
    nodes: Vec<Value>,
}

pub(super) fn parse(text: &str) -> Result<Options, OptionsError> {
    let written: Written = read(text)?;
    let mut options = if let Some(cluster) = written.cluster {
        of_cluster(&cluster)?
    } else {
        let Some(socket) = written.socket else { return Err(wrong("empty socket options")) };
        let server = Server { host: socket.host.clone(), port: socket.port };
        let topology = if written.master_name.is_empty() {
            Topology::Single(server)
        } else {
            Topology::Sentinel {
                sentinel: server,
                master: written.master_name,
                username: written.sentinel_username,
                password: written.sentinel_password,
            }
        };
        let mut options = Options::new(topology);
        of_socket(&mut options, socket)?;
        options
    };
    options.username = either(written.username, options.username);
    options.password = either(written.password, options.password);
    options.client_name = written.client_name;
    options.database = written.database.max(options.database);
    if let Some(tries) = written.max_retries {
        options.max_retries = u32::try_from(tries).unwrap_or(0);
    }
    set(&mut options.min_backoff, written.min_retry_backoff);
    set(&mut options.max_backoff, written.max_retry_backoff);
    Ok(options)
}

fn either(first: String, second: String) -> String {
    if first.is_empty() { second } else { first }
}

fn set(time: &mut Duration, ms: Option<i64>) {
    if let Some(ms) = ms.and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms > 0) {
        *time = Duration::from_millis(ms);
    }
}

fn of_socket(options: &mut Options, socket: Socket) -> Result<(), OptionsError> {
    set(&mut options.dial_timeout, socket.dial_timeout);
    set(&mut options.pool_timeout, socket.pool_timeout);
    if let Some(ms) = socket.read_timeout.filter(|ms| *ms != 0) {
        options.read_timeout = u64::try_from(ms).ok().map(Duration::from_millis);
    }
    if let Some(size) = socket.pool_size.filter(|size| *size > 0) {
        options.pool_size = size;
    }
    if let Some(written) = socket.tls {
        let roots: Result<_, _> = written.ca.iter().map(text).collect();
        let (cert, key) = (text(&written.cert)?, text(&written.key)?);
        let identity = (!cert.is_empty() || !key.is_empty()).then_some((cert, key));
        options.tls = Some(Tls { roots: roots?, identity });
    }
    Ok(())
}

fn of_cluster(cluster: &Cluster) -> Result<Options, OptionsError> {
    let mut all: Vec<Options> = Vec::new();
    for node in &cluster.nodes {
        all.push(match node {
            Value::String(link) => Options::from_url(link)?,
            object => {
                let options = parse(&object.to_string())?;
                if !matches!(options.topology, Topology::Single(_)) {
                    return Err(wrong("a node of a cluster is a single server"));
                }
                options
            }
        });
    }
    let nodes = all.iter().filter_map(|options| match &options.topology {
        Topology::Single(server) => Some(server.clone()),
        _ => None,
    });
    let nodes = nodes.collect();
    let Some(first) = all.into_iter().next() else {
        return Err(wrong("cluster nodes property cannot be empty"));
    };
    let redirects = cluster.max_redirects.filter(|most| *most > 0).unwrap_or(3);
    let max_redirects = u32::try_from(redirects).unwrap_or(u32::MAX);
    Ok(Options { topology: Topology::Cluster { nodes, max_redirects }, ..first })
}

/// A text, or bytes: as an array of numbers, or as the object that JSON makes of a typed array.
fn text(value: &Value) -> Result<String, OptionsError> {
    let numbers: Vec<&Value> = match value {
        Value::Null => return Ok(String::new()),
        Value::String(text) => return Ok(text.clone()),
        Value::Array(numbers) => numbers.iter().collect(),
        Value::Object(numbers) => numbers.values().collect(),
        _ => return Err(wrong("certificates and keys are texts or bytes")),
    };
    let bytes: Option<Vec<u8>> =
        numbers.iter().map(|number| u8::try_from(number.as_u64()?).ok()).collect();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| wrong("certificates and keys are texts in PEM"))
}

/// Reads, and says what is wrong as k6 says it.
fn read(text: &str) -> Result<Written, OptionsError> {
    serde_json::from_str(text).map_err(|error| {
        let said = error.to_string();
        let name = said.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        wrong(match name {
            Some(name) => format!("json: unknown field \"{name}\""),
            None => format!("json: cannot unmarshal: {said}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_a_cluster_and_a_sentinel_are_told_apart() {
        let one = parse(
            r#"{"password":"p","database":2,"socket":{"host":"h","port":1,"dialTimeout":100,"readTimeout":-1,"poolSize":2,"tls":{"ca":["x",[65]]}}}"#,
        )
        .unwrap();
        assert_eq!(one.topology, Topology::Single(Server { host: "h".to_owned(), port: 1 }));
        assert_eq!((one.database, one.pool_size, one.read_timeout), (2, 2, None));
        assert_eq!(one.tls.unwrap().roots, ["x", "A"]);
        let cluster = parse(
            r#"{"cluster":{"maxRedirects":5,"nodes":["redis://:p@a:1",{"socket":{"host":"b","port":2}}]}}"#,
        )
        .unwrap();
        assert_eq!(cluster.password, "p");
        let Topology::Cluster { nodes, max_redirects: 5 } = cluster.topology else { panic!() };
        assert_eq!(nodes.len(), 2);
        let sentinel =
            parse(r#"{"masterName":"m","socket":{"host":"h","port":1}}"#).unwrap().topology;
        assert!(matches!(sentinel, Topology::Sentinel { .. }));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("{}", "empty socket options"),
            (r#"{"socket":{"host":"h","port":1},"bogus":1}"#, "json: unknown field \"bogus\""),
            (r#"{"socket":{"host":"h","port":"x"}}"#, "json: cannot unmarshal"),
            (r#"{"cluster":{"nodes":[]}}"#, "cluster nodes property cannot be empty"),
            (r#"{"cluster":{"nodes":[{"cluster":{"nodes":["redis://a"]}}]}}"#, "single server"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
