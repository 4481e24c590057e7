//! The machine that a number comes from.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// CPU model, cores, memory, kernel and date, in one line.
pub(crate) fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let model = field(&cpuinfo, "model name").unwrap_or("unknown CPU");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let date = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z");
    format!(
        "{model}, {cores} cores, {} GB memory, Linux {}, {date}",
        meminfo_kb("MemTotal") / 1_000_000,
        kernel.trim()
    )
}

/// Memory that can be had without swapping.
pub(crate) fn memory_available_kb() -> u64 {
    meminfo_kb("MemAvailable")
}

fn meminfo_kb(key: &str) -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    field(&text, key).and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The value of a `key : value` line.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// How many cores there are to pin to.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Ten thousand connections need as many descriptors: takes what the hard limit allows. Children
/// inherit it. If it is refused, the figure with many VUs says which connections failed.
pub(crate) fn raise_file_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC\nmodel\t\t: 49\n";
        assert_eq!(field(text, "model name"), Some("AMD EPYC"));
        assert_eq!(field(text, "model"), Some("49"));
        assert_eq!(field(text, "name"), None);
    }
}
