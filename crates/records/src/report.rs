//! A summary, told to a reader.

use std::io::{self, Write};

use crate::Summary;

mod hdrplot;
mod hist;
mod json;
mod table;
mod text;

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// Eight rows and the errors, as vegeta prints them; below, what Brunt knows more.
    Text,
    /// One line.
    Json,
    /// Bars for the summary's buckets.
    Histogram,
    /// Percentiles as the plotter of HdrHistogram reads them.
    HdrPlot,
}

/// A text that is no kind of report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// There is no such kind.
    #[error("unknown report type: {0:?} (use text, json, hist[0,10ms,100ms], hdrplot or html)")]
    Unknown(String),
    /// vegeta once had it.
    #[error("the report type \"plot\" is gone: use brunt plot")]
    Plot,
    /// No list of buckets.
    #[error("bad buckets: '{0}'")]
    Buckets(String),
    /// A bucket that is no duration.
    #[error(transparent)]
    Duration(#[from] brunt_duration::DurationError),
}

impl Report {
    /// Reads `-type`: a kind, and the buckets if it brings some (`hist[0,1ms,2ms]`).
    ///
    /// # Errors
    /// There is no such kind, or the buckets are wrong.
    pub fn parse(text: &str) -> Result<(Self, Vec<u64>), ReportError> {
        Ok((
            match text {
                "text" => Self::Text,
                "json" => Self::Json,
                "hdrplot" => Self::HdrPlot,
                "plot" => return Err(ReportError::Plot),
                "hist" => Self::Histogram,
                _ => match text.strip_prefix("hist") {
                    Some(list) => return Ok((Self::Histogram, parse_buckets(list)?)),
                    None => return Err(ReportError::Unknown(text.to_owned())),
                },
            },
            Vec::new(),
        ))
    }

    /// Writes the report.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let text = match self {
            Self::Text => text::text(summary),
            Self::Json => json::line(summary),
            Self::Histogram => hist::table(summary),
            Self::HdrPlot => hdrplot::table(summary),
        };
        out.write_all(text.as_bytes())
    }
}

/// Reads a list of buckets, `[0, 1ms, 2ms]`: their lower bounds in nanoseconds, ascending. There is always one from 0 on.
///
/// # Errors
/// It is no list, or something in it is no duration.
pub fn parse_buckets(text: &str) -> Result<Vec<u64>, ReportError> {
    let bad = || ReportError::Buckets(text.to_owned());
    let list = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')).ok_or_else(bad)?;
    if list.trim().is_empty() {
        return Err(bad());
    }
    let mut bounds = Vec::new();
    for bound in list.split(',') {
        bounds.push(u64::try_from(brunt_duration::parse(bound.trim())?).map_err(|_| bad())?);
    }
    if bounds[0] > 0 {
        bounds.insert(0, 0);
    }
    // A bucket that ends before it begins is a slip.
    if bounds.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(bad());
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests;
