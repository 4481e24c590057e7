//! The manifest of a test: the chart's templates with the values of a call.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{template, values};

/// The templates, in the order of the manifest.
const TEMPLATES: [&str; 4] = [
    include_str!("../../chart/templates/secret.yaml"),
    include_str!("../../chart/templates/disruption-budget.yaml"),
    include_str!("../../chart/templates/leader.yaml"),
    include_str!("../../chart/templates/agents.yaml"),
];

const VALUES: &str = include_str!("../../chart/values.yaml");

/// Where the leader has the archive from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A Secret of the manifest's own.
    Data(Vec<u8>),
    /// A PersistentVolumeClaim, and the file in it.
    Claim { name: String, file: String },
    /// A path in the image.
    Image(String),
}

/// The facts of a manifest. Where a fact is missing, the value of the chart holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the run and of its objects: [`is_label`], at most 40 characters.
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) agents: u32,
    /// `nats://HOST:4222`
    pub(crate) nats: String,
    /// The Secret with the files of `nats_files`.
    pub(crate) nats_secret: Option<String>,
    /// `creds`, `nkey`, `ca`, `cert`, `key`, and the key in the Secret of each.
    pub(crate) nats_files: BTreeMap<&'static str, String>,
    pub(crate) image: Option<String>,
    pub(crate) pull_policy: Option<String>,
    /// Flags of `brunt run` for the leader.
    pub(crate) flags: Vec<String>,
    /// Variables of all pods.
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cpu: Option<String>,
    pub(crate) memory: Option<String>,
    /// Never two agents on one node.
    pub(crate) is_apart: bool,
    pub(crate) has_budget: bool,
}

impl Manifest {
    /// The YAML, with `---` between its objects.
    pub(crate) fn yaml(&self) -> String {
        let context = json!({ "Release": { "Name": self.name }, "Values": self.values() });
        let mut out = String::new();
        for text in TEMPLATES {
            let part = template::render(text, &context)
                .unwrap_or_else(|why| panic!("a template of the chart can't be rendered: {why}"));
            let part = part.trim();
            if !part.is_empty() {
                out.push_str("---\n");
                out.push_str(part);
                out.push('\n');
            }
        }
        out
    }

    /// The chart's values with those of this call above them.
    fn values(&self) -> Value {
        let mut all = values::read(VALUES);
        let mut set = |path: &[&str], value: Value| put(&mut all, path, value);
        set(&["agents", "count"], self.agents.into());
        set(&["nats", "url"], self.nats.as_str().into());
        for (path, value) in [
            (&["nats", "secret"][..], &self.nats_secret),
            (&["image"], &self.image),
            (&["imagePullPolicy"], &self.pull_policy),
            (&["agents", "cpu"], &self.cpu),
            (&["agents", "memory"], &self.memory),
        ] {
            if let Some(value) = value {
                set(path, value.as_str().into());
            }
        }
        for (name, file) in &self.nats_files {
            set(&["nats", name], file.as_str().into());
        }
        match &self.source {
            Source::Data(bytes) => set(&["archive", "data"], STANDARD.encode(bytes).into()),
            Source::Claim { name, file } => {
                set(&["archive", "claim"], name.as_str().into());
                set(&["archive", "file"], file.as_str().into());
            }
            Source::Image(path) => set(&["archive", "inImage"], path.as_str().into()),
        }
        set(&["leader", "flags"], json!(self.flags));
        set(&["env"], json!(self.env));
        if self.is_apart {
            set(&["agents", "spread"], "DoNotSchedule".into());
        }
        set(&["agents", "disruptionBudget"], self.has_budget.into());
        all
    }
}

/// Sets a value that the chart has.
fn put(values: &mut Value, path: &[&str], value: Value) {
    let (last, parents) = path.split_last().expect("a path has a key");
    let mut at = values;
    for key in parents {
        at = at.get_mut(key).expect("the chart has it");
    }
    let map: Option<&mut Map<String, Value>> = at.as_object_mut();
    let old = map.and_then(|map| map.insert((*last).to_owned(), value));
    assert!(old.is_some(), "the chart has no value {path:?}");
}

