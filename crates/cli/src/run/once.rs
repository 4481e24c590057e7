//! `--once`: what a script does, told request by request.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use brunt_modules::watch::{Place, Seen, Talk, Watcher};

use crate::{screen::Screen, secrets};

/// Of a body so much is shown.
const BODY_MOST: usize = 2048;

/// Prints each exchange and each check as it happens.
pub(super) struct Trace {
    screen: Arc<Screen>,
    color: bool,
    /// Where the last line was, so that a change is told once.
    place: Mutex<String>,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

impl Trace {
    pub(super) fn new(screen: Arc<Screen>, color: bool) -> Self {
        Self { screen, color, place: Mutex::default() }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A heading, if the script is elsewhere than before.
    fn heading(&self, vu: &Place<'_>) -> String {
        let scenario = if vu.scenario.is_empty() { "setup and teardown" } else { vu.scenario };
        let here = format!("{scenario}{}", vu.group.replace("::", " › "));
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if *place == here {
            return String::new();
        }
        place.clone_from(&here);
        format!("\n{}\n", self.paint("1", &here))
    }

    fn print(&self, mut text: String) {
        if let Some(redactor) = secrets::redactor() {
            secrets::redact(redactor, &mut text);
        }
        // That stdout is closed is noticed when the summary is written.
        let _ = self.screen.stdout(&text);
    }

    fn exchange_text(&self, seen: &Seen<'_>) -> String {
        let (status, color) = match seen.response() {
            Some(response) => {
                let color = if response.status() < 400 { "32" } else { "31" };
                (format!("{} {}", response.status(), response.reason()), color)
            }
            None => (seen.failure().unwrap_or_default(), "31"),
        };
        let mut out = format!(
            "{} {}  {}  {:.1} ms\n",
            self.paint("36", seen.method()),
            seen.url,
            self.paint(color, status.trim_end()),
            seen.duration_ms(),
        );
        let head = seen.request_head();
        self.lines(&mut out, "  > ", head.trim_end().as_bytes());
        if let Some(body) = seen.request_body().filter(|body| !body.is_empty()) {
            out.push_str("  >\n");
            self.lines(&mut out, "  > ", &body);
        }
        if let Some(head) = seen.response_head() {
            self.lines(&mut out, "  < ", head.trim_end().as_bytes());
            if !seen.response_body().is_empty() {
                out.push_str("  <\n");
                self.lines(&mut out, "  < ", seen.response_body());
            } else if seen.is_streamed() {
                let _ = writeln!(
                    out,
                    "{}(the script reads the body as it comes)",
                    self.paint("2", "  < ")
                );
            }
        }
        out
    }

    /// A text, each line behind a mark; what is no text is only measured.
    fn lines(&self, out: &mut String, mark: &str, bytes: &[u8]) {
        let mark = self.paint("2", mark);
        let shown = &bytes[..bytes.len().min(BODY_MOST)];
        let text = match std::str::from_utf8(shown) {
            Ok(text) => text,
            // The cut may have gone through a letter.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&shown[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => {
                // Writing to a String can't fail.
                let _ = writeln!(out, "{mark}({} bytes that are not text)", bytes.len());
                return;
            }
        };
        for line in text.lines() {
            let _ = writeln!(out, "{mark}{line}");
        }
        if bytes.len() > BODY_MOST {
            let _ = writeln!(out, "{mark}… {} bytes in all", bytes.len());
        }
    }
}

impl Watcher for Trace {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        self.print(format!("{}{}", self.heading(vu), self.exchange_text(seen)));
    }

    fn talk(&self, vu: &Place<'_>, talk: &Talk<'_>) {
        let mut text =
            format!("{}{} {}\n", self.heading(vu), self.paint("36", talk.kind), talk.title);
        self.lines(&mut text, "  > ", talk.sent);
        self.lines(&mut text, "  < ", talk.received);
        self.print(text);
    }

    fn check(&self, vu: &Place<'_>, name: &str, passed: bool) {
        let mark = if passed { self.paint("32", "✓") } else { self.paint("31", "✗") };
        self.print(format!("{}{mark} {name}\n", self.heading(vu)));
    }
}
