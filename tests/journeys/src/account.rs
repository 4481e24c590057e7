//! The accounts of the applications.

/// The accounts of every application.
pub(crate) const ACCOUNTS: [(&str, &str); 2] =
    [("ada.lovelace", "Engine-No.1842"), ("grace.hopper", "Moth&Relay=47")];

/// Whether an account has this password.
pub(crate) fn knows(user: &str, password: &str) -> bool {
    ACCOUNTS.contains(&(user, password))
}
