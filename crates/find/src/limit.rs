//! Where the limit lies, from all steps together: a step near the limit is itself a matter of chance.
//!
//! A step tells more than *held* or *broke*: its [ease](Point::ease), limit over value of the nearest goal, is 1 at the limit.
//! Over the load it falls along one of a few shapes. The latency of a queue grows as 1 / (P − load), where P is what it can
//! serve at all, so the ease falls on a straight line to 0 at P; the latency of a fixed number of users grows as their number
//! does, so the ease falls as a power of the load. How likely are the steps, if the limit is here and the shape is this? Added
//! up over the shapes, for a few hundred places, these likelihoods are what is known of the limit.

/// Places where the limit may be.
const PLACES: usize = 301;

/// Beyond this factor an ease says only on which side of the limit a load is, and that it is far from it.
const FAR: f64 = 3.0;

/// At least this far from 1 is an ease that makes a bound of the search by itself.
const CLEAR: f64 = 1.25;

/// And this many times its spread.
const CLEAR_SPREADS: f64 = 3.0;

/// Shapes are only nearly right, the less so the farther a load is from the limit: this part of the logarithm of the ease.
const MODEL: f64 = 0.2;

/// And this much everywhere.
const MODEL_LEAST: f64 = 0.03;

/// Part of the steps that something else has bent: a hiccup of the machine.
const ODD: f64 = 0.03;

/// The least ease that a shape has: beyond P.
const LEAST: f64 = 0.02;

/// How near the good answers of an overloaded step are to P, as a logarithm.
const PLATEAU_SPREAD: f64 = 0.04;

/// How sure it is that the plateau is P.
const PLATEAU_TRUST: f64 = 0.9;

/// A limit is not above this many times the plateau,
const ABOVE_PLATEAU: f64 = 1.05;

/// or this is how likely it is.
const COLLAPSED: f64 = 0.005;

/// The square root of 2π.
const ROOT: f64 = 2.506_628;

/// One step, as far as it tells of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) load: f64,
    /// Limit over value of the nearest goal: 1 at the limit, more below, infinite if no goal notices the load.
    pub(crate) ease: f64,
    /// Its standard error, as a part of it.
    pub(crate) spread: f64,
}

impl Point {
    /// Whether chance can't have decided on which side of the limit this is.
    pub(crate) fn is_clear(&self) -> bool {
        let far = self.ease.ln().abs();
        far >= CLEAR.ln() && far > CLEAR_SPREADS * self.spread
    }

    pub(crate) fn held(&self) -> bool {
        self.ease >= 1.0
    }
}

/// The limit, as far as the steps tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// As likely below as above.
    pub load: f64,
    /// The standard deviation, as a part of the load.
    pub spread: f64,
}

/// How the ease falls with the load.
#[derive(Clone, Copy)]
enum Shape {
    /// In a straight line to 0 at this many times the limit.
    Saturating(f64),
    /// As this power of the load.
    Power(f64),
}

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        let saturating = (0..=24).map(|step| Shape::Saturating(1.0 + 0.01 * 1.4_f64.powi(step)));
        saturating.chain((0..=8).map(|step| Shape::Power(0.5 * 1.5_f64.powi(step))))
    }

    /// The logarithm of the ease at a load, if the limit is here.
    fn ease_ln(self, load: f64, limit: f64) -> f64 {
        match self {
            Shape::Saturating(ratio) => ((ratio - load / limit) / (ratio - 1.0)).max(LEAST).ln(),
            Shape::Power(power) => -power * (load / limit).ln(),
        }
    }

    /// How likely this shape is with this limit, if the system gave no more than `plateau` when it was overloaded.
    fn prior(self, limit: f64, plateau: Option<f64>) -> f64 {
        // Over a factor of e³ all are alike to begin with.
        let flat = 1.0 / 3.0;
        let Some(plateau) = plateau else { return flat };
        // A higher load can't come to its end, unless the overload itself made the system slower.
        let part = if limit > plateau * ABOVE_PLATEAU { COLLAPSED } else { 1.0 };
        let likely = match self {
            Shape::Saturating(ratio) => {
                let off = (limit * ratio / plateau).ln() / PLATEAU_SPREAD;
                let near = (-off * off / 2.0).exp() / (PLATEAU_SPREAD * ROOT);
                PLATEAU_TRUST * near + (1.0 - PLATEAU_TRUST) * flat
            }
            Shape::Power(_) => (1.0 - PLATEAU_TRUST) * flat,
        };
        part * likely
    }
}

