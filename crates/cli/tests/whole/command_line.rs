//! Commands and flags, up to where a script would run.

use crate::support::brunt;

#[test]
fn help_lists_the_commands_and_every_flag() {
    let told = brunt("help").told();
    assert_eq!(told.code, 0);
    for command in [
        "run",
        "archive",
        "deps",
        "features",
        "status",
        "inspect",
        "new",
        "demo",
        "version",
        "completion",
    ] {
        assert!(told.stdout.contains(command), "{}", told.stdout);
    }
    let told = brunt("run --help").told();
    assert_eq!(told.code, 0);
    assert!(told.stdout.contains("--vus <N>") && told.stdout.contains("[env: K6_VUS]"));
    for offered in ["k6/http", "k6/experimental/csv", "k6/x/fasthttp", "FormData"] {
        assert!(told.stdout.contains(offered), "{}", told.stdout);
    }
    assert!(told.stderr.is_empty());
}

#[test]
fn a_call_without_words_shows_the_five_commands_that_matter() {
    let told = brunt("").told();
    assert_eq!(told.code, 0);
    let shown = told.stdout.lines().filter(|line| line.starts_with("  brunt ")).count();
    assert_eq!(shown, 5, "{}", told.stdout);
    assert!(told.stdout.contains("`brunt --help` lists all commands"), "{}", told.stdout);
}

#[test]
fn help_of_run_has_groups_examples_and_every_output() {
    let page = brunt("run --help").told().stdout;
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}: {page}"));
    let order =
        ["Examples:", "\nLoad:", "--vus", "\nScript:", "--env", "\nResults:", "--out", "\nHTTP:"];
    assert!(order.windows(2).all(|pair| place(pair[0]) < place(pair[1])), "{page}");
    for output in [
        "json",
        "csv",
        "influxdb",
        "experimental-prometheus-rw",
        "opentelemetry",
        "statsd",
        "web-dashboard",
    ] {
        assert!(page.contains(&format!("- {output}")), "{output}: {page}");
    }
    assert!(!page.contains("BOOL"), "{page}");
}

#[test]
fn global_options_have_one_page() {
    for line in ["help", "--help"] {
        let page = brunt(line).told().stdout;
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["-cpus=N limits the cores", "vegeta's -profile is refused"] {
            assert!(page.contains(part), "{page}");
        }
    }
    let help = |line: &str| brunt(line).told().stdout;
    let root = help("--help");
    assert_eq!(help("help --help"), help("help"));
    assert_eq!(help("help -h"), help("help"));
    assert_eq!(help("help run --help"), help("help run"));
    assert!(root.contains("\nGlobal options:\n") && root.contains("--log-output <DEST>"), "{root}");
    for line in
        ["run --help", "inspect --help", "deps --help", "status --help", "demo --help", "help run"]
    {
        let page = help(line);
        assert!(!page.contains("--log-output <DEST>"), "{page}");
        assert!(page.contains("`brunt --help` explains"), "{page}");
    }
}

#[test]
fn help_of_attacks_is_on_stdout_with_examples_and_defaults() {
    for (command, default) in [
        ("attack", "(default 50/1s)"),
        ("encode", "(default \"json\")"),
        ("report", "(default 0s)"),
        ("plot", "(default 4000)"),
    ] {
        for flag in ["-h", "-help", "--help"] {
            let told = brunt(&format!("{command} {flag}")).told();
            assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
            assert!(told.stdout.contains("\nExamples:\n"), "{told:?}");
            let words: Vec<&str> = told.stdout.split_whitespace().collect();
            assert!(words.join(" ").contains(default), "{told:?}");
        }
    }
}

#[test]
fn extensions_of_commands_are_none() {
    let told = brunt("x").told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    assert!(told.stdout.contains("built in"), "{told:?}");
}

#[test]
fn a_wrong_command_line_is_one_error_and_255() {
    for (line, part) in [
        ("nope", "unknown command"),
        ("run", "takes one script"),
        ("run a.js b.js", "takes one script"),
        ("run --nope a.js", "unknown flag: --nope"),
        ("run -e 1=2 a.js", "invalid environment variable name '1'"),
        ("run --log-output x a.js", "unsupported log output 'x'"),
        ("run --summary-mode x a.js", "invalid summary mode"),
        ("run --log-output loki=a,x=y a.js", "unknown loki config key x"),
        ("run --traces-output zip a.js", "invalid traces output"),
        ("run --type zip a.js", "unknown or unspecified test type 'zip'"),
        ("run --set x a.js", "--set"),
        ("archive", "takes one script"),
        ("cloud run a.js", "no cloud behind Brunt"),
        ("cloud login", "nothing to log in to"),
        ("login", "nothing to log in to"),
        ("x foo --bar", "unknown command"),
        ("scale --address 127.0.0.1:1", "-u/--vus or -m/--max"),
        ("new --template nope", "nope"),
        ("demo --listen x", "for --listen"),
    ] {
        let told = brunt(line).told();
        assert_eq!(told.code, 255, "{line}: {told:?}");
        assert!(told.error().contains(part), "{line}: {told:?}");
        assert!(told.stdout.is_empty(), "{line}: {told:?}");
    }
}

#[test]
fn errors_take_the_form_that_was_asked_for() {
    let told = brunt("run --log-format json -e 1=2 a.js").told();
    // Flags are wrong: what they ask for does not hold yet.
    assert!(told.error().starts_with("time=\""), "{told:?}");
    let told = brunt("run --log-format json --config nowhere.json a.js").told();
    assert_eq!(told.code, 104);
    let line: serde_json::Value = serde_json::from_str(told.stderr.trim()).unwrap();
    assert_eq!(line["level"], "error");
    assert!(line["msg"].as_str().unwrap().contains("nowhere.json"), "{told:?}");
    let told = brunt("run --log-output stdout --config nowhere.json a.js").told();
    assert!(told.stderr.is_empty() && told.stdout.contains("level=error"), "{told:?}");
    let mut call = brunt("run --log-output file=log.txt --config nowhere.json a.js");
    let told = call.told();
    assert!(told.stderr.is_empty() && told.stdout.is_empty(), "{told:?}");
    assert!(call.read("log.txt").contains("nowhere.json"));
}

#[test]
fn the_version_can_be_read_by_programs() {
    let told = brunt("version --json").told();
    let version: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(version["k6_version"], "2.2.0");
    assert!(brunt("version").told().stdout.starts_with("brunt v"));
    assert!(brunt("--version").told().stdout.starts_with("brunt v"));
}

#[test]
fn new_writes_a_script_and_overwrites_none() {
    let mut call = brunt("new");
    let told = call.told();
    assert_eq!(told.stdout, "New script created: script.js (minimal template).\n");
    assert!(call.read("script.js").contains("export default function"));
    let told = call.told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("script.js already exists"), "{told:?}");
    let mut call = brunt("new -f x.js --template ./mine.tpl")
        .file("mine.tpl", "// {{ .ScriptName }}")
        .file("x.js", "old");
    assert_eq!(call.told().code, 0);
    assert_eq!(call.read("x.js"), "// x.js");
}

#[test]
fn each_shell_gets_a_completion() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let told = brunt(&format!("completion {shell}")).told();
        assert_eq!(told.code, 0);
        assert!(told.stdout.contains("vus") && told.stdout.contains("inspect"), "{shell}");
    }
}
