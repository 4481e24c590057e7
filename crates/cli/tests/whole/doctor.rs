//! `brunt doctor`, on this machine as it is.

use serde_json::Value;

use crate::support::brunt;

/// The checks of this machine, by name.
fn check<'a>(told: &'a Value, name: &str) -> &'a Value {
    let checks = told["checks"].as_array().expect("a list");
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {told}"))
}

#[test]
fn a_line_for_each_check_and_a_sentence_at_the_end() {
    let told = brunt("doctor").told();
    assert!([0, 98].contains(&told.code), "{told:?}");
    for name in ["kernel", "timer", "cpus", "timers", "files", "memory", "ports", "folders"] {
        assert!(told.stdout.lines().any(|line| line[2..].contains(name)), "{}", told.stdout);
    }
    let last = told.stdout.lines().last().unwrap_or_default();
    assert!(last.contains("would spoil"), "{last}");
    assert!(told.stderr.is_empty(), "{}", told.stderr);
}

#[test]
fn json_names_the_level_and_the_exit_code_follows_it() {
    let told = brunt("doctor --json")
        .env("HTTP_PROXY", "http://me:secret@proxy.test:3128")
        .env("XDG_CACHE_HOME", "/proc/nothing")
        .env("K6_VUS", "7")
        .told();
    let said: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(told.code == 98, said["level"] == "problem", "{said}");
    assert_eq!(check(&said, "timer")["level"], "fine");
    let proxy = check(&said, "proxy");
    assert_eq!(proxy["level"], "warning");
    assert_eq!(proxy["found"], "set: HTTP_PROXY=proxy.test:3128");
    assert_eq!(check(&said, "folders")["level"], "warning");
    assert!(check(&said, "settings")["found"].as_str().expect("text").contains("K6_VUS"));
}

#[test]
fn a_planned_test_that_does_not_fit_is_a_problem() {
    let told = brunt("doctor --vus 2000000000").told();
    assert_eq!(told.code, 98, "{told:?}");
    assert!(told.stdout.contains("2000000000 VUs"), "{}", told.stdout);
    let told = brunt("doctor --vus none").told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("for --vus"), "{}", told.stderr);
}
