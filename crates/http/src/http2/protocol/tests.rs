use super::*;

#[test]
fn a_goodbye_is_the_news_however_the_connection_breaks_then() {
    let by_read = Failure::Net(Broken::Reset(Operation::Read));
    for failure in [None, Some(Truncated::Partial.into()), Some(by_read)] {
        let mut protocol = Protocol::new(brunt_net::clock::now, 1000);
        protocol.going = Some(reason::NO_ERROR);
        protocol.ended(failure);
        assert_eq!(protocol.refusal().code(), 1611);
    }
    let mut protocol = Protocol::new(brunt_net::clock::now, 1000);
    protocol.ended(Some(by_read));
    assert_eq!(protocol.refusal(), by_read);
}

/// A server's first words, and the head of the first stream.
fn asked() -> Protocol {
    let mut protocol = Protocol::new(brunt_net::clock::now, 1000);
    let target = crate::Target::parse("http://a.test").unwrap();
    let headers = Headers::new();
    let request = Request::new("GET", &target, &headers);
    let answer = Answer::new(crate::exchange::Fate::Discard, 0);
    assert_eq!(protocol.open(&request, answer), 1);
    let mut bytes = Vec::new();
    frame::write(kind::SETTINGS, 0, 0, &[], &mut bytes);
    frame::write(kind::HEADERS, flag::END_HEADERS, 1, &[0x88], &mut bytes);
    protocol.take(&bytes);
    protocol.out.clear();
    protocol
}

#[test]
fn a_server_may_fill_the_window_and_not_pass_it() {
    let mut piece = Vec::new();
    frame::write(kind::DATA, 0, 1, &[0; 1 << 14], &mut piece);
    let fill = |protocol: &mut Protocol| {
        for _ in 0..WINDOW >> 14 {
            protocol.take(&piece);
        }
    };
    let mut protocol = asked();
    // The whole window again and again, with leave.
    for _ in 0..3 {
        fill(&mut protocol);
        assert!(!protocol.is_lost() && protocol.out.is_empty());
        assert!(protocol.give_back());
        assert!(!protocol.give_back());
        assert_eq!(protocol.out.len(), frame::HEAD + 4);
        protocol.out.clear();
    }
    fill(&mut protocol);
    let mut byte = Vec::new();
    frame::write(kind::DATA, 0, 1, &[0], &mut byte);
    protocol.take(&byte);
    assert!(protocol.is_lost());
    assert_eq!(protocol.refusal().code(), 1654);
}

/// A line with one stream, whose head has come.
fn line() -> Protocol {
    let mut protocol = Protocol::narrow(brunt_net::clock::now, 1000, 4 << 20);
    let asked =
        Asked { method: "POST", scheme: "http", authority: "a.test", path: "/", headers: &[] };
    assert_eq!(protocol.begin(&asked), 1);
    let mut bytes = Vec::new();
    frame::write(kind::SETTINGS, 0, 0, &[], &mut bytes);
    frame::write(kind::HEADERS, flag::END_HEADERS, 1, &[0x88], &mut bytes);
    protocol.take(&bytes);
    protocol.went_out();
    protocol
}

/// The frames of that kind in `out`: stream and payload.
fn said(protocol: &mut Protocol, kind: u8) -> Vec<(u32, Vec<u8>)> {
    let (mut found, mut rest) = (Vec::new(), &protocol.out[..]);
    while let Some(head) = Head::read(rest) {
        let (payload, behind) = rest[frame::HEAD..].split_at(head.len);
        if head.kind == kind {
            found.push((head.stream, payload.to_vec()));
        }
        rest = behind;
    }
    protocol.went_out();
    found
}

#[test]
fn padding_alone_is_given_back_too() {
    let mut protocol = line();
    let mut padding = Vec::new();
    let payload = [&[255][..], &[0; 255]].concat();
    frame::write(kind::DATA, flag::PADDED, 1, &payload, &mut padding);
    // Twice the window of a stream, of which half is given back at a time.
    let mut given = [0; 2];
    for _ in 0..2 * WINDOW / 256 {
        protocol.take(&padding);
        for (stream, bytes) in said(&mut protocol, kind::WINDOW_UPDATE) {
            given[stream as usize] += frame::number(&bytes).unwrap();
        }
    }
    assert!(!protocol.is_lost() && protocol.stream(1).is_some_and(|stream| !stream.is_done));
    assert_eq!(given, [WINDOW * 2, WINDOW * 2]);
}

