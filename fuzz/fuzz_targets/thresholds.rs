//! Any text as a threshold, and as the name of its metric.
//!
//! A readable threshold keeps its text; printed in its parts it means the same; of two opposite conditions one holds.
#![no_main]

use brunt_metrics::{Operator, Selector, Threshold, ThresholdError};
use libfuzzer_sys::fuzz_target;

fn parse(text: &str) -> Result<Threshold, ThresholdError> {
    Threshold::parse(text, false, None)
}

fn sign(operator: Operator) -> (&'static str, &'static str) {
    match operator {
        Operator::Less => ("<", ">="),
        Operator::AtMost => ("<=", ">"),
        Operator::Greater => (">", "<="),
        Operator::AtLeast => (">=", "<"),
        Operator::Equal => ("===", "!="),
        Operator::Unequal => ("!=", "=="),
    }
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match parse(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(threshold) => {
            assert_eq!(threshold.source, text);
            let (left, limit) = (&threshold.aggregation, threshold.limit);
            let (sign, opposite) = sign(threshold.operator);
            let again = parse(&format!("{left} {sign} {limit}")).expect("its parts can be read");
            assert_eq!((&again.aggregation, again.operator), (left, threshold.operator));
            assert!(again.limit == limit || (again.limit.is_nan() && limit.is_nan()));
            let other = parse(&format!("{left}{opposite}{limit}")).expect("its parts can be read");
            for value in [0.0, limit, limit + 1.0, f64::MAX, f64::INFINITY] {
                let comparable = !value.is_nan() && !limit.is_nan();
                assert!(!comparable || threshold.holds(value) != other.holds(value));
            }
        }
    }
    if let Ok(threshold) = Threshold::parse_label(text, false, None) {
        let again = Threshold::parse_label(&threshold.label(), false, None);
        let again = again.expect("its label can be read");
        assert_eq!((again.label(), again.timing), (threshold.label(), threshold.timing));
    }
    if let Ok(selector) = Selector::parse(text) {
        let again = Selector::parse(&selector.name()).expect("its name can be read");
        assert_eq!(again.tags, selector.tags);
        assert_eq!((again.name(), &again.metric), (selector.name(), &selector.metric));
    }
});
