//! Several processes at one store that answers late, and loses questions and answers.

mod fake;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep};

use self::fake::Fake;
use crate::{Bounds, End, LIMIT, Lease, Leases};

const BOUNDS: Bounds = Bounds { values: 1000, bytes: 1 << 20 };

/// All rows that a process gets until there are none; faults are borne.
async fn all_rows(leases: Arc<Leases>, total: u64) -> (Vec<u64>, u32) {
    let rows = leases.rows("r", total);
    let (mut got, mut faults) = (Vec::new(), 0);
    loop {
        match rows.take() {
            Lease::Place(place) => got.push(place),
            Lease::None => return (got, faults),
            Lease::Later(answers) => faults += u32::from(rows.answered(answers).await.is_err()),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_row_goes_to_one_process() {
    for (seed, lost) in [(1, [0, 0]), (2, [10, 10]), (3, [0, 30])] {
        let fake = Fake::new(seed, lost);
        let seats = fake.processes(3);
        let ended = join_all(seats.iter().map(|seat| all_rows(Arc::clone(seat), 2500))).await;
        let mut all: Vec<u64> = ended.iter().flat_map(|(rows, _)| rows).copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..2500), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_takes_two_blocks_at_most_with_it() {
    let fake = Fake::new(1, [0, 0]);
    let mut seats = fake.processes(3);
    let dead = seats.remove(0);
    let rows = dead.rows("r", 24_000);
    let mut taken = Vec::new();
    while taken.len() < 1500 {
        match rows.take() {
            Lease::Place(place) => taken.push(place),
            Lease::Later(answers) => rows.answered(answers).await.unwrap(),
            Lease::None => unreachable!(),
        }
    }
    drop((rows, dead));
    let ended = join_all(seats.iter().map(|seat| all_rows(Arc::clone(seat), 24_000))).await;
    let all: Vec<u64> = ended.iter().flat_map(|(rows, _)| rows).copied().chain(taken).collect();
    let once: BTreeSet<_> = all.iter().collect();
    assert_eq!(once.len(), all.len(), "a row was given out twice");
    assert!((22_000..24_000).contains(&all.len()), "{}", all.len());
}

#[tokio::test(start_paused = true)]
async fn additions_of_all_processes_are_each_done_once() {
    for (seed, lost) in [(1, [0, 0]), (2, [10, 10]), (3, [0, 30])] {
        let fake = Fake::new(seed, lost);
        let seats = fake.processes(4);
        let vu = async |counter: Arc<crate::Counter>| {
            let mut got = (Vec::new(), 0);
            for _ in 0..50 {
                match counter.add(1).await {
                    Ok(value) => got.0.push(value),
                    Err(_) => got.1 += 1,
                }
            }
            got
        };
        let vus = seats.iter().flat_map(|seat| (0..10).map(|_| vu(seat.counter("c", 1000))));
        let ended = join_all(vus).await;
        let mut values: Vec<i64> = ended.iter().flat_map(|(values, _)| values).copied().collect();
        let failed: i64 = ended.iter().map(|(_, failed)| failed).sum();
        let end = seats[0].counter("c", 1000).value().await.unwrap();
        values.sort_unstable();
        assert!(values.is_sorted_by(|a, b| a < b), "seed {seed}: a value came twice");
        let done = end - 1000;
        assert!(values.len() as i64 <= done && done <= values.len() as i64 + failed, "seed {seed}");
        if lost == [0, 0] {
            assert!(values.into_iter().eq(1001..=3000));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn additions_that_wait_together_are_one_write() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(1);
    let counter = seats[0].counter("c", 0);
    let values = join_all((0..500).map(|_| counter.add(2))).await;
    let values: BTreeSet<i64> = values.into_iter().map(Result::unwrap).collect();
    assert_eq!((values.len(), values.last()), (500, Some(&1000)));
    // The mark, the first one, and all others.
    assert!(fake.writes() <= 4, "{}", fake.writes());
}

#[tokio::test(start_paused = true)]
async fn a_sum_that_is_too_large_fails_alone() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(1);
    let counter = seats[0].counter("c", 5);
    let [a, b, c] = [counter.add(1), counter.add(crate::WHOLE_MAX), counter.add(-2)];
    let (a, b, c) = tokio::join!(a, b, c);
    assert_eq!((a, c), (Ok(6), Ok(4)));
    assert!(b.unwrap_err().contains("more than a script can count"));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_though_the_store_is_away_and_goes_on_when_it_is_back() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(2);
    let (counter, queue) = (seats[0].counter("c", 0), seats[0].queue("q", BOUNDS));
    let rows = seats[0].rows("r", 100);
    assert_eq!(counter.add(1).await, Ok(1));
    assert_eq!(queue.add("\"kept\"".into(), End::Back).await, Ok(true));
    fake.set_away(true);
    let begun = Instant::now();
    let Lease::Later(answers) = rows.take() else { panic!("no block is here") };
    let waits = join_all((0..3).map(|_| rows.answered(answers)));
    let (added, taken, rows_told) = tokio::join!(counter.add(1), queue.take(), waits);
    assert!(begun.elapsed() < LIMIT + Duration::from_secs(1), "{:?}", begun.elapsed());
    let why = added.unwrap_err();
    assert!(why.contains("within 10 s (timed out); it may have been added or not"), "{why}");
    assert!(taken.is_err() && rows_told.iter().all(Result::is_err));
    fake.set_away(false);
    sleep(Duration::from_secs(10)).await;
    // A value that came too late for its taker is there again.
    assert_eq!(queue.take().await, Ok(Some("\"kept\"".into())));
    assert!(matches!(rows.take(), Lease::Place(0)));
    assert!([1, 2].contains(&counter.value().await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn values_of_a_queue_are_each_taken_once() {
    for (seed, lost) in [(1, [0, 0]), (2, [5, 5]), (3, [0, 20])] {
        let fake = Fake::new(seed, lost);
        let seats = fake.processes(3);
        let put = async |seat: usize| {
            let queue = seats[seat].queue("q", BOUNDS);
            let mut put = Vec::new();
            for n in 0..100 {
                let text = format!("{{\"n\":\"{seat}/{n}\"}}");
                let end = if n % 10 == 0 { End::Front } else { End::Back };
                match queue.add(text.clone(), end).await {
                    Ok(true) => put.push(text),
                    Ok(false) => panic!("it is not full"),
                    // Perhaps.
                    Err(_) => {}
                }
            }
            put
        };
        let take = async |seat: usize| {
            let queue = seats[seat].queue("q", BOUNDS);
            let (mut taken, mut is_idle) = (Vec::new(), 0);
            while is_idle < 40 {
                match queue.take().await {
                    Ok(Some(text)) => {
                        taken.push(text);
                        is_idle = 0;
                    }
                    Ok(None) => {
                        is_idle += 1;
                        sleep(Duration::from_secs(1)).await;
                    }
                    Err(_) => {}
                }
            }
            taken
        };
        let (put, taken) = tokio::join!(join_all((0..3).map(put)), join_all((0..3).map(take)));
        let (put, taken) = (put.concat(), taken.concat());
        let once: BTreeSet<&String> = taken.iter().collect();
        assert_eq!(once.len(), taken.len(), "seed {seed}: a value was taken twice");
        for text in &put {
            assert!(once.contains(text), "seed {seed}: {text} is lost");
        }
        if lost == [0, 0] {
            assert_eq!((put.len(), taken.len()), (300, 300));
            // The index, and none of the values.
            assert_eq!(fake.keys("queue.q"), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_has_bounds_and_an_order() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(2);
    let bounds = Bounds { values: 3, bytes: 1 << 20 };
    let [a, b] = [0, 1].map(|seat: usize| seats[seat].queue("q", bounds));
    for (text, end, fits) in [
        ("1", End::Back, true),
        ("2", End::Back, true),
        ("0", End::Front, true),
        ("3", End::Back, false),
    ] {
        assert_eq!(a.add(text.into(), end).await, Ok(fits), "{text}");
    }
    assert_eq!(b.length().await, Ok(3));
    for text in ["0", "1", "2"] {
        assert_eq!(b.take().await, Ok(Some(text.to_owned())));
    }
    assert_eq!(a.take().await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn the_place_of_a_process_that_died_is_closed() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(2);
    let [a, b] = [0, 1].map(|seat: usize| seats[seat].queue("q", BOUNDS));
    assert_eq!(a.add("1".into(), End::Back).await, Ok(true));
    assert_eq!(a.add("2".into(), End::Back).await, Ok(true));
    fake.forget("queue.q.b0");
    assert_eq!(b.take().await, Ok(Some("2".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_has_lost_all_is_told_from_a_new_one() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(2);
    assert_eq!(seats[0].counter("c", 0).add(1).await, Ok(1));
    fake.forget("");
    for seat in &seats {
        let why = seat.counter("c", 0).add(1).await.unwrap_err();
        assert!(why.contains("its store is another one"), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_taken_back_is_not_begun() {
    let fake = Fake::new(1, [0, 0]);
    let seats = fake.processes(1);
    let counter = seats[0].counter("c", 0);
    fake.set_away(true);
    let waits: Vec<_> = (0..5).map(|_| counter.add(1)).collect();
    sleep(Duration::from_secs(1)).await;
    drop(waits);
    sleep(Duration::from_secs(1)).await;
    fake.set_away(false);
    assert_eq!(counter.add(10).await, Ok(10));
}
