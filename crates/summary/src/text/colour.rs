//! ANSI colours, or none.

/// The sequences of one layout; k6's old and new one differ in how they write "faint".
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    on: bool,
    dots: &'static str,
    extra: &'static str,
}

impl Palette {
    pub(super) fn new(on: bool, legacy: bool) -> Self {
        let (dots, extra) = if legacy { ("2", "36;2") } else { ("2;37", "2;36") };
        Self { on, dots, extra }
    }

    fn paint(self, sequence: &str, text: &str) -> String {
        if self.on { format!("\x1b[{sequence}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Headings.
    pub(super) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A success.
    pub(super) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// A failure.
    pub(super) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// The words of a threshold.
    pub(super) fn plain(self, text: &str) -> String {
        self.paint("37", text)
    }

    /// A measured value.
    pub(super) fn value(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// A note beside a value.
    pub(super) fn extra(self, text: &str) -> String {
        self.paint(self.extra, text)
    }

    /// The dots that lead from name to value.
    pub(super) fn dots(self, text: &str) -> String {
        self.paint(self.dots, text)
    }

    /// `✓` or `✗`.
    pub(super) fn mark(self, ok: bool) -> String {
        if ok { self.good("✓") } else { self.bad("✗") }
    }
}
