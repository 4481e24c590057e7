//! The comparison for programs. Keys may be added; none changes its meaning while `version` is 1.

use serde_json::{Value, json};

use super::headline;
use crate::comparison::{Comparison, Row};
use crate::likeness::Difference;
use crate::measure::{Measure, Scale};
use crate::run::{Better, Identity, Trust};
use crate::warning::Warning;

/// The comparison as a JSON object. Numbers that are infinite are `null`.
pub fn json(comparison: &Comparison) -> Value {
    let side = |runs: &[Identity], seconds: f64| json!({ "seconds": finite(seconds), "runs": runs.iter().map(run).collect::<Vec<_>>() });
    json!({
        "version": 1,
        "verdict": comparison.verdict.word(),
        "headline": headline(comparison),
        "tolerance": comparison.tolerance,
        "tolerance_points": comparison.tolerance_points,
        "a": side(&comparison.a, comparison.seconds[0]),
        "b": side(&comparison.b, comparison.seconds[1]),
        "draws": comparison.draws.map(|draws| json!({
            "count": draws.count,
            "seed": draws.seed,
            "block_slices_a": draws.block[0],
            "block_slices_b": draws.block[1],
            "history_runs": draws.history,
        })),
        "rows": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "routes_only_a": comparison.only_a.iter().map(|name| &**name).collect::<Vec<_>>(),
        "routes_only_b": comparison.only_b.iter().map(|name| &**name).collect::<Vec<_>>(),
        "warnings": comparison.warnings.iter().map(warning).collect::<Vec<_>>(),
    })
}

fn run(run: &Identity) -> Value {
    let (trust, findings) = match &run.trust {
        Trust::Unknown => ("unknown", &[][..]),
        Trust::Trusted => ("trusted", &[][..]),
        Trust::Doubtful(findings) => ("doubtful", &findings[..]),
        Trust::Invalid(findings) => ("invalid", &findings[..]),
    };
    json!({
        "name": run.name,
        "started_us": run.started_us,
        "script": run.script,
        "script_hash": run.script_hash,
        "targets": run.targets,
        "brunt_version": run.brunt_version,
        "labels": run.labels,
        "trust": trust,
        "findings": findings,
    })
}

fn row(row: &Row) -> Value {
    let (metric, statistic) = match &row.measure {
        Measure::Duration(metric, statistic) => (Some(&**metric), Some(statistic.word())),
        _ => (None, None),
    };
    let measure = match &row.measure {
        Measure::Duration(..) => "duration_ms".to_owned(),
        other => other.word(),
    };
    json!({
        "subject": row.subject.word(),
        "name": row.subject.name(),
        "measure": measure,
        "metric": metric,
        "statistic": statistic,
        "primary": row.is_primary,
        "better": row.better.map(|better| match better {
            Better::Less => "less",
            Better::More => "more",
        }),
        "runs_a": row.runs[0],
        "runs_b": row.runs[1],
        "a": row.a.map(finite),
        "b": row.b.map(finite),
        "scale": match row.scale {
            Scale::Ratio => "ratio",
            Scale::Points => "points",
        },
        "change": row.change.map(|change| finite(change.value)),
        "low": row.change.map(|change| finite(change.low)),
        "high": row.change.map(|change| finite(change.high)),
        "p": row.p.map(finite),
        "p_corrected": row.p_corrected.map(finite),
        "p_permutation": row.permutation.map(|permutation| finite(permutation.p)),
        "p_permutation_least": row.permutation.map(|permutation| finite(permutation.least)),
        "held_a": row.held.map(|held| held[0]),
        "held_b": row.held.map(|held| held[1]),
        "verdict": row.verdict.word(),
        "why": row.why.map(crate::verdict::Why::word),
        "why_sentence": row.why.map(crate::verdict::Why::sentence),
    })
}

fn warning(warning: &Warning) -> Value {
    let mut value = json!({ "kind": warning.word(), "sentence": warning.to_string() });
    match warning {
        Warning::Unlike(found) => value["difference"] = difference(found),
        Warning::NotTrusted { run, is_invalid, findings } => {
            value["run"] = json!(run);
            value["invalid"] = json!(is_invalid);
            value["findings"] = json!(findings);
        }
        Warning::NeverSteady { run } => value["run"] = json!(run),
        _ => {}
    }
    value
}

fn difference(difference: &Difference) -> Value {
    json!({
        "aspect": difference.aspect.word(),
        "place": difference.place,
        "a": difference.a,
        "b": difference.b,
    })
}

fn finite(number: f64) -> Value {
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}
