//! The fork of the engine: numbered patches, and how they are applied. `patches/README.md` tells the form of the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// One file of `patches`.
pub(crate) struct Patch {
    /// The name of its file without the ending: number and word.
    pub(crate) name: String,
    pub(crate) title: String,
    /// `mend`, `limit`, `k6`, `memory`, `speed` or `hook`.
    pub(crate) kind: String,
    pub(crate) why: String,
    /// `path::function` of a Rust test, or the path of a script of the corpus; from the root of the repository.
    pub(crate) tests: Vec<String>,
    /// How to measure what it brings.
    pub(crate) figure: Option<String>,
    /// `yes`, `perhaps` or `no`, and why.
    pub(crate) upstream: String,
    pub(crate) hunks: Vec<Hunk>,
}

/// Lines of one source that become others.
pub(crate) struct Hunk {
    file: String,
    /// Where it began in the release that the patch was made for.
    line: usize,
    old: String,
    new: String,
    pub(crate) removed: usize,
    pub(crate) added: usize,
}

/// The patches of a folder, in the order of their numbers.
///
/// # Errors
/// If the folder cannot be read, or a file is no patch: with its name.
pub(crate) fn read(folder: &Path) -> io::Result<Vec<Patch>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "patch") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut patches = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let patch = Patch::parse(&name, &text)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        patches.push(patch);
    }
    Ok(patches)
}

/// Takes out the patch of this number, `0012`, or one hunk of it, `0012.3`, counted from 1.
///
/// # Errors
/// If there is none.
pub(crate) fn leave_out(patches: &mut Vec<Patch>, number: &str) -> Result<(), String> {
    let (number, hunk) = number.split_once('.').unwrap_or((number, ""));
    let is_it = |patch: &Patch| patch.name.split('-').next() == Some(number);
    let at = patches.iter().position(is_it).ok_or_else(|| format!("there is no patch {number}"))?;
    if hunk.is_empty() {
        patches.remove(at);
        return Ok(());
    }
    let hunks = &mut patches[at].hunks;
    match hunk.parse::<usize>() {
        Ok(index @ 1..) if index <= hunks.len() => {
            hunks.remove(index - 1);
            Ok(())
        }
        _ => Err(format!("patch {number} has {} hunks, and no {hunk}", hunks.len())),
    }
}

impl Patch {
    /// Reads a patch: fields, an empty line, a unified diff.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let (head, diff) = text.split_once("\n\n").ok_or("no empty line behind the fields")?;
        let mut fields: Vec<(&str, String)> = Vec::new();
        for line in head.lines() {
            if let (Some(more), Some((_, value))) = (line.strip_prefix("  "), fields.last_mut()) {
                value.push(' ');
                value.push_str(more);
            } else {
                let (field, value) = line.split_once(": ").ok_or("a field without a value")?;
                fields.push((field, value.to_owned()));
            }
        }
        let all = |wanted: &str| {
            let of_this = fields.iter().filter(|(field, _)| *field == wanted);
            of_this.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let one = |wanted: &str| all(wanted).pop().ok_or(format!("no field {wanted}"));
        let known = ["Title", "Kind", "Why", "Test", "Figure", "Upstream"];
        if let Some((field, _)) = fields.iter().find(|(field, _)| !known.contains(field)) {
            return Err(format!("the field {field} is not known"));
        }
        let tests = all("Test");
        if tests.is_empty() {
            return Err("no field Test".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            title: one("Title")?,
            kind: one("Kind")?,
            why: one("Why")?,
            tests,
            figure: all("Figure").pop(),
            upstream: one("Upstream")?,
            hunks: hunks(diff)?,
        })
    }

    /// Applies it to the sources, by file name. A hunk whose old lines are not there exactly once is left out.
    /// Returns what is to say of each of these.
    pub(crate) fn apply(&self, sources: &mut BTreeMap<String, String>) -> Vec<String> {
        let mut failures = Vec::new();
        for (index, hunk) in self.hunks.iter().enumerate() {
            if let Err(found) = hunk.apply(sources) {
                let Hunk { file, line, .. } = hunk;
                let (name, title) = (&self.name, &self.title);
                let (number, count) = (index + 1, self.hunks.len());
                let lines = hunk.old.replace('\n', "\n      ");
                failures.push(format!(
                    "{name} ({title})\n    hunk {number} of {count}, in {file}, once at line {line}: \
                     {found}\n      {}",
                    lines.trim_end()
                ));
            }
        }
        failures
    }
}

impl Hunk {
    /// Puts the new lines in place of the old ones, which must be there exactly once. The error says what is there.
    fn apply(&self, sources: &mut BTreeMap<String, String>) -> Result<(), String> {
        let text = sources.get_mut(&self.file).ok_or("there is no such file")?;
        let places: Vec<_> = line_starts(text, &self.old).collect();
        match places[..] {
            [at] => {
                text.replace_range(at..at + self.old.len(), &self.new);
                Ok(())
            }
            [] if line_starts(text, &self.new).next().is_some() => {
                Err("its old lines are gone, its new ones are there".to_owned())
            }
            [] => Err("its old lines are gone".to_owned()),
            _ => Err(format!("its old lines are there {} times", places.len())),
        }
    }
}

/// Where these lines begin.
fn line_starts<'a>(text: &'a str, lines: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_start = |at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    text.match_indices(lines).map(|(at, _)| at).filter(move |&at| is_start(at))
}

fn hunks(diff: &str) -> Result<Vec<Hunk>, String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut file = None;
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            file = Some(name.to_owned());
        } else if let Some(numbers) = line.strip_prefix("@@ -") {
            let number = numbers.split([',', ' ']).next().and_then(|number| number.parse().ok());
            hunks.push(Hunk {
                file: file.clone().ok_or("a hunk before its file")?,
                line: number.ok_or("a hunk without its line")?,
                old: String::new(),
                new: String::new(),
                removed: 0,
                added: 0,
            });
        } else if !line.starts_with("+++ ") {
            let hunk = hunks.last_mut().ok_or("lines before their hunk")?;
            let (is_old, is_new) = match line.chars().next() {
                Some(' ') => (true, true),
                Some('-') => (true, false),
                Some('+') => (false, true),
                _ => return Err(format!("a line that is neither old nor new: {line}")),
            };
            hunk.removed += usize::from(!is_new);
            hunk.added += usize::from(!is_old);
            for (is_in, text) in [(is_old, &mut hunk.old), (is_new, &mut hunk.new)] {
                if is_in {
                    text.push_str(&line[1..]);
                    text.push('\n');
                }
            }
        }
    }
    if hunks.is_empty() { Err("nothing is changed".to_owned()) } else { Ok(hunks) }
}

/// The messages in the table of `engine/words.c` that the engine does not say, told as failures.
pub(crate) fn unsaid(words: &str, engine: &str) -> Vec<String> {
    let said = words.lines().filter_map(|line| line.strip_prefix("    { \"")?.split_once("\", \""));
    let unsaid = said.filter(|(message, _)| !engine.contains(&format!("\"{message}\"")));
    unsaid
        .map(|(message, _)| format!("engine/words.c: the engine does not say \"{message}\""))
        .collect()
}

/// The list of faults that an upgrade has to mend, all at once.
pub(crate) fn told(failures: &[String], release: &str) -> String {
    let mut told = format!("{} things do not fit {release}:\n", failures.len());
    for failure in failures {
        let _ = writeln!(told, "\n  {failure}");
    }
    told.push_str("\nMake these patches anew: crates/quickjs/patches/README.md says how.\n");
    told
}
