//! Help for a new user: slips of the keyboard, all errors at once, terminals, signals, completion.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{DemoServer, Told, brunt};

const DEFAULT: &str = "export default function () {}";

fn run(script: &str, flags: &str) -> Told {
    brunt(&format!("run -q s.js {flags}")).file("s.js", script).told()
}

/// Runs a line of a shell on a terminal of this width, in a folder with a file `s.js`. Gives its text and the exit
/// code.
fn on_terminal(columns: u32, line: &str, script: &str, typed: &str) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.js"), script).expect("a file");
    std::fs::write(folder.path().join("typed"), typed).expect("a file");
    let brunt = env!("CARGO_BIN_EXE_brunt");
    let line =
        format!("stty cols {columns} rows 30; {}", line.replace("brunt ", &format!("{brunt} ")));
    let out = Command::new("timeout")
        .args(["60", "script", "--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null())
        .output()
        .expect("script is part of util-linux");
    (String::from_utf8_lossy(&out.stdout).into_owned(), out.status.code().unwrap_or(-1))
}

#[test]
fn binary_is_kept_from_terminals() {
    for (line, code) in [
        ("brunt attack -duration=1s -targets=typed", 1),
        ("brunt attack -duration=1s -targets=typed -output=/dev/tty", 1),
        ("brunt encode -to gob typed", 1),
        ("brunt archive -O - s.js", 255),
    ] {
        let (told, found) = on_terminal(100, line, DEFAULT, "GET http://127.0.0.1:1/\n");
        assert!(told.contains("binary") && told.contains("terminal"), "{line}: {told}");
        assert!(told.contains("pipe it into"), "{line}: {told}");
        assert_eq!(found, code, "{line}: {told}");
    }
    // In a pipe all of it goes on.
    let line = "brunt attack -duration=1s -rate=2 -targets=typed | brunt report";
    let (told, code) = on_terminal(100, line, DEFAULT, "GET http://127.0.0.1:1/\n");
    assert!(code == 0 && told.contains("Requests") && !told.contains("binary"), "{told}");
}

#[test]
fn who_waits_for_standard_input_says_so() {
    let waiting = "on standard input";
    // `script` without a terminal of its own ends the input at once: that is Ctrl-D.
    for line in ["brunt run -q -", "brunt attack -duration=1s -output=x", "brunt report"] {
        let (told, _) = on_terminal(100, line, DEFAULT, "");
        assert!(told.contains("waiting for") && told.contains(waiting), "{line}: {told}");
    }
    // A pipe that delivers is no reason for a word; one that is silent for a second is.
    let told = brunt("run -q -").stdin(DEFAULT).told();
    assert!(told.code == 0 && !told.stderr.contains("waiting for"), "{told:?}");
    let brunt = env!("CARGO_BIN_EXE_brunt");
    let silent = format!("(sleep 2; echo '{DEFAULT}') | {brunt} run -q -");
    let out = Command::new("sh").args(["-c", &silent]).output().expect("a shell");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && told.contains("waiting for the script"), "{told}");
}

#[test]
fn the_first_signal_says_what_happens_now() {
    let script = "import { sleep } from 'k6'; export const options = { teardownTimeout: '7s' };
        export default function () { console.log('at work'); sleep(100); }
        export function teardown() { console.log('taken down'); }";
    let mut call = brunt("run -q s.js --log-output stdout").file("s.js", script);
    let mut running = call.start();
    running.line_with("at work");
    running.signal("INT");
    let line = running.line_with("stopping: ");
    assert!(line.contains("are interrupted, then teardown() runs (at most 7s)"), "{line}");
    assert!(line.contains("Ctrl-C again to end at once"), "{line}");
    let told = running.wait();
    assert!(told.code == 105 && told.stdout.contains("taken down"), "{told:?}");

    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = format!("GET http://{}/\n", listener.local_addr().expect("its address"));
    let mut call =
        brunt("--log-output stdout attack -rate=5 -output=x.gob -timeout=20s").stdin(&target);
    let mut running = call.start();
    // A hit is under way, and has no answer.
    let (sender, accepted) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || sender.send((listener.accept(), listener)));
    let held = accepted.recv_timeout(Duration::from_mins(1)).expect("a hit");
    running.signal("INT");
    let line = running.line_with("stopping: ");
    assert!(line.contains("for at most 20s (-timeout)") && line.contains("Ctrl-C again"), "{line}");
    drop(held);
    assert_eq!(running.wait().code, 0);
}

