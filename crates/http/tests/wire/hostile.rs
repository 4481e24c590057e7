//! Servers that send without end what costs work and yields nothing, and the neighbour on the same core.

use std::cell::{Cell, RefCell};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use brunt_fiber::pause::pause;
use brunt_fiber::{Fiber, StackPool, StackSettings, block_on, clock};
use brunt_http::{Client, Settings};
use brunt_net::Proxies;

use crate::support::{client, failed, run, with};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_millis(600);

/// The neighbour's pause.
const STEP: Duration = Duration::from_millis(10);

/// A server on a thread of its own: reads something, says `first`, then `again` until the client leaves.
fn flood(first: Vec<u8>, again: &[u8]) -> SocketAddr {
    let again = again.repeat((64 * 1024usize).div_ceil(again.len().max(1)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for _ in 0..4 {
            let Ok((mut socket, _)) = listener.accept() else { return };
            // Whatever happens, it ends.
            let end = std::time::Instant::now() + Duration::from_secs(5);
            let mut request = [0; 4096];
            let _ = socket.read(&mut request);
            let _ = socket.set_write_timeout(Some(Duration::from_secs(1)));
            let mut said = socket.write_all(&first);
            while said.is_ok() && std::time::Instant::now() < end {
                said = socket.write_all(&again);
            }
        }
    });
    address
}

/// The result of the one, and of its neighbour.
struct Seen {
    code: u16,
    text: String,
    took: Duration,
    /// How often the neighbour went on.
    steps: u32,
    /// The longest time that it waited for a step.
    gap: Duration,
    /// How late a thread beside them was at worst: the machine may have other things to do.
    pause: Duration,
}

/// A thread that sleeps again and again, and gives how late it woke at worst.
fn yardstick(is_over: Arc<AtomicBool>) -> std::thread::JoinHandle<Duration> {
    std::thread::spawn(move || {
        let mut worst = Duration::ZERO;
        while !is_over.load(Ordering::Relaxed) {
            let from = std::time::Instant::now();
            std::thread::park_timeout(STEP);
            worst = worst.max(from.elapsed().saturating_sub(STEP));
        }
        worst
    })
}

/// A GET by a fiber, beside another task of the same core.
async fn watched(client: Client, url: String) -> Seen {
    let is_over = Arc::new(AtomicBool::new(false));
    let yardstick = yardstick(Arc::clone(&is_over));
    let client = Rc::new(client);
    let (steps, gap) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(Duration::ZERO)));
    let neighbour = tokio::task::spawn_local({
        let (steps, gap) = (Rc::clone(&steps), Rc::clone(&gap));
        async move {
            loop {
                let from = clock::Moment::now();
                pause(STEP).await;
                steps.set(steps.get() + 1);
                gap.set(gap.get().max(from.elapsed()));
            }
        }
    });
    tokio::task::yield_now().await;
    let ended = Rc::new(RefCell::new(None));
    let mut fiber =
        Fiber::new(StackPool::new(StackSettings { usable: 256 * 1024 }).take().unwrap());
    let from = clock::Moment::now();
    fiber.start({
        let ended = Rc::clone(&ended);
        move || {
            let exchange = block_on(with(&client, &url, |request| {
                request.deadline =
                    Some(clock::now_ns() + u64::try_from(PATIENCE.as_nanos()).unwrap());
                request.discard_body = true;
            }));
            *ended.borrow_mut() = exchange.ok();
        }
    });
    tokio::task::spawn_local(fiber).await.unwrap();
    let took = from.elapsed();
    neighbour.abort();
    is_over.store(true, Ordering::Relaxed);
    let pause = yardstick.join().expect("it measures and no more");
    let (code, text) = failed(ended.borrow().as_ref().expect("the fiber was not stopped"));
    Seen { code, text, took, steps: steps.get(), gap: gap.get(), pause }
}

/// The one ends with one of these codes, about when it should, and the neighbour was hardly held up.
fn judge(name: &str, codes: &[u16], seen: &Seen) {
    let Seen { code, text, took, steps, gap, pause } = seen;
    assert!(codes.contains(code), "{name}: {code} {text}");
    // Tests share two cores with others.
    let spare = *pause * 10;
    assert!(*took < PATIENCE * 3 + spare, "{name}: took {took:?}, {pause:?}");
    assert!(*gap < Duration::from_millis(400) + spare, "{name}: held up for {gap:?}, {pause:?}");
    let due = took.as_millis() / (STEP + *pause).as_millis();
    assert!((u128::from(*steps) + 2) * 3 >= due, "{name}: {steps} of {due} steps");
}

const TIMEOUT: u16 = 1050;

