//! The values that correlation finds in the journeys, and the texts that are left of them in scripts.

use brunt_correlate::{compare, correlate};
use brunt_journeys::{ALL, Figure, Rehearsal, User};
use brunt_traffic::har;

/// A tale of a value that is still as it was recorded.
fn tale(name: &str, rehearsal: &Rehearsal, need: &brunt_journeys::Need) -> String {
    let request = &rehearsal.taken.recording.exchanges[need.exchange].request;
    format!(
        "{name}: exchange {} ({} {}), {:?} = {:.60}",
        need.exchange,
        request.method,
        request.url.path(),
        need.place,
        need.text
    )
}

#[test]
fn each_value_that_needs_it_is_correlated() {
    let (mut needed, mut missed) = (0, Vec::new());
    for journey in ALL {
        for seed in [1, 11, 21] {
            let rehearsal = Rehearsal::new(journey, seed);
            let figure = rehearsal.figure();
            needed += figure.needed;
            missed.extend(figure.missed.iter().map(|need| tale(journey.name, &rehearsal, need)));
        }
    }
    assert!(missed.is_empty(), "{} of {needed} are missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn a_plan_gives_the_requests_of_another_recording() {
    let mut found = Vec::new();
    for journey in ALL {
        for seed in [1, 11, 21] {
            let wrong = Rehearsal::new(journey, seed).wrong();
            found.extend(wrong.iter().map(|line| format!("{}: {line}", journey.name)));
        }
    }
    assert!(found.is_empty(), "{} texts are wrong:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_script_has_a_text_that_a_server_gave() {
    let mut found = Vec::new();
    for journey in ALL {
        let rehearsal = Rehearsal::new(journey, 1);
        assert!(!rehearsal.script.files.is_empty(), "{} has a script", journey.name);
        let literals = rehearsal.literals();
        found.extend(literals.iter().map(|(_, need)| tale(journey.name, &rehearsal, need)));
    }
    assert!(found.is_empty(), "{} literals:\n{}", found.len(), found.join("\n"));
}

#[test]
fn two_recordings_of_two_users_leave_nothing_unexplained() {
    let mut found = Vec::new();
    for journey in ALL {
        let site = journey.start(1);
        let one = journey.record(&site, &User::new(0), 1).recording;
        site.renew(2);
        let other = journey.record(&site, &User::new(1), 2).recording;
        let differences = compare(&one, &other);
        assert!(differences.len() > 3, "{}: {differences:?}", journey.name);
        let unexplained = differences.iter().filter(|it| it.explained.is_none());
        found.extend(unexplained.map(|it| format!("{}: {} of {}", journey.name, it.name, it.a)));
    }
    assert!(found.is_empty(), "{} values differ:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_har_file_of_a_session_tells_as_much_as_the_session() {
    for journey in ALL {
        let rehearsal = Rehearsal::new(journey, 1);
        let mut file = Vec::new();
        har::write(&rehearsal.taken.recording, &mut file).unwrap();
        let read = har::read(&file).unwrap();
        assert_eq!(read.exchanges.len(), rehearsal.taken.recording.exchanges.len());
        let found = Figure::new(&correlate(&read), &rehearsal.needs).found;
        assert_eq!(found, rehearsal.figure().found, "{}", journey.name);
    }
}
