//! The questions.

mod attack;
mod bodies;
mod compare;
mod grpc;
mod html;
mod javascript;
mod lateness;
mod live;
mod many;
mod outputs;
mod reading;
mod request;
mod runfile;
mod shared;
mod soak;
mod upload;
mod websocket;

use crate::bench::{Bench, missing};
use crate::report::Figure;
use crate::settings::What;

/// Measures one figure; may give several tables.
type Measure = fn(&Bench) -> anyhow::Result<Vec<Figure>>;

/// All figures, in the order of the page.
pub(crate) const ALL: &[(What, Measure)] = &[
    (What::Http, request::http),
    (What::Tls, request::tls),
    (What::Http2, request::http2),
    (What::Crowd, request::crowd),
    (What::Paced, request::paced),
    (What::Many, many::measure),
    (What::Soak, soak::measure),
    (What::Javascript, javascript::measure),
    (What::Html, html::measure),
    (What::Lateness, lateness::measure),
    (What::Bodies, bodies::measure),
    (What::Fasthttp, request::fasthttp),
    (What::Grpc, grpc::unary),
    (What::Upload, upload::measure),
    (What::Shared, shared::measure),
    (What::Websocket, websocket::measure),
    (What::Outputs, outputs::measure),
    (What::Runfile, runfile::measure),
    (What::Live, live::measure),
    (What::Attack, attack::cost),
    (What::Schedule, attack::schedule),
    (What::Stall, attack::stall),
    (What::Reading, reading::measure),
    (What::Compare, compare::measure),
];
