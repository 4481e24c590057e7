//! Any text as a statement of the three databases.
//!
//! A folded statement is short, and folding it again changes nothing. The tuple of an insert, written twice, is an insert whose fold is the
//! same. A statement with named parameters has a place for each name, and needs no names afterwards.
#![no_main]

use brunt_sql::Driver;
use brunt_sql::statement::{FOLDED_MAX, folded, named, tuple};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 3] = ["a", "b", "id"];

fuzz_target!(|input: &[u8]| {
    let Ok(sql) = std::str::from_utf8(input) else { return };
    for driver in Driver::ALL {
        let once = folded(sql, driver);
        assert!(once.len() <= FOLDED_MAX, "{} bytes", once.len());
        let twice = folded(&once, driver);
        assert!(twice.len() <= FOLDED_MAX);
        if let Some(found) = tuple(sql, driver) {
            assert!(
                sql[found.range.clone()].starts_with('(')
                    && sql[found.range.clone()].ends_with(')')
            );
            assert_eq!(found.repeated(sql, driver, 1), sql);
            let double = found.repeated(sql, driver, 2);
            assert!(double.len() > sql.len());
            assert_eq!(tuple(&double, driver), None, "{double}");
        }
        for count in 0..=NAMES.len() {
            let Ok(read) = named(sql, driver, &NAMES[..count]) else { continue };
            assert!(read.order.iter().all(|index| *index < count));
            assert!(
                (0..count).all(|index| read.order.contains(&index)),
                "a value that goes nowhere"
            );
        }
    }
});
