use brunt_metrics::{Series, SeriesDelta, Sink, TagSet, TrendSink, builtin};

use super::*;
use crate::wire::{Decoder, Message};

fn uplink() -> Uplink {
    Uplink::new(Arc::new(Registry::new()), 7, (3, 9), 1000)
}

fn requests(count: u64, url: &str) -> Frame {
    let series = |metric| Arc::new(Series { metric, tags: TagSet::from_pairs([("url", url)]) });
    let sum = count as f64;
    let values = (0..count).map(|n| n as f64);
    Frame {
        series: vec![
            SeriesDelta {
                series: series(builtin::HTTP_REQS),
                sink: Sink::Counter { sum, rest: 0.0, first_at: Some(5) },
            },
            SeriesDelta {
                series: series(builtin::HTTP_REQ_DURATION),
                sink: Sink::Trend(TrendSink::from_values(values)),
            },
        ],
        ..Frame::default()
    }
}

fn polled(uplink: &mut Uplink, now: Nanos) -> Vec<Publication> {
    let mut all = Vec::new();
    uplink.poll(now, now, true, |publication| all.push(publication));
    all
}

/// The totals of what was published, each number once.
fn totals(all: &[Publication]) -> Totals {
    let mut decoder = Decoder::new(Arc::new(Registry::new()));
    let (mut totals, mut seen) = (Totals::default(), Ranges::default());
    for publication in all {
        let message = Message::read(&publication.payload).unwrap();
        assert_eq!((message.head.nonce, message.head.seat), (7, 3));
        assert_eq!(message.head.seq, publication.seq);
        if seen.insert(message.head.seq) {
            totals.add(Totals::of(&decoder.frame(message)));
        }
    }
    totals
}

#[test]
fn ticks_of_a_second_are_one_message_and_the_last_says_so() {
    let mut uplink = uplink();
    for tick in 1..=30 {
        uplink.take(&requests(2, "/"), tick * SECOND / 10);
        assert!(polled(&mut uplink, tick * SECOND / 10).len() <= 1);
    }
    // Whole seconds of the scenarios: the fourth has begun.
    assert_eq!(uplink.delivery().numbered, 3);
    uplink.finish();
    let last = polled(&mut uplink, 3 * SECOND);
    assert!(Message::read(&last[0].payload).unwrap().head.is_last && uplink.is_numbered());
    assert_eq!((last.len(), last[0].id.as_str()), (1, "3.9.4"));
    assert_eq!((uplink.totals().requests, uplink.totals().values), (60, 60));
    let mut ranges = Ranges::default();
    (1..=4).for_each(|seq| assert!(ranges.insert(seq)));
    assert!(!uplink.is_seen());
    uplink.seen(4 * SECOND, &ranges);
    assert!(uplink.is_seen() && uplink.waiting() == 0);
    // Nothing is lost without a word.
    uplink.take(&requests(5, "/"), 5 * SECOND);
    assert_eq!((uplink.totals().requests, uplink.delivery().thrown.requests), (65, 5));
}

#[test]
fn a_hole_is_sent_again_under_another_id() {
    let mut uplink = uplink();
    uplink.take(&requests(1, "/"), 0);
    let first = polled(&mut uplink, SECOND);
    assert_eq!(first[0].id, "3.9.1");
    uplink.acked(SECOND, 1);
    uplink.seen(3 * SECOND, &Ranges::default());
    assert!(polled(&mut uplink, 3 * SECOND).is_empty());
    uplink.seen(4 * SECOND, &Ranges::default());
    assert_eq!(polled(&mut uplink, 4 * SECOND)[0].id, "3.9.1.r1");
    uplink.acked(4 * SECOND, 1);
    uplink.seen(9 * SECOND, &Ranges::default());
    assert!(polled(&mut uplink, 9 * SECOND).is_empty());
    uplink.seen(10 * SECOND, &Ranges::default());
    assert_eq!(polled(&mut uplink, 10 * SECOND)[0].id, "3.9.1.r2");
    // Without an answer of the broker the id stays.
    uplink.not_acked(10 * SECOND, 1);
    assert!(polled(&mut uplink, 10 * SECOND).is_empty());
    assert_eq!(polled(&mut uplink, 11 * SECOND)[0].id, "3.9.1.r2");
    uplink.disconnected();
    assert_eq!(polled(&mut uplink, 12 * SECOND)[0].id, "3.9.1.r2");
    assert_eq!(uplink.delivery().again, 2);
}

#[test]
fn few_are_on_their_way_at_once_and_what_waits_is_merged_without_loss() {
    let mut uplink = uplink();
    let mut all = Vec::new();
    // Nothing is acknowledged: an hour of seconds with series of their own.
    for second in 0..3600 {
        for tick in 0..2 {
            let now = second * SECOND + tick * SECOND / 2;
            for n in 0..20 {
                uplink.take(&requests(600, &format!("/{}", n * (second % 50))), now);
            }
            all.extend(polled(&mut uplink, now));
        }
        assert!(uplink.in_flight <= IN_FLIGHT_MAX);
        assert!(uplink.waiting_bytes <= BYTES_MAX && uplink.sent_bytes <= BYTES_MAX + (1 << 20));
    }
    assert!(uplink.delivery().coarser > 0 && uplink.delivery().thrown.is_nothing());
    uplink.finish();
    let mut seen = Ranges::default();
    let mut now = 3600 * SECOND;
    while !uplink.is_seen() {
        now += SECOND;
        all.extend(polled(&mut uplink, now));
        for publication in &all {
            seen.insert(publication.seq);
        }
        uplink.seen(now, &seen);
    }
    assert_eq!(totals(&all), uplink.totals());
    assert_eq!(uplink.totals().requests, 3600 * 2 * 20 * 600);
    assert_eq!((uplink.sent_bytes, uplink.waiting_bytes, uplink.in_flight), (0, 0, 0));
}
