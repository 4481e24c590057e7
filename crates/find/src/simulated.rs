//! Searches on simulated systems of known capacity, in no time.

use self::system::{Goals, System};
use crate::{Bounds, End, Look, Measured, Next, Purpose, Recovering, Recovery, Search, Step};

mod system;

fn look(measured: &Measured) -> Look {
    Look { good: measured.good, failed: measured.failed, median_ms: measured.median_ms }
}

/// Searches as the driver does.
fn search(system: &mut System, goals: Goals) -> (Search, End) {
    let hold = 20.0;
    let bounds = Bounds {
        from: 10.0,
        least: 0.5,
        max: 10_000.0,
        precision: 0.05,
        is_whole: false,
        steps_max: 30,
    };
    let mut search = Search::new(bounds);
    loop {
        let trial = match search.next() {
            Next::Hold(trial) => trial,
            Next::End(end) => return (search, end),
        };
        if let (Some(lowest), Some(last)) = (search.lowest(), search.steps().last())
            && last.broke()
        {
            let mut recovery = Recovery::new(look(&lowest.measured), 60.0);
            let mut elapsed = 0.0;
            let state = loop {
                let seen = system.measure(5.0, 1.6, goals);
                elapsed += 2.0;
                match recovery.look(elapsed, look(&seen)) {
                    Recovering::Wait => {}
                    state => break state,
                }
            };
            if state == Recovering::Down {
                search.stop(End::Fallen);
                continue;
            }
        }
        let seconds = if trial.purpose == Purpose::Confirm { hold * 2.0 } else { hold };
        let measured = system.measure(trial.load, seconds, goals);
        let outcome = search.judge(trial, &measured);
        search.take(Step { trial, measured, outcome });
    }
}

/// Searches of systems that differ only by chance.
struct Searches {
    /// How far each result is from the truth, as a part of it; ascending.
    errors: Vec<f64>,
    /// How many steps each took; ascending.
    steps: Vec<usize>,
    /// The mean standard deviation of the limits, as a part of them.
    spread: f64,
    /// How many of the limits are within two of them of the truth.
    covered: u32,
}

