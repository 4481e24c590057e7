//! `brunt k8s manifest`: a test on many pods, as YAML for `kubectl apply`.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::archive;
use super::{switch, value};
use crate::k8s::{Manifest, Source, is_label, is_name};
use crate::print::print;
use crate::{
    Context,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    flags::{self, Given},
    settings::{RunSettings, ScriptSettings},
};

const EXAMPLES: &str = "Examples:
  brunt k8s manifest --agents 4 --nats nats://nats:4222 script.js | kubectl apply -f -
  brunt k8s manifest --agents 20 --nats tls://nats:4222 --nats-secret broker --nats-creds user.creds -d 10m script.js
  brunt k8s manifest --agents 4 --nats nats://nats:4222 --claim tests/shop.tar --name shop-1
  brunt k8s manifest --agents 4 --nats nats://nats:4222 script.js -- --allow-lost 1";

const AFTER: &str = "The manifest is a Job that leads the test, a Job of N agents, and a Secret with the archive of the script, which only the leader sees. \
    Options of the test become part of the archive; words behind -- are flags of `brunt run` for the leader. No rights in the cluster are needed: \
    the pods meet over NATS. `kubectl logs -f job/NAME-leader` shows the test.";

/// The bytes that a Secret may hold.
const SECRET_MAX: usize = 1 << 20;

/// Names of objects get an ending, and labels have 63 characters.
const NAME_MAX: usize = 40;

/// More agents no leader can lead.
const AGENTS_MAX: u32 = 10_000;

/// The files for NATS, each with its flag.
const FILES: [(&str, &str); 5] = [
    ("creds", "nats-creds"),
    ("nkey", "nats-nkey"),
    ("ca", "nats-ca"),
    ("cert", "nats-cert"),
    ("key", "nats-key"),
];

/// The arguments of `brunt k8s manifest`.
#[derive(Debug)]
pub(crate) struct Request {
    /// The archive to make, unless it is elsewhere.
    archive: Option<archive::Request>,
    given: Given,
    manifest: Manifest,
}

pub(super) fn command() -> Command {
    Command::new("k8s")
        .about("Print the Kubernetes objects of a test on many pods")
        .override_usage("brunt k8s manifest [OPTIONS] <SCRIPT> [-- FLAGS OF RUN]")
        .disable_help_subcommand(true)
        .subcommand(manifest())
}

fn manifest() -> Command {
    let command = Command::new("manifest")
        .about("Print a leader, its agents and the archive of the script as YAML")
        .override_usage("brunt k8s manifest --agents N --nats URL [OPTIONS] <SCRIPT> [-- FLAGS OF RUN]")
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(Arg::new("script").value_name("SCRIPT").help("The script or archive; - for standard input"))
        .args(
            [
                value("agents", "N", "Make the load with N agents"),
                value("nats", "URL", "Meet at this NATS server, as pods reach it: nats://HOST:4222 or tls://HOST:4222"),
                value("name", "NAME", "Name the run and its objects [default: the script's name and six random characters]"),
                value("image", "IMAGE", "Run this image [default: brunt and this version]"),
                value("image-pull-policy", "POLICY", "Pull the image Always, IfNotPresent or Never [default: IfNotPresent]"),
                value("agent-cpu", "CPUS", "Give each agent this number of whole CPUs, and of threads [default: 2]"),
                value("agent-memory", "SIZE", "Give each agent so much memory [default: 2Gi]"),
                value("pod-env", "NAME=VALUE", "Set a variable of all pods; repeat it for more").action(ArgAction::Append),
                value("nats-secret", "SECRET", "Take the files with which pods prove themselves to NATS from this Secret"),
                value("nats-creds", "KEY", "The key of the credentials file in the Secret"),
                value("nats-nkey", "KEY", "The key of the nkey's seed in the Secret"),
                value("nats-ca", "KEY", "The key of the authority's certificate in the Secret"),
                value("nats-cert", "KEY", "The key of the client's certificate in the Secret"),
                value("nats-key", "KEY", "The key of the client's key in the Secret"),
                value("claim", "CLAIM/FILE", "Take the archive from this PersistentVolumeClaim instead of a script"),
                value("in-image", "PATH", "Take the archive from this path in the image instead of a script"),
                switch("one-per-node", "Never put two agents on one node"),
                switch("disruption-budget", "Keep drains of nodes away from the agents (a PodDisruptionBudget)"),
            ]
            .map(|arg| arg.help_heading("Kubernetes")),
        )
        .arg(Arg::new("run-flags").last(true).num_args(0..).allow_hyphen_values(true).hide(true));
    flags::add(command, flags::of_archive())
}

