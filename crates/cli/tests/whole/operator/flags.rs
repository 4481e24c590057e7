//! The flags that the initializer hands to `archive`, and the log that it searches for `level.*error`.

use serde_json::Value;

use crate::support::brunt;

const DEFAULT: &str = "export default function () {}\n";

/// As the initializer's `grep` does.
fn is_refused(log: &str) -> bool {
    log.lines().any(|line| line.find("level").is_some_and(|at| line[at..].contains("error")))
}

/// Flags of k6's `archive`, in forms that the operator leaves in.
const FLAGS: &str = "--vus 2 --iterations 4 --execution-segment 0:1/2 \
    --execution-segment-sequence 0,1/2,1 --paused --no-setup --no-teardown --max-redirects 3 --batch 5 \
    --batch-per-host 2 --rps 100 --http-debug=full --insecure-skip-tls-verify --no-connection-reuse \
    --no-vu-connection-reuse --min-iteration-duration 1ms --throw --summary-trend-stats avg,p(99) \
    --summary-time-unit ms --system-tags status,url --tag a=b --console-output said.txt \
    --discard-response-bodies --local-ips 127.0.0.1 --dns ttl=1m --include-system-env-vars=false \
    --compatibility-mode base --type js -e NAME=value --no-thresholds --summary-mode full \
    --summary-export e.json --new-machine-readable-summary --traces-output none --quiet --no-color \
    --log-format raw";

#[test]
fn archive_takes_every_flag_of_k6s() {
    let script = format!("console.log('said', __ENV.NAME);\n{DEFAULT}");
    let mut call = brunt(&format!("archive s.js -O t.tar {FLAGS}")).file("s.js", script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let lines: Vec<&str> = told.stderr.lines().collect();
    let beside = "--console-output is a flag of brunt run: the archive does not hold it";
    assert_eq!(lines, [beside, "said value"]);
    assert!(!call.path("said.txt").exists(), "nothing is written there");
    let archive = std::fs::read(call.path("t.tar")).expect("an archive");
    let told = brunt("inspect --execution-requirements t.tar").file("t.tar", archive).told();
    let options: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!((&options["maxVUs"], &options["rps"]), (&1.into(), &100.into()), "{options}");
    assert_eq!(options["summaryTrendStats"], serde_json::json!(["avg", "p(99)"]));
}

#[test]
fn archive_says_which_flags_are_for_the_run_alone() {
    let line =
        "archive s.js -O t.tar --strict --workers 1 --label a=b --report r.html --scenario one";
    let script = "const scenarios = {};\n\
        for (const name of ['one', 'two']) scenarios[name] = { executor: 'shared-iterations' };\n\
        export const options = { scenarios };\n\
        export default function () {}\n";
    let mut call = brunt(line).file("s.js", script).env("BRUNT_NO_LIVE", "true");
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    for flag in ["--strict", "--workers", "--label", "--report"] {
        assert!(told.stderr.contains(&format!("{flag} is a flag of brunt run")), "{told:?}");
    }
    assert_eq!(told.stderr.lines().count(), 4, "variables are for both commands: {told:?}");
    assert!(!is_refused(&told.stderr), "{told:?}");
    let archive = std::fs::read(call.path("t.tar")).expect("an archive");
    let told = brunt("inspect t.tar").file("t.tar", archive).told();
    let options: Value = serde_json::from_str(&told.stdout).expect("JSON");
    let scenarios = options["scenarios"].as_object().expect("scenarios");
    assert_eq!(scenarios.keys().collect::<Vec<_>>(), ["one"]);
    // The operator takes these away; by hand they are slips.
    for flag in ["--out json", "--linger", "--no-usage-report", "--repeat 2"] {
        let told = brunt(&format!("archive s.js -O t.tar {flag}")).file("s.js", DEFAULT).told();
        assert_eq!(told.code, 255, "{flag} {told:?}");
        assert!(told.error().contains("unknown flag: --"), "{told:?}");
    }
}

/// Each warning that the two commands have, as far as a script, variables and files call it forth.
#[test]
fn no_warning_of_archive_and_inspect_looks_like_an_error() {
    let script = "export const options = {\n\
             vus: 2, unknownKey: 1, features: ['x'], scenarios: { a: { executor: 'shared-iterations' } },\n\
             hosts: { 'a.example': 'b.example' }, tlsAuth: [],\n\
           };\n\
           export default function () {}\n\
           //# sourceMappingURL=not-there.map\n";
    let line = "archive s.js -O t.tar --compatibility-mode experimental_enhanced --log-format txt";
    let mut call = brunt(line)
        .file("s.js", script)
        .env("K6_ITERATION", "1")
        .env("K6_HOSTS", "{\"a.example\": 5}")
        .env("K6_FEATURES", "merge-run-tags")
        .env("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")
        .file(".config/k6/config.json", "{ \"unknown\": 1 }");
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let archive = std::fs::read(call.path("t.tar")).expect("an archive");
    for part in [
        "There were unknown fields in the options exported in the script",
        "reason=\"json: unknown field",
        "vus overrides scenarios",
        "is not a setting",
        "is deprecated",
        "there is no log format",
        "which is no IP address",
        "Couldn't load source map",
    ] {
        assert!(told.stderr.contains(part), "no {part:?} in {}", told.stderr);
    }
    assert!(told.stderr.matches("level=warning").count() >= 8, "{}", told.stderr);
    assert!(!is_refused(&told.stderr), "{}", told.stderr);
    for line in ["inspect s.js", "inspect --execution-requirements s.js"] {
        let told = brunt(line).file("s.js", script).told();
        assert_eq!(told.code, 0, "{told:?}");
        assert!(told.stderr.contains("unknown fields") && !is_refused(&told.stderr), "{told:?}");
        let json = brunt(&format!("{line} --log-format json")).file("s.js", script).told();
        assert!(!is_refused(&json.stderr), "{json:?}");
    }
    let told = brunt("inspect --execution-requirements t.tar").file("t.tar", archive).told();
    assert!(told.code == 0 && !is_refused(&told.stderr), "{told:?}");
    // Of a run the log is k6's to the letter.
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert!(told.stderr.contains("error=\"json: unknown field"), "{told:?}");
}

#[test]
fn errors_of_archive_and_inspect_look_like_errors() {
    for line in ["archive s.js -O t.tar", "inspect s.js"] {
        let told = brunt(line).file("s.js", "throw new Error('broken');").told();
        assert_eq!(told.code, 107, "{told:?}");
        assert!(is_refused(&told.stderr), "{told:?}");
    }
}
