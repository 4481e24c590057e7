//! `ExportTraceServiceRequest`, written.

use super::{Span, SpanValue};
use crate::opentelemetry::push_attribute;
use crate::protobuf::{bytes, fixed, message, text, uint};

/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_CLIENT`.
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
/// `STATUS_CODE_ERROR`
const ERROR: u64 = 2;

/// All spans as one request.
pub(super) fn request(spans: &[Span]) -> Vec<u8> {
    let mut body = Vec::with_capacity(spans.len() * 256);
    message(&mut body, 1, |out| {
        message(out, 1, |out| {
            push_attribute(out, 1, "service.name", "k6");
            push_attribute(out, 1, "service.version", env!("CARGO_PKG_VERSION"));
        });
        message(out, 2, |out| {
            message(out, 1, |out| text(out, 1, "brunt"));
            for span in spans {
                message(out, 2, |out| push(out, span));
            }
        });
    });
    body
}

fn push(out: &mut Vec<u8>, span: &Span) {
    bytes(out, 1, &span.trace.to_be_bytes());
    bytes(out, 2, &span.id.to_be_bytes());
    if span.parent != 0 {
        bytes(out, 4, &span.parent.to_be_bytes());
    }
    text(out, 5, &span.name);
    uint(out, 6, if span.is_client { CLIENT } else { INTERNAL });
    fixed(out, 7, span.start);
    fixed(out, 8, span.end);
    for (key, value) in &span.attributes {
        match value {
            SpanValue::Text(value) => push_attribute(out, 9, key, value),
            SpanValue::Number(number) => message(out, 9, |out| {
                text(out, 1, key);
                // A negative number has ten bytes, as protobuf's int64 wants it.
                message(out, 2, |out| uint(out, 3, number.cast_unsigned()));
            }),
        }
    }
    if let Some(error) = &span.error {
        message(out, 15, |out| {
            text(out, 2, error);
            uint(out, 3, ERROR);
        });
    }
}
