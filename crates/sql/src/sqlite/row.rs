//! Rows as they came, read.

use crate::cell::Cell;
use crate::column::Column;

/// Gives the sink the values of a row.
pub(crate) fn read<E>(
    _row: &[u8],
    _columns: &[Column],
    _sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), Option<E>> {
    Err(None)
}
