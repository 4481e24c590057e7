//! The flags of `brunt run`: each does something, or is refused by its name.

use crate::samples::{logged, run};
use crate::support::brunt;

const DEFAULT: &str = "export default function () {}\n";

#[test]
fn env_is_for_the_script_and_sets_no_option() {
    let script = "export default function () { console.log(__ENV.A, __ENV.B, __ENV.HOME !== undefined, __ENV.K6_ITERATIONS); }\n";
    let told = brunt("run -q s.js -e A=1=2 -e B= -e K6_ITERATIONS=5").file("s.js", script).told();
    assert_eq!(logged(&told), ["1=2  true 5"], "{told:?}");
    let told = brunt("run -q s.js -e A --include-system-env-vars=false")
        .file("s.js", script)
        .env("A", "shell")
        .told();
    assert_eq!(logged(&told), ["shell undefined false undefined"], "{told:?}");
    let told =
        brunt("run -q s.js").file("s.js", script).env("K6_INCLUDE_SYSTEM_ENV_VARS", "false").told();
    assert_eq!(logged(&told), ["undefined undefined false undefined"], "{told:?}");
}

#[test]
fn console_output_goes_to_a_file_instead() {
    let script = "export default function () { console.log('hello'); console.error('there'); }\n";
    let mut call = brunt("run -q s.js --console-output c.txt").file("s.js", script);
    let told = call.told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    let text = call.read("c.txt");
    assert!(text.contains("level=info msg=hello\n"), "{text}");
    assert!(text.contains("level=error msg=there\n"), "{text}");
    // Lines of init code stay in the log, as in k6.
    let mut call = brunt("run -q s.js --console-output c.txt")
        .file("s.js", format!("console.log('first');\n{script}"));
    let told = call.told();
    assert!(told.stderr.contains("msg=first source=console"), "{told:?}");
    assert!(!call.read("c.txt").contains("first"), "{told:?}");
}

#[test]
fn min_iteration_duration_and_tags_from_flags() {
    let ran = run(DEFAULT, "--min-iteration-duration 300ms --duration 1s --tag a=b");
    // Without the flag there would be thousands.
    assert!((1..=4).contains(&ran.count("iterations")), "{:?}", ran.told);
    assert!(ran.points("iterations").all(|point| point["data"]["tags"]["a"] == "b"));
}

#[test]
fn rps_caps_the_whole_process() {
    let script = "import http from 'k6/http';\n\
        export default function () { http.get(__ENV.DEMO_URL); }\n";
    let ran = run(script, "--demo --rps 10 --vus 5 --duration 1s --workers 2");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    // Without the flag there would be thousands.
    assert!((2..=17).contains(&ran.count("http_reqs")), "{}", ran.count("http_reqs"));
}

#[test]
fn the_network_flags_reach_the_network() {
    let script = "import http from 'k6/http';\n\
        export default function () {\n\
          const r = http.get(`${__ENV.DEMO_URL.replace('127.0.0.1', __ENV.HOST || '127.0.0.1')}`);\n\
          console.log(r.error_code);\n\
        }\n";
    let code = |flags: &str| logged(&run(script, &format!("--demo {flags}")).told).join(",");
    assert_eq!(code("--blacklist-ip 127.0.0.0/8"), "1110");
    assert_eq!(code("--blacklist-ip 10.0.0.0/8,127.0.0.1/32"), "1110");
    assert_eq!(code("-e HOST=localhost --block-hostnames local*"), "");
    assert_eq!(code("-e HOST=localhost --block-hostnames *host"), "1111");
    assert_eq!(code("-e HOST=localhost --dns policy=onlyIPv4"), "0");
    assert_eq!(code("--local-ips 127.0.0.5"), "0");
    assert_eq!(
        code(
            "--no-connection-reuse --no-vu-connection-reuse --user-agent x --discard-response-bodies"
        ),
        "0"
    );
}

#[test]
fn throw_turns_failed_requests_into_exceptions() {
    let script = "import http from 'k6/http';\n\
        export default function () { http.get('http://127.0.0.1:1/'); console.log('on'); }\n";
    let told = run(script, "").told;
    assert_eq!((told.code, logged(&told).len()), (0, 1), "{told:?}");
    let told = run(script, "--throw").told;
    assert_eq!((told.code, logged(&told).len()), (0, 0), "{told:?}");
    assert!(told.stderr.contains("script exception"), "{told:?}");
}

#[test]
fn compatibility_mode_decides_whether_there_is_a_global_named_global() {
    let script = "export default function () { console.log(typeof global); }\n";
    assert_eq!(logged(&run(script, "").told), ["object"]);
    assert_eq!(logged(&run(script, "--compatibility-mode base").told), ["undefined"]);
}

#[test]
fn values_that_a_flag_cannot_have() {
    for (flags, part) in [
        ("--nope", "unknown flag: --nope"),
        ("--vus 1.5", "--vus"),
        ("--duration 5", "--duration"),
        ("--stage 5", "--stage"),
        ("--stage :5", "--stage"),
        ("--tag =a", "--tag"),
        ("--tag a=", "--tag"),
        ("--dns foo=1", "--dns"),
        ("--local-ips foo", "--local-ips"),
        ("--blacklist-ip 1.2.3.4", "--blacklist-ip"),
        ("--block-hostnames a*b", "--block-hostnames"),
        ("--rps x", "--rps"),
        ("--batch x", "--batch"),
        ("--max-redirects x", "--max-redirects"),
        ("--min-iteration-duration 5", "--min-iteration-duration"),
        ("--summary-time-unit h", "--summary-time-unit"),
        ("--summary-trend-stats p(101)", "--summary-trend-stats"),
        ("--summary-mode x", "summary mode"),
        ("--compatibility-mode x", "compatibility mode"),
        ("--log-output x", "log output"),
        ("--workers 0", "--workers"),
        ("--throw=maybe", "--throw"),
        ("-e 1A=1", "1A"),
        ("--vus", "--vus"),
    ] {
        let told = run(DEFAULT, flags).told;
        assert_eq!(told.code, 255, "{flags}: {told:?}");
        assert!(told.error().contains(part), "{flags}: {told:?}");
    }
    for line in ["run", "run a.js b.js"] {
        let told = brunt(line).told();
        assert_eq!(told.code, 255, "{told:?}");
    }
}

#[test]
fn flags_may_stand_behind_the_script_and_work_in_all_spellings() {
    for flags in ["-i 3 -u 3", "-i3 -u3", "-i=3 -u=3", "--iterations=3 --vus 3", "-i 1 -i 3 -u3"] {
        let ran = run("export default function () { console.log(__VU); }\n", flags);
        assert_eq!(ran.count("iterations"), 3, "{flags}: {:?}", ran.told);
    }
}
