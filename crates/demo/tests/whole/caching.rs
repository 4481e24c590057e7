//! The caching routes, and what a load test of them must find.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use brunt_demo::{Demo, DemoConfig, RedisFallback};
use serde_json::{Value, json};

use crate::client::{Answer, Client, get, storm};

fn cache(answer: &Answer) -> (&str, &str) {
    (answer.header("x-cache").unwrap_or("-"), answer.header("x-cache-tier").unwrap_or("-"))
}

fn origin_calls(client: &mut Client) -> u64 {
    client.get("/_demo/stats").json()["origin"]["calls"].as_u64().unwrap()
}

#[test]
fn a_second_request_is_a_hit_where_there_is_a_cache() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    for (path, first, second) in [
        ("/nocache/99", ("bypass", "origin"), ("bypass", "origin")),
        ("/dictionary/99", ("miss", "origin"), ("hit", "memory")),
        ("/memory/99", ("miss", "origin"), ("hit", "memory")),
        ("/lazy/99", ("miss", "origin"), ("hit", "memory")),
        ("/redis/99", ("miss", "origin"), ("hit", "redis")),
        ("/lazywrite/99", ("miss", "origin"), ("hit", "redis")),
        ("/twotier/99?instance=0", ("miss", "origin"), ("hit", "memory")),
        ("/twotier/99?instance=1", ("hit", "redis"), ("hit", "memory")),
        ("/event/99?instance=1", ("miss", "origin"), ("hit", "memory")),
        ("/immutable/99", ("miss", "origin"), ("hit", "memory")),
        ("/mutable/99", ("miss", "origin"), ("hit", "memory")),
    ] {
        let (one, two) = (client.get(path), client.get(path));
        assert_eq!((cache(&one), cache(&two)), (first, second), "{path}");
        let item = two.json();
        assert_eq!((&item["id"], &item["version"]), (&json!(99), &json!(1)), "{path}");
        assert!((300..600).contains(&two.body.len()), "{path}: {}", two.body.len());
        let strategy = path.split('/').nth(1).unwrap();
        assert_eq!(two.header("x-cache-key"), Some(format!("brunt:v1:{strategy}:99").as_str()));
        assert_eq!((two.header("age"), two.header("etag")), (Some("0"), Some("\"99-1\"")));
    }
    assert_eq!(client.get("/twotier/99?instance=1").header("x-instance"), Some("1"));
    assert_eq!(client.get("/event/99?instance=2").status, 400);
    assert_eq!(client.get("/lazy/x").status, 400);
    let known = client.send("GET", "/lazy/99", &[("If-None-Match", "\"99-1\"")], b"");
    assert_eq!(known.status, 304);
}

#[test]
fn a_cold_key_stampedes_but_for_single_flight() {
    let config = DemoConfig { origin_latency: Duration::from_millis(500), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());

    let answers = storm(demo.addr(), "/memory/7", 200);
    assert!(answers.iter().all(|answer| answer.status == 200));
    let stampede = origin_calls(&mut client);
    // How many come before the first answer is there is the machine's business; one alone would be no stampede.
    assert!((2..=200).contains(&stampede), "{stampede} origin calls");

    client.post("/_demo/reset", "");
    let answers = storm(demo.addr(), "/lazy/7", 200);
    let bodies: HashSet<&[u8]> = answers.iter().map(|answer| answer.body.as_slice()).collect();
    assert_eq!(bodies.len(), 1);
    assert_eq!(origin_calls(&mut client), 1);
    assert_eq!(answers.iter().filter(|answer| cache(answer).0 == "miss").count(), 1);
    assert!(answers.iter().filter(|answer| cache(answer).0 == "coalesced").count() > 1);
    assert!(answers.iter().all(|answer| ["miss", "coalesced", "hit"].contains(&cache(answer).0)));
    assert!(answers.iter().all(|answer| answer.header("x-origin-calls") == Some("1")));
}

