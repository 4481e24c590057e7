//! Any bytes as the targets of an attack.
//!
//! The readers must not panic, must end, and must number the line of a mistake within the text.
#![no_main]

use brunt_attack::{Defaults, Format, TargetError, TargetReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // Bodies from files: the fuzzer shall not find devices.
    if input.contains(&b'@') {
        return;
    }
    let lines = input.split(|byte| *byte == b'\n').count() as u64;
    for format in [Format::Http, Format::Json] {
        let mut read = 0;
        for target in TargetReader::new(input, format, Defaults::default()) {
            match target {
                Ok(_) => read += 1,
                Err(TargetError::Target { line, .. }) => assert!((1..=lines).contains(&line)),
                Err(_) => {}
            }
        }
        assert!(read <= lines);
    }
});
