//! What correlation finds in the journeys.

use brunt_journeys::{ALL, Figure, User, needs};

#[test]
fn each_value_that_needs_it_is_correlated() {
    let mut missed = Vec::new();
    let (mut needed, mut found) = (0, 0);
    for journey in ALL {
        for seed in [1, 11] {
            let site = journey.start(seed);
            let one = journey.record(&site, &User::new(0), seed);
            site.renew(seed + 1);
            let other = journey.record(&site, &User::new(0), seed + 1);
            let needs = needs(&one, &other);
            let plan = brunt_correlate::correlate(&one.recording);
            let figure = Figure::new(&plan, &needs);
            println!(
                "{:<18} {:<28} {:>4} {:>4}",
                journey.name, journey.style, figure.needed, figure.found
            );
            (needed, found) = (needed + figure.needed, found + figure.found);
            for need in figure.missed {
                let request = &one.recording.exchanges[need.exchange].request;
                missed.push(format!(
                    "{} seed {seed}: exchange {} ({} {}), {:?} = {:.60}",
                    journey.name,
                    need.exchange,
                    request.method,
                    request.url.path(),
                    need.place,
                    need.text
                ));
            }
        }
    }
    println!("{found} of {needed}");
    assert!(missed.is_empty(), "{} of {needed} are missed:\n{}", missed.len(), missed.join("\n"));
}
