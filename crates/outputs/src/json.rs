//! `--out json`: one JSON object per line.
//!
//! A `Metric` line before the first `Point` of each metric, then a `Point` per sample, as k6 writes
//! them. The text of a series is kept; no tree of values is built for a line.

mod describe;
mod text;

use std::io;
use std::time::Duration;

use brunt_metrics::{Frame, MetricId, Sample, Series};
use brunt_moment::Stamps;
use rustc_hash::FxHashSet;

use self::describe::Descriptions;
use self::text::{push_html_safe, push_tags};
use crate::cache::{Text, Texts};
use crate::destination::{Destination, is_stdout};
use crate::number::push_general;
use crate::output::{Context, Output, OutputError, Written};

/// The interval of k6.
const FLUSH_INTERVAL: Duration = Duration::from_millis(200);

/// Writes samples as lines of JSON.
pub(crate) struct Json {
    path: String,
    destination: Destination,
    descriptions: Descriptions,
    described: FxHashSet<MetricId>,
    texts: Texts,
    stamps: Stamps,
}

impl Json {
    /// `arg` is a file name; `-` or nothing is the standard output.
    pub(crate) fn open(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let destination = Destination::create(arg).map_err(|source| OutputError::Create {
            output: "json",
            path: arg.to_owned(),
            source,
        })?;
        Ok(Self::to(destination, arg, context))
    }

    fn to(destination: Destination, path: &str, context: &Context) -> Self {
        Self {
            path: path.to_owned(),
            destination,
            descriptions: Descriptions::new(context),
            described: FxHashSet::default(),
            texts: Texts::default(),
            stamps: Stamps::new(context.time_zone.clone()),
        }
    }

    fn write_one(&mut self, sample: &Sample) {
        let out = &mut self.destination.buffer;
        let (series, text) = self.texts.get(sample.series);
        if self.described.insert(series.metric) {
            self.descriptions.push_line(out, series.metric);
        }
        out.extend_from_slice(&text.head);
        self.stamps.push_nano(out, sample.at);
        out.extend_from_slice(b"\",\"value\":");
        push_general(out, sample.value);
        out.extend_from_slice(&text.tail);
        if let Some(metadata) = sample.metadata.as_ref().filter(|metadata| !metadata.is_empty()) {
            out.extend_from_slice(b",\"metadata\":");
            push_tags(out, metadata);
        }
        out.extend_from_slice(b"}}\n");
    }
}

fn text(series: &Series, descriptions: &Descriptions) -> Text {
    let mut head = b"{\"metric\":".to_vec();
    push_html_safe(&mut head, &descriptions.metric(series.metric).name);
    head.extend_from_slice(b",\"type\":\"Point\",\"data\":{\"time\":\"");
    let mut tail = b",\"tags\":".to_vec();
    push_tags(&mut tail, &series.tags);
    Text { head: head.into(), tail: tail.into() }
}

impl Output for Json {
    fn description(&self) -> String {
        if is_stdout(&self.path) { "json(stdout)".into() } else { format!("json ({})", self.path) }
    }

    fn flush_interval(&self) -> Duration {
        FLUSH_INTERVAL
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        let mut written = Written::default();
        self.texts.turn_to(&frame.series, |series| text(series, &self.descriptions));
        for sample in &frame.samples {
            if !sample.value.is_finite() {
                written.lost += 1;
                continue;
            }
            self.write_one(sample);
            self.destination.spill()?;
            written.samples += 1;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.destination.flush()
    }

    fn finish(&mut self) -> io::Result<Written> {
        self.destination.finish()?;
        Ok(Written::default())
    }
}

#[cfg(test)]
mod tests;
