//! Any text as curl commands.
//!
//! The reader must end, number the line of a mistake within the text, and make a plan whose indices are those of its lists.
#![no_main]

use brunt_correlate::Piece;
use brunt_imports::{Error, Session, Surroundings, curl};
use libfuzzer_sys::fuzz_target;

fn check(session: &Session) {
    let (plan, count) = (&session.plan, session.recording.exchanges.len());
    assert_eq!(plan.folded.len(), count);
    for substitution in &plan.substitutions {
        assert!(substitution.exchange < count);
        for piece in &substitution.pieces {
            match piece {
                Piece::Literal(_) => {}
                Piece::Value { extraction, .. } => assert!(*extraction < plan.extractions.len()),
                Piece::Made(index) => assert!(*index < plan.made.len()),
                Piece::Input(index) => assert!(*index < plan.inputs.len()),
                Piece::Secret(index) => assert!(*index < plan.secrets.len()),
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // Files: the fuzzer shall not find devices.
    if text.contains(['@', '<', 'T']) || text.contains("upload") {
        return;
    }
    let folder = std::path::Path::new("/nonexistent");
    let variable = |name: &str| name.len().is_multiple_of(2).then(|| name.to_lowercase());
    match curl::read(text, &Surroundings { folder, variable: &variable }) {
        Ok(session) => check(&session),
        Err(Error::Curl { line, .. }) => {
            assert!((1..=text.lines().count().max(1) + 1).contains(&line))
        }
        Err(error) => panic!("{error}"),
    }
});