/// The limit, from steps of which one held and one broke at least; `plateau` is the most that the system gave when it was
/// overloaded, as a load. None if there are too few.
pub(crate) fn limit(points: &[Point], plateau: Option<f64>) -> Option<Limit> {
    let (low, high) = range(points)?;
    let step = (high / low).ln() / (PLACES - 1) as f64;
    let mut weights = Vec::with_capacity(PLACES);
    for place in 0..PLACES {
        let at = low * (step * place as f64).exp();
        let of_shape = |shape: Shape| {
            let likely: f64 = points.iter().map(|point| likelihood(point, shape, at)).sum();
            likely.exp() * shape.prior(at, plateau)
        };
        weights.push(Shape::all().map(of_shape).sum::<f64>());
    }
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 || !sum.is_finite() {
        return Some(Limit { load: (low * high).sqrt(), spread: (high / low).ln() / 4.0 });
    }
    let places = weights.iter().enumerate().map(|(place, weight)| (place as f64, weight / sum));
    let mean: f64 = places.clone().map(|(place, weight)| place * weight).sum();
    let variance: f64 =
        places.clone().map(|(place, weight)| (place - mean) * (place - mean) * weight).sum();
    let mut below = 0.0;
    let middle = places.clone().find(|(_, weight)| {
        below += weight;
        below >= 0.5
    });
    let middle = middle.map_or(mean, |(place, _)| place);
    Some(Limit { load: low * (step * middle).exp(), spread: variance.sqrt() * step })
}

/// The least and the highest load where the limit may be.
fn range(points: &[Point]) -> Option<(f64, f64)> {
    let held = |point: &&Point| point.held();
    let loads = |which: &dyn Fn(&&Point) -> bool| {
        let loads: Vec<f64> = points.iter().filter(which).map(|point| point.load).collect();
        loads
    };
    let (all_held, all_broke) = (loads(&held), loads(&|point| !point.held()));
    let least = all_held.iter().copied().reduce(f64::min)?;
    let most = all_broke.iter().copied().reduce(f64::max)?;
    let clear = loads(&|point| point.held() && point.is_clear());
    let low = clear.into_iter().reduce(f64::max).unwrap_or(least / 2.0);
    let clear = loads(&|point| !point.held() && point.is_clear());
    let high = clear.into_iter().reduce(f64::min).unwrap_or(most * 2.0);
    // Where steps contradict each other, both may be wrong.
    if low < high { Some((low, high)) } else { Some((high * 0.8, low * 1.25)) }
}

/// The logarithm of how likely a step is.
fn likelihood(point: &Point, shape: Shape, limit: f64) -> f64 {
    let model = shape.ease_ln(point.load, limit);
    let off = MODEL * model.abs() + MODEL_LEAST;
    let spread = (point.spread * point.spread + off * off).sqrt();
    let seen = point.ease.max(1e-6).ln();
    let plain = if seen.abs() > FAR.ln() {
        let beyond = (model * seen.signum() - FAR.ln()) / (spread + 0.1);
        // Nearly the integral of the bell curve.
        1.0 / (1.0 + (-1.702 * beyond).exp())
    } else {
        let off = (seen - model) / spread;
        (-off * off / 2.0).exp() / (spread * ROOT)
    };
    ((1.0 - ODD) * plain + ODD * 0.3).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(load: f64, ease: f64, spread: f64) -> Point {
        Point { load, ease, spread }
    }

    fn near(limit: Limit, load: f64, off: f64) {
        assert!((limit.load / load - 1.0).abs() <= off, "{limit:?} is not near {load}");
    }

    /// One server that can serve 500/s; its p95 is 3 / (500 − load).
    fn queue(load: f64) -> Point {
        point(load, (500.0 - load) * 0.020 / 20_f64.ln(), 0.05)
    }

    #[test]
    fn a_queue_tells_its_limit_from_far_below_and_its_plateau() {
        let broke = point(640.0, 0.01, 0.1);
        let limit = super::limit(&[queue(40.0), queue(160.0), broke], Some(503.0)).unwrap();
        near(limit, 350.2, 0.05);
        let closer = [queue(160.0), queue(340.0), queue(360.0), broke];
        let limit = super::limit(&closer, Some(503.0)).unwrap();
        near(limit, 350.2, 0.015);
        assert!(limit.spread < 0.025, "{limit:?}");
    }

    #[test]
    fn chance_in_one_step_bends_the_limit_by_little() {
        let odd = Point { ease: 0.9, ..queue(330.0) };
        let points = [queue(160.0), odd, queue(340.0), queue(360.0), point(640.0, 0.01, 0.1)];
        near(super::limit(&points, Some(503.0)).unwrap(), 350.2, 0.04);
    }

    #[test]
    fn a_cliff_is_just_below_the_plateau() {
        let steps = [point(160.0, f64::INFINITY, 0.0), point(640.0, 0.015, 0.1)];
        let limit = super::limit(&steps, Some(201.0)).unwrap();
        near(limit, 193.0, 0.04);
    }

    #[test]
    fn steps_that_tell_only_their_side_leave_the_middle() {
        let steps = [point(100.0, f64::INFINITY, 0.0), point(400.0, 0.0, 0.0)];
        let limit = super::limit(&steps, None).unwrap();
        assert!((110.0..390.0).contains(&limit.load), "{limit:?}");
        assert!(limit.spread > 0.1);
        assert_eq!(super::limit(&steps[..1], None), None);
    }
}