impl Searches {
    fn of(name: &str, make: impl Fn(u64) -> System, goals: Goals, truth: f64) -> Searches {
        let (mut errors, mut steps, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
        let (mut seconds, mut sum, mut covered) = (0.0, 0.0, 0);
        for seed in 0..40 {
            let (search, end) = search(&mut make(seed), goals);
            let held = search.held().unwrap_or(0.0);
            assert_eq!(end, End::Found, "{name}, seed {seed}: {held} {:?}", shown(&search));
            steps.push(search.steps().len());
            errors.push((held / truth - 1.0).abs());
            sum += held / truth - 1.0;
            seconds += search.steps().iter().map(|step| step.measured.seconds).sum::<f64>();
            let limit = search.limit().expect("one held and one broke");
            covered += u32::from((limit.load / truth - 1.0).abs() <= 2.0 * limit.spread);
            spreads.push(limit.spread);
        }
        errors.sort_by(f64::total_cmp);
        steps.sort_unstable();
        let within = errors.iter().filter(|error| **error <= 0.05).count();
        println!(
            "{name}: {within} of 40 within 5 %, median {:.1} %, worst {:.1} %, mean {:+.1} %; {} steps, at most {}; {:.0} s; limit known to \
             {:.1} %, {covered} of 40 within two of them",
            errors[19] * 100.0,
            errors[39] * 100.0,
            sum / 0.4,
            steps[19],
            steps[39],
            seconds / 40.0,
            spreads.iter().sum::<f64>() / 0.4,
        );
        let spread = spreads.iter().sum::<f64>() / 40.0;
        Searches { errors, steps, spread, covered }
    }

    /// At least this number of them are within 5 % of the truth, and nearly all took at most 12 steps.
    fn are_good(&self, within_min: usize) {
        let within = self.errors.iter().filter(|error| **error <= 0.05).count();
        assert!(within >= within_min, "{within} {:?}", self.errors);
        assert!(self.steps[33] <= 12 && self.steps[39] <= 14, "{:?}", self.steps);
    }
}

fn loads(search: &Search) -> Vec<(f64, bool)> {
    search.steps().iter().map(|step| (step.trial.load, step.held())).collect()
}

fn shown(search: &Search) -> Vec<String> {
    let step = |step: &Step| {
        let point = step.point().expect("a judged step");
        let mark = if step.trial.purpose == Purpose::Confirm { "c" } else { "" };
        format!("{}{mark} {:.2}±{:.2}", step.trial.load, point.ease, point.spread)
    };
    search.steps().iter().map(step).collect()
}

/// The load at which the latency of one server with exponential service has this percentile, in milliseconds.
///
/// Requests that come by chance: the latency is exponential with the rate µ − λ. Requests that come evenly: with µ (1 − σ),
/// where σ = exp(−(1 − σ) µ / λ).
fn truth(service_ms: f64, goals: Goals, is_even: bool) -> f64 {
    let most = 1000.0 / service_ms;
    let rate = (100.0 / (100.0 - goals.percent)).ln() / goals.limit_ms * 1000.0;
    if !is_even {
        return most - rate;
    }
    let sigma = 1.0 - rate / most;
    -(1.0 - sigma) * most / sigma.ln()
}

fn one(service_ms: f64, goals: Goals, is_even: bool, name: &str) -> Searches {
    let make = |seed| {
        let system = System::new(1, service_ms, true, seed);
        if is_even { system.even() } else { system }
    };
    Searches::of(name, make, goals, truth(service_ms, goals, is_even))
}

#[test]
fn a_queue_with_exponential_service_is_found_where_theory_says() {
    for (service, limit) in [(2.0, 20.0), (5.0, 50.0), (5.0, 100.0)] {
        let goals = Goals { percent: 95.0, limit_ms: limit };
        let name = format!("M/M/1, {service} ms, p95 < {limit} ms");
        one(service, goals, false, &name).are_good(38);
        if limit < 100.0 {
            // A hundredth of the requests of a hold, which come in bunches, are few.
            let goals = Goals { percent: 99.0, ..goals };
            let name = format!("M/M/1, {service} ms, p99 < {limit} ms");
            one(service, goals, false, &name).are_good(35);
        }
    }
}

#[test]
fn so_is_one_to_which_requests_come_evenly() {
    for (service, limit) in [(2.0, 20.0), (5.0, 50.0), (5.0, 30.0), (5.0, 100.0), (10.0, 60.0)] {
        let goals = Goals { percent: 95.0, limit_ms: limit };
        let name = format!("D/M/1, {service} ms, p95 < {limit} ms");
        one(service, goals, true, &name).are_good(38);
    }
    for (service, limit) in [(2.0, 20.0), (5.0, 50.0), (5.0, 100.0)] {
        let goals = Goals { percent: 99.0, limit_ms: limit };
        let name = format!("D/M/1, {service} ms, p99 < {limit} ms");
        one(service, goals, true, &name).are_good(36);
    }
}

/// Requests that nothing delays have a p99 of 23 ms already: the latency hardly rises with the load, and chance moves the place
/// where it passes 30 ms by more than 5 %. The result says how sure it is.
#[test]
fn a_limit_that_chance_hides_is_said_to_be_uncertain() {
    let goals = Goals { percent: 99.0, limit_ms: 30.0 };
    let searches = one(5.0, goals, true, "D/M/1, 5 ms, p99 < 30 ms");
    assert!(
        searches.spread > 0.03 && searches.covered >= 36,
        "{} {}",
        searches.spread,
        searches.covered
    );
}

#[test]
fn many_servers_of_constant_time_bear_nearly_all_that_they_can() {
    let make = |seed| System::new(20, 50.0, false, seed);
    let goals = Goals { percent: 95.0, limit_ms: 200.0 };
    let searches = Searches::of("M/D/20, 50 ms, p95 < 200 ms", make, goals, 396.0);
    searches.are_good(38);
    let make = |seed| System::new(4, 10.0, true, seed);
    let goals = Goals { percent: 95.0, limit_ms: 60.0 };
    let searches = Searches::of("M/M/4, 10 ms, p95 < 60 ms", make, goals, mmc(4, 10.0, goals));
    searches.are_good(38);
}

/// The load at which the latency of several servers with exponential service has this percentile.
fn mmc(servers: usize, service_ms: f64, goals: Goals) -> f64 {
    let (count, rate) = (servers as f64, 1000.0 / service_ms);
    let beyond = |load: f64| {
        let busy = load / rate;
        // The probability of waiting, by Erlang's C.
        let mut term = 1.0;
        let mut sum = 1.0;
        for server in 1..servers {
            term *= busy / server as f64;
            sum += term;
        }
        let last = term * busy / count * count / (count - busy);
        let waits = last / (sum + last);
        let (drain, time) = (count * rate - load, goals.limit_ms / 1000.0);
        let both = (-rate * time).exp() - (-drain * time).exp();
        let waiting = (-drain * time).exp() + drain / (drain - rate) * both;
        (1.0 - waits) * (-rate * time).exp() + waits * waiting
    };
    // The formula has a hole where both rates are equal.
    let (mut low, mut high) = (0.0, count * rate * 0.999_999);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) < 1.0 - goals.percent / 100.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn a_cliff_of_refusals_is_found() {
    let goals = Goals { percent: 95.0, limit_ms: 500.0 };
    let make = |seed| System::new(2, 10.0, false, seed).even().refusing(10);
    let searches = Searches::of("D/D/2 with refusals, 10 ms", make, goals, 200.0);
    searches.are_good(38);
    let make = |seed| System::new(4, 10.0, false, seed).even().refusing(10);
    let searches = Searches::of("D/D/4 with refusals, 10 ms", make, goals, 400.0);
    searches.are_good(38);
}

#[test]
fn a_system_that_falls_over_and_stays_down_is_found_out() {
    let goals = Goals { percent: 95.0, limit_ms: 500.0 };
    for seed in 0..20 {
        let mut system = System::new(4, 10.0, false, seed).even().falling(50);
        let (search, end) = search(&mut system, goals);
        assert_eq!(end, End::Fallen, "{:?}", loads(&search));
        assert!(search.held().is_some_and(|held| held < 400.0), "{:?}", loads(&search));
        assert_eq!(search.steps().iter().filter(|step| step.broke()).count(), 1);
    }
}
