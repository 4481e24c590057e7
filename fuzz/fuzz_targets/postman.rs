//! Any bytes as a Postman collection, and a part of them as its environment.
//!
//! The reader must end; each request has its exchange, in the order of the collection.
#![no_main]

use brunt_imports::{Surroundings, postman};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let folder = std::path::Path::new("/nonexistent");
    let surroundings = Surroundings { folder, variable: &|_| None };
    // Files: the fuzzer shall not find devices.
    if input.windows(4).any(|four| four == b"\"src" || four == b"src\\") {
        return;
    }
    let (collection, environment) = match input.iter().position(|byte| *byte == 0) {
        Some(at) => (&input[..at], Some(&input[at + 1..])),
        None => (input, None),
    };
    let environments: Vec<&[u8]> = environment.into_iter().collect();
    if let Ok(session) = postman::read(collection, &environments, &surroundings) {
        let exchanges = &session.recording.exchanges;
        assert!(!exchanges.is_empty());
        assert!(exchanges.iter().enumerate().all(|(index, own)| own.number == index));
        assert!(exchanges.windows(2).all(|two| two[0].done <= two[1].sent));
        assert!(session.plan.extractions.iter().all(|own| own.exchange < exchanges.len()));
    }
});
