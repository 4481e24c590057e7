//! The machine and the history that a run belongs to, read from files: no program is started.

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where a test ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub host: Option<String>,
    /// `Linux 6.1.0`
    pub kernel: Option<String>,
    /// The model of its processor.
    pub cpu: Option<String>,
    /// Bytes of memory.
    pub memory: Option<u64>,
}

impl Machine {
    /// This machine; of one without `/proc` nothing is known.
    pub fn read() -> Self {
        Self::read_in(Path::new("/proc"))
    }

    fn read_in(proc: &Path) -> Self {
        let line = |path: &str| {
            let text = read_to_string(proc.join(path)).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let kernel = line("sys/kernel/ostype").zip(line("sys/kernel/osrelease"));
        Self {
            host: line("sys/kernel/hostname"),
            kernel: kernel.map(|(system, release)| format!("{system} {release}")),
            cpu: line("cpuinfo").and_then(|text| cpu(&text)),
            memory: line("meminfo").and_then(|text| kilobytes(&text, "MemTotal")),
        }
    }
}

/// The model, by the names that kernels give it.
fn cpu(text: &str) -> Option<String> {
    let value = |key: &str| {
        let mut values = text.lines().filter_map(|line| line.split_once(':'));
        values.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    };
    ["model name", "Model", "Hardware", "Processor", "cpu model"].into_iter().find_map(value)
}

/// A line such as `MemTotal:  1234 kB`, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Where the script's folder is in its history, and who builds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Its hash, in hex.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The address of the build.
    pub build: Option<String>,
}

impl Commit {
    /// From the variables that CI systems set, and else from the files of git around `folder`.
    pub fn read(environment: &BTreeMap<String, String>, folder: &Path) -> Self {
        let first = |names: &[&str]| {
            let values = names.iter().filter_map(|name| environment.get(*name));
            values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
        };
        let get = |name: &str| environment.get(name).filter(|value| !value.is_empty());
        let github = get("GITHUB_SERVER_URL")
            .zip(get("GITHUB_REPOSITORY"))
            .zip(get("GITHUB_RUN_ID"))
            .map(|((server, repository), run)| format!("{server}/{repository}/actions/runs/{run}"));
        let azure = get("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI")
            .zip(get("SYSTEM_TEAMPROJECT"))
            .zip(get("BUILD_BUILDID"))
            .map(|((server, project), build)| {
                format!("{}/{project}/_build/results?buildId={build}", server.trim_end_matches('/'))
            });
        let of_git = git(folder).unwrap_or_default();
        let branch = first(&[
            "GITHUB_HEAD_REF",
            "GITHUB_REF_NAME",
            "CI_COMMIT_REF_NAME",
            "BUILD_SOURCEBRANCHNAME",
            "GIT_BRANCH",
            "CIRCLE_BRANCH",
            "BITBUCKET_BRANCH",
            "BUILDKITE_BRANCH",
            "TRAVIS_BRANCH",
            "DRONE_BRANCH",
            "CI_COMMIT_BRANCH",
        ]);
        Self {
            commit: first(&[
                "GITHUB_SHA",
                "CI_COMMIT_SHA",
                "BUILD_SOURCEVERSION",
                "GIT_COMMIT",
                "CIRCLE_SHA1",
                "BITBUCKET_COMMIT",
                "BUILDKITE_COMMIT",
                "TRAVIS_COMMIT",
                "DRONE_COMMIT_SHA",
            ])
            .or(of_git.commit),
            branch: branch.or(of_git.branch),
            build: github.or(azure).or_else(|| {
                first(&[
                    "CI_JOB_URL",
                    "CI_PIPELINE_URL",
                    "BUILD_URL",
                    "CIRCLE_BUILD_URL",
                    "BUILDKITE_BUILD_URL",
                    "TRAVIS_BUILD_WEB_URL",
                    "DRONE_BUILD_LINK",
                ])
            }),
        }
    }
}

