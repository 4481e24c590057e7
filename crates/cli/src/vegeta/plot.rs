//! `brunt plot`: latency over time, as a page.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_records::{Plot, PlotConfig};

use super::{
    failure,
    flag::{Flag, FlagSet, Takes},
    flags,
    stream::{self, Content, Ending, Output},
};
use crate::{Context, exit::Exit, failure::Outcome};

pub(super) static FLAGS: FlagSet = FlagSet {
    command: "plot",
    files: "[FILE...]",
    about: "Draws the latencies of attacks over time as a page of HTML. Without files it reads standard input.",
    examples: &[
        "brunt plot result.bin > plot.html",
        "brunt plot -title=Releases old.bin new.bin > plot.html",
    ],
    flags: &[
        Flag::new("output", Takes::Text, "stdout", "Write to this file"),
        Flag::new(
            "threshold",
            Takes::Int,
            "4000",
            "Maximum number of points of each series [0 = all]",
        ),
        Flag::new("title", Takes::Text, "Brunt Plot", "Title of the page"),
    ],
};

pub(super) fn perform(context: &Context, words: &[String]) -> Outcome<Exit> {
    let Some(values) = flags(context, &FLAGS, words)? else { return Ok(Exit::Success) };
    let config = PlotConfig {
        title: values.text("title").to_owned(),
        // Less than none is as wrong as one.
        threshold: usize::try_from(values.int("threshold")).unwrap_or(1),
        inputs: values.files.clone(),
    };
    let plot = Plot::new(config).map_err(|error| failure(error.to_string()))?;
    let mut output = Output::open(values.text("output"))?;
    let plot = Arc::new(Mutex::new(plot));
    let drawn = Arc::clone(&plot);
    let each = move |input, record: &_| {
        drawn.lock().unwrap_or_else(PoisonError::into_inner).add(input, record);
        Ok(())
    };
    let ending = stream::read(values.files.clone(), Content::LeftOut, each, None, || Ok(()))?;
    let mut plot = plot.lock().unwrap_or_else(PoisonError::into_inner);
    let mut page = Vec::new();
    plot.write(&mut page)?;
    match ending {
        Ending::Failed(failure) => {
            // The hits before the fault are drawn; an input without a hit gives no page.
            if !plot.is_empty() {
                output.write(&page)?;
            }
            Err(failure)
        }
        _ => output.write(&page).map(|_| Exit::Success),
    }
}
