//! The applications count the truth.

use brunt_journeys::{ALL, User, needs};

#[test]
fn each_journey_comes_to_its_end_and_nothing_is_refused() {
    for journey in ALL {
        let site = journey.start(1);
        for seed in [1, 2] {
            journey.record(&site, &User::new(seed as usize - 1), seed);
        }
        let truth = site.truth();
        assert_eq!((truth.done, &truth.refused), (2, &Vec::new()), "{}", journey.name);
        site.renew(3);
        assert_eq!(site.truth().done, 0, "{}", journey.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_session() {
    for journey in ALL {
        let take = || {
            let site = journey.start(7);
            let taken = journey.record(&site, &User::new(0), 7);
            let texts = |exchange: &brunt_traffic::Exchange| {
                let body =
                    exchange.response.as_ref().and_then(|response| response.body.in_memory());
                let body = String::from_utf8_lossy(body.unwrap_or_default()).into_owned();
                (exchange.request.url.path().to_owned(), body.replace(&site.origins[0], ""))
            };
            let all: Vec<_> = taken.recording.exchanges.iter().map(texts).collect();
            all
        };
        // The demo target answers on several threads, but one after the other here.
        if journey.name != "spa-upload" && !journey.name.starts_with("oauth") {
            assert_eq!(take(), take(), "{}", journey.name);
        }
    }
}

#[test]
fn two_recordings_of_the_same_clicks_differ_where_a_script_must_not_repeat() {
    for journey in ALL {
        let site = journey.start(1);
        let one = journey.record(&site, &User::new(0), 1);
        site.renew(2);
        let other = journey.record(&site, &User::new(0), 2);
        let needs = needs(&one, &other);
        assert!(needs.len() >= 5, "{}: {needs:#?}", journey.name);
        println!(
            "{:<18} {:>3} needs, {} made",
            journey.name,
            needs.len(),
            needs.iter().filter(|need| need.is_made).count()
        );
    }
}

/// A journey that is repeated literally is refused, by every application.
#[test]
fn a_literal_replay_is_refused() {
    for journey in ALL {
        let site = journey.start(1);
        let taken = journey.record(&site, &User::new(0), 1);
        site.renew(2);
        brunt_journeys::repeat(&taken);
        let truth = site.truth();
        assert_eq!(truth.done, 0, "{}", journey.name);
        assert!(!truth.refused.is_empty(), "{}", journey.name);
    }
}
