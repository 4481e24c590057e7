//! Any bytes as an access log.
//!
//! The targets that are written must be read by an attack, as many as were counted; its pacer must be read, too; a session has no more
//! requests than there are targets.
#![no_main]

use brunt_attack::{Defaults, Format, Pacer, TargetReader};
use brunt_imports::access_log::{self, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&control, log)) = input.split_first() else { return };
    let options = Options {
        base: (control & 1 == 1).then(|| "http://a.test:8080/base".parse().expect("a URL")),
        format: if control & 2 == 2 { access_log::Format::Json } else { access_log::Format::Http },
        ..Options::default()
    };
    let (mut targets, mut pacer) = (Vec::new(), Vec::new());
    let tally = access_log::targets(log, &options, &mut targets, &mut pacer);
    let format = if control & 2 == 2 { Format::Json } else { Format::Http };
    if let Ok(tally) = &tally {
        let read = TargetReader::new(targets.as_slice(), format, Defaults::default());
        let read: Result<Vec<_>, _> = read.collect();
        assert_eq!(read.expect("targets are read").len() as u64, tally.requests);
        let pacer = std::str::from_utf8(&pacer).expect("text");
        Pacer::of_file(pacer).expect("a pacer is read");
    }
    if let Ok((session, own)) = access_log::session(log, &options) {
        assert_eq!(session.recording.exchanges.len() as u64, own.requests);
    }
});