#[test]
fn a_new_first_window_moves_those_of_open_streams() {
    let mut protocol = line();
    let first = |size: u32| {
        let mut bytes = Vec::new();
        let payload = [&[0, 4][..], &size.to_be_bytes()].concat();
        frame::write(kind::SETTINGS, 0, 0, &payload, &mut bytes);
        bytes
    };
    let send = |protocol: &mut Protocol, size: usize| {
        let start = protocol.out.len();
        protocol.out.resize(start + frame::HEAD + size, 0);
        protocol.close_data(start, 1, false);
        protocol.went_out();
    };
    send(&mut protocol, 1000);
    protocol.take(&first(1500));
    assert_eq!(protocol.room(1), 500);
    // Below zero it needs leave for the difference, too.
    protocol.take(&first(400));
    assert_eq!(protocol.room(1), 0);
    let mut more = Vec::new();
    frame::write_number(kind::WINDOW_UPDATE, 1, 700, &mut more);
    protocol.take(&more);
    assert_eq!(protocol.room(1), 100);
    protocol.take(&first(1 << 31));
    assert_eq!(protocol.refusal(), Failure::Http2(Http2Trouble::Connection, 3));
}

#[test]
fn a_server_that_gives_no_leave_or_too_much_is_told_even_when_all_was_sent() {
    for (by, wrong) in [(0, reason::PROTOCOL_ERROR), (0x7fff_ffff, reason::FLOW_CONTROL_ERROR)] {
        let mut protocol = line();
        let start = protocol.out.len();
        protocol.out.resize(start + frame::HEAD, 0);
        protocol.close_data(start, 1, true);
        let mut update = Vec::new();
        frame::write_number(kind::WINDOW_UPDATE, 1, by, &mut update);
        protocol.take(&update);
        // Said once, whatever the server goes on with.
        protocol.take(&update);
        protocol.leave(1);
        assert_eq!(said(&mut protocol, kind::RST_STREAM), [(1, wrong.to_be_bytes().to_vec())]);
        assert!(!protocol.is_lost());
    }
}

#[test]
fn requests_that_wait_for_the_socket_are_not_the_servers_fault() {
    let mut protocol = line();
    let long = vec![b'x'; ANSWERS_MAX];
    let headers = [("x-long", &long[..])];
    let asked =
        Asked { method: "POST", scheme: "http", authority: "a.test", path: "/", headers: &headers };
    protocol.begin(&asked);
    let mut ping = Vec::new();
    frame::write(kind::PING, 0, 0, &[0; 8], &mut ping);
    protocol.take(&ping);
    assert!(protocol.out.len() > ANSWERS_MAX && !protocol.is_lost());
    // Its own answers are.
    let most = ANSWERS_MAX / (frame::HEAD + 8);
    protocol.take(&ping.repeat(most + 1));
    assert_eq!(protocol.refusal(), Failure::Http2(Http2Trouble::Connection, 11));
}

#[test]
fn provisional_heads_count_as_the_head_does() {
    let mut protocol = asked();
    protocol.leave(1);
    let target = crate::Target::parse("http://a.test").unwrap();
    let headers = Headers::new();
    let request = Request::new("GET", &target, &headers);
    let id = protocol.open(&request, Answer::default());
    let mut early = Vec::new();
    let block = [&[0x08, 3][..], b"103", &[0x0f, 0x10, 100], &[b'x'; 100]].concat();
    frame::write(kind::HEADERS, flag::END_HEADERS, id, &block, &mut early);
    let borne = (0..100).take_while(|_| {
        protocol.take(&early);
        protocol.stream(id).is_some_and(|stream| !stream.is_done)
    });
    assert!((1..10).contains(&borne.count()));
    assert!(!protocol.is_lost());
}
