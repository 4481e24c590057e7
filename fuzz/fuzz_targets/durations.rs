//! Any text as a duration, in the three forms that are read.
//!
//! A readable text prints as one of the same meaning, the wider forms hold the narrower ones, and a mistake is told.
#![no_main]

use brunt_duration::{format, parse, parse_days, parse_millis};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some(number) = input.first_chunk::<8>() {
        let ns = i64::from_le_bytes(*number);
        // As in Go, which cannot read its own text of the smallest number.
        if ns != i64::MIN {
            assert_eq!(parse(&format(ns)), Ok(ns));
        }
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (plain, days, millis) = (parse(text), parse_days(text), parse_millis(text));
    for read in [&plain, &days, &millis] {
        match read {
            Ok(ns) if *ns != i64::MIN => assert_eq!(parse(&format(*ns)), Ok(*ns)),
            Ok(_) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Ok(ns) = plain {
        assert_eq!(days, Ok(ns));
    }
    // A number alone is milliseconds in the widest form, and nothing but 0 in the others.
    if let Ok(ns) = days {
        assert!(millis == Ok(ns), "{text:?}: {days:?}, {millis:?}");
    }
});
