//! Folders that Brunt writes into.

use crate::check::{Check, Level};
use crate::tried::Tried;

pub(crate) fn checks(tried: &Tried) -> Vec<Check> {
    let checks = tried.folders.iter().filter_map(|folder| {
        let fault = folder.fault.as_ref()?;
        let path = folder.path.display();
        Some(Check::fine("folders", format!("nothing can be written into {path}: {fault}")).at(
            Level::Warning,
            folder.purpose,
            folder.remedy,
        ))
    });
    let checks: Vec<Check> = checks.collect();
    if checks.is_empty() && !tried.folders.is_empty() {
        let paths: Vec<String> =
            tried.folders.iter().map(|folder| folder.path.display().to_string()).collect();
        return vec![Check::fine("folders", format!("can be written: {}", paths.join(", ")))];
    }
    checks
}
