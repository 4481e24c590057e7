//! A browser without a screen: pages as they are once they have drawn themselves.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Of the page's own clock, which runs as fast as it has something to do.
const BUDGET: Duration = Duration::from_secs(20);

/// The document of a file, after its scripts have run.
pub(crate) fn dom(page: &Path) -> String {
    let profile = tempfile::tempdir().expect("a folder for the browser");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--virtual-time-budget={}", BUDGET.as_millis()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("there is a chromium (`tools/need chromium` gets it)");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("data-ready="), "the page did not draw itself: {dom}");
    dom
}

/// The exact value of one of the figures of its head.
pub(crate) fn figure(dom: &str, name: &str) -> f64 {
    value(dom, &format!("data-figure=\"{name}\""))
}

/// The exact value of a column in the row of all requests.
pub(crate) fn cell(dom: &str, column: &str) -> f64 {
    let (_, row) = dom.split_once("every\"").expect("a row of all requests");
    value(row, &format!("data-column=\"{column}\""))
}

fn value(dom: &str, mark: &str) -> f64 {
    let found = dom.split_once(mark).and_then(|(_, rest)| {
        let (_, rest) = rest.split_once(" value=\"")?;
        rest.split('"').next()
    });
    found.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{mark} has no value"))
}
