//! How long blocks must be: the automatic rule of Politis and White.
//!
//! D. N. Politis, H. White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23
//! (2004), with the correction by A. Patton, D. N. Politis, H. White, Econometric Reviews 28 (2009). The best length for
//! blocks that overlap is (2 G² / D)^(1/3) n^(1/3) with G = Σ λ(k/M) |k| R(k), D = 4/3 (Σ λ(k/M) R(k))², where R(k) is the
//! autocovariance at lag k, λ a window that is flat to one half and falls to zero at one, and M twice the lag from which
//! on autocorrelations are not to be told from zero.

/// A series around its mean, with the autocovariances that matter.
#[derive(Debug)]
struct Dependence {
    size: f64,
    /// R(0), R(1), … up to the last lag that is looked at.
    covariances: Vec<f64>,
    /// M: the lag from which on the window is zero; 0 without any dependence.
    reach: usize,
}

impl Dependence {
    /// None if the series is too short, or if nothing varies.
    fn of(series: &[f64]) -> Option<Self> {
        let n = series.len();
        if n < 4 {
            return None;
        }
        let size = n as f64;
        let mean = series.iter().sum::<f64>() / size;
        let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
        let covariance = |lag: usize| -> f64 {
            centred[lag..].iter().zip(&centred).map(|(a, b)| a * b).sum::<f64>() / size
        };
        let variance = covariance(0);
        // Nothing varies, but for the last bits of a sum.
        if !variance.is_finite() || variance <= mean * mean * 1e-24 {
            return None;
        }
        // The paper's constants: runs of K lags below c √(log₁₀ n / n).
        let run = (size.log10().sqrt().ceil() as usize).max(5);
        let lags_max = ((size.sqrt().ceil() as usize) + run).min(n - 1);
        let covariances: Vec<f64> = (0..n.min(lags_max + run + 1)).map(covariance).collect();
        let bound = 2.0 * (size.log10() / size).sqrt();
        let is_small =
            |lag: usize| covariances.get(lag).is_none_or(|found| (found / variance).abs() < bound);
        let silent = (0..=lags_max).find(|lag| (1..=run).all(|more| is_small(lag + more)));
        let reach = match silent {
            Some(0) => 0,
            Some(lag) => (2 * lag).clamp(1, lags_max),
            None => lags_max,
        };
        Some(Self { size, covariances, reach })
    }

    /// The sum over all lags, both signs, of the windowed autocovariances, each times `weight`.
    fn sum(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let mut sum = weight(0) * self.covariances[0];
        for lag in 1..=self.reach.min(self.covariances.len() - 1) {
            let place = lag as f64 / self.reach as f64;
            let window = if place <= 0.5 { 1.0 } else { 2.0 * (1.0 - place) };
            sum += 2.0 * window * weight(lag) * self.covariances[lag];
        }
        sum
    }
}

/// The length in slices, at least 1; it grows with the dependence between neighbours.
pub(super) fn of(series: &[f64]) -> f64 {
    let Some(dependence) = Dependence::of(series) else { return 1.0 };
    if dependence.reach == 0 {
        return 1.0;
    }
    let (weighted, plain) = (dependence.sum(|lag| lag as f64), dependence.sum(|_| 1.0));
    let spread = 4.0 / 3.0 * plain * plain;
    let size = dependence.size;
    // An estimate of the long variance near zero would ask for endless blocks.
    let found = if spread > 0.0 {
        (2.0 * weighted * weighted / spread).cbrt() * size.cbrt()
    } else {
        f64::INFINITY
    };
    let most = (3.0 * size.sqrt()).min(size / 3.0).ceil();
    if found.is_nan() { most } else { found.clamp(1.0, most) }
}

