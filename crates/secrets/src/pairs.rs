//! Values that are known from the start: `key=value`, one a line or divided by commas.

use crate::spec::SpecError;

/// The values of lines. Nothing is trimmed: a value may begin with a blank.
pub(crate) fn parse<'a>(
    lines: impl Iterator<Item = &'a str>,
) -> Result<Vec<(String, String)>, SpecError> {
    lines
        .map(|line| {
            let (name, value) = line.split_once('=').ok_or_else(|| {
                // The line may be a secret whose name is missing: it is not repeated whole.
                let shown: String = line.chars().take(8).collect();
                SpecError::NoPair(shown)
            })?;
            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}
