//! How much CPU one request costs: `flood URL [CLIENTS] [SECONDS]`.
//!
//! Each client sends GETs, one after the other, on its own connection, all on one `current_thread`
//! runtime as on a load core. Prints requests, rate, and the process's CPU time per request.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use brunt_http::{Client, Headers, Network, Request, Settings, Target, clock};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let url = arguments.first().expect("usage: flood URL [CLIENTS] [SECONDS]").clone();
    let number = |at: usize, default| {
        arguments.get(at).map_or(default, |text| text.parse::<u64>().expect("it is a number"))
    };
    let (clients, seconds) = (number(1, 250), number(2, 3));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    let mut settings = Settings::default();
    settings.net.tls.insecure_skip_verify = true;
    let network = Network::new(settings, clock::now).expect("the settings are fine");
    let counts = Rc::new(Counts::default());
    let start = Instant::now();
    let before = cpu();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let end = start + Duration::from_secs(seconds);
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let client = Client::new(network.clone(), None);
                tokio::task::spawn_local(load(client, url.clone(), end, counts.clone()))
            })
            .collect();
        for task in tasks {
            task.await.expect("no client panics");
        }
    });
    let (user, system) = cpu();
    let (user, system) = (user - before.0, system - before.1);
    let (done, failed) = (counts.done.get(), counts.failed.get());
    let elapsed = start.elapsed().as_secs_f64();
    let each = |seconds: f64| seconds * 1e6 / done as f64;
    say(&format!(
        "{done} requests, {failed} failed, {:.0}/s, CPU {:.2} us/request (user {:.2} + system {:.2}), resident {} kB",
        done as f64 / elapsed,
        each(user + system),
        each(user),
        each(system),
        resident_kb(),
    ));
}

#[derive(Default)]
struct Counts {
    done: Cell<u64>,
    failed: Cell<u64>,
}

async fn load(client: Client, url: String, end: Instant, counts: Rc<Counts>) {
    let target = Target::parse(&url).expect("it is a URL");
    let mut headers = Headers::new();
    headers.append("User-Agent", "brunt").expect("it is a valid header");
    let mut now = Instant::now();
    while now < end {
        let mut request = Request::new("GET", &target, &headers);
        request.deadline = Some(client.network().now() + 60_000_000_000);
        let exchange = client.exchange(&request).await;
        counts.done.set(counts.done.get() + 1);
        if exchange.response().map_or(true, |response| response.status() != 200) {
            counts.failed.set(counts.failed.get() + 1);
        }
        now = Instant::now();
    }
}

/// User and system time of this process in seconds, as the kernel counts it.
fn cpu() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |at: usize| {
        let field = after_name.split_whitespace().nth(at);
        field.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
    };
    (ticks(11), ticks(12))
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[expect(clippy::print_stdout, reason = "an example's answer")]
fn say(text: &str) {
    println!("{text}");
}
