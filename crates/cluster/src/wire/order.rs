//! Moments and orders of a frame, moved from one machine to all machines.

use std::sync::Arc;

use brunt_metrics::{Frame, Sink};

use crate::clock::shifted;
use crate::time::Nanos;

/// Places within a tick: what came first in ticks of the same microsecond is told by these low bits.
const RANK_BITS: u32 = 20;

/// Moves a frame of a tick to the leader's clock, which is ahead by `offset`, and gives checks, groups and exceptions an order
/// that holds over all machines: the run's time of the tick in microseconds, then their order within the process.
///
/// `run_ns`: nanoseconds since the start of the scenarios, 0 for what came before. Numbers are compared from `setup()` on, so that
/// what came before the start comes first. A later frame tells the same check again with a later order; the least one counts
/// wherever frames merge. Samples are dropped.
pub fn retime(frame: &Frame, offset: i64, run_ns: Nanos) -> Frame {
    let mut orders: Vec<u64> = frame.checks.iter().map(|check| check.first_at_order).collect();
    orders.extend(frame.groups.iter().map(|(order, _)| *order));
    orders.extend(frame.exceptions.told.iter().map(|delta| delta.order));
    orders.sort_unstable();
    orders.dedup();
    let base = (run_ns / 1000).min(u64::MAX >> RANK_BITS) << RANK_BITS;
    let ordered = |order: u64| {
        let rank = orders.binary_search(&order).unwrap_or(0) as u64;
        base | rank.min((1 << RANK_BITS) - 1)
    };
    let mut moved = Frame {
        core: 0,
        at: if frame.at == 0 { 0 } else { shifted(frame.at, offset) },
        late: frame.late,
        series: frame.series.clone(),
        checks: frame.checks.clone(),
        groups: frame
            .groups
            .iter()
            .map(|(order, path)| (ordered(*order), Arc::clone(path)))
            .collect(),
        exceptions: frame.exceptions.clone(),
        samples: Vec::new(),
        done: frame.done.clone(),
        dropped: frame.dropped,
        retired: brunt_metrics::Retired::default(),
    };
    for delta in &mut moved.series {
        if let Sink::Counter { first_at: Some(at), .. } | Sink::Gauge { at: Some(at), .. } =
            &mut delta.sink
        {
            *at = shifted(*at, offset);
        }
    }
    for check in &mut moved.checks {
        check.first_at_order = ordered(check.first_at_order);
    }
    for delta in &mut moved.exceptions.told {
        delta.order = ordered(delta.order);
    }
    moved
}

#[cfg(test)]
mod tests {
    use brunt_metrics::{CheckDelta, Series, SeriesDelta, TagSet, builtin};

    use super::*;

    #[test]
    fn orders_are_of_the_run_and_moments_of_the_leader() {
        let check = |name: &str, order| CheckDelta {
            group: "".into(),
            name: name.into(),
            passes: 1,
            fails: 0,
            first_at_order: order,
        };
        let series = Arc::new(Series { metric: builtin::ITERATIONS, tags: TagSet::default() });
        let frame = Frame {
            at: 1000,
            checks: vec![check("later", 900), check("first", 17)],
            groups: vec![(500, "::g".into())],
            series: vec![SeriesDelta {
                series,
                sink: Sink::Counter { sum: 1.0, rest: 0.0, first_at: Some(900) },
            }],
            ..Frame::default()
        };
        let moved = retime(&frame, -100, 3_000_000);
        let orders: Vec<u64> = moved.checks.iter().map(|check| check.first_at_order).collect();
        let base = 3000 << RANK_BITS;
        assert_eq!((orders, moved.groups[0].0), (vec![base + 2, base], base + 1));
        assert_eq!(moved.at, 900);
        assert!(matches!(moved.series[0].sink, Sink::Counter { first_at: Some(800), .. }));
    }
}
