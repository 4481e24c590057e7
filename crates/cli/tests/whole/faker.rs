//! `k6/x/faker`: a seed gives the same values in every run.

use crate::support::brunt;

const SCRIPT: &str = "import faker, { Faker } from 'k6/x/faker';\n\
    const own = new Faker(11);\n\
    export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };\n\
    export default function () {\n\
        const told = [own.person.name(), own.address.city(), own.call('sentence', 4), own.zen.uuid(), own.zen.dice(3, [6])];\n\
        console.log('own ' + JSON.stringify(told));\n\
        console.log('default ' + faker.person.email() + ' ' + faker.strings.uuid());\n\
    }";

/// The logged lines that begin so.
fn lines(seed: Option<&str>, start: &str) -> Vec<String> {
    let mut call =
        brunt("run --quiet --log-format raw").word("script.js").file("script.js", SCRIPT);
    if let Some(seed) = seed {
        call = call.word("-e").word(format!("XK6_FAKER_SEED={seed}"));
    }
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    told.stderr.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
}

#[test]
fn a_seed_gives_the_same_values_in_every_run() {
    let (first, second) = (lines(None, "own"), lines(None, "own"));
    assert_eq!(first.len(), 2);
    assert_eq!(first, second);
    let (first, second) = (lines(Some("7"), "default"), lines(Some("7"), "default"));
    assert_eq!(first.len(), 2);
    assert_eq!(first, second);
    assert_ne!(first, lines(Some("8"), "default"));
    assert_ne!(lines(None, "default"), lines(None, "default"));
}

#[test]
fn a_seed_that_is_no_number_is_told() {
    let told = brunt("run --quiet -e XK6_FAKER_SEED=many")
        .word("script.js")
        .file("script.js", SCRIPT)
        .told();
    assert_eq!(told.code, 107, "{told:?}");
    assert!(
        told.stderr.contains("XK6_FAKER_SEED is \\\"many\\\"")
            || told.stderr.contains("XK6_FAKER_SEED is \"many\""),
        "{told:?}"
    );
}
