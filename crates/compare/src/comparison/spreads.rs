//! The spread of every figure of two single runs, as their slices show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Side, names};
use crate::blocks::{Blocks, Spread};
use crate::comparison::Settings;
use crate::estimate::Estimate;
use crate::measure::{Measure, Statistic, Subject, part};
use crate::run::{Share, Slice};
use crate::verdict::Why;
use crate::welch::degrees;

/// The spreads of a run's figures; none where there are too few values.
type Found = BTreeMap<(Subject, Measure), Option<Spread>>;

/// Both runs'.
#[derive(Debug)]
pub(super) struct Spreads {
    /// None of a run that is too short.
    sides: [Option<(usize, Found)>; 2],
}

impl Spreads {
    pub(super) fn of(sides: &[Side<'_>; 2], main: Option<&Arc<str>>, settings: &Settings) -> Self {
        let mut seed = settings.seed;
        let sides = sides.each_ref().map(|side| {
            let slices: Vec<&Slice> = side.windows[0].slices(&side.runs[0]).collect();
            let blocks = Blocks::of(&slices, main, settings.draws, seed);
            // The two sides are drawn independently.
            seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            let blocks = blocks?;
            Some((blocks.length(), found(&blocks, &slices, &side.totals[0])))
        });
        Self { sides }
    }

    /// Slices in a block of either side.
    pub(super) fn block(&self) -> [Option<usize>; 2] {
        self.sides.each_ref().map(|side| side.as_ref().map(|(length, _)| *length))
    }

    /// The error of a figure; the difference is left to be filled in.
    pub(super) fn get(&self, subject: &Subject, measure: &Measure) -> Result<Estimate, Why> {
        let key = (subject.clone(), measure.clone());
        let mut parts = Vec::new();
        for side in &self.sides {
            let (_, found) = side.as_ref().ok_or(Why::TooShort)?;
            let spread = found.get(&key).copied().flatten().ok_or(Why::TooFewValues)?;
            parts.push((spread.variance, spread.degrees));
        }
        let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
        Ok(Estimate { difference: 0.0, error: variance.sqrt(), degrees: degrees(&parts) })
    }
}

fn found(blocks: &Blocks, slices: &[&Slice], total: &Slice) -> Found {
    let mut found = Found::new();
    let widths: Vec<f64> = slices.iter().map(|slice| slice.width_s).collect();
    let iterations: Vec<u64> = slices.iter().map(|slice| slice.iterations).collect();
    found.insert((Subject::All, Measure::Iterations), blocks.rate(&iterations, &widths));
    let routes = total.routes.keys().map(|route| Subject::Route(Arc::clone(route)));
    for subject in std::iter::once(Subject::All).chain(routes) {
        let parts: Vec<_> = slices.iter().map(|slice| part(&subject, slice)).collect();
        let requests: Vec<u64> =
            parts.iter().map(|part| part.map_or(0, |part| part.requests)).collect();
        found.insert((subject.clone(), Measure::Requests), blocks.rate(&requests, &widths));
        let failed = share(blocks, &subject, &Measure::Failed, slices);
        found.insert((subject.clone(), Measure::Failed), failed);
        for metric in names(parts.iter().flatten().map(|part| &part.durations)) {
            let sinks: Vec<_> = parts
                .iter()
                .map(|part| part.and_then(|part| part.durations.get(&metric)))
                .collect();
            for (statistic, spread) in Statistic::ALL.into_iter().zip(blocks.durations(&sinks)) {
                let measure = Measure::Duration(Arc::clone(&metric), statistic);
                found.insert((subject.clone(), measure), spread);
            }
        }
    }
    let checks = total.checks.keys().map(|check| Subject::Check(Arc::clone(check)));
    for subject in std::iter::once(Subject::All).chain(checks) {
        let spread = share(blocks, &subject, &Measure::Checks, slices);
        found.insert((subject, Measure::Checks), spread);
    }
    found
}

fn share(
    blocks: &Blocks,
    subject: &Subject,
    measure: &Measure,
    slices: &[&Slice],
) -> Option<Spread> {
    let of = |slice: &&Slice| measure.share(subject, slice).unwrap_or_default();
    blocks.share(&slices.iter().map(of).collect::<Vec<Share>>())
}