impl Request {
    /// The flags of the test that were written.
    ///
    /// # Errors
    /// A value that makes no sense.
    pub(super) fn read(
        matches: &ArgMatches,
        given: Given,
        environment: &Environment,
    ) -> Outcome<Self> {
        let text =
            |name: &str| matches.get_one::<String>(name).filter(|text| !text.is_empty()).cloned();
        let script = text("script");
        let elsewhere = match (text("claim"), text("in-image")) {
            (Some(claim), None) => Some(claimed(&claim)?),
            (None, Some(path)) => Some(in_image(path)?),
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(Failure::usage(
                    "--claim and --in-image name two archives: give one of them",
                ));
            }
        };
        let archive = match (script, &elsewhere) {
            (Some(script), None) => Some(archive::Request {
                script,
                settings: ScriptSettings::new(&given, environment, false)?,
                out: "-".to_owned(),
                without_env: false,
            }),
            (None, Some(_)) => None,
            (Some(script), Some(_)) => {
                return Err(Failure::usage(format!(
                    "the archive is elsewhere, and so {script} would not be run"
                ))
                .hint("leave out the script, or --claim and --in-image"));
            }
            (None, None) => {
                return Err(Failure::usage("missing argument: <SCRIPT>")
                    .hint("name a script or an archive, or say by --claim or --in-image where pods find one"));
            }
        };
        let is_written =
            |flag: &&flags::Flag| given.get(flag.long).is_some_and(|value| value.on_command_line);
        if elsewhere.is_some()
            && let Some(flag) = flags::of_archive().find(is_written)
        {
            return Err(Failure::usage(format!(
                "--{} would become part of the archive, and the archive is made already",
                flag.long
            ))
            .hint("give it to brunt archive, or to the leader, behind --"));
        }
        let agents = text("agents")
            .ok_or_else(|| needed("--agents N", "the number of pods that make the load"))?;
        let count = agents.parse().ok().filter(|count| (1..=AGENTS_MAX).contains(count));
        let count = count.ok_or_else(|| {
            Failure::usage(format!(
                "invalid value \"{agents}\" for --agents: expected 1 to {AGENTS_MAX}"
            ))
        })?;
        let nats = text("nats").ok_or_else(|| needed("--nats URL", "where the pods meet"))?;
        let is_address = |url: &str| {
            ["nats://", "tls://"]
                .iter()
                .any(|scheme| url.trim().strip_prefix(scheme).is_some_and(|host| !host.is_empty()))
        };
        if !nats.split(',').all(is_address) {
            return Err(Failure::usage(format!("invalid value \"{nats}\" for --nats")).hint(
                "write nats://HOST:4222 or tls://HOST:4222, as pods reach it; several with commas",
            ));
        }
        let name = match text("name") {
            Some(name) if is_label(&name) && name.len() <= NAME_MAX => name,
            Some(name) => {
                return Err(Failure::usage(format!("invalid value \"{name}\" for --name"))
                    .hint(format!("a name has at most {NAME_MAX} small letters, digits and dashes, and no dash at its ends")));
            }
            None => own_name(archive.as_ref().map_or("brunt", |archive| &archive.script)),
        };
        let secret = text("nats-secret");
        let files = FILES.into_iter().filter_map(|(key, flag)| Some((key, flag, text(flag)?)));
        let mut nats_files = std::collections::BTreeMap::new();
        for (key, flag, file) in files {
            if secret.is_none() {
                return Err(Failure::usage(format!("--{flag} needs --nats-secret"))
                    .hint("it names a key in that Secret"));
            }
            nats_files.insert(key, key_of_secret(flag, file)?);
        }
        if let Some(secret) = secret.as_deref().filter(|secret| !is_object(secret)) {
            return Err(no_object("nats-secret", secret));
        }
        let policy = text("image-pull-policy");
        if let Some(policy) =
            policy.as_deref().filter(|policy| !["Always", "IfNotPresent", "Never"].contains(policy))
        {
            return Err(Failure::usage(format!(
                "invalid value \"{policy}\" for --image-pull-policy"
            ))
            .hint("use Always, IfNotPresent or Never"));
        }
        let list = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
        let pairs = list("pod-env").map(|text| match text.split_once('=') {
            Some((name, value)) if is_variable(name) => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Failure::usage(format!("invalid value \"{text}\" for --pod-env"))
                .hint("write a name and a value, such as --pod-env BRUNT_LOG_FORMAT=json")),
        });
        let env = pairs.collect::<Outcome<_>>()?;
        let flags: Vec<String> = list("run-flags").collect();
        check_leader(&flags, count, &name)?;
        Ok(Self {
            archive,
            given,
            manifest: Manifest {
                name,
                // A script's archive is made later.
                source: elsewhere.unwrap_or(Source::Data(Vec::new())),
                agents: count,
                nats,
                nats_secret: secret,
                nats_files,
                image: text("image"),
                pull_policy: policy,
                flags,
                env,
                cpu: text("agent-cpu").map(whole_cpus).transpose()?,
                memory: text("agent-memory")
                    .map(|memory| quantity("agent-memory", memory))
                    .transpose()?,
                is_apart: matches.get_flag("one-per-node"),
                has_budget: matches.get_flag("disruption-budget"),
            },
        })
    }
}