/// How much of the variance of a mean blocks of this length leave out: the factor that brings it back, 1 to 3.
///
/// Blocks see the dependence between their own slices, R(k) with the weight 1 − k/length, and none beyond: in short
/// runs, where blocks must be short as well, that is a quarter too little for slices that remember half of the one before.
pub(super) fn left_out(series: &[f64], length: usize) -> f64 {
    let Some(dependence) = Dependence::of(series) else { return 1.0 };
    let seen = dependence.sum(|lag| (1.0 - lag as f64 / length as f64).max(0.0));
    let whole = dependence.sum(|_| 1.0);
    let factor = whole / seen;
    if seen > 0.0 && factor.is_finite() { factor.clamp(1.0, 3.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// x(t) = φ x(t−1) + noise.
    fn chained(count: usize, phi: f64, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut last = 0.0;
        (0..count)
            .map(|_| {
                let noise: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                last = phi * last + noise;
                last
            })
            .collect()
    }

    fn typical(count: usize, phi: f64) -> f64 {
        let mut all: Vec<f64> = (0..41).map(|seed| of(&chained(count, phi, seed))).collect();
        all.sort_by(f64::total_cmp);
        all[20]
    }

    #[test]
    fn a_chain_s_length_is_near_the_one_that_theory_gives() {
        // For x(t) = φ x(t−1) + noise: G = 2φ / ((1−φ)³(1+φ)) and Σ R = 1/(1−φ)², both times the noise's variance,
        // so (2 G² / D)^(1/3) = (6 φ² / (1−φ²)²)^(1/3).
        for phi in [0.3_f64, 0.5, 0.7] {
            let wanted = (6.0 * phi * phi / (1.0 - phi * phi).powi(2)).cbrt() * 2000_f64.cbrt();
            let found = typical(2000, phi);
            assert!((found / wanted - 1.0).abs() < 0.25, "{phi}: {found}, not {wanted}");
        }
    }

    #[test]
    fn independent_slices_need_no_blocks_and_chains_longer_ones() {
        assert_eq!(typical(300, 0.0), 1.0);
        let lengths = [0.3, 0.6, 0.8].map(|phi| typical(600, phi));
        assert!(lengths.is_sorted(), "{lengths:?}");
    }

    /// A chain whose noise everybody can make again: the upper 53 bits of a congruential generator.
    fn made_again(count: usize, phi: f64, seed: u64) -> Vec<f64> {
        let (mut state, mut last) = (seed, 0.0);
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005);
                state = state.wrapping_add(1_442_695_040_888_963_407);
                last = phi * last + ((state >> 11) as f64 / 2_f64.powi(53) - 0.5);
                last
            })
            .collect()
    }

    #[test]
    fn lengths_are_those_of_another_program() {
        // The paper's rule, computed with numpy. (R's `b.star` and Python's `arch` count the first lag that is not to be told
        // from zero to those that are, and get lengths that are longer by a tenth or two.)
        for (count, phi, seed, wanted) in [
            (120, 0.5, 2, 5.805_257_876),
            (300, 0.7, 3, 11.788_713_768),
            (600, 0.85, 4, 26.117_858_312),
            (60, 0.6, 5, 2.780_405_716),
            (1000, -0.4, 6, 8.647_863_833),
        ] {
            let found = of(&made_again(count, phi, seed));
            assert!((found - wanted).abs() < 1e-6, "{count} {phi}: {found}, not {wanted}");
        }
    }

    #[test]
    fn series_without_change_and_short_ones_have_length_one() {
        assert_eq!(of(&[5.3; 100]), 1.0);
        assert_eq!(of(&[]), 1.0);
        assert_eq!(of(&[1.0, 2.0, 3.0]), 1.0);
        assert_eq!(of(&[f64::INFINITY, 1.0, 2.0, 3.0, 4.0]), 1.0);
    }

    #[test]
    fn short_blocks_of_a_chain_leave_something_out() {
        // φ = 0.6, blocks of 5: 1 + 2 Σ (1 − k/5) φ^k = 2.62 of (1 + φ)/(1 − φ) = 4.
        let mut all: Vec<f64> =
            (0..41).map(|seed| left_out(&chained(4000, 0.6, seed), 5)).collect();
        all.sort_by(f64::total_cmp);
        assert!((all[20] - 4.0 / 2.617).abs() < 0.15, "{}", all[20]);
        assert_eq!(left_out(&chained(300, 0.0, 1), 5), 1.0);
        assert_eq!(left_out(&[3.0; 50], 5), 1.0);
    }

    proptest! {
        #[test]
        fn a_length_has_bounds_and_no_unit(values in prop::collection::vec(0.0..100.0, 0..200)) {
            let length = of(&values);
            prop_assert!(length >= 1.0 && length <= (values.len() as f64 / 3.0).ceil().max(1.0));
            let scaled: Vec<f64> = values.iter().map(|value| value * 8.0).collect();
            prop_assert!((of(&scaled) - length).abs() < 1e-6 * length);
        }
    }
}
