//! A script of the corpus, and what its first comments ask for.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::Observation;

/// A script, with what its leading `//` lines say.
///
/// The first such line that is none of the following is its title: what the script shows.
/// `// flags: …` are words for the command line, `// env: A=b` variables, `// unordered` says that console lines
/// may come in any order, `// stdin` that the script is handed over on stdin, `// unprinted` that stdout is none of the script's own, `// uncounted` that the numbers of samples depend on the clock.
#[derive(Debug, Clone)]
pub struct Script {
    /// Where it lies.
    pub path: PathBuf,
    /// The folder below `tests/k6`.
    pub area: String,
    /// The file's name without its ending.
    pub name: String,
    /// Its purpose, in a sentence.
    pub title: String,
    /// More words for the command line.
    pub flags: Vec<String>,
    /// More environment variables.
    pub env: Vec<(String, String)>,
    /// Console lines may come in any order.
    pub unordered: bool,
    /// It is read from stdin.
    pub from_stdin: bool,
    /// The numbers of samples are the same in each run.
    pub counted: bool,
    /// It prints its own summary, so stdout counts.
    pub prints: bool,
}

impl Script {
    /// Reads one.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let mut script = Self {
            path: path.to_owned(),
            area: part(path.parent().and_then(Path::file_name)),
            name: part(path.file_stem()),
            title: String::new(),
            flags: Vec::new(),
            env: Vec::new(),
            unordered: false,
            from_stdin: false,
            counted: true,
            prints: text.contains("handleSummary"),
        };
        for line in text.lines().map_while(|line| line.strip_prefix("//")).map(str::trim) {
            if let Some(flags) = line.strip_prefix("flags:") {
                script.flags.extend(flags.split_whitespace().map(str::to_owned));
            } else if let Some(env) = line.strip_prefix("env:") {
                let pairs = env.split_whitespace().filter_map(|pair| pair.split_once('='));
                script.env.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            } else if line == "unordered" {
                script.unordered = true;
            } else if line == "stdin" {
                script.from_stdin = true;
            } else if line == "unprinted" {
                script.prints = false;
            } else if line == "uncounted" {
                script.counted = false;
            } else if script.title.is_empty() {
                line.clone_into(&mut script.title);
            }
        }
        Ok(script)
    }

    /// `area/name`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.area, self.name)
    }

    /// Where the recorded answer lies.
    pub fn expected_path(&self) -> PathBuf {
        self.path.with_file_name(format!("{}.expected.json", self.name))
    }

    /// The recorded answer.
    ///
    /// # Errors
    /// If there is none, or it is no observation.
    pub fn expected(&self) -> anyhow::Result<Observation> {
        let path = self.expected_path();
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Observation::parse(&text).with_context(|| path.display().to_string())
    }
}

/// All scripts: the `.js` and `.ts` files one folder below `root`, in order. Deeper files are what scripts import.
///
/// # Errors
/// If a folder or file can't be read.
pub fn scripts(root: &Path) -> anyhow::Result<Vec<Script>> {
    let mut found = Vec::new();
    for area in std::fs::read_dir(root).with_context(|| root.display().to_string())? {
        let area = area?.path();
        if !area.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&area)? {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "js" || ending == "ts") {
                found.push(Script::read(&path)?);
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
