//! Runs in which one thing goes wrong, and what the leader says of it.

use crate::chaos::{MILLI, SECOND, Setting, Trouble};
use crate::world::World;

fn run(change: impl FnOnce(&mut Setting)) -> World {
    let mut setting = Setting::calm(5, 4);
    change(&mut setting);
    let mut world = World::new(setting);
    world.run();
    world
}

/// The leader's exit code and message.
fn end(world: &World) -> (Option<u8>, String) {
    let leader = &world.nodes[0];
    (leader.code.expect("it is over"), leader.message.clone().unwrap_or_default())
}

#[test]
fn a_calm_run_is_whole_and_all_begin_together() {
    let world = run(|_| {});
    assert_eq!(end(&world), (None, String::new()));
    let began = world.truth.began();
    let (first, last) = (began.iter().min().unwrap(), began.iter().max().unwrap());
    assert_eq!(began.len(), 4);
    // Drift from the measurement to the start, and half of the way's difference: there is none here.
    assert!(last - first < 2 * MILLI, "{}", last - first);
    let [outcome] = &world.outcomes[..] else { panic!("one summary") };
    assert!(outcome.report.seats.iter().all(|seat| seat.is_whole));
    let agents = world.nodes[1..].iter().map(|node| node.code);
    assert!(agents.into_iter().all(|code| code == Some(Some(0))));
    assert_eq!((world.setups, world.teardowns), (1, 1));
    // All seconds but the last ones were told to be whole while the test ran.
    assert!(world.whole >= 4 * SECOND, "{}", world.whole);
    let run_s = outcome.run_ns as f64 / 1e9;
    assert!((5.0..10.0).contains(&run_s), "{run_s}");
}

#[test]
fn a_hundred_agents_are_one_test() {
    let mut setting = Setting::calm(9, 100);
    setting.duration = 3 * SECOND;
    let mut world = World::new(setting);
    world.run();
    assert_eq!(end(&world), (None, String::new()));
    let counted: u64 = world.outcomes[0].report.seats.iter().map(|seat| seat.totals.requests).sum();
    assert_eq!((counted, world.outcomes.len()), (world.truth.requests(), 1));
}

#[test]
fn an_agent_that_never_comes_is_named() {
    let world = run(|setting| setting.troubles.push((0, Trouble::Kill { node: 3, back: None })));
    let (code, message) = end(&world);
    assert_eq!(code, Some(112));
    assert!(message.starts_with("3 of 4 agents came within 40s: seat "), "{message}");
    assert!(message.contains("missing: seat "), "{message}");
    assert_eq!((world.setups, world.truth.requests()), (0, 0));
}

#[test]
fn a_killed_agent_makes_the_run_incomplete_and_is_named() {
    let kill = |stops| {
        run(|setting| {
            setting.duration = 30 * SECOND;
            setting.stops_on_loss = stops;
            setting.troubles.push((20 * SECOND, Trouble::Kill { node: 2, back: None }));
        })
    };
    let world = kill(false);
    let (code, message) = end(&world);
    assert_eq!(code, Some(111));
    assert!(message.contains("(host-2)") && message.contains("it was lost"), "{message}");
    let whole = world.outcomes[0].report.seats.iter().filter(|seat| seat.is_whole).count();
    assert_eq!((whole, world.teardowns), (3, 1));
    let told = world.told.iter().any(|text| text.contains("(host-2) is lost"));
    assert!(told, "{:?}", world.told);

    let world = kill(true);
    let (code, message) = end(&world);
    assert_eq!(code, Some(111));
    assert!(message.contains("the test stops"), "{message}");
    assert!(world.now < 45 * SECOND, "{}", world.state());
}

#[test]
fn a_cut_of_five_or_twenty_seconds_costs_nothing() {
    for long in [5, 20] {
        let world = run(|setting| {
            setting.duration = 40 * SECOND;
            setting.troubles.push((15 * SECOND, Trouble::Cut { node: 2, long: long * SECOND }));
        });
        assert_eq!(end(&world), (None, String::new()), "{long} s: {}", world.state());
        let holes: Vec<_> =
            world.outcomes[0].report.seats.iter().flat_map(|seat| &seat.holes).collect();
        assert_eq!(holes.len(), 1, "{holes:?}");
        assert_eq!(holes[0].was_lost, long == 20);
        assert!(holes[0].until.is_some());
    }
}