/// Name, what comes first, what comes again, the codes that it may end with.
type Http2Row<'a> = (&'a str, &'a [u8], Vec<u8>, &'a [u16]);

/// Name, scheme of the proxy, what comes first, what comes again, the codes that it may end with.
type ProxyRow<'a> = (&'a str, &'a str, &'a [u8], &'a [u8], &'a [u16]);

#[test]
fn floods_of_http1_end_with_a_code_and_starve_nobody() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let sized = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n";
    let wordy = [b"1;".as_slice(), &[b'x'; 4000], b"\r\na\r\n"].concat();
    let trailers = [chunked.as_slice(), b"0\r\n"].concat();
    let rows: &[(&str, &[u8], &[u8], u16)] = &[
        ("100s", b"", b"HTTP/1.1 100 Continue\r\n\r\n", 1000),
        ("103s", b"", b"HTTP/1.1 103 x\r\nLink: y\r\n\r\n", 1000),
        ("header lines", b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", 1000),
        ("one header line", b"HTTP/1.1 200 OK\r\nA: ", b"bbbb", 1000),
        ("folded lines", b"HTTP/1.1 200 OK\r\nA: b\r\n", b" c\r\n", 1000),
        ("a status line", b"HTTP/1.1 200 ", b"OK", 1000),
        ("empty lines", b"", b"\r\n", 1000),
        ("nothing of HTTP", b"", b"\0\0", 1000),
        ("wordy chunks", chunked, &wordy, 1000),
        ("a chunk's digits", chunked, b"0", 1000),
        ("trailers", &trailers, b"A: b\r\n", 1000),
        ("chunks of a byte", chunked, b"1\r\na\r\n", TIMEOUT),
        ("a body", sized, b"aaaa", TIMEOUT),
        ("a body without length", b"HTTP/1.1 200 OK\r\n\r\n", b"aaaa", TIMEOUT),
    ];
    for &(name, first, again, code) in rows {
        let address = flood(first.to_vec(), again);
        let seen = run(async { watched(client(|_| ()), format!("http://{address}")).await });
        judge(name, &[code], &seen);
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The first bytes of each HTTP/2 server here.
fn greeting() -> Vec<u8> {
    [frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat()
}

#[test]
fn floods_of_http2_end_with_a_code_and_starve_nobody() {
    const CALM: u16 = 1662;
    let head = frame(1, 4, 1, &[0x88]);
    let open_head = frame(1, 0, 1, &[0x88]);
    let early = frame(1, 4, 1, &[0x08, 3, b'1', b'0', b'3']);
    let sizes = frame(1, 4, 1, &[0x20; 16_000]);
    let ping_and_byte = [frame(6, 0, 0, &[1; 8]), frame(0, 0, 1, b"a")].concat();
    let settings = [0, 4, 0, 1, 0, 0].repeat(2000);
    let rows: &[Http2Row<'_>] = &[
        ("SETTINGS", &[], frame(4, 0, 0, &[]), &[CALM]),
        ("large SETTINGS", &[], frame(4, 0, 0, &settings), &[CALM]),
        ("SETTINGS that are acknowledged", &[], frame(4, 1, 0, &[]), &[CALM]),
        ("PING", &[], frame(6, 0, 0, &[7; 8]), &[CALM]),
        ("PING that is answered", &[], frame(6, 1, 0, &[7; 8]), &[CALM]),
        ("WINDOW_UPDATE", &[], frame(8, 0, 0, &[0, 0, 0, 1]), &[CALM]),
        ("WINDOW_UPDATE of a stream", &[], frame(8, 0, 1, &[0, 0, 0, 1]), &[CALM]),
        ("WINDOW_UPDATE of no stream", &[], frame(8, 0, 77, &[0, 0, 0, 1]), &[CALM]),
        ("PRIORITY", &[], frame(2, 0, 1, &[0; 5]), &[CALM]),
        ("unknown frames", &[], frame(0x99, 0xff, 3, b"what"), &[CALM]),
        ("large unknown frames", &[], frame(0x99, 0, 0, &[0; 16_000]), &[CALM]),
        ("RST_STREAM of no stream", &[], frame(3, 0, 99, &[0, 0, 0, 8]), &[CALM]),
        ("RST_STREAM", &[], frame(3, 0, 1, &[0, 0, 0, 8]), &[1639]),
        ("GOAWAY", &[], frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]), &[CALM]),
        ("empty DATA", &head, frame(0, 0, 1, &[]), &[CALM]),
        ("padded DATA", &head, frame(0, 8, 1, &[4, 0, 0, 0, 0]), &[CALM]),
        ("empty CONTINUATION", &open_head, frame(9, 0, 1, &[]), &[CALM]),
        ("CONTINUATION", &open_head, frame(9, 0, 1, &[0x88; 1000]), &[CALM]),
        ("sizes of the table", &[], sizes, &[1660]),
        ("provisional heads", &[], early, &[CALM, 1000]),
        ("heads of no stream", &[], frame(1, 4, 99, &[0x88]), &[CALM]),
        ("DATA of a byte", &head, frame(0, 0, 1, b"a"), &[TIMEOUT, 1654]),
        ("PING and a byte", &head, ping_and_byte, &[TIMEOUT, 1654, CALM]),
        ("DATA beyond the window", &head, frame(0, 0, 1, &[0; 16_000]), &[TIMEOUT, 1654]),
    ];
    for (name, first, again, codes) in rows {
        let address = flood([&greeting(), *first].concat(), again);
        let seen = run(async {
            let client = client(|settings| settings.prior_http2 = true);
            watched(client, format!("http://{address}")).await
        });
        judge(name, codes, &seen);
    }
}

fn through(proxy: &str) -> impl FnOnce(&mut Settings) {
    let proxies = Proxies::everything(proxy).unwrap();
    move |settings| settings.net.proxies = proxies
}

#[test]
fn floods_of_proxies_end_with_a_code_and_starve_nobody() {
    let rows: &[ProxyRow<'_>] = &[
        ("100s of a proxy", "http", b"", b"HTTP/1.1 100 Continue\r\n\r\n", &[1000]),
        ("header lines of a proxy", "http", b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", &[1000]),
        ("more than was asked", "http", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP", &[1301]),
        ("a proxy's body", "http", b"HTTP/1.1 407 x\r\n\r\n", b"aaaa", &[1000]),
        ("SOCKS of zeros", "socks5", b"", b"\0\0\0\0", &[1200]),
        ("SOCKS without end", "socks5", b"\x05\x00", b"\x05\x00\x00\x03", &[1200, 1301]),
        ("SOCKS with a long name", "socks5", b"\x05\x00\x05\x00\x00\x03\xff", b"\0", &[1301]),
    ];
    for &(name, scheme, first, again, codes) in rows {
        let address = flood(first.to_vec(), again);
        let seen = run(async {
            let client = client(through(&format!("{scheme}://{address}")));
            watched(client, "https://a.test/".to_owned()).await
        });
        judge(name, codes, &seen);
    }
}

/// A record of TLS.
fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b] = u16::try_from(payload.len()).unwrap().to_be_bytes();
    [&[kind, 3, 3, a, b], payload].concat()
}

/// Handshake messages of every size around rustls' limit, and of the most that can be declared, in records of several
/// sizes: an error each time, and never a panic.
#[test]
fn handshake_messages_of_any_size_are_an_error() {
    for size in [0_u32, 1, 0xfffe, 0xffff, 0x1_0000, 0x1_0001, 90_000, 0xff_ffff] {
        for step in [100_usize, 4096, 16_384] {
            let [_, a, b, c] = size.to_be_bytes();
            let whole = [&[2, a, b, c][..], &vec![0; size.min(300_000) as usize]].concat();
            let records: Vec<u8> = whole.chunks(step).flat_map(|part| record(22, part)).collect();
            let address = flood(records, &record(22, &[0; 16_384]));
            let seen = run(async { watched(client(|_| ()), format!("https://{address}")).await });
            judge(&format!("{size} in {step}"), &[1010, 1300], &seen);
        }
    }
}

#[test]
fn floods_of_records_end_with_a_code_and_starve_nobody() {
    let rows: &[(&str, Vec<u8>)] = &[
        ("empty handshake records", record(22, &[])),
        ("a byte of a message in each", record(22, &[2])),
        ("warnings", record(21, &[1, 90])),
        ("changes of cipher", record(20, &[1])),
        ("data", record(23, &[0; 1000])),
        ("hello requests", record(22, &[0, 0, 0, 0])),
        ("too large records", [&[22, 3, 3, 0xff, 0xff][..], &vec![0; 65_535]].concat()),
        ("no records", b"HTTP/1.1 200 OK\r\n".to_vec()),
    ];
    for (name, again) in rows {
        let address = flood(Vec::new(), again);
        let seen = run(async { watched(client(|_| ()), format!("https://{address}")).await });
        judge(name, &[1000, 1010, 1300, 1301], &seen);
        // The same of a proxy that is spoken to over TLS.
        let address = flood(Vec::new(), again);
        let seen = run(async {
            let client = client(through(&format!("https://{address}")));
            watched(client, "http://a.test/".to_owned()).await
        });
        judge(name, &[1000, 1010, 1200, 1300, 1301], &seen);
    }
}
