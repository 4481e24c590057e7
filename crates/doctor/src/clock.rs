//! Clocks: what it costs to read one, and how late timers are.

use crate::check::{Check, Level};
use crate::machine::Machine;
use crate::tried::Tried;

pub(crate) fn checks(machine: &Machine, tried: &Tried) -> Vec<Check> {
    /// Reading one of these is a system call and takes a microsecond and more.
    const SLOW: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "pit"];
    let mut checks = Vec::new();
    let source = machine.sys("devices/system/clocksource/clocksource0/current_clocksource");
    if let Some(name) = source {
        let check = Check::fine("clock", format!("time comes from \"{name}\""));
        checks.push(if SLOW.contains(&name.as_str()) {
            check.at(
                Level::Warning,
                "each request reads the clock several times, and this one is slow: fewer requests per CPU-second",
                "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, if available_clocksource beside it has tsc",
            )
        } else {
            check
        });
    }
    if let Some(timers) = tried.timers {
        let shown = |us: u64| {
            if us < 1000 { format!("{us} µs") } else { format!("{:.1} ms", us as f64 / 1000.0) }
        };
        let found = format!(
            "timers are {} late (p99), at worst {}",
            shown(timers.p99_us),
            shown(timers.max_us)
        );
        let check = Check::fine("timers", found);
        checks.push(if timers.p99_us > 5000 {
            check.at(
                Level::Problem,
                "iterations start late and answers lie unread: all durations are too long",
                "free CPUs; a quota (container) or a power-saving state of the machine does this, too",
            )
        } else if timers.p99_us > 1000 {
            check.at(
                Level::Warning,
                "durations of a few milliseconds are not exact",
                "stop other programs, or take a machine with CPUs of its own",
            )
        } else {
            check
        });
    }
    checks
}
