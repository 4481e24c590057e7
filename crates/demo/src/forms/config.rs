//! The settings of the form application. Each field's comment begins with the flag that sets it.

use std::time::Duration;

/// All settings of the form application. [`Default`] is a server that keeps the state of its views.
#[derive(Debug, Clone)]
pub struct FormConfig {
    /// `--viewstate server|client`: who keeps the state of a view. With `client` a token is the state: 2 to 20 kB (default
    /// server).
    pub client_state: bool,
    /// `--jakarta`: call the token `jakarta.faces.ViewState`, and everything else of that family (default `javax`).
    pub jakarta: bool,
    /// `--html-entities`: write `+` as `&#43;` in pages.
    pub html_entities: bool,
    /// `--views N`: tokens of a session that are valid at the same time, the newest, 1 to 100 (default 15).
    pub views: usize,
    /// `--soft-errors`: answer a refused token with 200 and a page that only says so (default: 500).
    pub soft_errors: bool,
    /// `--one-time`: a token is good for one POST; the second one gets 409.
    pub one_time: bool,
    /// `--session-timeout DURATION`: end a session that was not used for this long (default 30m).
    pub session_timeout: Duration,
}

/// The maximum number of tokens that a session may have.
const VIEWS_MAX: usize = 100;
/// Longest life of a session that is not used.
const TIMEOUT_MAX: Duration = Duration::from_hours(30 * 24);

impl Default for FormConfig {
    fn default() -> Self {
        Self {
            client_state: false,
            jakarta: false,
            html_entities: false,
            views: 15,
            soft_errors: false,
            one_time: false,
            session_timeout: Duration::from_mins(30),
        }
    }
}

impl FormConfig {
    /// The first setting that makes no sense, as a sentence.
    pub(crate) fn complaint(&self) -> Option<String> {
        if !(1..=VIEWS_MAX).contains(&self.views) {
            return Some(format!("--views: {} is not from 1 to {VIEWS_MAX}", self.views));
        }
        if self.session_timeout.is_zero() || self.session_timeout > TIMEOUT_MAX {
            let timeout = self.session_timeout;
            return Some(format!("--session-timeout: {timeout:?} is not from 1ns to 30d"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_flag_and_value() {
        let complaint = |config: FormConfig| config.complaint().unwrap_or_default();
        assert_eq!(
            complaint(FormConfig { views: 0, ..FormConfig::default() }),
            "--views: 0 is not from 1 to 100"
        );
        for timeout in [Duration::ZERO, Duration::MAX] {
            let config = FormConfig { session_timeout: timeout, ..FormConfig::default() };
            assert!(complaint(config).starts_with("--session-timeout: "));
        }
        assert_eq!(FormConfig::default().complaint(), None);
    }
}
