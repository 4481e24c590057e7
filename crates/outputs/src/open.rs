//! From what `--out` says to an output.

use crate::csv::Csv;
use crate::dashboard::Dashboard;
use crate::influxdb::Influxdb;
use crate::json::Json;
use crate::opentelemetry::Opentelemetry;
use crate::output::{Context, Output, OutputError};
use crate::prometheus::Prometheus;
use crate::run_file::RunFile;
use crate::spec::{OutputKind, OutputSpec};
use crate::statsd::Statsd;

/// Opens an output: a file exists (and is empty) from then on; a server is not asked yet.
pub fn open(spec: &OutputSpec, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    Ok(match spec.kind {
        OutputKind::Json => Box::new(Json::open(&spec.arg, context)?),
        OutputKind::Csv => Box::new(Csv::open(&spec.arg, context)?),
        OutputKind::Influxdb => Box::new(Influxdb::open(&spec.arg, context)?),
        OutputKind::Opentelemetry => Box::new(Opentelemetry::open(context)?),
        OutputKind::Prometheus => Box::new(Prometheus::open(context)?),
        OutputKind::Run => Box::new(RunFile::open(&spec.arg, context)?),
        OutputKind::Statsd => Box::new(Statsd::open(context)?),
        OutputKind::WebDashboard => Box::new(Dashboard::open(&spec.arg, context)?),
    })
}