/// Whether it is a label of DNS, as names of Kubernetes' objects are: small letters, digits, `-`.
pub(crate) fn is_label(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether it is a name that files of volumes and keys of Secrets may have.
pub(crate) fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=253).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            name: "shop".to_owned(),
            source: Source::Data(b"tar".to_vec()),
            agents: 4,
            nats: "nats://nats:4222".to_owned(),
            nats_secret: None,
            nats_files: BTreeMap::new(),
            image: None,
            pull_policy: None,
            flags: Vec::new(),
            env: BTreeMap::new(),
            cpu: None,
            memory: None,
            is_apart: false,
            has_budget: false,
        }
    }

    #[test]
    fn a_leader_and_its_agents_are_two_jobs_and_a_secret() {
        let yaml = manifest().yaml();
        let kinds: Vec<&str> =
            yaml.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
        assert_eq!(kinds, ["Secret", "Job", "Job"]);
        for part in [
            "name: shop-archive",
            "  test.tar: dGFy\n",
            "name: shop-leader",
            "            - --agents\n            - \"4\"\n            - --run-id\n            - \"shop\"\n            - \"/test/test.tar\"",
            "completions: 4\n  parallelism: 4\n",
            "value: \"nats://nats:4222\"",
            "secretName: shop-archive",
        ] {
            assert!(yaml.contains(part), "no {part:?} in\n{yaml}");
        }
        assert!(!yaml.contains("{{") && !yaml.contains("/nats/"), "{yaml}");
    }

    #[test]
    fn every_value_of_a_call_arrives() {
        let claim = Source::Claim { name: "tests".to_owned(), file: "t.tar".to_owned() };
        let yaml = Manifest {
            source: claim,
            nats_secret: Some("broker".to_owned()),
            nats_files: [("creds", "user.creds".to_owned())].into(),
            image: Some("registry.example/brunt:1".to_owned()),
            pull_policy: Some("Always".to_owned()),
            flags: vec!["--out".to_owned(), "csv=/tmp/a \"b\".csv".to_owned()],
            env: [("SHOP".to_owned(), "a: b".to_owned())].into(),
            cpu: Some("4".to_owned()),
            memory: Some("8Gi".to_owned()),
            is_apart: true,
            has_budget: true,
            ..manifest()
        }
        .yaml();
        for part in [
            "claimName: \"tests\"",
            "\"/test/t.tar\"",
            "name: BRUNT_NATS_CREDS\n              value: \"/nats/user.creds\"",
            "secretName: \"broker\"",
            "image: \"registry.example/brunt:1\"",
            "imagePullPolicy: \"Always\"",
            "- \"csv=/tmp/a \\\"b\\\".csv\"",
            "- name: \"SHOP\"\n              value: \"a: b\"",
            "cpu: \"4\"",
            "memory: \"8Gi\"",
            "whenUnsatisfiable: DoNotSchedule",
            "kind: PodDisruptionBudget",
            "minAvailable: 4",
        ] {
            assert!(yaml.contains(part), "no {part:?} in\n{yaml}");
        }
        assert!(!yaml.contains("kind: Secret"), "{yaml}");
        let yaml = Manifest { source: Source::Image("/srv/t.tar".to_owned()), ..manifest() }.yaml();
        assert!(yaml.contains("- \"/srv/t.tar\"") && !yaml.contains("/test"), "{yaml}");
    }

    #[test]
    fn names_are_kubernetes_names() {
        assert!(is_label("a-1") && !is_label("-a") && !is_label("A") && !is_label(""));
        assert!(is_name("user.creds") && !is_name("../x") && !is_name("a/b") && !is_name(""));
    }
}
