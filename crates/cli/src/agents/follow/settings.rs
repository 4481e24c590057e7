//! The settings that a leader gives its agents beside the plan of their machines.

use brunt_cluster::Plan;
use serde_json::Value;

/// In the plan's settings: outputs of single samples. Files are written by each agent into its own folder.
pub(in crate::agents) const OUTPUTS: &str = "outputs";

/// Why an output can't be had from agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::agents) enum OutputFault {
    #[error(
        "there is no such output of agents; csv=FILE and json=FILE are written by each, influxdb and statsd are sent by each, all others are the leader's"
    )]
    Kind,
    #[error(
        "each agent writes into the folder in which it was started: name a file without a folder and without settings"
    )]
    Place,
}

/// Outputs of single samples that go over the network: each agent sends its own, with the tag `agent`.
const SENT: [&str; 3] = ["influxdb", "xk6-influxdb", "statsd"];

/// Whether agents write this output: a plain file beside them and nothing elsewhere on their machines, or to a server.
///
/// # Errors
/// [`OutputFault`]
pub(in crate::agents) fn check_output(output: &str) -> Result<(), OutputFault> {
    let (kind, file) = output.split_once('=').unwrap_or((output, ""));
    match kind {
        "json" | "csv" => check_file(file),
        kind if SENT.contains(&kind) => Ok(()),
        _ => Err(OutputFault::Kind),
    }
}

/// Whether agents write a file of this name: a plain one beside them.
///
/// # Errors
/// [`OutputFault::Place`]
pub(in crate::agents) fn check_file(file: &str) -> Result<(), OutputFault> {
    let is_plain =
        !file.is_empty() && !file.starts_with(['.', '-']) && !file.contains(['/', '\\', '=', ',']);
    if is_plain { Ok(()) } else { Err(OutputFault::Place) }
}

/// The outputs that the agents of this plan write.
pub(super) fn outputs(plan: &Plan) -> Vec<String> {
    let all = plan.settings.get(OUTPUTS).and_then(Value::as_array).into_iter().flatten();
    let all = all.filter_map(Value::as_str).filter(|output| check_output(output).is_ok());
    all.map(str::to_owned).collect()
}

/// In the plan's settings: tag all with the seat.
pub(in crate::agents) const AGENT_TAG: &str = "agent_tag";

/// In the plan's settings: don't tell requests apart by route.
pub(in crate::agents) const NO_ROUTES: &str = "no_routes";

/// In the plan's settings: where the randomness of scripts begins.
pub(in crate::agents) const SEED: &str = "seed";

/// In the plan's settings: somebody gave that seed, so cryptography repeats, too.
pub(in crate::agents) const REPEATS: &str = "repeats";

pub(super) fn is_on(plan: &Plan, setting: &str) -> bool {
    plan.settings.get(setting).and_then(Value::as_bool) == Some(true)
}

/// The same in all agents: VUs differ by their ids in the test.
pub(super) fn seed_of(plan: &Plan) -> u64 {
    plan.settings.get(SEED).and_then(Value::as_u64).unwrap_or(plan.nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_write_plain_files_and_send_to_servers() {
        assert_eq!(check_output("csv=a.csv"), Ok(()));
        assert_eq!(check_output("json=a.json.gz"), Ok(()));
        for output in
            ["csv", "csv=/etc/passwd", "csv=../a", "csv=.bashrc", "csv=fileName=a", "json=-"]
        {
            assert_eq!(check_output(output), Err(OutputFault::Place), "{output}");
        }
        for output in ["statsd", "influxdb=http://a:1/b", "influxdb"] {
            assert_eq!(check_output(output), Ok(()), "{output}");
        }
        for output in ["cloud", "kafka=x", "run=a.brunt"] {
            assert_eq!(check_output(output), Err(OutputFault::Kind), "{output}");
        }
    }
}
