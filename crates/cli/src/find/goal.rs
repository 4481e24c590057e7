//! Goals: conditions as thresholds have them, on one step instead of the whole test.

use std::sync::Arc;

use brunt_metrics::{
    Aggregation, Contains, Kind, Operator, Registry, Selector, Threshold, ThresholdSet,
};

use crate::failure::{Failure, Outcome};

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    /// `http_req_duration p(95)<200`
    pub(super) name: String,
    /// The metric or submetric: `http_req_duration{name:x}`.
    pub(super) metric: String,
    pub(super) threshold: Threshold,
    /// It is about a time in milliseconds.
    pub(super) is_time: bool,
    /// It is about a share, from 0 to 1.
    pub(super) is_rate: bool,
    /// Without values it says nothing.
    pub(super) needs_values: bool,
}

impl Goal {
    /// The number that it must not pass, if it is an upper bound.
    pub(super) fn limit(&self) -> Option<f64> {
        let is_upper = matches!(self.threshold.operator, Operator::Less | Operator::AtMost);
        is_upper.then_some(self.threshold.limit)
    }

    /// The share that it must not fall below, if it is a lower bound on a rate.
    pub(super) fn share_min(&self) -> Option<f64> {
        (is_lower(&self.threshold)
            && self.threshold.aggregation == Aggregation::Rate
            && self.is_rate)
            .then_some(self.threshold.limit)
    }

    /// The percentile that it is about, if it is about a time.
    pub(super) fn percentile(&self) -> Option<f64> {
        match &self.threshold.aggregation {
            Aggregation::Percentile { percent, .. } if self.is_time => Some(*percent),
            Aggregation::Med if self.is_time => Some(50.0),
            Aggregation::Max if self.is_time => Some(100.0),
            _ => None,
        }
    }

    pub(super) fn set(&self) -> ThresholdSet {
        ThresholdSet { metric: self.metric.clone(), thresholds: vec![self.threshold.clone()] }
    }
}

/// Reads `METRIC EXPRESSION`, such as `http_req_failed rate<1%`.
///
/// # Errors
/// The text is no goal, or its metric is not there (104).
pub(super) fn parse(text: &str, registry: &Arc<Registry>) -> Outcome<Goal> {
    let usual = "write a metric and a condition, such as http_req_duration p(95)<200";
    let (metric, condition) = split(text).ok_or_else(|| {
        Failure::config(format!("invalid goal \"{text}\": it has no condition")).hint(usual)
    })?;
    let wrong = |error: brunt_metrics::ThresholdError| {
        Failure::config(format!("invalid goal \"{text}\": {error}")).hint(usual)
    };
    let selector = Selector::parse(metric).map_err(wrong)?;
    let found = registry.find(&selector.metric).ok_or_else(|| {
        let metrics = registry.all();
        let names = metrics.iter().map(|metric| &*metric.name);
        let problem =
            format!("invalid goal \"{text}\": there is no metric named \"{}\"", selector.metric);
        let hint = brunt_spelling::question(&selector.metric, names)
            .unwrap_or_else(|| "custom metrics must be made in the init code".to_owned());
        Failure::config(problem).hint(hint)
    })?;
    let is_time = found.contains == Contains::Time;
    let plain = without_unit(condition, is_time);
    let threshold = Threshold::parse(&plain, false, None).map_err(wrong)?;
    threshold.check_kind(&selector.name(), found.kind).map_err(wrong)?;
    if found.kind == Kind::Rate && !is_share(&threshold) {
        let problem = format!(
            "invalid goal \"{text}\": \"{}\" is a share from 0 to 1, so that {condition} says nothing of a system",
            selector.metric
        );
        let hint = format!(
            "write rate<1% or rate<0.01: the number {} is {} %",
            threshold.limit,
            threshold.limit * 100.0
        );
        return Err(Failure::config(problem).hint(hint));
    }
    if found.kind == Kind::Counter && is_lower(&threshold) {
        return Err(Failure::config(format!(
            "invalid goal \"{text}\": \"{}\" grows with the load, so a low load can't meet {condition}",
            selector.metric
        ))
        .hint("leave it out: the search finds out how much comes through"));
    }
    Ok(Goal {
        name: format!("{} {condition}", selector.name()),
        metric: selector.name(),
        threshold,
        is_time: is_time && found.kind == Kind::Trend,
        is_rate: found.kind == Kind::Rate,
        needs_values: found.kind != Kind::Counter,
    })
}

