//! CPUs: how many there are, what of them a container may use, and who else wants them.

use crate::check::{Check, Level};
use crate::machine::Machine;
use crate::tried::Tried;

pub(crate) fn checks(machine: &Machine, tried: &Tried) -> Vec<Check> {
    let mut checks = vec![count(machine)];
    checks.extend(others(tried));
    checks.extend(governor(machine));
    checks
}

/// The CPUs and the quota on them.
fn count(machine: &Machine) -> Check {
    let cpus = machine.cpus();
    let plural = if cpus == 1 { "CPU" } else { "CPUs" };
    match machine.container().cpu_quota() {
        Some(quota) if quota < cpus as f64 => {
            let found = format!("{cpus} {plural}, of which the container may use {quota:.1}");
            Check::fine("cpus", found).at(
                Level::Warning,
                "a container that has used its share up is stopped until the next period, up to 100 ms: durations grow in jumps",
                format!(
                    "no CPU limit for load generators (in Kubernetes resources.requests without resources.limits), or --workers {:.0}",
                    quota.floor().max(1.0)
                ),
            )
        }
        _ => {
            let check = Check::fine("cpus", format!("{cpus} {plural}"));
            if cpus == 1 {
                check.at(
                    Level::Note,
                    "one CPU carries the load and all else of this machine",
                    "two and more CPUs, or the target on another machine",
                )
            } else {
                check
            }
        }
    }
}

/// The use of the CPUs by other programs.
fn others(tried: &Tried) -> Vec<Check> {
    let Some(ticks) = tried.ticks else { return Vec::new() };
    let busy = ticks.busy * 100.0;
    let check = Check::fine("other programs", format!("{busy:.0} % of the CPUs are busy now"));
    let mut checks = vec![if ticks.busy > 0.2 {
        check.at(
            if ticks.busy > 0.6 { Level::Problem } else { Level::Warning },
            "whoever waits for a CPU measures the waiting as if it were the target's",
            "stop the other programs (top shows them), or take another machine",
        )
    } else {
        check
    }];
    if ticks.steal > 0.02 {
        let found = format!(
            "{:.0} % of the CPUs are taken by other machines of the host",
            ticks.steal * 100.0
        );
        checks.push(Check::fine("steal", found).at(
            Level::Warning,
            "all durations: parts of them are waiting",
            "a machine with CPUs of its own",
        ));
    }
    checks
}

/// A CPU that sleeps deeply is late.
fn governor(machine: &Machine) -> Option<Check> {
    let name = machine.sys("devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
    let check = Check::fine("frequency", format!("the governor of CPU 0 is \"{name}\""));
    Some(if name == "powersave" {
        check.at(
            Level::Note,
            "under little load CPUs run slowly, so that short durations are longer",
            "sudo cpupower frequency-set -g performance",
        )
    } else {
        check
    })
}
