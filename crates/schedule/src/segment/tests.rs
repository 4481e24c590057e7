use proptest::prelude::*;

use super::*;

fn part(segment: &str, sequence: &str) -> Segment {
    Segment::parse(Some(segment), Some(sequence)).expect("a good segment")
}

/// All segments of a sequence.
pub(crate) fn parts(sequence: &str) -> Vec<Segment> {
    let points: Vec<&str> = sequence.split(',').collect();
    points.windows(2).map(|pair| part(&format!("{}:{}", pair[0], pair[1]), sequence)).collect()
}

#[test]
fn a_lone_value_counts_from_zero_and_the_rest_is_filled_in() {
    let segment = Segment::parse(Some("25%"), None).unwrap();
    assert_eq!(segment.to_string(), "0:1/4");
    assert_eq!(segment.sequence(), "0,1/4,1");
    let segment = Segment::parse(Some("1/3:0.5"), None).unwrap();
    assert_eq!(segment.sequence(), "0,1/3,1/2,1");
    assert_eq!(part("1/4:1/2", "1/4,1/2,3/4").sequence(), "0,1/4,1/2,3/4,1");
    assert_eq!(Segment::parse(None, None).unwrap(), Segment::full());
}

#[test]
fn wrong_segments_are_named() {
    let fault = |segment, sequence| Segment::parse(segment, sequence).unwrap_err().to_string();
    insta::assert_snapshot!(fault(Some("1/2:1/3"), None), @r#"the bounds of "1/2:1/3" must ascend and lie between 0 and 1"#);
    insta::assert_snapshot!(fault(Some("x"), None), @r#""x" is not a part of a whole: write it like 1/3, 0.25 or 25%"#);
    insta::assert_snapshot!(fault(Some("0:1/2"), Some("0,1/3,1")), @"the execution segment 0:1/2 is not one of those in the sequence 0,1/3,1");
    insta::assert_snapshot!(fault(None, Some("0")), @r#"the execution segment sequence "0" needs at least two points, such as 0,1/2,1"#);
    insta::assert_snapshot!(fault(Some("0.123456789"), None), @"the bounds of 0,123456789/1000000000,1 have no common denominator under 10 million: use simple fractions");
    assert!(Segment::parse(None, Some("0,1/2,1")).is_err());
}

#[test]
fn stripes_interleave() {
    let owned = |segment: &Segment| (0..4).map(|n| segment.global(n)).collect::<Vec<_>>();
    let halves = parts("0,1/2,1");
    assert_eq!(owned(&halves[0]), [0, 2, 4, 6]);
    assert_eq!(owned(&halves[1]), [1, 3, 5, 7]);
    let uneven = parts("0,1/6,1/2,1");
    assert_eq!(owned(&uneven[2]), [0, 2, 4, 6]);
    assert_eq!(owned(&uneven[1]), [1, 3, 7, 9]);
    assert_eq!(owned(&uneven[0]), [5, 11, 17, 23]);
}

#[test]
fn resegmenting_follows_the_vus() {
    // k6 2.2: 7 VUs over thirds are 3, 2 and 2; 20 iterations then 9, 6 and 5.
    let thirds = parts("0,1/3,2/3,1");
    let vus: Vec<u64> = thirds.iter().map(|third| third.scale(7)).collect();
    assert_eq!(vus, [3, 2, 2]);
    let iterations: Vec<u64> =
        thirds.iter().map(|third| third.resegment(7).unwrap().scale(20)).collect();
    assert_eq!(iterations, [9, 6, 5]);
    assert_eq!(thirds[2].resegment(2), None);
    assert_eq!(thirds[0].resegment(2).unwrap().sequence(), "0,1/2,1");
}

fn sequences() -> impl Strategy<Value = Vec<Segment>> {
    (2_u64..60, proptest::collection::btree_set(1_u64..60, 0..8)).prop_map(|(den, cuts)| {
        let inner = cuts.into_iter().filter(|cut| *cut < den);
        let points = [0].into_iter().chain(inner).chain([den]);
        let points: Vec<String> = points.map(|num| format!("{num}/{den}")).collect();
        parts(&points.join(","))
    })
}

proptest! {
    #[test]
    fn parts_add_up_to_the_whole(sequence in sequences(), v in 0_u64..5_000) {
        prop_assert_eq!(sequence.iter().map(|part| part.scale(v)).sum::<u64>(), v);
    }

    #[test]
    fn resegmented_parts_add_up_too(sequence in sequences(), vus in 1_u64..500, v in 0_u64..5_000) {
        let shares = sequence.iter().filter_map(|part| part.resegment(vus));
        prop_assert_eq!(shares.map(|share| share.scale(v)).sum::<u64>(), v);
    }

    #[test]
    fn scaling_is_monotone_and_fair(sequence in sequences(), v in 0_u64..5_000) {
        for part in &sequence {
            let (now, next) = (part.scale(v), part.scale(v + 1));
            prop_assert!(next == now || next == now + 1);
            prop_assert!((now as f64 - part.share() * v as f64).abs() <= sequence.len() as f64);
        }
    }

    #[test]
    fn every_number_has_one_owner(sequence in sequences(), n in 0_u64..5_000) {
        let owners = sequence.iter().filter(|part| part.scale(n + 1) > part.scale(n));
        let owners: Vec<_> = owners.collect();
        prop_assert_eq!(owners.len(), 1);
        prop_assert_eq!(owners[0].global(owners[0].scale(n)), n);
    }

    #[test]
    fn printing_then_parsing_gives_the_same(sequence in sequences()) {
        for part in &sequence {
            let again = Segment::parse(Some(&part.to_string()), Some(&part.sequence()));
            prop_assert_eq!(&again.unwrap(), part);
        }
    }
}