/// Answers older than what was just written, in 100 rounds of PUT and GET.
fn stale_reads(client: &mut Client, strategy: &str) -> usize {
    let read = |client: &mut Client, at: usize| {
        client.get(&format!("/{strategy}/5?instance={at}")).json()["version"].as_u64().unwrap()
    };
    read(client, 0);
    read(client, 1);
    (0..100)
        .filter(|round| {
            let written = client.send("PUT", &format!("/{strategy}/5?instance=0"), &[], b"");
            assert_eq!(written.status, 200);
            read(client, round % 2) < written.json()["version"].as_u64().unwrap()
        })
        .count()
}

#[test]
fn who_reads_after_a_write_may_read_stale_or_not() {
    // Longer than all the rounds take.
    let config = DemoConfig { twotier_ttl: Duration::from_hours(1), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    assert_eq!(stale_reads(&mut client, "redis"), 100);
    assert_eq!(stale_reads(&mut client, "lazywrite"), 0);
    // The other instance has its copy until its time to live; ours is never stale.
    assert_eq!(stale_reads(&mut client, "twotier"), 50);
}

/// An answer that takes longer never comes.
const HANGS: Duration = Duration::from_secs(30);

#[test]
fn an_event_reaches_all_instances_after_its_delay() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    client.get("/event/1?instance=0");
    client.get("/event/1?instance=1");
    let written = Instant::now();
    client.send("PUT", "/event/1?instance=0", &[], b"");
    for instance in 0..2 {
        let path = format!("/event/1?instance={instance}");
        while client.get(&path).json()["version"] == 1 {
            assert!(written.elapsed() < HANGS);
        }
        assert!(written.elapsed() >= Duration::from_millis(5), "{:?}", written.elapsed());
    }
}

/// Spends real time: what is tested here is that an item is too old after it.
#[expect(clippy::disallowed_methods, reason = "a test's own thread, which blocks nobody")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[test]
fn a_two_tier_copy_is_stale_no_longer_than_its_time_to_live() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    client.get("/twotier/1?instance=1");
    client.send("PUT", "/twotier/1?instance=0", &[], b"");
    let written = Instant::now();
    while client.get("/twotier/1?instance=1").json()["version"] == 1 {
        assert!(written.elapsed() < HANGS);
    }
    assert_eq!(client.get("/twotier/1?instance=0").json()["version"], 2);
}

