//! Largest-Triangle-Three-Buckets (Steinarsson, 2013): fewer points, the same look.

use super::series::Point;

/// Gives at most `threshold` of the points, which are in the order of time; all of them if it is 0.
///
/// The first and the last stay. The others are cut into buckets; of each, the point stays that makes the largest triangle
/// with the one that was kept before and the mean of the bucket behind.
pub(super) fn sample(points: &[Point], threshold: usize) -> Vec<Point> {
    if threshold == 0 || points.len() <= threshold {
        return points.to_vec();
    }
    let start = points[0].at;
    let x = |point: &Point| (point.at - start) as f64;
    let y = |point: &Point| point.latency as f64;
    let between = points.len() - 2;
    let buckets = threshold - 2;
    // Bucket b holds the points from `edge(b)` to `edge(b + 1)`: at least one each, as there are more points than buckets.
    let edge = |bucket: usize| 1 + (bucket as u128 * between as u128 / buckets as u128) as usize;
    let mut kept = Vec::with_capacity(threshold);
    kept.push(points[0]);
    for bucket in 0..buckets {
        let next = match bucket + 1 {
            next if next == buckets => &points[points.len() - 1..],
            next => &points[edge(next)..edge(next + 1)],
        };
        let count = next.len() as f64;
        let mean_x = next.iter().map(x).sum::<f64>() / count;
        let mean_y = next.iter().map(y).sum::<f64>() / count;
        let before = kept[kept.len() - 1];
        let (before_x, before_y) = (x(&before), y(&before));
        let twice_area = |point: &Point| {
            ((before_x - mean_x) * (y(point) - before_y)
                - (before_x - x(point)) * (mean_y - before_y))
                .abs()
        };
        let mut best = points[edge(bucket)];
        let mut largest = -1.0;
        for point in &points[edge(bucket)..edge(bucket + 1)] {
            let area = twice_area(point);
            if area > largest {
                (best, largest) = (*point, area);
            }
        }
        kept.push(best);
    }
    kept.push(points[points.len() - 1]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: u64) -> Vec<Point> {
        (0..count)
            .map(|n| Point {
                at: n * 1_000,
                latency: if n == 431 { 900_000 } else { 1_000 + n % 7 },
            })
            .collect()
    }

    #[test]
    fn exactly_so_many_stay_with_both_ends_and_the_peak() {
        let all = points(1_000);
        for threshold in [3, 4, 10, 333, 998, 999] {
            let kept = sample(&all, threshold);
            assert_eq!(kept.len(), threshold);
            assert_eq!((kept[0], kept[threshold - 1]), (all[0], all[999]));
            assert!(kept.iter().any(|point| point.latency == 900_000), "{threshold}");
            assert!(kept.is_sorted_by_key(|point| point.at));
        }
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let all = points(10);
        assert_eq!(sample(&all, 10), all);
        assert_eq!(sample(&all, 0), all);
        assert!(sample(&[], 5).is_empty());
    }
}