#[test]
fn a_leader_that_is_killed_goes_on() {
    let world = run(|setting| {
        setting.duration = 90 * SECOND;
        setting.troubles.push((20 * SECOND, Trouble::KillLeader { back: 5 * SECOND }));
        // After a checkpoint and its purge.
        setting.troubles.push((95 * SECOND, Trouble::KillLeader { back: 5 * SECOND }));
    });
    assert_eq!(end(&world), (None, String::new()), "{}", world.state());
    assert_eq!((world.outcomes.len(), world.setups, world.teardowns), (1, 1, 1));
}

#[test]
fn a_broker_that_restarts_even_with_an_emptied_store_costs_nothing() {
    for emptied in [false, true] {
        let world = run(|setting| {
            setting.duration = 30 * SECOND;
            setting.troubles.push((20 * SECOND, Trouble::Broker { long: 3 * SECOND, emptied }));
        });
        assert_eq!(end(&world), (None, String::new()), "{emptied}: {}", world.state());
    }
}

#[test]
fn troubles_of_the_script_end_the_test_once_with_their_codes() {
    let world = run(|setting| setting.load_fails = true);
    let (code, message) = end(&world);
    assert_eq!(code, Some(107));
    assert!(message.contains("(host-1): ReferenceError"), "{message}");
    assert_eq!((world.setups, world.truth.requests()), (0, 0));

    let world = run(|setting| setting.setup_fails = true);
    let (code, message) = end(&world);
    assert_eq!((code, message.as_str()), (Some(107), "setup() threw"));
    assert_eq!((world.setups, world.teardowns, world.truth.began().len()), (1, 0, 0));

    let world = run(|setting| {
        setting.duration = 30 * SECOND;
        setting.troubles.push((15 * SECOND, Trouble::ScriptAborts { node: 2 }));
    });
    let (code, message) = end(&world);
    assert_eq!(code, Some(108));
    assert!(message.contains("(host-2): test.abort()"), "{message}");
    assert!(world.now < 30 * SECOND && world.teardowns == 1, "{}", world.state());
}

#[test]
fn an_interrupted_leader_and_an_agent_that_is_told_to_go_lose_no_request() {
    let world = run(|setting| {
        setting.duration = 30 * SECOND;
        setting.troubles.push((15 * SECOND, Trouble::Interrupt));
    });
    assert_eq!(end(&world), (Some(105), "interrupted".to_owned()));
    assert!(world.outcomes[0].report.missing.is_empty(), "{}", world.state());

    let world = run(|setting| {
        setting.duration = 30 * SECOND;
        setting.troubles.push((15 * SECOND, Trouble::Sigterm { node: 2 }));
    });
    let (code, message) = end(&world);
    assert_eq!(code, Some(111), "{}", world.state());
    assert!(message.contains("was told to stop by its machine"), "{message}");
    let counted: u64 = world.outcomes[0].report.seats.iter().map(|seat| seat.totals.requests).sum();
    assert_eq!(counted, world.truth.requests());
    assert_eq!(world.nodes[2].code, Some(Some(105)));
}

#[test]
fn an_agent_that_is_started_anew_while_the_test_runs_is_refused() {
    let world = run(|setting| {
        setting.duration = 30 * SECOND;
        setting.troubles.push((15 * SECOND, Trouble::Kill { node: 2, back: Some(SECOND) }));
    });
    let (code, message) = end(&world);
    assert_eq!((code, world.nodes[2].code), (Some(111), Some(Some(111))), "{}", world.state());
    assert!(message.contains("its process was started anew"), "{message}");
}

