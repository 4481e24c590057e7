//! Journeys through applications with tokens, recorded, written as scripts, and run by five users, unedited. The applications tell
//! whether each journey came to its end and whether they refused anything.

use std::collections::BTreeSet;
use std::path::Path;

use brunt_journeys::{ALL, Journey, Rehearsal};

fn comes_true(name: &str) {
    let rehearsal = Rehearsal::new(Journey::of(name), 1);
    let folder = tempfile::tempdir().expect("a folder for the test");
    rehearsal.write(folder.path()).expect("the script is written");
    let brunt = Path::new(env!("CARGO_BIN_EXE_brunt"));
    let replayed = rehearsal.replay(brunt, folder.path()).expect("the script runs");
    let script = std::fs::read_to_string(folder.path().join("script.js")).unwrap_or_default();
    assert!(replayed.is_proven(), "{name}: {}\n{script}", replayed.story());
}

macro_rules! journeys {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                comes_true($name);
            }
        )*

        #[test]
        fn no_journey_is_forgotten() {
            let tested: BTreeSet<&str> = [$($name),*].into();
            let known: BTreeSet<&str> = ALL.iter().map(|journey| journey.name).collect();
            assert_eq!(tested, known);
        }
    };
}

journeys! {
    chat "chat-ticket"
    django_change "django-change"
    django_select "django-select"
    export "export-events"
    graphql "graphql-relay"
    jakarta_entities "jakarta-entities"
    jakarta_partial "jakarta-partial"
    joins "joins"
    jsf_client "jsf-client"
    jsf_server "jsf-server"
    oauth_page "oauth-page"
    oauth_server "oauth-server"
    orders "orders-jwt"
    rails_fetch "rails-fetch"
    rails_forms "rails-forms"
    spa "spa-upload"
    webforms_grid "webforms-grid"
    webforms_panel "webforms-panel"
}
