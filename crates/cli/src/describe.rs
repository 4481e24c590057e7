//! The description of a test, printed before it starts.

use std::fmt::Write as _;

use crate::screen::Screen;
use crate::version;

/// The facts of the description. Texts about scenarios come from `schedule`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// Where the load is made, if it is elsewhere.
    pub(crate) execution: Option<String>,
    /// The script as it was named.
    pub(crate) script: String,
    /// `json (out.json)`, …
    pub(crate) outputs: Vec<String>,
    /// The addresses of web dashboards.
    pub(crate) pages: Vec<String>,
    /// The address of the live page.
    pub(crate) ui: Option<String>,
    /// The file of `--report`.
    pub(crate) report: Option<String>,
    /// The address of the embedded demo target.
    pub(crate) demo: Option<String>,
    /// Where randomness begins.
    pub(crate) seed: Option<i64>,
    /// How many scenarios and VUs, and how long at most; from `schedule`.
    pub(crate) overview: String,
    /// Name and text of each, in the order of their start.
    pub(crate) scenarios: Vec<(String, String)>,
}

/// Our name, above everything else, within the 40 columns of a phone.
pub(crate) fn banner(color: bool) -> String {
    let (bold, faint, reset) = if color { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    format!("\n{bold}▙▖brunt{reset} {faint}{}{reset}\n\n", version::line())
}

impl Description {
    /// Shows it; with `--quiet` only the addresses of pages that can't be opened without their token.
    pub(crate) fn show(&self, screen: &Screen, quiet: bool, color: bool) {
        if !quiet {
            let _ = screen.stdout(&self.text(color));
            return;
        }
        // Without its token a page can't be opened; but it does not go into the log, which may be sent to others.
        let dashboards = self.pages.iter().filter(|address| address.contains("?token="));
        for address in self.ui.iter().chain(dashboards) {
            screen.stderr(&format!("the page of the run is at {address}\n"));
        }
    }

    /// Labels aligned to the right, then one bullet per scenario.
    pub(crate) fn text(&self, color: bool) -> String {
        let (cyan, reset) = if color { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
        let mut out = String::new();
        let mut row = |label: &str, value: &str| {
            // Writing to a String can't fail.
            let _ = writeln!(out, "{label:>14}: {cyan}{value}{reset}");
        };
        row("execution", self.execution.as_deref().unwrap_or("local"));
        row("script", &self.script);
        if let Some(ui) = &self.ui {
            row("page", ui);
        }
        for page in &self.pages {
            row("web dashboard", page);
        }
        let outputs =
            if self.outputs.is_empty() { "-".to_owned() } else { self.outputs.join(", ") };
        row("output", &outputs);
        if let Some(report) = &self.report {
            row("report", report);
        }
        if let Some(demo) = &self.demo {
            row("demo target", demo);
        }
        if let Some(seed) = self.seed {
            row("seed", &seed.to_string());
        }
        out.push('\n');
        let _ = writeln!(out, "{:>14}: {cyan}{}:{reset}", "scenarios", self.overview);
        for (name, text) in &self.scenarios {
            let _ = writeln!(out, "{:>15} {name}: {text}", "*");
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_fits_a_phone() {
        let widest = banner(false).lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|columns| columns <= 40), "{}", banner(false));
    }

    #[test]
    fn the_description_reads_like_k6s() {
        let description = Description {
            execution: None,
            script: "sum.js".to_owned(),
            outputs: vec!["json (out.json)".to_owned(), "csv (out.csv)".to_owned()],
            pages: vec!["http://127.0.0.1:5665".to_owned()],
            ui: None,
            report: None,
            demo: None,
            seed: Some(7),
            overview: "(100.00%) 1 scenario, 7 max VUs, 10m30s max duration (incl. graceful stop)"
                .to_owned(),
            scenarios: vec![(
                "a".to_owned(),
                "10 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)"
                    .to_owned(),
            )],
        };
        insta::assert_snapshot!(description.text(false), @r"
             execution: local
                script: sum.js
         web dashboard: http://127.0.0.1:5665
                output: json (out.json), csv (out.csv)
                  seed: 7

             scenarios: (100.00%) 1 scenario, 7 max VUs, 10m30s max duration (incl. graceful stop):
                      * a: 10 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)
        ");
    }
}
