//! Names of steps, typed while the session is recorded.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use brunt_recorder::Marker;

use super::lines::Lines;

/// A longer name is cut.
const NAME_MAX: usize = 200;

/// Reads names from standard input on a thread of its own, until its end. The recording goes on without it.
pub(super) fn listen(marker: Marker, lines: Lines) {
    if io::stdin().is_terminal() && !is_in_foreground() {
        // Reading would stop the whole process: the terminal belongs to another one.
        return;
    }
    let read = move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            // A line without an end is read in parts, each as long as a name may be.
            match (&mut stdin).take(4 * NAME_MAX as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(name) = name(&line) {
                marker.step(&name);
                lines.say(&format!("step: {name}"));
            }
        }
    };
    // Without the thread there are no steps.
    let _ = std::thread::Builder::new().name("brunt-steps".to_owned()).spawn(read);
}

/// Whether the terminal of standard input listens to this process.
fn is_in_foreground() -> bool {
    match rustix::termios::tcgetpgrp(io::stdin()) {
        Ok(group) => group == rustix::process::getpgrp(),
        // Not our terminal: reading gives an error, not a stop.
        Err(_) => true,
    }
}

/// The name in a line, if there is one.
fn name(line: &str) -> Option<String> {
    let shown = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    let name: String = shown.collect::<String>().trim().chars().take(NAME_MAX).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_line_without_its_edges() {
        assert_eq!(name("  Log in \r\n").as_deref(), Some("Log in"));
        assert_eq!(name("a\tb\x1b[31m\n").as_deref(), Some("a b [31m"));
        assert_eq!(name("\n"), None);
        assert_eq!(name(&"ä".repeat(500)).unwrap().chars().count(), NAME_MAX);
    }
}