fn is_lower(threshold: &Threshold) -> bool {
    matches!(threshold.operator, Operator::Greater | Operator::AtLeast)
}

/// Whether some shares meet a condition and some do not.
fn is_share(threshold: &Threshold) -> bool {
    let limit = threshold.limit;
    match threshold.operator {
        Operator::Less => limit > 0.0 && limit < 1.0,
        Operator::AtLeast => limit > 0.0 && limit <= 1.0,
        Operator::AtMost | Operator::Greater => (0.0..1.0).contains(&limit),
        Operator::Equal | Operator::Unequal => (0.0..=1.0).contains(&limit),
    }
}

/// The thresholds of the options, each as a goal, and those that make none: sentences.
///
/// # Errors
/// None makes a goal (104).
pub(super) fn of_thresholds(
    sets: &[ThresholdSet],
    registry: &Arc<Registry>,
) -> Outcome<(Vec<Goal>, Vec<String>)> {
    let texts = sets.iter().flat_map(|set| {
        set.thresholds.iter().map(move |threshold| format!("{} {}", set.metric, threshold.source))
    });
    let (mut goals, mut rest) = (Vec::new(), Vec::new());
    for text in texts {
        match parse(&text, registry) {
            Ok(goal) => goals.push(goal),
            Err(failure) => {
                rest.push(failure.message().replacen("invalid goal", "left out the threshold", 1));
            }
        }
    }
    if goals.is_empty() {
        return Err(Failure::config(
            "brunt find needs a goal: there is no --goal, and no threshold in the script",
        )
        .hint("add --goal 'http_req_duration p(95)<200' --goal 'http_req_failed rate<1%'"));
    }
    Ok((goals, rest))
}

/// The metric, with its tags in braces, and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = match (text.find('{'), text.find([' ', ':'])) {
        (Some(brace), gap) if gap.is_none_or(|gap| brace < gap) => text.find('}')? + 1,
        (_, gap) => gap?,
    };
    let (metric, rest) = text.split_at(end);
    let rest = rest.trim_start_matches([' ', ':']).trim();
    (!metric.is_empty() && !rest.is_empty()).then_some((metric, rest))
}

