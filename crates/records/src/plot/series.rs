//! Points of one line.

/// One hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// When it was begun, in nanoseconds since the Unix epoch.
    pub(super) at: u64,
    /// In nanoseconds.
    pub(super) latency: u64,
}

/// Points in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    points: Vec<Point>,
    hits: u64,
}

impl Series {
    pub(super) fn add(&mut self, point: Point) {
        self.points.push(point);
        self.hits += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// How many were added, thinned out or not.
    pub(super) fn hits(&self) -> u64 {
        self.hits
    }

    /// In the order of time.
    pub(super) fn sorted(&mut self) -> &[Point] {
        self.points.sort_by_key(|point| point.at);
        &self.points
    }

    /// Of each four points in time, keeps the lowest and the highest.
    pub(super) fn thin(&mut self) {
        self.sorted();
        let mut kept = 0;
        for start in (0..self.points.len()).step_by(4) {
            let end = (start + 4).min(self.points.len());
            let four = start..end;
            let low = four.clone().min_by_key(|index| self.points[*index].latency);
            let high = four.rev().max_by_key(|index| self.points[*index].latency);
            let (low, high) = (low.expect("four are some"), high.expect("four are some"));
            for index in [low.min(high), low.max(high)] {
                self.points[kept] = self.points[index];
                kept += 1;
            }
        }
        self.points.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_lows_and_highs_in_order() {
        let mut series = Series::default();
        for (at, latency) in [(4, 9), (1, 5), (2, 1), (3, 5), (8, 2), (5, 3), (6, 2), (7, 4)] {
            series.add(Point { at, latency });
        }
        series.thin();
        let points: Vec<_> =
            series.sorted().iter().map(|point| (point.at, point.latency)).collect();
        assert_eq!(points, [(2, 1), (4, 9), (6, 2), (7, 4)]);
        assert_eq!(series.hits(), 8);
    }
}
