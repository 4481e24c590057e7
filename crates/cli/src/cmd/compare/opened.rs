//! Run files that are open, and the facts by which runs are known to be of one test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brunt_compare::{Identity, Trust};
use brunt_runfile::{About, RunFile, SeriesRow, State};
use brunt_verdict::{Level, Verdict};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::failure::{Failure, Outcome};

/// The target of `--demo`, whatever port it had.
const DEMO: &str = "demo";

/// More slices are a damaged file: at a minute each they are years.
const SLICES_MAX: u64 = 1_000_000;

/// A run file and what is known of the whole of it.
pub(super) struct Opened {
    pub(super) file: RunFile,
    pub(super) series: Vec<SeriesRow>,
    /// As the user calls it.
    name: String,
    /// Whether its target was the demo in its own process.
    is_demo: bool,
    /// Whether its requests are told apart by route: not in attacks, old files and runs without routes.
    has_routes: bool,
    /// The hosts that tags of series tell.
    told: BTreeSet<String>,
    /// The hosts of the exchanges that were kept, if no tag tells any.
    kept: BTreeSet<String>,
    /// The hash of all sources, if all their texts are there.
    all_sources: Option<String>,
}

/// Opens the files of a side. A run that is there twice would be taken for two that agree.
pub(super) fn side(paths: &[PathBuf]) -> Outcome<Vec<Opened>> {
    let mut seen: BTreeMap<String, &Path> = BTreeMap::new();
    let mut side = Vec::new();
    for path in paths {
        let opened = Opened::open(path)?;
        if let Some(first) = seen.insert(opened.about().id.clone(), path) {
            let (first, second) = (first.display(), path.display());
            return Err(Failure::usage(format!("\"{first}\" and \"{second}\" are the same run"))
                .hint("name each run of a side once"));
        }
        side.push(opened);
    }
    Ok(side)
}

impl Opened {
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let wrong = |error: brunt_runfile::RunFileError| {
            Failure::usage(error.to_string())
                .hint("brunt compare reads run files, as `brunt run --out run` writes them")
        };
        let file = RunFile::open(path).map_err(wrong)?;
        if file.about().slices > SLICES_MAX {
            let (path, count) = (path.display(), file.about().slices);
            return Err(Failure::usage(format!(
                "\"{path}\" has {count} slices: no run is so long"
            )));
        }
        let mut series = file.series().map_err(wrong)?;
        if file.about().summary.warmup {
            let warm = |tag: &String| tag == "true";
            series.retain(|row| !row.tags.get(brunt_metrics::WARMUP_TAG).is_some_and(warm));
        }
        let is_demo = is_demo(&file.about().arguments, &file.about().environment);
        let has_routes = series.iter().any(|row| row.tags.contains_key("route"));
        let hosts = |urls: &mut dyn Iterator<Item = &str>| -> BTreeSet<String> {
            let named =
                |host: String| if is_demo && is_local(&host) { DEMO.to_owned() } else { host };
            urls.filter_map(host).map(named).collect()
        };
        let mut urls = series.iter().filter_map(address);
        let told = hosts(&mut urls);
        let kept = if told.is_empty() { file.kept_urls().map_err(wrong)? } else { Vec::new() };
        let kept = hosts(&mut kept.iter().map(String::as_str));
        let texts: Option<Vec<String>> =
            file.sources().map_err(wrong)?.into_iter().map(|source| source.text).collect();
        let all_sources = texts.filter(|texts| !texts.is_empty()).map(|texts| {
            let mut hash = Sha256::new();
            for text in texts {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
            format!("{:x}", hash.finalize())
        });
        Ok(Self {
            file,
            series,
            name: path.display().to_string(),
            is_demo,
            has_routes,
            told,
            kept,
            all_sources,
        })
    }

    pub(super) fn about(&self) -> &About {
        self.file.about()
    }