#[test]
fn an_agent_that_is_started_anew_before_the_start_gets_its_seat_again() {
    let world = run(|setting| {
        setting.troubles.push((3 * SECOND, Trouble::Kill { node: 2, back: Some(SECOND) }));
        setting.troubles.push((0, Trouble::Cut { node: 3, long: 10 * SECOND }));
    });
    assert_eq!(end(&world), (None, String::new()), "{}", world.state());
}

/// The end of a run in which the load of `root` was taken over: who made it, and since when.
fn taken(world: &World, root: usize) -> (String, u64) {
    let seats = &world.outcomes[0].report.seats;
    let by = seats[root - 1].taken_by.expect("it was taken over");
    let by = &seats[by as usize - 1];
    assert!(by.is_whole, "{}", world.state());
    let (of, from) = by.took_over.expect("it took over");
    assert_eq!(of as usize, root);
    (by.agent.as_ref().expect("an agent").host.clone(), from)
}

#[test]
fn a_lost_load_is_made_by_a_spare_else_by_the_one_with_the_least_to_do() {
    for spares in [1, 0] {
        let world = run(|setting| {
            (setting.takes_over, setting.spares) = (true, spares);
            setting.duration = 40 * SECOND;
            setting.troubles.push((20 * SECOND, Trouble::Kill { node: 2, back: None }));
        });
        let (code, message) = end(&world);
        assert_eq!(code, Some(111), "{}", world.state());
        assert!(message.contains("took it over as seat 5"), "{message}");
        let seats = &world.outcomes[0].report.seats;
        let root = seats.iter().position(|seat| seat.taken_by.is_some()).expect("one was lost") + 1;
        let (host, from) = taken(&world, root);
        let killed = 20 * SECOND - 5 * SECOND;
        assert!(from > killed && from < 30 * SECOND, "{from}");
        assert_eq!(host == "host-5", spares == 1, "{host}");
        let all: u64 = seats.iter().map(|seat| seat.totals.iterations + seat.missed).sum();
        assert_eq!(all, 40 * 40 + 1);
    }
}

#[test]
fn one_that_is_cut_off_stops_before_its_load_is_made_elsewhere() {
    let world = run(|setting| {
        setting.takes_over = true;
        setting.duration = 60 * SECOND;
        setting.troubles.push((20 * SECOND, Trouble::Cut { node: 2, long: 20 * SECOND }));
        // Its substitute dies, too.
        setting.troubles.push((45 * SECOND, Trouble::Sigterm { node: 1 }));
    });
    assert_eq!(end(&world).0, Some(111), "{}", world.state());
    let seats = &world.outcomes[0].report.seats;
    assert!(seats.iter().filter(|seat| seat.taken_by.is_some()).count() >= 2);
    let all: u64 = seats.iter().map(|seat| seat.totals.iterations + seat.missed).sum();
    assert_eq!(all, 60 * 40 + 1, "{}", world.state());
}

#[test]
fn a_short_cut_takes_nothing_over() {
    let world = run(|setting| {
        (setting.takes_over, setting.duration) = (true, 40 * SECOND);
        setting.troubles.push((20 * SECOND, Trouble::Cut { node: 2, long: 5 * SECOND }));
    });
    assert_eq!(end(&world), (None, String::new()), "{}", world.state());
}

/// Longer than it may begin iterations without an answer, and shorter than it takes to be lost.
#[test]
fn one_that_was_cut_off_for_a_while_goes_on_when_it_is_heard_again() {
    let world = run(|setting| {
        (setting.takes_over, setting.duration) = (true, 60 * SECOND);
        setting.troubles.push((20 * SECOND, Trouble::Cut { node: 2, long: 13 * SECOND / 2 }));
    });
    assert_eq!(end(&world), (None, String::new()), "{}", world.state());
    let seats = &world.outcomes[0].report.seats;
    let all: u64 = seats.iter().map(|seat| seat.totals.iterations + seat.missed).sum();
    assert_eq!(all, 60 * 40 + 1, "{}", world.state());
    let missed: Vec<u64> = seats.iter().map(|seat| seat.missed).collect();
    let most = missed.iter().max().expect("four seats");
    assert!((1..10 * 5).contains(most), "{missed:?}");
}
