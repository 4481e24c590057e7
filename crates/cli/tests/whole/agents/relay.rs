//! A way to NATS that takes time: bytes are handed on later, in their order, and of each hundred pieces two wait for a repetition, as
//! they do where packets are lost.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// A lost packet is sent again after this time.
const AGAIN: Duration = Duration::from_millis(300);

/// Starts a relay to a server; its address. It ends with the process.
pub(super) fn start(to: String, delay: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    std::thread::spawn(move || {
        for here in listener.incoming().map_while(Result::ok) {
            let Ok(there) = TcpStream::connect(&to) else { continue };
            let clone = |stream: &TcpStream| stream.try_clone().expect("a second handle");
            one_way(clone(&here), clone(&there), delay);
            one_way(there, here, delay);
        }
    });
    address
}

fn one_way(mut from: TcpStream, to: TcpStream, delay: Duration) {
    to.set_nodelay(true).expect("it is a socket");
    let (sender, pieces): (SyncSender<(Instant, Vec<u8>)>, _) = sync_channel(10_000);
    std::thread::spawn(move || hand_on(&pieces, to));
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count) = from.read(&mut buffer)
            && count > 0
        {
            let lost = if fastrand::u8(0..100) < 2 { AGAIN } else { Duration::ZERO };
            let piece = (Instant::now() + delay + lost, buffer[..count].to_vec());
            if sender.send(piece).is_err() {
                break;
            }
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
fn hand_on(pieces: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    for (due, piece) in pieces {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    // Fails if the other side was first.
    drop(to.shutdown(Shutdown::Both));
}
