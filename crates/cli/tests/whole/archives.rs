//! `brunt archive`, and running what it writes.

use serde_json::Value;

use crate::support::{Told, brunt};

const SCRIPT: &str = "import { x } from './lib/l.js';\n\
    const data = open('./data.txt');\n\
    const { y } = require('./lib/c.js');\n\
    export const options = { vus: 2, iterations: 2, tags: { a: 'b' } };\n\
    export default function () {\n\
      console.log(x, data, __ENV.FOO, __ENV.BAR, y);\n\
    }\n";

/// A folder with an archive of the script in it.
fn archived(flags: &str) -> (Told, crate::support::Brunt) {
    let mut call = brunt(&format!("archive s.js -O t.tar {flags}"))
        .file("s.js", SCRIPT)
        .file("lib/l.js", "export const x = 1;\n")
        .file("lib/c.js", "module.exports = { y: 5 };\n")
        .file("data.txt", "hi");
    let told = call.told();
    (told, call)
}

fn bytes(call: &crate::support::Brunt) -> Vec<u8> {
    std::fs::read(call.path("t.tar")).expect("the archive")
}

fn logged(told: &Told) -> Vec<&str> {
    let lines = told.stderr.lines().filter(|line| line.contains("source=console"));
    lines.filter_map(|line| line.split("msg=").nth(1)?.split(" source").next()).collect()
}

#[test]
fn an_archive_runs_elsewhere_without_its_files() {
    let (told, call) = archived("-e FOO=foo");
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    let told = brunt("run -q t.tar -e BAR=bar").file("t.tar", bytes(&call)).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(logged(&told), ["\"1 hi foo bar 5\""; 2]);
    // Flags go before the archive's options, its environment can be overridden.
    let told = brunt("run -q t.tar -u 1 -i 1 -e FOO=other").file("t.tar", bytes(&call)).told();
    assert_eq!(logged(&told), ["\"1 hi other undefined 5\""]);
    let told = brunt("run -q -t archive t").file("t", bytes(&call)).told();
    assert_eq!(told.code, 0, "{told:?}");
    let told = brunt("run -q -t js t.tar").file("t.tar", bytes(&call)).told();
    assert_eq!(told.code, 107, "{told:?}");
}

#[test]
fn an_archive_tells_what_it_is() {
    let (_, call) = archived("-e FOO=foo --vus 3 --iterations 6");
    let inspected = brunt("inspect t.tar").file("t.tar", bytes(&call)).told();
    let options: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    assert_eq!((options["vus"].as_u64(), &options["scenarios"]), (Some(3), &Value::Null));
    let inspected =
        brunt("inspect --execution-requirements t.tar").file("t.tar", bytes(&call)).told();
    let options: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    assert_eq!(options["maxVUs"], 3, "{inspected:?}");
    let deps = brunt("deps --json t.tar").file("t.tar", bytes(&call)).told();
    let deps: Value = serde_json::from_str(&deps.stdout).expect("JSON");
    assert_eq!(deps["buildDependencies"]["k6"], "*");
    assert_eq!(deps["imports"].as_array().map(Vec::len), Some(2), "{deps}");
}

#[test]
fn the_environment_can_be_left_out() {
    let (_, call) = archived("-e FOO=foo --exclude-env-vars");
    let told = brunt("run -q t.tar").file("t.tar", bytes(&call)).told();
    assert_eq!(logged(&told), ["\"1 hi undefined undefined 5\""; 2]);
}

#[test]
fn a_script_from_a_pipe_can_be_archived_and_an_archive_of_it_run() {
    let script = "export default function () { console.log('piped'); }\n";
    let mut call = brunt("archive - -O t.tar").stdin(script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let told = brunt("run -q t.tar").file("t.tar", bytes(&call)).told();
    assert_eq!(logged(&told), ["piped"], "{told:?}");
}

#[test]
fn what_is_no_archive_is_refused() {
    let (_, call) = archived("");
    let whole = bytes(&call);
    let broken = |bytes: &[u8]| brunt("run -q t.tar").file("t.tar", bytes).told();
    for length in [600, 1800, 2100] {
        let told = broken(&whole[..length]);
        assert_eq!(told.code, 255, "{length}: {told:?}");
        assert!(told.error().contains("could not load the test archive t.tar"), "{told:?}");
    }
    // An entry that would lead out of it. Sums of headers are the sums of their bytes.
    let mut evil = whole.clone();
    let at = evil.windows(9).position(|w| w == b"data.txt\0").expect("the file's entry");
    let start = at / 512 * 512;
    evil[start..start + 100].fill(0);
    evil[start..start + 21].copy_from_slice(b"file/../../etc/passwd");
    evil[start + 148..start + 156].fill(b' ');
    let sum: u32 = evil[start..start + 512].iter().map(|byte| u32::from(*byte)).sum();
    evil[start + 148..start + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let told = broken(&evil);
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.error().contains("leads out of the archive"), "{told:?}");
}
