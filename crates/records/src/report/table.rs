//! Columns as wide as their longest cell, and two spaces between them.

/// Lays out rows. Characters count, not bytes; the last cell of a row is not padded.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        // A cell that nothing follows needs no room.
        let cells = rows.iter().filter(|row| row.len() > column + 1);
        cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            out.push_str(cell);
            if column + 1 < row.len() {
                let gap = widths[column] + 2 - cell.chars().count();
                out.extend(std::iter::repeat_n(' ', gap));
            }
        }
        out.push('\n');
    }
    out
}