pub(super) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    let Request { archive, given, mut manifest } = request;
    if let Some(archive) = archive {
        let contents = super::archive::pack(context, &archive, &given)?;
        let mut bytes = Vec::new();
        crate::archive::write(&contents, &mut bytes)?;
        if bytes.len() > SECRET_MAX {
            let told = format!(
                "the archive of {} has {} bytes, and a Secret holds {SECRET_MAX}",
                archive.script,
                bytes.len()
            );
            return Err(Failure::usage(told).hint(
                "write it with brunt archive, put it on a volume or into an image, and say so: --claim CLAIM/FILE, --in-image PATH",
            ));
        }
        manifest.source = Source::Data(bytes);
    }
    print(context, &manifest.yaml())
}

fn needed(flag: &str, about: &str) -> Failure {
    Failure::usage(format!("missing flag: {flag}")).hint(format!("it is {about}"))
}

fn claimed(text: &str) -> Outcome<Source> {
    let parts = text.split_once('/').filter(|(name, file)| is_object(name) && is_name(file));
    let (name, file) = parts.ok_or_else(|| {
        Failure::usage(format!("invalid value \"{text}\" for --claim"))
            .hint("write the name of the claim and of the file in it, such as tests/shop.tar")
    })?;
    Ok(Source::Claim { name: name.to_owned(), file: file.to_owned() })
}

fn in_image(path: String) -> Outcome<Source> {
    if !Path::new(&path).is_absolute() {
        return Err(Failure::usage(format!("invalid value \"{path}\" for --in-image"))
            .hint("write an absolute path, such as /srv/shop.tar"));
    }
    Ok(Source::Image(path))
}

fn key_of_secret(flag: &str, key: String) -> Outcome<String> {
    if is_name(&key) {
        return Ok(key);
    }
    Err(Failure::usage(format!("invalid value \"{key}\" for --{flag}")).hint(
        "it is a key in the Secret, such as user.creds: letters, digits, dots, dashes, underscores",
    ))
}