#[test]
fn what_was_meant_is_asked() {
    for (script, flags, code, parts) in [
        ("import http from 'k6/HTTP'; DEFAULT", "", 107, &["did you mean \\\"k6/http\\\"?"][..]),
        ("import m from 'k6/metric'; DEFAULT", "", 107, &["did you mean \\\"k6/metrics\\\"?"]),
        ("import h from 'K6/Http'; DEFAULT", "", 107, &["k6/http"]),
        ("import h from './T.JS'; DEFAULT", "", 107, &["did you mean \"t.js\"?"]),
        ("import h from './T.js'; DEFAULT", "", 107, &["did you mean \"t.js\"?"]),
        (
            "import h from 'k6/x/nope'; DEFAULT",
            "",
            107,
            &["extension", "k6/x/redis", "k6/x/fasthttp"],
        ),
        ("import h from 'k6/x/rediss'; DEFAULT", "", 107, &["did you mean \\\"k6/x/redis\\\"?"]),
        (
            "export const options = { treshold: {}, Zebra: 1, apple: 2 }; DEFAULT",
            "",
            0,
            &[
                "unknown field \\\"Zebra\\\"",
                "did you mean thresholds for treshold?",
                "also unknown: apple, treshold",
            ],
        ),
        (
            "export const options = { scenarios: { a: { executor: 'constant-VU', duration: '1s' } } }; DEFAULT",
            "",
            104,
            &["did you mean \\\"constant-vus\\\"?", "s.js:1:"],
        ),
        (
            "export const options = { thresholds: { http_req_duraton: ['p(95)<500'] } }; DEFAULT",
            "",
            104,
            &["did you mean \\\"http_req_duration\\\"?", "s.js:1:"],
        ),
        (
            "export const options = { thresholds: { http_req_duration: ['p95<500'] } }; DEFAULT",
            "",
            104,
            &["did you mean \\\"p(95)\\\"?"],
        ),
        ("DEFAULT", "--out jsom=x", 255, &["did you mean \\\"json\\\"?"]),
        ("DEFAULT", "--log-format jsn", 0, &["did you mean json?"]),
        ("DEFAULT", "--vuss 5", 255, &["did you mean --vus?"]),
        ("DEFAULT", "--nonsense", 255, &["see brunt run --help"]),
    ] {
        let script = script.replace("DEFAULT", DEFAULT);
        let told = brunt(&format!("run -q s.js {flags}"))
            .file("s.js", &script)
            .file("t.js", DEFAULT)
            .told();
        assert_eq!(told.code, code, "{script}: {told:?}");
        for part in parts {
            assert!(told.stderr.contains(part), "no {part} for {script} {flags}: {}", told.stderr);
        }
    }
    let told = brunt("run -q scrpt.js").file("script.js", DEFAULT).told();
    assert!(
        told.code == 255 && told.stderr.contains("did you mean \\\"script.js\\\"?"),
        "{told:?}"
    );
    for line in ["atack", "help atack"] {
        let told = brunt(line).told();
        assert!(told.stderr.contains("did you mean attack?"), "{line}: {told:?}");
    }
    let told = brunt("attack -targets=t -output=x").file("t", "GET http://h/\n@nowhere\n").told();
    assert_eq!(told.stderr.matches("open nowhere").count(), 1, "{told:?}");
    let scenario = |exec| format!("{{ executor: 'constant-vus', duration: '1s', exec: '{exec}' }}");
    let (a, b) = (scenario("defalt"), scenario("nope"));
    let script = format!("export const options = {{ scenarios: {{ a: {a}, b: {b} }} }}; {DEFAULT}");
    let told = run(&script, "");
    for part in
        ["runs the function \\\"defalt\\\"", "\\\"nope\\\"", "did you mean \\\"default\\\"?"]
    {
        assert!(told.code == 104 && told.stderr.contains(part), "{part}: {told:?}");
    }
    let told = brunt("run -q s.js").file("s.js", DEFAULT).env("K6_ITERATONS", "3").told();
    assert!(told.code == 0 && told.stderr.contains("did you mean K6_ITERATIONS?"), "{told:?}");
    let told = brunt("run -q s.js")
        .file("s.js", format!("const host = __ENV.K6_HOST; {DEFAULT}"))
        .env("K6_INFLUXDB_DB", "x")
        .env("K6_MINE", "x")
        .env("K6_HOST", "x")
        .told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
}

