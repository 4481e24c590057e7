//! `--out csv`: one row per sample, one column per system tag.

mod config;

use std::io;
use std::time::Duration;

use brunt_metrics::{Frame, Sample, TagSet};
use brunt_moment::Stamps;

use self::config::{Config, TimeFormat};
use crate::cache::{Text, Texts};
use crate::destination::{Destination, is_stdout};
use crate::number::{push_fixed, push_whole};
use crate::output::{Context, Output, OutputError, Written};

/// Writes samples as rows.
pub(crate) struct Csv {
    config: Config,
    destination: Destination,
    /// The system tags with a column, sorted.
    columns: Vec<String>,
    context: Context,
    texts: Texts,
    stamps: Stamps,
    /// A field before it is quoted.
    field: String,
}

impl Csv {
    /// `arg` is a file name or `key=value,…`; the environment is looked at for what it does not say.
    pub(crate) fn open(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let config = Config::read(arg, &context.env, context.collectors.get("csv"))?;
        let path = &config.file_name;
        let destination = Destination::create(path).map_err(|source| OutputError::Create {
            output: "csv",
            path: path.clone(),
            source,
        })?;
        Ok(Self::to(destination, config, context))
    }

    fn to(destination: Destination, config: Config, context: &Context) -> Self {
        let mut columns = context.system_tags.clone();
        // They are metadata, not tags.
        columns.retain(|tag| !matches!(&**tag, "vu" | "iter"));
        columns.sort_unstable();
        columns.dedup();
        let mut csv = Self {
            config,
            destination,
            columns,
            texts: Texts::default(),
            stamps: Stamps::new(context.time_zone.clone()),
            context: context.clone(),
            field: String::new(),
        };
        csv.push_header();
        csv
    }

    fn push_header(&mut self) {
        let out = &mut self.destination.buffer;
        out.extend_from_slice(b"metric_name,timestamp,metric_value");
        for column in self.columns.iter().map(String::as_str).chain(["extra_tags", "metadata"]) {
            out.push(b',');
            push_field(out, column);
        }
        out.push(b'\n');
    }

    fn write_one(&mut self, sample: &Sample) {
        let out = &mut self.destination.buffer;
        let (_, text) = self.texts.get(sample.series);
        out.extend_from_slice(&text.head);
        match self.config.time_format {
            TimeFormat::Unix => push_whole(out, sample.at / 1_000_000_000, 1),
            TimeFormat::UnixMilli => push_whole(out, sample.at / 1_000_000, 1),
            TimeFormat::UnixMicro => push_whole(out, sample.at / 1_000, 1),
            TimeFormat::UnixNano => push_whole(out, sample.at, 1),
            TimeFormat::Rfc3339 => self.stamps.push_second(out, sample.at),
            TimeFormat::Rfc3339Nano => self.stamps.push_nano(out, sample.at),
        }
        out.push(b',');
        push_fixed(out, sample.value);
        out.extend_from_slice(&text.tail);
        if let Some(metadata) = &sample.metadata {
            self.field.clear();
            push_pairs(&mut self.field, metadata.iter());
            push_field(out, &self.field);
        }
        out.push(b'\n');
    }
}

/// The text between the value and the metadata: a field per column, the other tags, a comma.
fn tail(tags: &TagSet, columns: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for column in columns {
        out.push(b',');
        push_field(&mut out, tags.get(column).unwrap_or_default());
    }
    let mut extra = String::new();
    let others =
        tags.iter().filter(|(key, _)| columns.binary_search_by(|c| (**c).cmp(key)).is_err());
    push_pairs(&mut extra, others);
    out.push(b',');
    push_field(&mut out, &extra);
    out.push(b',');
    out
}

/// `k=v&k2=v2`, nothing escaped (k6 does not either).
fn push_pairs<'a>(out: &mut String, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    for (key, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(key);
        out.push('=');
        out.push_str(value);
    }
}

/// A field, in quotes if it needs them by the rule of Go's `encoding/csv`.
fn push_field(out: &mut Vec<u8>, field: &str) {
    let quoted = field == "\\."
        || field.starts_with(char::is_whitespace)
        || field.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'));
    if !quoted {
        return out.extend_from_slice(field.as_bytes());
    }
    out.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

impl Output for Csv {
    fn description(&self) -> String {
        let path = &*self.config.file_name;
        format!("csv ({})", if is_stdout(path) { "stdout" } else { path })
    }

    fn flush_interval(&self) -> Duration {
        self.config.save_interval
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        self.texts.turn_to(&frame.series, |series| {
            let mut head = Vec::new();
            push_field(&mut head, &self.context.registry.get(series.metric).name);
            head.push(b',');
            Text { head: head.into(), tail: tail(&series.tags, &self.columns).into() }
        });
        for sample in &frame.samples {
            self.write_one(sample);
            self.destination.spill()?;
        }
        Ok(Written { samples: frame.samples.len() as u64, lost: 0 })
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
