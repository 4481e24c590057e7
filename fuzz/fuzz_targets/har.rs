//! Any bytes as a HAR file.
//!
//! Entries keep their numbers, stand in the order of their times, and end after they began; bodies come from the file.
#![no_main]

use std::collections::HashSet;

use brunt_traffic::{Filter, Resource, har};
use libfuzzer_sys::fuzz_target;

/// A file that is missing may be replaced by as many bytes; the target allows itself no large ones.
const FILLED_MAX: usize = 80 << 20;

fuzz_target!(|input: &[u8]| {
    let Ok(mut recording) = har::read(input) else { return };
    assert!(!recording.exchanges.is_empty(), "a recording of nothing is an error");
    let mut numbers = HashSet::new();
    let mut size = 0;
    for exchange in &recording.exchanges {
        assert!(numbers.insert(exchange.number), "two exchanges of one entry");
        assert!(exchange.sent <= exchange.done);
        assert!(matches!(exchange.request.url.scheme(), "http" | "https" | "ws" | "wss"));
        assert!(exchange.request.url.fragment().is_none());
        assert!(exchange.response.is_some() != exchange.failure.is_some());
        let filled = exchange.request.body.in_memory().map_or(0, <[u8]>::len);
        assert!(filled <= FILLED_MAX);
        size += exchange
            .response
            .iter()
            .filter_map(|r| r.body.in_memory())
            .map(<[u8]>::len)
            .sum::<usize>();
        let _ = Resource::of(exchange);
    }
    assert!(recording.exchanges.is_sorted_by_key(|exchange| exchange.sent));
    assert!(recording.steps.is_sorted_by_key(|step| step.at));
    // An unpacked body may be larger than the file; a million times it is not.
    assert!(size / 2048 <= input.len() + 1, "bodies out of nothing");
    let (before, told) = (recording.exchanges.len(), recording.left_out.clone());
    Filter { static_resources: false, ..Filter::default() }.apply(&mut recording);
    let count = |all: &[(String, u64)]| all.iter().map(|(_, count)| *count).sum::<u64>();
    let gone = (before - recording.exchanges.len()) as u64;
    assert_eq!(count(&recording.left_out), count(&told) + gone, "each one left out is counted");
});