#[test]
fn a_wrong_flag_of_attack_is_told_in_two_lines() {
    let told = brunt("attack -duratoin=5s").told();
    assert_eq!(
        (told.code, told.stderr.as_str()),
        (
            2,
            "flag provided but not defined: -duratoin\ndid you mean -duration? See brunt attack -help\n"
        )
    );
    let told = brunt("attack -rate=x").told();
    assert!(told.code == 2 && told.stderr.ends_with("\nSee brunt attack -help\n"), "{told:?}");
    assert_eq!(told.stderr.lines().count(), 2, "{told:?}");
    assert!(brunt("help attack").told().stdout.contains("  -max-workers uint\n"));
}

#[test]
fn all_that_is_wrong_with_options_is_told_at_once_with_its_place() {
    let script = "export const options = {\n  vus: 'many',\n  scenarios: {\n    a: { executor: 'constant-vus', vuss: 1 },\n    \
        b: { executor: 'constant-vus', vus: 2 },\n  },\n  thresholds: {\n    nope: ['avg<1'],\n    \
        http_reqs: ['count>0', 'p(95)<1', 'nonsense'],\n  },\n};\nexport default function () {}\n";
    let told = run(script, "");
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.error().contains("5 options are wrong:"), "{told:?}");
    for part in [
        " = vus: expected a whole number, got \"many\"\n",
        "s.js:2:8\n",
        " = scenarios.a.vuss: unknown field: did you mean \"vus\"?\n",
        "s.js:4:",
        "thresholds.nope: ",
        "s.js:8:",
        "thresholds.http_reqs[1]: ",
        "thresholds.http_reqs[2]: ",
        "s.js:9:",
    ] {
        assert!(told.stderr.contains(part), "no {part}: {}", told.stderr);
    }
    // Where nothing is drawn, the line has all of it.
    let json = run(script, "--log-format json").stderr;
    let line: serde_json::Value = serde_json::from_str(json.trim()).expect("one line of JSON");
    let message = line["msg"].as_str().expect("a message");
    assert!(
        message.contains("5 options are wrong: vus: expected") && message.contains("s.js:9:"),
        "{message}"
    );
    assert!(told.stderr.contains(" 2 |   vus: 'many',\n"), "{}", told.stderr);
    assert!(told.stderr.matches("-->").count() >= 5, "{}", told.stderr);

    // An entry that can't be read takes no other's place; what is wrong with one place is drawn once.
    let script = format!(
        "export const options = {{ thresholds: {{ http_reqs: [5, 'nonsense', {{ threshold: 5 }}] }},\n\
         scenarios: {{ b: {{ executor: 'constant-arrival-rate' }} }} }};\n{DEFAULT}"
    );
    let told = run(&script, "");
    assert!(told.error().contains("6 options are wrong:"), "{told:?}");
    assert!(told.stderr.contains(" = thresholds.http_reqs[1]: "), "{told:?}");
    assert_eq!(told.stderr.matches("s.js:2:14\n").count(), 1, "{told:?}");

    // Without what can't be read, what can't be run is told as well.
    let script = "export const options = { setupTimeout: 0, scenarios: { b: { executor: 'constant-vus' } } };\n\
        export default function () {}\n";
    let told = run(script, "");
    assert!(told.code == 104 && told.error().contains("2 options are wrong:"), "{told:?}");
    assert!(told.stderr.contains("scenarios.b.duration: is missing"), "{told:?}");

    // Flags, variables and the file together; a flag that can't be read is the command line's.
    let told = brunt("run -q s.js --rps x --duration y -c c.json")
        .file("s.js", DEFAULT)
        .file("c.json", "{\n  \"batch\": \"z\",\n  \"linger\": 5\n}\n")
        .env("K6_VUS", "w")
        .told();
    assert_eq!(told.code, 255, "{told:?}");
    for part in
        ["5 options are wrong:", "--duration: ", "--rps: ", "K6_VUS: ", "c.json:2:12", "linger: "]
    {
        assert!(told.stderr.contains(part), "no {part}: {told:?}");
    }
    let told = brunt("run -q s.js -c c.json")
        .file("s.js", DEFAULT)
        .file("c.json", "{\n  \"vus\": ,\n}")
        .told();
    assert!(told.code == 104 && told.stderr.contains(" 2 |   \"vus\": ,\n"), "{told:?}");
}

