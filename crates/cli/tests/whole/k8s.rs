//! `brunt k8s manifest`. `.ci/chart` compares it with helm's output for the same chart.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::support::brunt;

const SCRIPT: &str = "export const options = { vus: 4, iterations: 8 };\n\
    export default function () { console.log(__ENV.SHOP); }\n";

const WHERE: &str = "--agents 4 --nats nats://nats:4222";

#[test]
fn the_secret_has_the_archive_with_its_options_and_variables() {
    let line =
        format!("k8s manifest {WHERE} --name shop-1 -e SHOP=here --vus 2 s.js -- --out csv=o.csv");
    let told = brunt(&line).file("s.js", SCRIPT).told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    let yaml = &told.stdout;
    assert_eq!(yaml.matches("\nkind: Job\n").count(), 2, "{yaml}");
    for part in [
        "name: shop-1-leader",
        "name: shop-1-agents",
        "- \"csv=o.csv\"",
        "value: \"nats://nats:4222\"",
    ] {
        assert!(yaml.contains(part), "no {part:?} in {yaml}");
    }
    let data = yaml.lines().find_map(|line| line.strip_prefix("  test.tar: ")).expect("an archive");
    let archive = STANDARD.decode(data).expect("base64");
    let told = brunt("run -q t.tar").file("t.tar", archive).told();
    assert!(told.code == 0 && told.stderr.contains("msg=here"), "{told:?}");
}

#[test]
fn names_that_look_like_numbers_stay_texts() {
    let told = brunt(&format!("k8s manifest {WHERE} --name 1e3 s.js")).file("s.js", SCRIPT).told();
    assert_eq!(told.code, 0, "{told:?}");
    let is_bare = |line: &&str| line.trim_end().ends_with(" 1e3");
    assert_eq!(told.stdout.lines().find(is_bare), None, "{}", told.stdout);
}

#[test]
fn each_manifest_is_a_run_of_its_own() {
    let name = || {
        let told =
            brunt(&format!("k8s manifest {WHERE} Shop_1.js")).file("Shop_1.js", SCRIPT).told();
        assert_eq!(told.code, 0, "{told:?}");
        let line = told.stdout.lines().find(|line| line.starts_with("  name: shop-1-"));
        line.expect("a name").to_owned()
    };
    assert_ne!(name(), name());
}

#[test]
fn an_archive_that_a_secret_can_not_hold_is_refused_with_the_other_ways() {
    let script = format!("open('./data.txt');\n{SCRIPT}");
    let large = || "x".repeat(1 << 20);
    let call = brunt(&format!("k8s manifest {WHERE} s.js"));
    let told = call.file("s.js", &script).file("data.txt", large()).told();
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.stdout.is_empty(), "{told:?}");
    let error = told.error();
    assert!(error.contains("and a Secret holds 1048576"), "{error}");
    assert!(error.contains("--claim CLAIM/FILE") && error.contains("--in-image PATH"), "{error}");
}

#[test]
fn archives_may_be_elsewhere() {
    let told = brunt(&format!("k8s manifest {WHERE} --claim tests/shop.tar")).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        told.stdout.contains("claimName: \"tests\"") && told.stdout.contains("\"/test/shop.tar\"")
    );
    assert!(!told.stdout.contains("kind: Secret"), "{told:?}");
    let told = brunt(&format!("k8s manifest {WHERE} --in-image /srv/shop.tar")).told();
    assert!(told.stdout.contains("- \"/srv/shop.tar\""), "{told:?}");
}

#[test]
fn wrong_calls_say_what_would_be_right() {
    for (line, message, hint) in [
        ("k8s", "missing command", "manifest --help"),
        ("k8s manifst", "unknown command", "did you mean manifest?"),
        ("k8s manifest s.js", "missing flag: --agents N", "the number of pods"),
        ("k8s manifest --agents 4 s.js", "missing flag: --nats URL", "where the pods meet"),
        (
            "k8s manifest --agents 4 --nats nats://n",
            "missing argument: <SCRIPT>",
            "--claim or --in-image",
        ),
        ("k8s manifest --agents 0 --nats nats://n s.js", "for --agents: expected 1 to 10000", ""),
        ("k8s manifest --agents 4 --nats n:4222 s.js", "for --nats", "write nats://HOST:4222"),
        ("k8s manifest --agents 4 --nats nats://n --name A s.js", "for --name", "small letters"),
        ("k8s manifest --agents 4 --nats nats://n --claim a/../b", "for --claim", "tests/shop.tar"),
        (
            "k8s manifest --agents 4 --nats nats://n --claim a/b s.js",
            "would not be run",
            "leave out the script",
        ),
        ("k8s manifest --agents 4 --nats nats://n --claim a/b --in-image /c", "two archives", ""),
        ("k8s manifest --agents 4 --nats nats://n --in-image c", "for --in-image", "absolute path"),
        ("k8s manifest --agents 4 --nats nats://n --nats-creds a s.js", "needs --nats-secret", ""),
        (
            "k8s manifest --agents 4 --nats nats://n --nats-secret A s.js",
            "for --nats-secret",
            "small letters",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n --nats-secret a --nats-ca a/b s.js",
            "for --nats-ca",
            "a key",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n --image-pull-policy No s.js",
            "for --image-pull-policy",
            "Always",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n --agent-memory 2GB s.js",
            "for --agent-memory",
            "2Gi",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n --pod-env A s.js",
            "for --pod-env",
            "a name and a value",
        ),
        ("k8s manifest --agents 4 --nats nats://n --out csv s.js", "unknown flag: --out", ""),
        ("k8s manifest --agents 4 --nats nats:// s.js", "for --nats", "write nats://HOST:4222"),
        (
            "k8s manifest --agents 4 --nats nats://n --agent-cpu 500m s.js",
            "for --agent-cpu",
            "whole",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n --in-image /a -d 1m",
            "--duration would",
            "behind --",
        ),
        ("k8s manifest --agents 4 --nats nats://n s.js -- --once", "behind --: ", "for the leader"),
        (
            "k8s manifest --agents 4 --nats nats://n s.js -- --nosuch",
            "behind --: ",
            "for the leader",
        ),
        (
            "k8s manifest --agents 4 --nats nats://n s.js -- other.js",
            "behind --: ",
            "for the leader",
        ),
    ] {
        let told = brunt(line).file("s.js", SCRIPT).told();
        assert_eq!(told.code, 255, "{line} {told:?}");
        let error = told.error();
        assert!(error.contains(message) && error.contains(hint), "{line}: {error}");
    }
    let told = brunt(&format!("k8s manifest {WHERE} s.js"))
        .file("s.js", "throw new Error('broken');")
        .told();
    assert!(told.code == 107 && told.stdout.is_empty(), "{told:?}");
}
