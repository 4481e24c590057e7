use proptest::prelude::*;

use super::*;

/// All that a response told: status, body, bytes left over; or how it broke.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    status: u16,
    interim: usize,
    lines: Vec<u8>,
    body: Vec<u8>,
    left_over: usize,
    end: Result<(), String>,
}

/// Feeds `input` in pieces that end at `cuts`, then the end of the connection.
fn feed(input: &[u8], cuts: &[usize], to_head_request: bool) -> Told {
    let mut parser = Parser::new(to_head_request, 4096);
    let mut told = Told {
        status: 0,
        interim: 0,
        lines: Vec::new(),
        body: Vec::new(),
        left_over: 0,
        end: Ok(()),
    };
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).collect();
    cuts.push(0);
    cuts.push(input.len());
    cuts.sort_unstable();
    for pair in cuts.windows(2) {
        let mut piece = &input[pair[0]..pair[1]];
        loop {
            match parser.next(&mut piece) {
                Err(error) => {
                    told.end = Err(error.to_string());
                    return told;
                }
                Ok(Event::More) => break,
                Ok(Event::Done) => {
                    told.left_over += piece.len();
                    break;
                }
                Ok(Event::Interim(_)) => told.interim += 1,
                Ok(Event::Head(head)) => {
                    told.status = head.status;
                    told.lines = head.lines.into_owned();
                }
                Ok(Event::Data(data)) => {
                    assert!(!data.is_empty(), "an empty piece tells nothing");
                    told.body.extend_from_slice(data);
                }
            }
        }
    }
    told.end = parser.finish().map_err(|truncated| format!("{truncated:?}"));
    told
}

fn whole(input: &str) -> Told {
    feed(input.as_bytes(), &[], false)
}

#[test]
fn a_response_ends_at_its_length_and_what_follows_is_left_over() {
    let told = whole("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef");
    assert_eq!((told.body.as_slice(), told.left_over), (b"abc".as_slice(), 3));
}

#[test]
fn a_response_without_length_ends_with_the_connection() {
    let told = whole("HTTP/1.0 200 OK\r\n\r\nuntil close");
    assert_eq!((told.body.as_slice(), told.end), (b"until close".as_slice(), Ok(())));
}

#[test]
fn interim_responses_are_skipped_and_101_is_final() {
    let told =
        whole("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 204 N\r\n\r\n");
    assert_eq!((told.interim, told.status, told.end), (2, 204, Ok(())));
    assert_eq!(whole("HTTP/1.1 101 Switching\r\n\r\n").status, 101);
}

#[test]
fn an_end_too_early_is_told_apart_from_nothing_at_all() {
    let end = |input| whole(input).end;
    assert_eq!(end(""), Err("Empty".to_owned()));
    for input in [
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        assert_eq!(end(input), Err("Partial".to_owned()), "{input}");
    }
}

#[test]
fn an_endless_head_stops_at_the_limit() {
    let input = format!("HTTP/1.1 200 OK\r\n{}", "X-A: aaaaaaaaaaaaaaaa\r\n".repeat(400));
    let end = whole(&input).end.unwrap_err();
    assert_eq!(end, "net/http: server response headers exceeded 4096 bytes; aborted");
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(400);
    assert_eq!(whole(&interim).end.unwrap_err(), end);
}

#[test]
fn another_protocol_is_refused_after_its_first_line() {
    let mut parser = Parser::new(false, 4096);
    let mut input = &b"SSH-2.0-OpenSSH_9\r\n"[..];
    assert_eq!(
        parser.next(&mut input).unwrap_err().to_string(),
        r#"malformed HTTP response "SSH-2.0-OpenSSH_9""#
    );
}

#[test]
fn bytes_read_past_the_parser_are_counted() {
    let mut parser = Parser::new(false, 4096);
    let mut input = &b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"[..];
    while !matches!(parser.next(&mut input).unwrap(), Event::More) {}
    assert_eq!(parser.left(), Some(7));
    parser.skip(7);
    assert!(parser.is_done());
}

/// Responses that are whole, broken in the middle, or noise.
fn responses() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("Content-Length: 5\r\n".to_owned()),
        Just("Content-Length: 7\r\n".to_owned()),
        Just("Transfer-Encoding: chunked\r\n".to_owned()),
        Just("Connection: close\r\n".to_owned()),
        Just("X: a\r\n b\r\n".to_owned()),
        Just("broken line\r\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("Set-Cookie: a=b\n".to_owned()),
        "[ -~\r\n]{0,20}\r\n",
    ];
    let start = prop_oneof![
        Just("HTTP/1.1 200 OK\r\n".to_owned()),
        Just("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n".to_owned()),
        Just("HTTP/1.0 200 OK\n".to_owned()),
        Just("HTTP/1.1 204 No\r\n".to_owned()),
        Just("HTTP/1.1 2x0 OK\r\n".to_owned()),
        "[ -~\r\n]{0,30}",
    ];
    let body = prop_oneof![
        Just("5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n".to_owned()),
        Just("hello".to_owned()),
        "[ -~\r\n]{0,40}",
    ];
    (start, proptest::collection::vec(line, 0..6), body).prop_map(|(start, lines, body)| {
        format!("{start}{}\r\n{body}", lines.concat()).into_bytes()
    })
}

proptest! {
    #[test]
    fn any_split_gives_the_same_answer(
        input in responses(),
        cuts in proptest::collection::vec(any::<usize>(), 0..8),
        head in any::<bool>(),
    ) {
        let whole = feed(&input, &[], head);
        prop_assert_eq!(&feed(&input, &cuts, head), &whole);
        let each: Vec<usize> = (0..input.len()).collect();
        prop_assert_eq!(&feed(&input, &each, head), &whole);
    }

    #[test]
    fn noise_never_panics(input in proptest::collection::vec(any::<u8>(), 0..200)) {
        feed(&input, &[3, 9], false);
    }
}
