//! Somebody steers a run from outside: holds it before its start, pauses it, lets it go on, scales it, stops it.

use std::collections::BTreeMap;

use brunt_cluster::{Fault, LeaderEvent, Phase, Steering, Step, Wish};
use fastrand::Rng;

use crate::chaos::{SECOND, Setting, Trouble};
use crate::world::{Process, World};

/// From one attempt to resume a run that is still held to the next.
const AGAIN: u64 = 5 * SECOND;

/// A change of which agents have not heard yet is younger than this: the longest way from the broker is shorter.
const WAY: u64 = SECOND;

/// Something that somebody does at the leader's REST API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steer {
    Pause,
    Resume,
    Scale(u64),
    Stop,
}

/// The steering that the store had, to which agents are held.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// By nonce and serial.
    written: BTreeMap<(u64, u64), Steering>,
    /// The last one, and when it was written.
    last: Option<(u64, Steering)>,
}

impl Setting {
    /// In a third of all runs somebody steers.
    pub(crate) fn steered(&mut self) {
        let rng = &mut Rng::with_seed(self.seed ^ 0x5735_7235);
        if rng.u32(0..3) > 0 {
            return;
        }
        self.is_held = rng.u32(0..3) == 0;
        let mut at = rng.u64(0..15) * SECOND;
        let mut steer = |steer: Steer, at: u64| self.troubles.push((at, Trouble::Steer(steer)));
        for _ in 0..rng.u32(0..4) {
            match rng.u32(0..3) {
                0 => steer(Steer::Scale(rng.u64(0..10)), at),
                _ => steer(Steer::Pause, at),
            }
            at += rng.u64(0..5000) * SECOND / 1000;
        }
        // A run that stays paused would wait for ever.
        steer(Steer::Resume, at);
        if rng.u32(0..6) == 0 {
            steer(Steer::Stop, at + rng.u64(0..6000) * SECOND / 1000);
        }
    }
}

impl World {
    /// Somebody asks for it at the API, which does not answer while the leader is dead.
    pub(crate) fn is_steered(&mut self, steer: Steer) {
        let wish = match steer {
            Steer::Stop => {
                let fault = Fault::new(103, "test run stopped from REST API");
                return self.tell_leader(LeaderEvent::Abort(fault));
            }
            Steer::Pause => Wish { paused: Some(true), ..Wish::default() },
            Steer::Resume => Wish { paused: Some(false), ..Wish::default() },
            Steer::Scale(vus) => Wish { vus: Some(vus), ..Wish::default() },
        };
        self.tell_leader(LeaderEvent::Steer(wish));
        let step = match &self.nodes[0].process {
            Process::Leader(leader, _) => leader.view(0).step,
            _ => None,
        };
        let may_be_held = step.is_none_or(|step| step <= Step::Load);
        if steer == Steer::Resume && may_be_held && self.nodes[0].code.is_none() {
            self.trouble_at(self.now + AGAIN, Trouble::Steer(Steer::Resume));
        }
    }

    /// The store has this phase.
    pub(crate) fn phase_is_written(&mut self, phase: &Phase) {
        let steering = phase.steering;
        let known = self.book.written.insert((phase.nonce, steering.serial), steering);
        assert!(
            known.is_none_or(|known| known == steering),
            "two changes have one serial: {known:?}, {steering:?}: {}",
            self.state()
        );
        if self.book.last.is_none_or(|(_, last)| last != steering) {
            self.book.last = Some((self.now, steering));
        }
    }

    /// An agent is steered: never back, and only as somebody asked for.
    pub(crate) fn steer(&mut self, node: usize, steering: Steering) {
        let is_written = self.book.written.values().any(|written| *written == steering);
        assert!(is_written, "nobody steers like this: {steering:?}: {}", self.state());
        let Process::Agent(_, load) = &mut self.nodes[node].process else { return };
        let before = std::mem::replace(&mut load.steering, steering);
        assert!(before.serial < steering.serial, "{before:?}, then {steering:?}: {}", self.state());
    }

