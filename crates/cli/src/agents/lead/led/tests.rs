use std::collections::BTreeMap;
use std::time::Duration;

use brunt_cluster::{Beat, SeatView, Totals};

use super::*;

fn scenario(executor: Executor) -> Scenario {
    Scenario {
        name: "a".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        exec: "default".into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        warmup: Duration::ZERO,
        rhythm: brunt_schedule::Rhythm::default(),
    }
}

fn live() -> Scenario {
    let duration = Duration::from_mins(1);
    scenario(Executor::ExternallyControlled { vus: 4, max_vus: 8, duration })
}

fn fixed() -> Scenario {
    scenario(Executor::ConstantVus { vus: 3, duration: Duration::from_mins(1) })
}

fn seat(touch: Touch, vus: u64) -> SeatView {
    SeatView {
        agent: None,
        state: Some(brunt_cluster::State::Ready),
        touch,
        beat: Beat { vus, vus_max: vus + 2, iterations: 5, ..Beat::default() },
        totals: Totals { iterations: 7, ..Totals::default() },
        whole_ns: None,
    }
}

fn view(step: Step, seats: Vec<SeatView>) -> View {
    View {
        step: Some(step),
        since: 0,
        run_ns: (step >= Step::Start).then_some(1),
        steering: Steering::default(),
        is_cut_short: false,
        is_marked: false,
        seats,
    }
}

/// A test, and what its leader is told.
fn led(scenarios: &[Scenario]) -> (Led, mpsc::Receiver<Input>) {
    let (inputs, told) = mpsc::channel(16);
    (Led::new((scenarios, 3), inputs, Steering::default()), told)
}

/// The outcome, while a leader does all that it is told; and its last word.
fn done<T>(
    mut told: mpsc::Receiver<Input>,
    asked: impl Future<Output = T>,
) -> (T, Option<LeaderEvent>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let leader = async {
        match told.recv().await {
            Some(Input::Order(event, done)) => {
                let _ = done.send(());
                Some(event)
            }
            _ => None,
        }
    };
    runtime.block_on(async {
        let mut asked = std::pin::pin!(asked);
        let event = tokio::select! {
            biased;
            outcome = asked.as_mut() => return (outcome, None),
            told = leader => told,
        };
        (asked.await, event)
    })
}

#[test]
fn numbers_are_sums_of_all_agents_that_are_in_touch() {
    let (led, _told) = led(&[fixed()]);
    let seats = vec![seat(Touch::Alive, 2), seat(Touch::Suspect, 3), seat(Touch::Lost, 4)];
    led.see(&view(Step::Run, seats));
    let state = led.state();
    assert_eq!((state.vus_wanted, state.vus_active, state.vus_initialized), (5, 5, 9));
    assert_eq!((state.iterations_complete, state.phase), (21, Phase::Running));
    let fleet = Fleet { seats: 3, running: 1, silent: 1, lost: 1 };
    assert_eq!(state.agents, Some(fleet));
}

#[test]
fn a_test_that_is_held_is_paused_and_one_that_loads_is_not_yet() {
    let (led, _told) = led(&[fixed()]);
    let mut held = view(Step::Load, vec![seat(Touch::Alive, 0), seat(Touch::Alive, 0)]);
    led.see(&held);
    assert_eq!(led.state().phase, Phase::InitVus);
    held.steering.paused = true;
    led.see(&held);
    assert_eq!((led.state().phase, led.state().is_paused), (Phase::Paused, true));
    held.seats[1].state = Some(brunt_cluster::State::Loading);
    led.see(&held);
    assert_eq!(led.state().phase, Phase::InitVus);
}

#[test]
fn vus_that_are_decided_from_outside_are_those_that_are_wanted() {
    let (led, _told) = led(&[live()]);
    let mut running = view(Step::Run, vec![seat(Touch::Alive, 1)]);
    let mut wanted = |steering: Steering| {
        running.steering = steering;
        led.see(&running);
        led.state().vus_wanted
    };
    assert_eq!(wanted(Steering::default()), 4);
    assert_eq!(wanted(Steering { vus: Some(6), ..Steering::default() }), 6);
    assert_eq!(wanted(Steering { vus: Some(6), paused: true, ..Steering::default() }), 0);
}

#[test]
fn what_cannot_be_is_refused_in_the_words_of_one_machine() {
    let (fixed, told) = led(&[fixed()]);
    fixed.see(&view(Step::Run, Vec::new()));
    let (paused, event) = done(told, fixed.pause(true));
    assert!(paused.unwrap_err().contains("constant-vus executor 'a' doesn't support pause"));
    assert!(event.is_none());
    let (live, told) = led(&[live()]);
    live.see(&view(Step::Run, Vec::new()));
    let (scaled, _) = done(told, live.scale(Some(9), None));
    let text = scaled.unwrap_err().to_string();
    assert!(text.contains("(9) must be less than or equal to the number of maxVUs (8)"), "{text}");
    live.ends();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(runtime.block_on(live.pause(true)), Err(OVER.to_owned()));
}

#[test]
fn the_leader_is_told_what_is_wanted() {
    let (one, told) = led(&[live()]);
    one.see(&view(Step::Run, Vec::new()));
    let (scaled, event) = done(told, one.scale(None, Some(12)));
    assert_eq!(scaled, Ok(()));
    let Some(LeaderEvent::Steer(wish)) = event else { panic!("{event:?}") };
    assert_eq!(wish, Wish { paused: None, vus: Some(4), vus_max: Some(12) });
    let (one, told) = led(&[live()]);
    let ((), event) = done(told, one.stop());
    let Some(LeaderEvent::Abort(fault)) = event else { panic!("{event:?}") };
    assert_eq!((fault.code, fault.message.as_str()), (103, "test run stopped from REST API"));
}
