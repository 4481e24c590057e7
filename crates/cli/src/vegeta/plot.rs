//! `brunt plot`: attacks over time, as a page.

use std::{
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use brunt_records::{Drawn, GroupBy, Sheet, SheetConfig};

use super::{
    failure,
    flag::{Flag, FlagSet, Takes},
    flags, page,
    stream::{self, Content, Ending, Output},
};
use crate::{Context, exit::Exit, failure::Outcome};

pub(super) static FLAGS: FlagSet = FlagSet {
    command: "plot",
    files: "[FILE...]",
    about: "Draws attacks over time as a page of HTML; several lie over each other. Without files it reads standard input.",
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
            "Maximum number of points in time, of which the page has 1500 at most [0 = all]",
        ),
        Flag::new("title", Takes::Text, "Brunt Plot", "Title of the page"),
    ],
};

pub(super) fn perform(context: &Context, words: &[String]) -> Outcome<Exit> {
    let Some(values) = flags(context, &FLAGS, words)? else { return Ok(Exit::Success) };
    let most = values.int("threshold");
    if most < 0 || matches!(most, 1 | 2) {
        return Err(failure("lttb: min threshold is 3"));
    }
    let sheet = Sheet::new(SheetConfig {
        slices: most.unsigned_abs(),
        rows: GroupBy::Url,
        is_apart: true,
        inputs: values.files.clone(),
    });
    let output = Output::open(values.text("output"))?;
    let sheet = Arc::new(Mutex::new(Some(sheet)));
    let drawn = Arc::clone(&sheet);
    let each = move |input, record: &_| {
        if let Some(sheet) = &mut *drawn.lock().unwrap_or_else(PoisonError::into_inner) {
            sheet.add(input, record);
        }
        Ok(())
    };
    let ending = stream::read(values.files.clone(), Content::LeftOut, each, None, || Ok(()))?;
    let sheet = sheet.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_drawn = match &ending {
        // The hits before the fault are drawn; an input without a hit gives no page.
        Ending::Failed(_) => sheet.as_ref().is_some_and(|sheet| !sheet.is_empty()),
        _ => true,
    };
    if let Some(sheet) = sheet.filter(|_| is_drawn) {
        let title = values.text("title");
        let facts = page::Facts { name: title, thresholds: &[], summary: None };
        write(output, title, &page::document(&sheet.finish(), &facts))?;
    }
    match ending {
        Ending::Failed(failure) => Err(failure),
        _ => Ok(Exit::Success),
    }
}

/// Draws a page and writes it.
///
/// # Errors
/// It can't be written (exit code 1).
pub(crate) fn draw(output: Output, drawn: &Drawn, facts: &page::Facts<'_>) -> Outcome<()> {
    let document = page::document(drawn, facts);
    write(output, &brunt_page::title(facts.name), &document)
}

/// Writes the page.
///
/// # Errors
/// It can't be written (exit code 1).
pub(super) fn write(output: Output, title: &str, document: &[u8]) -> Outcome<()> {
    let mut out = std::io::BufWriter::new(output.into_writer());
    match brunt_page::document(title, document, &mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(failure(format!("cannot write: {error}")))
        }
        // Or whoever should read it has gone away.
        _ => Ok(()),
    }
}