#[test]
fn lost_events_leave_instances_stale() {
    let config = DemoConfig { event_loss: 1.0, event_delay: Duration::ZERO, ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    assert_eq!(stale_reads(&mut client, "event"), 100);
    assert_eq!(client.get("/_demo/stats").json()["events"]["published"], 100);
}

#[test]
fn an_expired_item_is_loaded_again() {
    let config = DemoConfig { memory_ttl: Duration::from_millis(30), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    for path in ["/memory/1", "/lazy/1"] {
        assert_eq!(cache(&client.get(path)).0, "miss");
        wait(Duration::from_millis(40));
        assert_eq!(cache(&client.get(path)).0, "expired", "{path}");
    }
}

#[test]
fn a_write_through_cache_is_empty_until_written_or_warmed() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    assert_eq!(client.get("/writethrough/3").status, 404);
    let change = br#"{"name":"Renamed","price":1.5}"#;
    let written = client.send("PUT", "/writethrough/3", &[], change).json();
    assert_eq!((&written["version"], &written["name"]), (&json!(2), &json!("Renamed")));
    let read = client.get("/writethrough/3");
    assert_eq!((cache(&read), &read.json()["price"]), (("hit", "redis"), &json!(1.5)));
    assert_eq!(client.post("/_demo/warm", r#"{"ids":[7],"from":10,"to":12}"#).json()["warmed"], 4);
    for id in [7, 10, 12] {
        assert_eq!(client.get(&format!("/writethrough/{id}")).status, 200);
    }
    assert_eq!(client.send("DELETE", "/writethrough/7", &[], b"").status, 204);
    assert_eq!(client.get("/writethrough/7").status, 404);
    assert_eq!(client.post("/_demo/warm", r#"{"from":1,"to":99999}"#).status, 400);
}

#[test]
fn a_shared_object_drifts_and_a_copy_does_not() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    let mut hits = |path: &str| {
        (0..3).map(|_| client.get(path).json()["hits"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(hits("/immutable/1"), [1, 1, 1]);
    assert_eq!(hits("/mutable/1"), [1, 2, 3]);
}

#[test]
fn redis_down_costs_the_origin_or_the_answer() {
    for (fallback, status, tier) in
        [(RedisFallback::Origin, 200, "origin"), (RedisFallback::Fail, 503, "-")]
    {
        let config = DemoConfig { redis_fallback: fallback, ..DemoConfig::fast() };
        let demo = Demo::start(config).unwrap();
        let mut client = Client::new(demo.addr());
        for path in ["/redis/1", "/memory/1"] {
            client.get(path);
        }
        client.post("/_demo/fault", r#"{"redis_down":true}"#);
        let answer = client.get("/redis/1");
        assert_eq!((answer.status, cache(&answer).1), (status, tier));
        assert_eq!(cache(&client.get("/memory/1")), ("hit", "memory"));
        client.post("/_demo/fault", r#"{"redis_down":null}"#);
        assert_eq!(cache(&client.get("/redis/1")), ("hit", "redis"));
    }
}

#[test]
fn an_overloaded_origin_queues_and_then_refuses() {
    let config = DemoConfig {
        origin_concurrency: 2,
        origin_latency: Duration::from_millis(100),
        origin_queue_timeout: Duration::from_millis(150),
        ..DemoConfig::fast()
    };
    let demo = Demo::start(config).unwrap();
    let answers = storm(demo.addr(), "/nocache/1", 10);
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 503).count();
    assert!(good >= 2 && refused >= 4 && good + refused == 10, "{good} good, {refused} refused");
    let queued = answers.iter().filter(|a| a.header("server-timing").unwrap().contains("queue;"));
    assert!(queued.count() >= 6);
    let stats = get(demo.addr(), "/_demo/stats").json();
    assert_eq!(stats["origin"]["in_flight"]["max"], 2);
}

#[test]
fn another_key_version_ignores_old_entries() {
    // Two servers on one Redis: the first one's stand-in.
    let old = Demo::start(DemoConfig::fast()).unwrap();
    get(old.addr(), "/redis/1");
    let redis = Some(old.redis_url().to_owned());
    let same = Demo::start(DemoConfig { redis: redis.clone(), ..DemoConfig::fast() }).unwrap();
    assert_eq!(cache(&get(same.addr(), "/redis/1")), ("hit", "redis"));
    let new = Demo::start(DemoConfig { redis, key_version: 2, ..DemoConfig::fast() }).unwrap();
    let answer = get(new.addr(), "/redis/1");
    assert_eq!((cache(&answer).0, answer.header("x-cache-version")), ("miss", Some("2")));
}

#[test]
fn the_fastest_answers_are_ordered_none_redis_memory() {
    let config = DemoConfig { redis_latency: Some(Duration::from_millis(5)), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    // None is faster than it is made to be, whatever else the machine does.
    let mut fastest = |path: &str| {
        let times = (0..15).map(|_| {
            let begin = Instant::now();
            client.get(path);
            begin.elapsed()
        });
        times.min().unwrap()
    };
    let paths = ["/nocache/99", "/redis/99", "/memory/99", "/lazy/99", "/dictionary/99"];
    let [none, redis, memory, lazy, dictionary] = paths.map(&mut fastest);
    assert!(none > redis, "{none:?} {redis:?}");
    for quick in [memory, lazy, dictionary] {
        assert!(redis > quick, "{redis:?} {quick:?}");
    }
}