    /// Which run it is, and of what.
    pub(super) fn identity(&self, names: Names) -> Identity {
        let about = self.about();
        let script = about.script.clone().unwrap_or_else(|| about.name.clone());
        let hash = match &self.all_sources {
            Some(hash) if names.are_all_sources_there => Some(hash.clone()),
            _ => about.sha256.clone(),
        };
        let mut targets = self.told.clone();
        if names.do_kept_hosts_tell {
            targets.extend(self.kept.iter().cloned());
        }
        Identity {
            name: self.name.clone(),
            started_us: about.started,
            script,
            script_hash: hash.unwrap_or_default(),
            options: chosen(&about.kind, &about.options),
            targets,
            brunt_version: about.brunt.clone(),
            labels: about.labels.clone(),
            trust: trust(about),
        }
    }

    /// The route of a series of requests: that of the run file, which `brunt report` goes by; where it has none, the name.
    pub(super) fn route(&self, tags: &BTreeMap<String, String>, names: Names) -> Option<String> {
        let keys: &[&str] = if names.have_all_routes {
            &["route", "name", "url", "statement"]
        } else {
            &["name", "url", "statement"]
        };
        let name = keys.iter().find_map(|&tag| tags.get(tag))?;
        let method = tags.get("method").filter(|method| !method.contains('/'));
        let shown = match divided(name) {
            Some((_, _, path)) if names.has_one_target => {
                if path.is_empty() {
                    "/".to_owned()
                } else {
                    path.to_owned()
                }
            }
            Some((scheme, host, path)) if self.is_demo && is_local(host) => {
                format!("{scheme}://{DEMO}{path}")
            }
            _ => name.clone(),
        };
        Some(match method {
            Some(method) => format!("{method} {shown}"),
            None => shown,
        })
    }
}

/// How runs are named, all alike in one comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// Each run has one target alone: routes need no host in their names.
    has_one_target: bool,
    /// Each run's requests are told apart by route. A file without them would have nothing in common with one that has some.
    have_all_routes: bool,
    /// All sources of all runs are known, not only their scripts.
    are_all_sources_there: bool,
    /// No tag tells a host, and those of exchanges differ: some runs have none in common.
    do_kept_hosts_tell: bool,
}

impl Names {
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Opened>) -> Self {
        let all: Vec<&Opened> = all.collect();
        // Few exchanges are kept: one host that another run's lack proves nothing.
        let are_apart = |one: &Opened, other: &Opened| {
            let is_known = !one.kept.is_empty() && !other.kept.is_empty();
            is_known && one.kept.is_disjoint(&other.kept)
        };
        Self {
            has_one_target: all.iter().all(|one| one.told.len() == 1),
            have_all_routes: all.iter().all(|one| one.has_routes),
            are_all_sources_there: all.iter().all(|one| one.all_sources.is_some()),
            do_kept_hosts_tell: all.iter().any(|one| all.iter().any(|other| are_apart(one, other))),
        }
    }
}

/// The options that make the load. Others are made of the scenarios, and would be told twice; or say, of attacks, where
/// results go and what they are called.
fn chosen(kind: &str, options: &Value) -> Value {
    const MADE: [&str; 6] = ["totalDuration", "maxVUs", "vus", "duration", "iterations", "stages"];
    const OF_RESULTS: [&str; 4] = ["run", "output", "name", "prometheus-addr"];
    let mut options = options.clone();
    if let Some(all) = options.as_object_mut() {
        let is_made = all.contains_key("scenarios");
        all.retain(|name, _| match kind {
            "attack" => !OF_RESULTS.contains(&name.as_str()),
            _ => !(is_made && MADE.contains(&name.as_str())),
        });
    }
    options
}

