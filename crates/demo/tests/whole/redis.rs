//! The Redis stand-in through a client library and through `redis-cli`, and a real Redis.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use brunt_demo::{Demo, DemoConfig};
use redis::Commands;

use crate::client::Client;

#[test]
fn a_client_library_finds_a_redis() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let client = redis::Client::open(demo.redis_url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let (): () = connection.set("a", "1").unwrap();
    let (): () = connection.set_ex("b", "2", 100).unwrap();
    assert_eq!(connection.get::<_, Option<String>>("a").unwrap().as_deref(), Some("1"));
    assert_eq!(connection.ttl::<_, i64>("b").unwrap(), 100);
    assert!(connection.expire::<_, bool>("a", 5).unwrap());
    assert_eq!(connection.del::<_, i64>(("a", "none")).unwrap(), 1);
    let info: redis::InfoDict = redis::cmd("INFO").query(&mut connection).unwrap();
    assert_eq!(info.get::<String>("redis_mode").as_deref(), Some("standalone"));

    let mut listener = client.get_connection().unwrap();
    let mut subscription = listener.as_pubsub();
    subscription.subscribe("news").unwrap();
    let heard: i64 = connection.publish("news", "hello").unwrap();
    assert_eq!(heard, 1);
    assert_eq!(subscription.get_message().unwrap().get_payload::<String>().unwrap(), "hello");
    let (): () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
    assert_eq!(connection.exists::<_, i64>("b").unwrap(), 0);
}

#[test]
fn redis_cli_can_talk_to_it() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let port = demo.redis_url().trim_end_matches('/').rsplit(':').next().unwrap();
    let ask = |words: &[&str]| {
        let output = Command::new("redis-cli").args(["-p", port]).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    if Command::new("redis-cli").arg("--version").output().is_err() {
        return; // Not installed: the library's test above has covered the protocol.
    }
    assert_eq!(ask(&["PING"]), "PONG");
    assert_eq!(ask(&["SET", "k", "v", "EX", "9"]), "OK");
    assert_eq!(ask(&["GET", "k"]), "v");
    assert_eq!(ask(&["TTL", "k"]), "9");
}

/// A real server on a free port, in a folder of its own; killed when dropped.
struct RealRedis {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl RealRedis {
    /// `None` if no `redis-server` is installed.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready =
            lines.map_while(Result::ok).any(|line| line.contains("eady to accept connections"));
        assert!(ready, "redis-server ended before it was ready");
        Some(Self { process, url: format!("redis://127.0.0.1:{port}/0"), _folder: folder })
    }
}

impl Drop for RealRedis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_strategies_run_on_a_real_redis() {
    let Some(real) = RealRedis::start() else {
        return;
    };
    let foreign = redis::Client::open(real.url.as_str()).unwrap();
    let mut foreign = foreign.get_connection().unwrap();
    let (): () = foreign.set("somebody:else", "stays").unwrap();

    let config = DemoConfig { redis: Some(real.url.clone()), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    assert_eq!(demo.redis_url(), real.url);
    let mut client = Client::new(demo.addr());
    for path in ["/redis/1", "/lazywrite/1", "/twotier/1?instance=0"] {
        assert_eq!(client.get(path).header("x-cache"), Some("miss"), "{path}");
        assert_eq!(client.get(path).header("x-cache"), Some("hit"), "{path}");
    }
    let keys: Vec<String> = redis::cmd("KEYS").arg("brunt:v1:*").query(&mut foreign).unwrap();
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert!((1..=60).contains(&foreign.ttl::<_, i64>("brunt:v1:redis:1").unwrap()));
    let written = client.send("PUT", "/writethrough/2", &[], b"").json();
    assert_eq!(client.get("/writethrough/2").json(), written);
    assert_eq!(client.get("/_demo/stats").json()["redis"]["kind"], "external");

    client.post("/_demo/reset", "");
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut foreign).unwrap();
    assert_eq!(keys, ["somebody:else"]);

    client.get("/redis/1");
    drop(real);
    let answer = client.get("/redis/1");
    assert_eq!((answer.status, answer.header("x-cache-tier")), (200, Some("origin")));
    assert_eq!(client.get("/redis/1").header("x-cache"), Some("bypass"));
}
