//! The state of the plain routes between requests.

use super::windows::Windows;

/// The windows of `/ratelimit`.
#[derive(Default)]
pub(crate) struct Plain {
    pub(super) windows: Windows,
}

impl Plain {
    /// Forgets it.
    pub(crate) fn reset(&self) {
        self.windows.clear();
    }
}