/// The run's doubts of itself.
fn trust(about: &About) -> Trust {
    let seconds = format!("after {:.1} s", about.duration.as_secs_f64());
    let mut findings = Vec::new();
    match about.state {
        State::Finished => {}
        State::Running => findings.push(format!("it is still going on, {seconds} until now")),
        State::Died => findings.push(format!("its process died {seconds}")),
        State::Aborted => {
            let why = about.reason.as_deref().unwrap_or("it is not known why");
            findings.push(format!("it was cut short {seconds}: {why}"));
        }
    }
    for (thing, count) in about.lost.as_object().into_iter().flatten() {
        if count.as_f64().is_some_and(|count| count > 0.0) {
            findings.push(format!("its file lacks {thing}: {count}"));
        }
    }
    let level = about.verdict.as_ref().map(Verdict::level);
    for finding in about.verdict.iter().flat_map(|verdict| &verdict.findings) {
        findings.push(format!("{}: {}", finding.name, finding.evidence));
    }
    match level {
        Some(Level::Invalid) => Trust::Invalid(findings),
        _ if !findings.is_empty() => Trust::Doubtful(findings),
        Some(_) => Trust::Trusted,
        None => Trust::Unknown,
    }
}

/// The URL of a series of requests, as far as its tags tell it.
fn address(series: &SeriesRow) -> Option<&str> {
    let tag = |name: &str| series.tags.get(name).map(String::as_str);
    tag("url").filter(|url| host(url).is_some()).or_else(|| tag("name"))
}

/// `host:port` of a URL; gRPC's have no scheme.
fn host(url: &str) -> Option<String> {
    let host = if let Some((_, host, _)) = divided(url) {
        host
    } else {
        let (host, _) = url.split_once('/')?;
        let (name, port) = host.rsplit_once(':')?;
        port.parse::<u16>().ok().filter(|_| !name.is_empty())?;
        host
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Scheme, host and the rest of a URL.
fn divided(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.');
    if scheme.is_empty() || !scheme.chars().all(is_plain) {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, &rest[..end], &rest[end..]))
}

fn is_local(host: &str) -> bool {
    host.rsplit_once(':').map_or(host, |(name, _)| name) == "127.0.0.1"
}

/// Whether a command line, or a variable that stood for its flag, asked for the demo in its own process.
fn is_demo(arguments: &Value, environment: &Value) -> bool {
    let words = |list: &Value| {
        let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (arguments, environment) = (words(arguments), words(environment));
    let has = |words: &BTreeSet<String>, any: &[&str]| any.iter().any(|word| words.contains(*word));
    // The values of variables are not kept. `DEMO_URL` is there if the demo was.
    has(&arguments, &["--demo", "--demo=true", "--demo=1"])
        || has(&environment, &["BRUNT_DEMO", "K6_DEMO"]) && has(&environment, &["DEMO_URL"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hosts_are_read_from_urls_of_all_kinds() {
        let told = [
            "http://shop.test/a?b",
            "https://User@Shop.test:8443",
            "ws://127.0.0.1:80/x",
            "127.0.0.1:50051/main.Shop/Find",
            "Find",
            "a/b",
            "not a scheme://x/",
            "http:///nothing",
        ];
        let wanted = [
            Some("shop.test"),
            Some("shop.test:8443"),
            Some("127.0.0.1:80"),
            Some("127.0.0.1:50051"),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(told.map(host), wanted.map(|host| host.map(str::to_owned)));
    }

    #[test]
    fn options_are_those_that_make_the_load() {
        let run = json!({"vus": 5, "maxVUs": 5, "rps": 9, "scenarios": {"default": {"vus": 5}}});
        let wanted = json!({"rps": 9, "scenarios": {"default": {"vus": 5}}});
        assert_eq!(chosen("run", &run), wanted);
        assert_eq!(chosen("run", &json!({"vus": 5})), json!({"vus": 5}));
        let attack = json!({"rate": "50/s", "run": "a.brunt", "output": "a.bin"});
        assert_eq!(chosen("attack", &attack), json!({"rate": "50/s"}));
    }

    #[test]
    fn a_demo_is_one_target_whatever_its_port() {
        let (flag, plain) = (json!(["run", "--demo", "a.js"]), json!(["run", "a.js"]));
        assert!(is_demo(&flag, &Value::Null));
        assert!(is_demo(&plain, &json!(["BRUNT_DEMO", "DEMO_URL", "HOME"])));
        assert!(!is_demo(&plain, &json!(["DEMO_URL"])) && !is_demo(&Value::Null, &Value::Null));
        assert!(is_local("127.0.0.1:5001") && !is_local("shop.test:80"));
    }
}
