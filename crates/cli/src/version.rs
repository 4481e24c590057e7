//! Which version this is, and of which k6.

/// The version of k6 whose scripts run here, and whose behaviour is our reference.
pub(crate) const K6_VERSION: &str = "2.2.0";

/// `v0.1.0 (linux/x86_64, k6 2.2.0)`
pub(crate) fn line() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("v{} ({os}/{arch}, k6 {K6_VERSION})", env!("CARGO_PKG_VERSION"))
}
