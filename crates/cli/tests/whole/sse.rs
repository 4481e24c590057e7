//! The reader of `EventSource`: the same events, however their bytes were cut.
#![expect(clippy::disallowed_methods, reason = "threads of the test's own, not a core")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::support::brunt;

/// All kinds of line ends, a byte order mark, comments, letters of several bytes, and what means nothing.
const EVENTS: &str = "\u{feff}: hello\r\ndata: a\r\ndata\r\ndata:  b\r\n\r\nevent: tick\rid: 5\rdata: ü€𝄞\r\rid: no\0\ndata:x\n\n\
    :comment: data: y\ndata: z\nunknown: 1\n data: no\n\nevent: lost\n\nid\ndata: last\r\n\r\ndata: cut";

/// Answers with the events in pieces, whose size in bytes is in the path.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let size = head.split(['/', ' ']).nth(2).and_then(|size| size.parse().ok()).unwrap_or(1000);
    stream.set_nodelay(true)?;
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
    )?;
    for piece in EVENTS.as_bytes().chunks(size) {
        stream.write_all(piece)?;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

#[test]
fn events_are_read_the_same_however_their_bytes_were_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    let script = format!(
        "const read = (size) => new Promise((resolve) => {{
          const source = new EventSource(`http://{address}/${{size}}`), seen = [];
          const see = (e) => seen.push([e.type, e.lastEventId, e.data]);
          source.onmessage = see;
          for (const type of ['tick', 'lost']) source.addEventListener(type, see);
          source.onerror = () => {{ source.close(); resolve(JSON.stringify(seen)); }};
        }});
        export default async function () {{
          for (const size of [1, 2, 3, 5, 7, 64, 1000]) console.log(await read(size));
        }}"
    );
    let told = brunt("run --quiet --log-format raw script.js").file("script.js", script).told();
    let expected = r#"[["message","","a\n\n b"],["tick","5","ü€𝄞"],["message","5","x"],["message","5","z"],["message","","last"]]"#;
    // A crowded machine is told of, too.
    let lines: Vec<_> = told.stderr.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(lines, [expected; 7], "{told:?}");
}