    /// An agent's load is over by its own plan: it was steered as the others, if its wire was sound.
    pub(crate) fn ends_steered(&self, node: usize) {
        let is_calm = |(_, trouble): &(u64, Trouble)| trouble.is_harmless();
        let Process::Agent(_, load) = &self.nodes[node].process else { return };
        let Some((at, last)) = self.book.last else { return };
        if self.setting.troubles.iter().all(is_calm) && at + WAY < self.now {
            assert_eq!(load.steering, last, "{}", self.state());
        }
    }
}

fn run(change: impl FnOnce(&mut Setting)) -> World {
    let mut setting = Setting::calm(5, 4);
    change(&mut setting);
    let mut world = World::new(setting);
    world.run();
    world
}

fn code(world: &World) -> Option<u8> {
    world.nodes[0].code.expect("it is over")
}

#[test]
fn a_run_that_is_held_begins_when_it_is_resumed_and_all_begin_together() {
    for kill in [false, true] {
        let world = run(|setting| {
            setting.is_held = true;
            // Longer than loading may take.
            setting.troubles.push((90 * SECOND, Trouble::Steer(Steer::Resume)));
            if kill {
                setting.troubles.push((40 * SECOND, Trouble::KillLeader { back: 3 * SECOND }));
            }
        });
        assert_eq!(code(&world), None, "{}", world.state());
        let began = world.truth.began();
        let (first, last) = (began.iter().min().unwrap(), began.iter().max().unwrap());
        assert_eq!(began.len(), 4);
        assert!(*first > 90 * SECOND && last - first < SECOND / 100, "{began:?}");
        assert_eq!((world.setups, world.teardowns), (1, 1));
    }
}

#[test]
fn an_agent_that_dies_while_the_run_is_held_has_its_seat_taken_by_the_next_one() {
    let world = run(|setting| {
        setting.is_held = true;
        setting.troubles.push((60 * SECOND, Trouble::Kill { node: 2, back: Some(20 * SECOND) }));
        setting.troubles.push((120 * SECOND, Trouble::Steer(Steer::Resume)));
    });
    assert_eq!(code(&world), None, "{}", world.state());
    assert_eq!(world.truth.began().len(), 4);
}

#[test]
fn while_a_run_is_paused_nothing_is_sent_and_an_agent_that_was_cut_off_hears_of_it() {
    let paused = |cut: bool| {
        run(|setting| {
            setting.duration = 60 * SECOND;
            setting.troubles.push((20 * SECOND, Trouble::Steer(Steer::Pause)));
            if cut {
                setting.troubles.push((15 * SECOND, Trouble::Cut { node: 2, long: 10 * SECOND }));
            }
            setting.troubles.push((40 * SECOND, Trouble::Steer(Steer::Resume)));
        })
    };
    let world = paused(false);
    assert_eq!(code(&world), None, "{}", world.state());
    let sent = |world: &World, node, from, to| world.truth.sent_between(node, from, to);
    for node in 1..=4 {
        assert_eq!(sent(&world, node, 22 * SECOND, 40 * SECOND), 0, "{node}");
        assert!(sent(&world, node, 42 * SECOND, 60 * SECOND) > 0, "{node}");
    }
    let world = paused(true);
    assert_eq!(code(&world), None, "{}", world.state());
    assert!(sent(&world, 2, 21 * SECOND, 24 * SECOND) > 0, "its load went on");
    assert_eq!(sent(&world, 2, 33 * SECOND, 40 * SECOND), 0);
    assert!(sent(&world, 2, 42 * SECOND, 60 * SECOND) > 0);
}

#[test]
fn a_run_that_is_stopped_from_outside_stops_everywhere_and_loses_nothing() {
    let world = run(|setting| {
        setting.duration = 60 * SECOND;
        setting.troubles.push((20 * SECOND, Trouble::Steer(Steer::Stop)));
    });
    assert_eq!(code(&world), Some(103), "{}", world.state());
    assert!(world.outcomes[0].report.missing.is_empty(), "{}", world.state());
    for node in 1..=4 {
        assert_eq!(world.truth.sent_between(node, 22 * SECOND, 100 * SECOND), 0, "{node}");
    }
    assert_eq!(world.teardowns, 1);
}
