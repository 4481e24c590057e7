//! Any bytes as a message of an agent: packed by zstd as they travel, or plain, to be packed here.
//!
//! A message that is read becomes a frame; the frame, written and read again, is the same in its sums, and none of its numbers
//! makes a percentile panic.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use brunt_cluster::wire::{Decoder, Encoder, Head, Message};
use brunt_cluster::{Totals, Whole};
use brunt_metrics::Registry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let packed = if control % 2 == 0 {
        bytes.to_vec()
    } else {
        zstd::bulk::compress(bytes, 1).expect("memory for packing")
    };
    let Ok(message) = Message::read(&packed) else { return };
    let registry = Arc::new(Registry::new());
    let mut decoder = Decoder::new(Arc::clone(&registry));
    let frame = decoder.frame(message);
    let mut whole = Whole::default();
    whole.absorb(&frame);
    let once = whole.frame();
    let mut again = Whole::default();
    let mut encoder = Encoder::exact(registry);
    for (cut, seq) in encoder.cut(&once).iter_mut().zip(1..) {
        let bytes = encoder.pack(cut, Head { seat: 1, seq, ..Head::default() });
        let message = Message::read(&bytes).expect("our own messages are read");
        assert_eq!(message.head.seq, seq);
        again.absorb(&decoder.frame(message));
    }
    let (once, again) = (Totals::of(&once), Totals::of(&again.take()));
    assert_eq!(once, again, "sums that changed on the way");
    whole.absorb(&frame);
    for delta in &whole.take().series {
        delta.sink.values(Duration::from_secs(1)).get("p(95)");
    }
});
