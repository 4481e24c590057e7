//! What correlation finds in the journeys, and what is left of them in scripts.

use brunt_journeys::{ALL, Rehearsal};

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
