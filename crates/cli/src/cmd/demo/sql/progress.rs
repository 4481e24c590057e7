//! The bar on a terminal.

use std::fmt::Write as _;

use crate::Context;

/// Parts of the bar.
const WIDTH: usize = 40;

/// Draws how far the rows are, where that is of use.
pub(super) struct Progress<'a> {
    context: &'a Context,
    rows: u64,
    is_shown: bool,
    permille: u64,
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a Context, rows: u64) -> Self {
        let is_shown = context.screen.stdout_is_terminal() && !context.global.quiet;
        Self { context, rows, is_shown, permille: 0 }
    }

    pub(super) fn at(&mut self, done: u64) {
        let permille = (done * 1000).checked_div(self.rows).unwrap_or(1000);
        if !self.is_shown || permille == self.permille {
            return;
        }
        self.permille = permille;
        let full = WIDTH * permille as usize / 1000;
        let mut bar = String::from("[");
        for part in 0..WIDTH {
            bar.push(if part < full { '=' } else { '-' });
        }
        // Writing to a String can't fail.
        let _ = writeln!(bar, "] {:>3}% {done} of {} rows", permille / 10, self.rows);
        self.context.screen.draw(bar);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.is_shown {
            self.context.screen.draw(String::new());
        }
    }
}