/// The words of git's own files about a folder.
fn git(folder: &Path) -> Option<Commit> {
    let folder = folder.canonicalize().ok()?;
    let dir = folder.ancestors().find_map(git_dir)?;
    let head = read_to_string(dir.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return Some(Commit { commit: hash(&head), ..Commit::default() });
    };
    // A further working tree has a HEAD of its own, and the rest is where the first one is.
    let common = read_to_string(dir.join("commondir")).ok().map(|path| dir.join(path.trim()));
    let common = common.unwrap_or(dir);
    let is_safe = !Path::new(reference).is_absolute() && !reference.contains("..");
    let loose = || hash(&read_to_string(common.join(reference)).ok()?);
    let packed = || {
        let packed = read_to_string(common.join("packed-refs")).ok()?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(_, name)| *name == reference).and_then(|(commit, _)| hash(commit))
    };
    Some(Commit {
        commit: is_safe.then(|| loose().or_else(packed)).flatten(),
        branch: Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()),
        build: None,
    })
}

/// `.git` of a folder, which may be a file that tells where it is.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = read_to_string(&path).ok()?;
    Some(folder.join(text.trim().strip_prefix("gitdir:")?.trim()))
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_files_of_git_tell_branch_and_commit() {
        let home = tempfile::tempdir().unwrap();
        let (git, deep) = (home.path().join(".git"), home.path().join("a/b"));
        create_dir_all(git.join("refs/heads/x")).unwrap();
        create_dir_all(&deep).unwrap();
        write(git.join("HEAD"), "ref: refs/heads/x/y\n").unwrap();
        let none = BTreeMap::new();
        let known = Commit::read(&none, &deep);
        assert_eq!((known.commit, known.branch.as_deref()), (None, Some("x/y")));
        write(git.join("packed-refs"), format!("# pack-refs\n{HASH} refs/heads/x/y\n")).unwrap();
        assert_eq!(Commit::read(&none, &deep).commit.as_deref(), Some(HASH));
        write(git.join("refs/heads/x/y"), HASH.replace('0', "f")).unwrap();
        assert_eq!(Commit::read(&none, &deep).commit, Some(HASH.replace('0', "f")));
        write(git.join("HEAD"), HASH).unwrap();
        let detached = Commit::read(&none, &deep);
        assert_eq!((detached.commit.as_deref(), detached.branch), (Some(HASH), None));
        // A further working tree.
        let tree = home.path().join("tree");
        create_dir_all(git.join("worktrees/t")).unwrap();
        create_dir_all(&tree).unwrap();
        write(tree.join(".git"), format!("gitdir: {}\n", git.join("worktrees/t").display()))
            .unwrap();
        write(git.join("worktrees/t/HEAD"), "ref: refs/heads/x/y\n").unwrap();
        write(git.join("worktrees/t/commondir"), "../..\n").unwrap();
        assert_eq!(Commit::read(&none, &tree).commit, Some(HASH.replace('0', "f")));
    }

    #[test]
    fn ci_systems_tell_more() {
        let environment = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let github = environment(&[
            ("GITHUB_SHA", HASH),
            ("GITHUB_REF_NAME", "main"),
            ("GITHUB_SERVER_URL", "https://github.test"),
            ("GITHUB_REPOSITORY", "a/b"),
            ("GITHUB_RUN_ID", "7"),
        ]);
        let home = tempfile::tempdir().unwrap();
        let known = Commit::read(&github, home.path());
        assert_eq!(known.build.as_deref(), Some("https://github.test/a/b/actions/runs/7"));
        assert_eq!((known.commit.as_deref(), known.branch.as_deref()), (Some(HASH), Some("main")));
        let gitlab = environment(&[("CI_COMMIT_SHA", HASH), ("CI_JOB_URL", "https://g.test/1")]);
        assert_eq!(Commit::read(&gitlab, home.path()).build.as_deref(), Some("https://g.test/1"));
    }

    #[test]
    fn the_processor_has_a_name_by_any_of_its_keys() {
        assert_eq!(cpu("processor\t: 0\nmodel name\t: A B\n").as_deref(), Some("A B"));
        assert_eq!(cpu("processor : 0\nModel : Raspberry\n").as_deref(), Some("Raspberry"));
        assert_eq!(cpu(""), None);
        assert_eq!(kilobytes("MemTotal:  12 kB\nMemFree: 3 kB", "MemFree"), Some(3072));
    }
}