#[test]
fn modules_that_k6_removed_say_what_to_use() {
    for (module, part) in [
        ("tracing", "http-instrumentation-tempo"),
        ("browser", "k6/browser"),
        ("webcrypto", "global `crypto`"),
    ] {
        let told = run(&format!("import x from 'k6/experimental/{module}'; {DEFAULT}"), "");
        assert_eq!(told.code, 107, "{told:?}");
        assert!(
            told.error().contains("has been removed from k6") && told.error().contains(part),
            "{told:?}"
        );
    }
    for module in ["timers", "grpc", "redis", "websockets"] {
        let told = run(&format!("import * as x from 'k6/experimental/{module}'; {DEFAULT}"), "");
        assert_eq!(told.code, 0, "{told:?}");
    }
}

#[test]
fn certificates_are_looked_at_as_soon_as_the_script_is_loaded() {
    let pair = rcgen::generate_simple_self_signed(["x.test".to_owned()]).expect("a certificate");
    let (cert, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (cert, entry, parts) in [
        (
            cert.as_str(),
            ", password: 'x'",
            &["x509: no DEK-Info header in block", "key.pem", "s.js:"][..],
        ),
        (broken, "", &["malformed certificate", "cert.pem", "s.js:"]),
    ] {
        let script = format!(
            "export const options = {{ tlsAuth: [{{ cert: open('cert.pem'), key: open('key.pem'){entry} }}] }};\n{DEFAULT}"
        );
        for command in ["inspect", "run -q", "archive"] {
            let told = brunt(&format!("{command} s.js"))
                .file("s.js", &script)
                .file("cert.pem", cert)
                .file("key.pem", &key)
                .told();
            assert_eq!(told.code, 104, "{command}: {told:?}");
            for part in parts {
                assert!(told.stderr.contains(part), "{command}: no {part}: {told:?}");
            }
        }
    }
}

#[test]
fn a_terminal_has_a_live_line_unless_it_shall_be_k6s() {
    let demo = DemoServer::start();
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
         export const options = {{ vus: 2, duration: '2s' }};
         export default function () {{ http.get('{}/ping'); sleep(0.05); }}",
        demo.url
    );
    let (told, code) = on_terminal(100, "brunt run s.js", &script, "");
    assert!(code == 0 && told.contains(" requests/s, p95 "), "{told}");
    assert!(told.contains(" failed"), "{told}");
    let (narrow, _) = on_terminal(40, "brunt run --summary-mode disabled s.js", &script, "");
    assert!(
        narrow.contains(" req/s, p95 ") && !narrow.contains("interrupted iterations"),
        "{narrow}"
    );
    for line in ["brunt run --no-live s.js", "brunt run s.js | cat", "brunt run -q s.js"] {
        let (told, _) = on_terminal(100, line, &script, "");
        assert!(!told.contains("requests/s") && !told.contains("req/s"), "{line}: {told}");
    }
}

#[test]
fn shells_complete_flags_of_attack_and_types_of_outputs() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let told = brunt(&format!("completion {shell}")).told();
        let dash = if shell == "fish" { "-o max-workers" } else { "-max-workers" };
        assert!(told.code == 0 && told.stdout.contains(dash), "{shell}");
        for hidden in ["dump", "login"] {
            assert!(!told.stdout.contains(hidden), "{shell}: {hidden}");
        }
    }
    let bash = brunt("completion bash").told().stdout;
    assert!(bash.contains("opentelemetry") && bash.contains("web-dashboard"));
    // The script is one that bash takes, and it offers what begins as the word does.
    let ask = "source ./c; COMP_WORDS=(brunt attack -max-w); COMP_CWORD=2; _brunt brunt -max-w attack; \
               echo \"${COMPREPLY[@]}\"; \
               COMP_WORDS=(brunt run --out exp); COMP_CWORD=3; _brunt brunt exp --out; echo \"${COMPREPLY[@]}\"";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("c"), bash).expect("a file");
    let out =
        Command::new("bash").args(["-c", ask]).current_dir(folder.path()).output().expect("bash");
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        "-max-workers\nexperimental-prometheus-rw\n",
        "{out:?}"
    );
    let help = brunt("help").told().stdout;
    for hidden in ["dump", "cloud", "login"] {
        assert!(!help.contains(hidden), "{help}");
    }
}
