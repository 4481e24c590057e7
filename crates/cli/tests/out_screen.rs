//! On a terminal: bars redraw in place, log lines appear above them, nothing is garbled. The terminal is the one of
//! `script` (util-linux); the picture that a person would see is worked out from its bytes.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::process::Command;

#[expect(dead_code, reason = "this file needs only a part of it")]
#[path = "whole/support.rs"]
mod support;

/// The picture on a terminal that is high enough for everything.
#[derive(Default)]
struct Terminal {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// The longest line that ever stood there.
    widest: usize,
    colors: usize,
}

impl Terminal {
    fn feed(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => self.row += 1,
                '\x1b' => {
                    assert_eq!(rest.next(), Some('['), "an escape that is no CSI");
                    let mut argument = String::new();
                    let end = loop {
                        match rest.next().expect("a whole sequence") {
                            c if c.is_ascii_alphabetic() => break c,
                            c => argument.push(c),
                        }
                    };
                    self.obey(end, &argument);
                }
                c => self.put(c),
            }
        }
    }

    fn obey(&mut self, end: char, argument: &str) {
        match end {
            'A' => self.row -= argument.parse::<usize>().unwrap(),
            'J' => {
                self.lines.truncate(self.row + 1);
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.truncate(self.column);
                }
            }
            'm' => self.colors += 1,
            other => panic!("unknown sequence {argument}{other}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Vec::new());
        }
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = c;
        self.column += 1;
        self.widest = self.widest.max(self.column);
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| line.iter().collect::<String>());
        lines.collect::<Vec<_>>().join("\n")
    }
}

const SCRIPT: &str = "import http from 'k6/http';
    import { sleep } from 'k6';
    export const options = { scenarios: {
        steady: { executor: 'constant-vus', vus: 2, duration: '1300ms' },
        a_scenario_with_a_name_longer_than_thirty: {
            executor: 'shared-iterations', vus: 1, iterations: 4, startTime: '300ms' },
    } };
    export default () => { http.get('http://127.0.0.1:1/'); sleep(0.15); };";

/// Runs `brunt run s.js` on a terminal so wide; its bytes.
fn typescript(columns: u32, before: &str, flags: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.js"), SCRIPT).unwrap();
    let line = format!(
        "stty cols {columns} rows 40; {before} exec {} run {flags} s.js",
        env!("CARGO_BIN_EXE_brunt")
    );
    let out = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("script is part of util-linux");
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn bars_redraw_in_place_and_log_lines_stand_above_them() {
    std::thread::scope(|scope| {
        for columns in [60, 80, 120] {
            scope.spawn(move || {
                let bytes = typescript(columns, "", "");
                let drawn = bytes.matches("VUs, ").count();
                assert!(drawn > 8, "drawn {drawn} times");
                let mut terminal = Terminal::default();
                terminal.feed(&bytes);
                // A machine with other work gets a warning about that.
                let text = terminal.text();
                let is_of_run = |line: &&str| !line.contains("finding=");
                let text = text.lines().filter(is_of_run).collect::<Vec<_>>().join("\n");
                // The states that were drawn meanwhile are gone; the last one stays.
                assert_eq!(text.matches("running (").count(), 1, "{text}");
                assert!(text.trim_end().lines().rev().nth(2).unwrap().starts_with("running ("));
                let warnings = text.lines().filter(|line| line.contains("WARN[000")).count();
                let whole = text.lines().filter(|line| {
                    line.starts_with("WARN[000")
                        && line.contains("] Request Failed ")
                        && line.contains(" error=")
                });
                // Equal ones of a second are one line.
                assert_eq!((whole.count(), warnings >= 2), (warnings, true), "{text}");
                assert!(terminal.colors > 20);
                assert!(text.contains("a_scenario_with_a_name_long... ✓ ["), "{text}");
            });
        }
    });
}

#[test]
fn bars_are_never_wider_than_the_terminal() {
    for columns in [30, 60] {
        let bytes = typescript(columns, "", "--log-output none --summary-mode disabled");
        // The bars alone; the description above them may be wider.
        let mut terminal = Terminal::default();
        let bars = bytes.rsplit_once("gracefulStop: 30s)");
        terminal.feed(bars.expect("there is a description").1);
        assert!(terminal.widest <= columns as usize, "{} columns: {bytes}", terminal.widest);
    }
}

#[test]
fn colours_can_be_switched_off() {
    std::thread::scope(|scope| {
        for (before, flags) in [("", "--no-color"), ("NO_COLOR=", ""), ("K6_NO_COLOR=1", "")] {
            scope.spawn(move || {
                let before =
                    if before.is_empty() { String::new() } else { format!("export {before};") };
                let bytes = typescript(80, &before, flags);
                let mut terminal = Terminal::default();
                terminal.feed(&bytes);
                assert_eq!(terminal.colors, 0, "{before} {flags}: {bytes}");
                assert!(terminal.text().contains("level=warning msg=\"Request Failed\""));
                assert_eq!(terminal.text().matches("running (").count(), 1, "{bytes}");
            });
        }
    });
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let bytes = typescript(80, "export TERM=dumb;", "");
    assert!(!bytes.contains('\x1b'), "{bytes}");
    assert!(bytes.contains("running (00m01.0s), "), "{bytes}");
    assert!(bytes.contains("steady                           [  "), "{bytes}");
}

#[test]
fn quiet_draws_nothing() {
    let bytes = typescript(80, "", "-q");
    assert!(!bytes.contains("running (") && !bytes.contains("\x1b[J"), "{bytes}");
    assert!(bytes.contains("TOTAL RESULTS"), "{bytes}");
}