/// Whether it is a name of an object: labels with dots between them.
fn is_object(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn no_object(flag: &str, text: &str) -> Failure {
    Failure::usage(format!("invalid value \"{text}\" for --{flag}"))
        .hint("names of Kubernetes' objects have small letters, digits, dashes and dots")
}

/// Whether it is a quantity of Kubernetes': `2`, `500m`, `2Gi`.
fn quantity(flag: &str, text: String) -> Outcome<String> {
    const SUFFIXES: [&str; 14] =
        ["", "m", "k", "K", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let is_number = digits.parse::<f64>().is_ok_and(|number| number > 0.0);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number && is_plain && SUFFIXES.contains(&&text[digits.len()..]) {
        return Ok(text);
    }
    Err(Failure::usage(format!("invalid value \"{text}\" for --{flag}"))
        .hint("write a quantity of Kubernetes', such as 2, 500m or 2Gi"))
}

/// Whole CPUs: an agent has a thread on each.
fn whole_cpus(text: String) -> Outcome<String> {
    match text.parse() {
        Ok(1..=10_000_u32) => Ok(text),
        _ => Err(Failure::usage(format!("invalid value \"{text}\" for --agent-cpu"))
            .hint("write a whole number of CPUs, such as 2: an agent has a thread on each")),
    }
}

/// Reads the flags of the leader as its pod will: a pod that ends at once is a late answer.
///
/// # Errors
/// `brunt run --agents` does not take them.
fn check_leader(flags: &[String], agents: u32, run: &str) -> Outcome<()> {
    let agents = agents.to_string();
    let own = ["brunt", "run", "--agents", &agents, "--run-id", run].map(str::to_owned);
    let words = own.into_iter().chain(flags.iter().cloned()).chain(["test.tar".to_owned()]);
    let behind = |failure: Failure| {
        let told = format!("behind --: {}", failure.message());
        Failure::usage(told).hint("the words behind -- are flags of brunt run for the leader")
    };
    let matches = super::command().try_get_matches_from(words).map_err(|error| {
        behind(flags::usage_failure(
            &error,
            Some("run"),
            &super::long_flags(&super::command(), Some("run")),
            &[],
        ))
    })?;
    let Some(("run", matches)) = matches.subcommand() else { return Ok(()) };
    super::one_script("run", matches).map_err(behind)?;
    let environment = Environment::default();
    let all = flags::global::FLAGS.iter().chain(flags::of_run());
    let given = Given::collect(all, matches, &environment).map_err(behind)?;
    RunSettings::new(&given, &environment).map(drop).map_err(behind)
}

fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name that no run had: of the script, and six random characters. An id of a run is never used again.
fn own_name(script: &str) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let stem = Path::new(script).file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    let stem: String = stem.unwrap_or_default().chars().map(plain).take(NAME_MAX - 7).collect();
    let stem = stem.trim_matches('-');
    let random: String =
        (0..6).map(|_| char::from(LETTERS[fastrand::usize(..LETTERS.len())])).collect();
    if stem.is_empty() { format!("brunt-{random}") } else { format!("{stem}-{random}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_come_from_scripts_and_are_never_the_same() {
        for (script, start) in
            [("a/Shop Cart_v2.test.js", "shop-cart-v2-test-"), ("-", "brunt-"), ("ü.js", "brunt-")]
        {
            let name = own_name(script);
            assert!(name.starts_with(start) && is_label(&name) && name.len() <= NAME_MAX, "{name}");
            assert_ne!(name, own_name(script));
        }
        let long = own_name(&"long".repeat(50));
        assert_eq!(long.len(), NAME_MAX);
    }

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for text in ["2", "500m", "1.5", "2Gi", "100M"] {
            assert!(quantity("agent-cpu", text.to_owned()).is_ok(), "{text}");
        }
        for text in ["0", "-1", "two", "2GB", "1e3", ""] {
            assert!(quantity("agent-cpu", text.to_owned()).is_err(), "{text}");
        }
    }
}
