//! `k6/net/grpc`: calls of gRPC methods.
//!
//! ```text
//! Client ─┬─ load ──► schemas, made once for all VUs
//!         ├─ connect ──► Link: a channel of the VU, dialed anew when it is lost
//!         └─ invoke ──► call: JSON ─► bytes ─► outcome ─► Response, one sample
//! Stream ──► events: data, error, end
//! ```

mod call;
mod client;
mod connect;
mod load;
mod params;
mod record;
mod request;
mod status;
mod stream;

use brunt_engine::Ended;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Value};

use self::stream::Streams;
use crate::module::Module;

const STATUSES: [(&str, u32); 17] = [
    ("StatusOK", 0),
    ("StatusCanceled", 1),
    ("StatusUnknown", 2),
    ("StatusInvalidArgument", 3),
    ("StatusDeadlineExceeded", 4),
    ("StatusNotFound", 5),
    ("StatusAlreadyExists", 6),
    ("StatusPermissionDenied", 7),
    ("StatusResourceExhausted", 8),
    ("StatusFailedPrecondition", 9),
    ("StatusAborted", 10),
    ("StatusOutOfRange", 11),
    ("StatusUnimplemented", 12),
    ("StatusInternal", 13),
    ("StatusUnavailable", 14),
    ("StatusDataLoss", 15),
    ("StatusUnauthenticated", 16),
];

/// The last name is misspelled in k6, and so in scripts.
const HEALTH: [(&str, i32); 4] = [
    ("HealthCheckUnknown", 0),
    ("HealthCheckServing", 1),
    ("HealthCheckNotServing", 2),
    ("HealthCheckServiceUnkown", 3),
];

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/net/grpc"
    }

    fn names(&self) -> Vec<String> {
        let statuses = STATUSES.iter().map(|constant| constant.0);
        let constants = statuses.chain(HEALTH.iter().map(|constant| constant.0));
        let mut names: Vec<_> = constants.chain(["Client", "Stream"]).map(str::to_owned).collect();
        names.sort();
        names
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        // Thresholds may name the metrics of a script that imports the module.
        record::Metrics::of(ctx)?;
        let prototype = ctx.class_prototype::<client::Client>()?;
        exports.define("Client", ctx.constructor(c"Client", 0, client::construct, &prototype)?)?;
        let prototype = ctx.class_prototype::<stream::Stream>()?;
        exports.define("Stream", ctx.constructor(c"Stream", 3, stream::construct, &prototype)?)?;
        status::prepare(ctx)?;
        for (name, code) in STATUSES {
            exports.define(name, status::code(ctx, code)?)?;
        }
        for (name, state) in HEALTH {
            exports.define(name, status::health(ctx, state)?)?;
        }
        Ok(())
    }

    /// The script hears what had come by then, as in k6.
    fn stopped(&self, host: &Host, ctx: Ctx<'_>, until: u64) {
        if let Some(streams) = host.slot_if_made::<Streams>() {
            streams.tell_last_words(ctx, host.events().was_waiting(), until);
        }
    }

    fn end(&self, host: &Host, _: Ended) {
        if let Some(streams) = host.slot_if_made::<Streams>() {
            streams.clear();
        }
    }
}
