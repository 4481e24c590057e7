use super::*;
use crate::junit::tests::{about, empty, hostile};

#[test]
fn rows_have_the_columns_of_their_head() {
    let told = markdown(&hostile(), &about());
    for table in told.split("\n\n").filter(|part| part.starts_with('|')) {
        let mut lines = table.lines();
        let columns = lines.next().unwrap().matches('|').count();
        for line in lines {
            assert_eq!(line.matches('|').count(), columns, "{line}");
        }
    }
}

#[test]
fn names_are_text() {
    let told = markdown(&hostile(), &about());
    let ours = told.replace("<code>", "").replace("</code>", "");
    assert!(!ours.contains(['<', '`', '*', '\u{1b}', '\u{202e}']), "{ours}");
    assert!(!told.contains("@someone"));
}

#[test]
fn the_head_says_how_it_went() {
    let first = |summary: &Summary, about: &About<'_>| {
        markdown(summary, about).lines().next().unwrap().to_owned()
    };
    let about = About { script: "a.js", ..About::default() };
    let code = "<code>a&#46;js</code>";
    assert_eq!(first(&empty(), &about), format!("### ⚪ {code}: no thresholds"));
    let mut summary = hostile();
    assert_eq!(first(&summary, &about), format!("### 🔴 {code}: 10 of 11 thresholds do not hold"));
    for metric in &mut summary.metrics {
        metric.thresholds.iter_mut().for_each(|threshold| threshold.ok = true);
    }
    assert_eq!(first(&summary, &about), format!("### 🟢 {code}: 11 of 11 thresholds hold"));
    let aborted = About { aborted: Some("by Ctrl-C"), ..about };
    assert_eq!(first(&summary, &aborted), format!("### 🔴 {code}: aborted: by Ctrl&#45;C"));
}

#[test]
fn figures_have_units() {
    let told = markdown(&hostile(), &About::default());
    assert!(told.contains("| requests | failed | exceptions |"), "{told}");
    assert!(told.contains("| 10000 (163.3/s) | 1.23% | 12 |"), "{told}");
    let row = "| <code>http_req_duration</code> | 500.5ms | 500.5ms | 900.1ms |";
    assert!(told.contains(row), "{told}");
    let mut summary = hostile();
    summary.checks.truncate(0);
    summary.metrics.truncate(0);
    assert!(!markdown(&summary, &About::default()).contains("p95"));
}

#[test]
fn long_tables_are_cut_and_counted() {
    let mut summary = hostile();
    let one = summary.metrics[0].clone();
    summary.metrics = (0..80)
        .map(|n| MetricSummary { name: format!("trend{n}"), thresholds: Vec::new(), ..one.clone() })
        .collect();
    assert!(markdown(&summary, &About::default()).contains("30 more are left out."));
}

#[test]
fn findings_are_a_list_of_text() {
    let finding = brunt_verdict::Finding {
        name: "late-starts".into(),
        level: Level::Doubtful,
        evidence: "<b> 5".into(),
        touches: "all".into(),
        advice: "less".into(),
        ..brunt_verdict::Finding::default()
    };
    let verdict = Verdict::new(vec![finding]);
    let told = markdown(&empty(), &About { verdict: Some(&verdict), ..About::default() });
    assert!(
        told.contains("- `late-starts` (doubtful): &#60;b&#62; 5. Touches all. Try less.\n"),
        "{told}"
    );
    let well =
        markdown(&empty(), &About { verdict: Some(&Verdict::default()), ..About::default() });
    assert_eq!(well, markdown(&empty(), &About::default()));
}
