//! Spans as an `ExportTraceServiceRequest`.

use prost::Message as _;

use super::{Span, SpanValue};
use crate::otlp::{
    self, KeyValue, Resource, ResourceSpans, Scope, ScopeSpans, SpanKind, Status, StatusCode,
    TraceRequest,
};

/// The bytes of one request with all of them. `resource`: attributes of the resource beside the usual ones.
pub(super) fn request(
    spans: impl IntoIterator<Item = Span>,
    resource: &[(String, String)],
) -> Vec<u8> {
    let mut attributes = vec![
        KeyValue::text("service.name", "k6"),
        KeyValue::text("service.version", env!("CARGO_PKG_VERSION")),
    ];
    attributes.extend(resource.iter().map(|(key, value)| KeyValue::text(key, value)));
    let scope = ScopeSpans {
        scope: Some(Scope { name: "brunt".to_owned() }),
        spans: spans.into_iter().map(message).collect(),
    };
    let resource = ResourceSpans { resource: Some(Resource { attributes }), scopes: vec![scope] };
    TraceRequest { resources: vec![resource] }.encode_to_vec()
}

fn message(span: Span) -> otlp::Span {
    let attributes = span.attributes.into_iter().map(|(key, value)| match value {
        SpanValue::Text(value) => KeyValue::text(key, value),
        SpanValue::Number(number) => KeyValue::number(key, number),
    });
    let kind = if span.is_client { SpanKind::Client } else { SpanKind::Internal };
    let error = |message| Status { message, code: StatusCode::Error.into() };
    otlp::Span {
        trace: span.trace.to_be_bytes().to_vec(),
        id: span.id.to_be_bytes().to_vec(),
        // A root has none.
        parent: if span.parent == 0 { Vec::new() } else { span.parent.to_be_bytes().to_vec() },
        name: span.name,
        kind: kind.into(),
        start: span.start,
        end: span.end,
        attributes: attributes.collect(),
        status: span.error.map(error),
    }
}