/// `rate<1%` is `rate<0.01`; `p(95)<200ms` and `p(95)<0.2s` are `p(95)<200` where the metric is a time.
fn without_unit(condition: &str, is_time: bool) -> String {
    let at = condition.rfind(['<', '>', '=']).map_or(0, |at| at + 1);
    let (left, right) = condition.split_at(at);
    let scaled = |text: &str, factor: f64| {
        let value: f64 = text.trim().parse().ok()?;
        // Rounded: one hundredth of 7 is no longer a number with two digits otherwise.
        Some(format!("{left}{}", (value * factor * 1e9).round() / 1e9))
    };
    let right = right.trim();
    let read = match right.strip_suffix('%') {
        Some(percent) => scaled(percent, 0.01),
        None if is_time => match (right.strip_suffix("ms"), right.strip_suffix('s')) {
            (Some(ms), _) => scaled(ms, 1.0),
            (None, Some(seconds)) => scaled(seconds, 1000.0),
            (None, None) => None,
        },
        None => None,
    };
    read.unwrap_or_else(|| condition.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(text: &str) -> Result<Goal, String> {
        let read = parse(text, &Arc::new(Registry::new()));
        read.map_err(|failure| {
            format!("{} | {}", failure.message(), failure.hint.unwrap_or_default())
        })
    }

    #[test]
    fn conditions_are_those_of_thresholds_with_units() {
        for (text, name, limit) in [
            ("http_req_duration p(95)<200", "http_req_duration p(95)<200", 200.0),
            ("http_req_duration: p(95) < 200ms", "http_req_duration p(95) < 200ms", 200.0),
            ("http_req_duration med<=1.5s", "http_req_duration med<=1.5s", 1500.0),
            ("http_req_failed rate<1%", "http_req_failed rate<1%", 0.01),
            ("http_req_failed rate<0.07", "http_req_failed rate<0.07", 0.07),
            ("http_req_duration{name:a b} max<5", "http_req_duration{name:a b} max<5", 5.0),
        ] {
            let goal = goal(text).unwrap();
            assert_eq!((&*goal.name, goal.limit()), (name, Some(limit)), "{text}");
        }
        assert_eq!(goal("checks rate>99%").unwrap().limit(), None);
        assert_eq!(goal("http_req_duration p(99.5)<1").unwrap().percentile(), Some(99.5));
    }

    #[test]
    fn thresholds_that_are_no_goals_are_left_out_and_told() {
        let registry = Arc::new(Registry::new());
        let set = |metric: &str, source: &str| ThresholdSet {
            metric: metric.to_owned(),
            thresholds: vec![Threshold::parse(source, false, None).unwrap()],
        };
        let sets = [set("http_req_duration", "p(95)<200"), set("http_reqs", "count>100")];
        let (goals, rest) = of_thresholds(&sets, &registry).unwrap();
        assert_eq!((goals.len(), rest.len()), (1, 1));
        assert!(rest[0].starts_with("left out the threshold \"http_reqs count>100\""), "{rest:?}");
        assert!(of_thresholds(&sets[1..], &registry).is_err());
        for (text, is_goal) in [
            ("rate>=1", true),
            ("rate<=0", true),
            ("rate>0", true),
            ("rate>1", false),
            ("rate<=1", false),
        ] {
            assert_eq!(goal(&format!("checks {text}")).is_ok(), is_goal, "{text}");
        }
    }

    #[test]
    fn wrong_goals_say_what_would_be_right() {
        let said = |text: &str| goal(text).unwrap_err();
        insta::assert_snapshot!(
            ["", "http_req_duration", "http_req_duratoin p(95)<200", "http_req_duration p(95)=200",
             "http_req_failed p(95)<200", "http_reqs{a p(95)<3", "nothing_like_it rate<1",
             "http_req_failed rate<1", "http_req_failed rate<200%", "checks rate>=1.5", "http_reqs count>5"].map(said).join("\n"),
            @r#"
        invalid goal "": it has no condition | write a metric and a condition, such as http_req_duration p(95)<200
        invalid goal "http_req_duration": it has no condition | write a metric and a condition, such as http_req_duration p(95)<200
        invalid goal "http_req_duratoin p(95)<200": there is no metric named "http_req_duratoin" | did you mean "http_req_duration"?
        invalid goal "http_req_duration p(95)=200": malformed threshold "p(95)=200": write it as aggregation, operator, number, such as p(95)<500 | write a metric and a condition, such as http_req_duration p(95)<200
        invalid goal "http_req_failed p(95)<200": threshold "p(95)<200" on "http_req_failed": a rate has no p(95); it has rate | write a metric and a condition, such as http_req_duration p(95)<200
        invalid goal "http_reqs{a p(95)<3": it has no condition | write a metric and a condition, such as http_req_duration p(95)<200
        invalid goal "nothing_like_it rate<1": there is no metric named "nothing_like_it" | custom metrics must be made in the init code
        invalid goal "http_req_failed rate<1": "http_req_failed" is a share from 0 to 1, so that rate<1 says nothing of a system | write rate<1% or rate<0.01: the number 1 is 100 %
        invalid goal "http_req_failed rate<200%": "http_req_failed" is a share from 0 to 1, so that rate<200% says nothing of a system | write rate<1% or rate<0.01: the number 2 is 200 %
        invalid goal "checks rate>=1.5": "checks" is a share from 0 to 1, so that rate>=1.5 says nothing of a system | write rate<1% or rate<0.01: the number 1.5 is 150 %
        invalid goal "http_reqs count>5": "http_reqs" grows with the load, so a low load can't meet count>5 | leave it out: the search finds out how much comes through
        "#
        );
    }
}
