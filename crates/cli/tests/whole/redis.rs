//! `k6/x/redis` against a real server.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{brunt, free_port};

/// `redis-server` on a port of its own; it ends with the test.
struct Server {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(more: &[&str]) -> Self {
        Self::run(None, "--port", more)
    }

    /// With a configuration file.
    fn start_with(config: &str, more: &[&str]) -> Self {
        Self::run(Some(config), "--port", more)
    }

    /// With TLS, and nothing else.
    fn start_secure(more: &[&str]) -> Self {
        Self::run(None, "--tls-port", &[&["--port", "0"], more].concat())
    }

    fn run(config: Option<&str>, port_flag: &str, more: &[&str]) -> Self {
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder");
        let process = Command::new("redis-server")
            .args(config)
            .args([port_flag, &port.to_string(), "--bind", "127.0.0.1"])
            // A sentinel saves nothing, and refuses to be told so.
            .args(if config.is_none() { &["--save", ""][..] } else { &[] })
            .args(more)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server, which these tests need (apt-get install redis-server)");
        let server = Self { process, port, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "redis-server does not listen");
            std::thread::yield_now();
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The lines of a script that has `show(what, promise)` and a `client` of these options.
fn said(module: &str, options: &str, body: &str) -> Vec<String> {
    let script = format!(
        "import redis from '{module}';\n\
         const client = new redis.Client({options});\n\
         async function show(what, promise) {{\n\
           try {{ console.log(what, JSON.stringify(await promise)); }}\n\
           catch (error) {{ console.log(what, 'rejects', String(error)); }}\n\
         }}\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let told = brunt("run --quiet --log-format raw s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    told.stderr.lines().map(str::to_owned).collect()
}

#[test]
fn every_command_answers_as_in_k6() {
    let server = Server::start(&[]);
    let body = r"
        await show('set', client.set('a', '1', 0));
        await show('set', client.set('b', 5, 10));
        await show('set', client.set('c', true));
        await show('set', client.set('d', {}, 0));
        await show('get', client.get('a'));
        await show('get', client.get('c'));
        await show('get', client.get('none'));
        await show('getSet', client.getSet('a', '7'));
        await show('getDel', client.getDel('c'));
        await show('exists', client.exists('a', 'b', 'c'));
        await show('del', client.del('b', 'c'));
        await show('incr', client.incr('n'));
        await show('incrBy', client.incrBy('n', 5));
        await show('decr', client.decr('n'));
        await show('decrBy', client.decrBy('n', 2));
        await show('expire', client.expire('a', 100));
        await show('expire', client.expire('none', 100));
        await show('ttl', client.ttl('a'));
        await show('ttl', client.ttl('n'));
        await show('persist', client.persist('a'));
        await show('mget', client.mget('a', 'none', 'n'));
        await show('mget', client.mget());
        await show('rpush', client.rpush('l', 'a', 'b', 3));
        await show('lpush', client.lpush('l', 'z', true));
        await show('lrange', client.lrange('l', 0, -1));
        await show('lpop', client.lpop('l'));
        await show('rpop', client.rpop('l'));
        await show('lindex', client.lindex('l', 0));
        await show('lindex', client.lindex('l', 99));
        await show('lset', client.lset('l', 0, 'q'));
        await show('lset', client.lset('l', 99, 'q'));
        await show('lrem', client.lrem('l', 0, 'q'));
        await show('llen', client.llen('l'));
        await show('hset', client.hset('h', 'f', 'v'));
        await show('hset', client.hset('h', 'g', 5));
        await show('hsetnx', client.hsetnx('h', 'f', 'v'));
        await show('hget', client.hget('h', 'f'));
        await show('hgetall', client.hgetall('h'));
        await show('hgetall', client.hgetall('none'));
        await show('hkeys', client.hkeys('h'));
        await show('hvals', client.hvals('h'));
        await show('hlen', client.hlen('h'));
        await show('hincrby', client.hincrby('h', 'g', 3));
        await show('hdel', client.hdel('h', 'f', 'x'));
        await show('sadd', client.sadd('s', 'a', 1));
        await show('sismember', client.sismember('s', 'a'));
        await show('srem', client.srem('s', 'a'));
        await show('smembers', client.smembers('s'));
        await show('srandmember', client.srandmember('s'));
        await show('spop', client.spop('s'));
        await show('spop', client.spop('s'));
        await show('wrong', client.get('l'));
        await show('echo', client.sendCommand('ECHO', 'hi'));
        await show('list', client.sendCommand('LRANGE', 'l', 0, -1));
        await show('nil', client.sendCommand('GET', 'none'));
        await show('type', client.sendCommand('SET', 'z', {}));
        console.log(client.isConnected());
    ";
    let lines = said("k6/x/redis", &format!("'redis://127.0.0.1:{}'", server.port), body);
    let no_type = "unsupported type provided for argument at index";
    let types = "supported types are string, number, and boolean";
    let expected = [
        r#"set "OK""#,
        r#"set "OK""#,
        r#"set "OK""#,
        &format!("set rejects {no_type} 1, {types}"),
        r#"get "1""#,
        r#"get "1""#,
        "get rejects redis: nil",
        r#"getSet "1""#,
        r#"getDel "1""#,
        "exists 2",
        "del 1",
        "incr 1",
        "incrBy 6",
        "decr 5",
        "decrBy 3",
        "expire true",
        "expire false",
        "ttl 100",
        "ttl -1e-9",
        "persist true",
        r#"mget ["7",null,"3"]"#,
        "mget rejects ERR wrong number of arguments for 'mget' command",
        "rpush 3",
        "lpush 5",
        r#"lrange ["1","z","a","b","3"]"#,
        r#"lpop "1""#,
        r#"rpop "3""#,
        r#"lindex "z""#,
        "lindex rejects redis: nil",
        r#"lset "OK""#,
        "lset rejects ERR index out of range",
        "lrem 1",
        "llen 2",
        "hset 1",
        "hset 1",
        "hsetnx false",
        r#"hget "v""#,
        r#"hgetall {"f":"v","g":"5"}"#,
        "hgetall {}",
        r#"hkeys ["f","g"]"#,
        r#"hvals ["v","5"]"#,
        "hlen 2",
        "hincrby 8",
        "hdel 1",
        "sadd 2",
        "sismember true",
        "srem 1",
        r#"smembers ["1"]"#,
        r#"srandmember "1""#,
        r#"spop "1""#,
        "spop rejects redis: nil",
        "wrong rejects WRONGTYPE Operation against a key holding the wrong kind of value",
        r#"echo "hi""#,
        r#"list ["a","b"]"#,
        "nil rejects redis: nil",
        &format!("type rejects {no_type} 2, {types}"),
        "true",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_password_a_database_and_version_3_are_agreed_on() {
    let server = Server::start(&["--requirepass", "hush"]);
    let address = format!("127.0.0.1:{}", server.port);
    let body = "await show('set', client.set('a', 1, 0)); await show('get', client.get('a'));\n\
                await show('all', client.sendCommand('CLIENT', 'GETNAME'));";
    let socket = format!("{{ host: '127.0.0.1', port: {} }}", server.port);
    for options in [
        format!("'redis://:hush@{address}/2?client_name=me'"),
        format!("'redis://default:hush@{address}?protocol=3&client_name=me'"),
        format!("{{ password: 'hush', database: 3, clientName: 'me', socket: {socket} }}"),
    ] {
        let lines = said("k6/experimental/redis", &options, body);
        assert_eq!(lines, [r#"set "OK""#, r#"get "1""#, r#"all "me""#], "{options}");
    }
    let lines =
        said("k6/x/redis", &format!("'redis://{address}'"), "await show('get', client.get('a'));");
    assert_eq!(lines, ["get rejects NOAUTH Authentication required."]);
}

/// k6 1.8.1 takes 3 s: its client greets, and does not try that again.
#[test]
fn a_server_that_says_nothing_is_given_3_s_and_not_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let began = Instant::now();
    let body = "await show('get', client.get('a'))";
    let lines = said("k6/x/redis", &format!("'redis://127.0.0.1:{port}'"), body);
    // A machine with other work says so in another line.
    assert_eq!(lines[0], "get rejects i/o timeout");
    assert!(began.elapsed() >= Duration::from_secs(3), "{:?}", began.elapsed());
    // The system has taken all connections for it.
    listener.set_nonblocking(true).expect("a socket");
    assert_eq!(listener.incoming().take_while(Result::is_ok).count(), 1);
}

/// A server may push messages before a reply, after it, and in pieces.
#[test]
fn what_a_server_pushes_is_no_reply() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a client");
        let push = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
        let mut asked = vec![0; 4096];
        for answer in [&b"%1\r\n+proto\r\n:3\r\n"[..], b"$1\r\na\r\n", b"$1\r\nb\r\n", b":7\r\n"] {
            assert_ne!(socket.read(&mut asked).expect("a command"), 0);
            socket.write_all(&push[..9]).expect("a piece");
            socket.write_all(&[&push[9..], answer, push].concat()).expect("the rest");
        }
    });
    let lines = said(
        "k6/x/redis",
        &format!("'redis://127.0.0.1:{port}?protocol=3'"),
        "console.log(await client.get('x'), await client.get('y'), await client.incr('z'));",
    );
    server.join().expect("the server ends");
    assert_eq!(lines, ["a b 7"]);
}

#[test]
fn many_commands_at_once_share_the_connections() {
    let server = Server::start(&[]);
    let body = "const all = Array.from({ length: 200 }, (_, i) => client.incrBy('n', i));\n\
                await Promise.all(all);\n\
                await show('n', client.get('n'));";
    let options = format!("'redis://127.0.0.1:{}?pool_size=3'", server.port);
    assert_eq!(said("k6/x/redis", &options, body), [r#"n "19900""#]);
}

#[test]
fn one_server_of_a_cluster_has_all_slots() {
    let server = Server::start(&["--cluster-enabled", "yes"]);
    let address = format!("redis://127.0.0.1:{}", server.port);
    // Slots can be had without a cluster around them.
    let setup = "const one = new redis.Client(__ENV.ONE); const range = [];\n\
                 for (let i = 0; i < 16384; i++) range.push(i);\n\
                 await one.sendCommand('CLUSTER', 'ADDSLOTS', ...range);\n\
                 for (;;) { const info = await one.sendCommand('CLUSTER', 'INFO');\n\
                   if (info.includes('cluster_state:ok')) break; }\n";
    let body = format!(
        "{}await show('set', client.set('a', 1, 0)); await show('get', client.get('a'));",
        setup.replace("__ENV.ONE", &format!("'{address}'"))
    );
    let options = format!("{{ cluster: {{ nodes: ['{address}'] }} }}");
    assert_eq!(said("k6/x/redis", &options, &body), [r#"set "OK""#, r#"get "1""#]);
}

#[test]
fn three_servers_share_the_keys_and_one_that_is_dead_is_passed_over() {
    let servers = [(); 3].map(|()| Server::start(&["--cluster-enabled", "yes"]));
    let cluster = Command::new("redis-cli")
        .args(["--cluster", "create"])
        .args(servers.iter().map(|server| format!("127.0.0.1:{}", server.port)))
        .arg("--cluster-yes")
        .output()
        .expect("redis-cli, which comes with the server");
    let told = String::from_utf8_lossy(&cluster.stdout);
    assert!(told.contains("All 16384 slots covered"), "{cluster:?}");
    // Each of them learns of the others' slots a little later.
    for server in &servers {
        let port = server.port.to_string();
        let is_up = || {
            let info = Command::new("redis-cli").args(["-p", &port, "cluster", "info"]).output();
            let info = info.expect("redis-cli").stdout;
            String::from_utf8_lossy(&info).contains("cluster_state:ok")
        };
        let begun = Instant::now();
        while !is_up() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{port} never joined");
            std::thread::yield_now();
        }
    }
    let body = "for (let i = 0; i < 50; i++) await client.set(`k${i}`, i, 0);\n\
                let sum = 0; for (let i = 0; i < 50; i++) sum += Number(await client.get(`k${i}`));\n\
                console.log(sum); await show('two', client.mget('k1', 'k2'));";
    let port = servers[0].port;
    for nodes in [
        format!("'redis://127.0.0.1:{port}'"),
        format!("'redis://127.0.0.1:1', 'redis://127.0.0.1:{port}'"),
    ] {
        let options = format!("{{ cluster: {{ maxRedirects: 3, nodes: [{nodes}] }} }}");
        let lines = said("k6/x/redis", &options, body);
        let crossed = "two rejects CROSSSLOT Keys in request don't hash to the same slot";
        assert_eq!(lines, ["1225", crossed], "{nodes}");
    }
}

#[test]
fn a_sentinel_is_asked_for_the_master() {
    let master = Server::start(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("sentinel.conf");
    let watched = format!("sentinel monitor first 127.0.0.1 {} 1\n", master.port);
    std::fs::write(&config, watched).expect("a file");
    let config = config.display().to_string();
    let sentinel = Server::start_with(&config, &["--sentinel"]);
    let body = "await show('set', client.set('a', 1, 0)); await show('get', client.get('a'));";
    let options = |name: &str| {
        format!(
            "{{ masterName: '{name}', socket: {{ host: '127.0.0.1', port: {} }} }}",
            sentinel.port
        )
    };
    let lines = said("k6/x/redis", &options("first"), body);
    assert_eq!(lines, [r#"set "OK""#, r#"get "1""#]);
    let lines = said("k6/x/redis", &options("nobody"), "await show('get', client.get('a'));");
    let words = "redis: all sentinels specified in configuration are unreachable: redis: nil";
    assert_eq!(lines, [format!("get rejects {words}")]);
}

#[test]
fn tls_is_spoken_with_an_authority_and_a_certificate_of_ones_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let (crt, pem) = (path("s.crt", &certificate), path("s.key", &key));
    let server = Server::start_secure(&[
        "--tls-cert-file",
        &crt,
        "--tls-key-file",
        &pem,
        "--tls-ca-cert-file",
        &crt,
        "--tls-auth-clients",
        "optional",
    ]);
    let body = "await show('set', client.set('a', 1, 0)); await show('get', client.get('a'));";
    let options = |tls: &str| {
        format!("{{ socket: {{ host: '127.0.0.1', port: {}, tls: {tls} }} }}", server.port)
    };
    let quoted = |text: &str| format!("`{text}`");
    let lines =
        said("k6/x/redis", &options(&format!("{{ ca: [{}] }}", quoted(&certificate))), body);
    assert_eq!(lines, [r#"set "OK""#, r#"get "1""#]);
    let own =
        format!("{{ ca: [{c}], cert: {c}, key: {} }}", quoted(&key), c = quoted(&certificate));
    assert_eq!(said("k6/x/redis", &options(&own), body), [r#"set "OK""#, r#"get "1""#]);
    let url = format!("'rediss://127.0.0.1:{}?max_retries=0'", server.port);
    let words = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    let lines = said("k6/x/redis", &url, "await show('get', client.get('a'));");
    assert_eq!(lines, [format!("get rejects {words}")]);
}

#[test]
fn options_that_cannot_be_are_refused_and_init_code_dials_nobody() {
    let script = r"
        import redis from 'k6/x/redis';
        const made = (...options) => {
          try { new redis.Client(...options); console.log('made'); } catch (error) { console.log(String(error)); }
        };
        made(); made(null); made(5); made('http://x'); made({});
        made({ socket: { host: 'h', port: 1 }, bogus: 1 });
        made({ cluster: { nodes: [] } });
        new redis.Client('redis://127.0.0.1:1').get('a').catch((error) => console.log(String(error)));
        export default async function () {
          const dead = new redis.Client('redis://127.0.0.1:1?max_retries=1');
          try { await dead.get('a'); } catch (error) { console.log(String(error)); }
        }
    ";
    let told = brunt("run --quiet --log-format raw s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    for part in [
        "GoError: must specify one argument",
        "GoError: invalid options type: <nil>; expected string or object",
        "GoError: invalid options type: int64; expected string or object",
        "GoError: invalid options; reason: redis: invalid URL scheme: http",
        "GoError: invalid options; reason: empty socket options",
        "GoError: invalid options; reason: json: unknown field \"bogus\"",
        "GoError: invalid options; reason: cluster nodes property cannot be empty",
        "connecting to a redis server in the init context is not supported",
        "dial tcp 127.0.0.1:1: connect: connection refused",
    ] {
        assert!(told.stderr.contains(part), "{part}\n{}", told.stderr);
    }
}
