//! From a path to a graph.

use std::{
    collections::BTreeSet,
    io,
    panic::resume_unwind,
    path::{Path, PathBuf},
    thread,
};

use rustc_hash::FxHashSet;
use url::Url;

use crate::{
    error::{ErrorKind, ScriptError},
    exports::KnownExports,
    files::{Files, MAX_FILE},
    graph::{Graph, Import, ImportKind, Module},
    module::{Prepared, prepare},
    resolve::{Resolved, is_remote, path_of},
};

/// A script may have this many modules.
pub const MAX_MODULES: usize = 10_000;

/// Parsing is recursive, so it gets a stack of its own. Only what is touched of it costs memory.
const STACK: usize = 512 << 20;

/// The main script.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A file; relative to the current directory.
    Path(PathBuf),
    /// A script at an `https://` address.
    Remote(String),
    /// The text of standard input. Its imports are relative to the current directory.
    Stdin(Vec<u8>),
}

/// Loads scripts from [`Files`].
#[derive(Clone, Copy)]
pub struct Loader<'f> {
    files: &'f dyn Files,
}

impl std::fmt::Debug for Loader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").finish_non_exhaustive()
    }
}

impl<'f> Loader<'f> {
    /// A loader that reads from `files`.
    pub fn new(files: &'f dyn Files) -> Self {
        Self { files }
    }

    /// Loads a script and all that it imports.
    ///
    /// # Errors
    /// The first thing that is wrong with the script, or with a module that is sure to be loaded.
    /// A module that only `require()` or `import()` ask for is left out instead.
    pub fn load(&self, entry: Entry) -> Result<Graph, ScriptError> {
        on_large_stack(|| {
            let mut work = Work {
                loader: *self,
                seen: FxHashSet::default(),
                modules: Vec::new(),
                identifiers: BTreeSet::new(),
                is_open: false,
                exports: KnownExports::default(),
            };
            work.add(self.entry(entry)?);
            work.follow(Certainty::Needed)?;
            work.modules.iter().try_for_each(|module| work.exports.check(module))?;
            // Only now, so that nothing needed was passed over as a mere possibility.
            work.follow(Certainty::Possible)?;
            Ok(Graph {
                entry: work.modules[0].url.clone(),
                modules: work.modules,
                identifiers: work.identifiers,
                is_open: work.is_open,
            })
        })
    }

    /// Loads a single module by its URL, without what it imports: for `require()` and `import()`
    /// of something that is not in the graph.
    ///
    /// # Errors
    /// The file is not there, or is no script. The caller adds the importer.
    pub fn load_one(&self, url: &str) -> Result<Module, ScriptError> {
        on_large_stack(|| Ok(self.module(url, false)?.module))
    }

    fn entry(&self, entry: Entry) -> Result<Prepared, ScriptError> {
        match entry {
            Entry::Stdin(bytes) => {
                prepare(&url_of(&self.here()?.join("-")), bytes, false, self.files)
            }
            Entry::Remote(url) => self.module(&url, false),
            Entry::Path(path) => {
                let full = if path.is_absolute() { path.clone() } else { self.here()?.join(&path) };
                self.module(&url_of(&full), false).map_err(|mut error| {
                    if error.kind == ErrorKind::Missing {
                        error.kind = ErrorKind::EntryMissing;
                        error.message = format!("the script \"{}\" does not exist", path.display());
                    }
                    error
                })
            }
        }
    }

    fn here(&self) -> Result<PathBuf, ScriptError> {
        self.files.current_dir().map_err(|error| {
            let message = format!("the current directory is not known: {error}");
            ScriptError::whole(ErrorKind::Unreadable, ".", message)
        })
    }

    fn module(&self, url: &str, is_json: bool) -> Result<Prepared, ScriptError> {
        prepare(url, self.read(url)?, is_json, self.files)
    }

    fn read(&self, url: &str) -> Result<Vec<u8>, ScriptError> {
        if is_remote(url) {
            return self
                .files
                .fetch(url)
                .map_err(|message| ScriptError::whole(ErrorKind::Remote, url, message));
        }
        let Some(path) = path_of(url) else {
            let message = format!("\"{url}\" is not a file of this machine");
            return Err(ScriptError::whole(ErrorKind::Scheme, url, message));
        };
        self.files.read(&path).map_err(|error| self.unread(url, &path, &error))
    }

    fn unread(&self, url: &str, path: &Path, error: &io::Error) -> ScriptError {
        let shown = path.display();
        let (kind, message) = match error.kind() {
            // A file where a directory was looked for is as good as nothing.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                (ErrorKind::Missing, format!("the file \"{shown}\" does not exist"))
            }
            io::ErrorKind::IsADirectory => {
                (ErrorKind::Directory, format!("\"{shown}\" is a directory"))
            }
            io::ErrorKind::FileTooLarge => {
                (ErrorKind::TooLarge, format!("\"{shown}\" is larger than {} MiB", MAX_FILE >> 20))
            }
            _ => (ErrorKind::Unreadable, format!("can't read \"{shown}\": {error}")),
        };
        let is_elsewhere = matches!(kind, ErrorKind::Missing | ErrorKind::Directory);
        let help = if is_elsewhere { self.look_alike(path) } else { None };
        ScriptError::whole(kind, url, message).with_help(help)
    }

    /// A file that was perhaps meant, under the rules of Node.js or of TypeScript.
    fn look_alike(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?;
        let longer = |ending: &str| {
            let mut name = name.to_owned();
            name.push(ending);
            path.with_file_name(name)
        };
        let mut candidates: Vec<_> = [".js", ".ts", ".mjs", ".cjs", ".json"].map(longer).into();
        candidates.extend(["index.js", "index.ts"].map(|index| path.join(index)));
        candidates.extend(["ts", "js", "mjs"].map(|ending| path.with_extension(ending)));
        let found = candidates
            .into_iter()
            .find(|candidate| candidate != path && self.files.is_file(candidate))
            .or_else(|| self.files.look_alike(path))?;
        let found = found.strip_prefix(path.parent()?).ok()?;
        Some(format!("did you mean \"{}\"? Names are taken as they are written", found.display()))
    }
}

/// The URL of an absolute path, with its `.` and `..` resolved as text.
#[must_use]
pub fn url_of(path: &Path) -> String {
    let url = Url::from_file_path(path).map(String::from);
    // Parsing again resolves the dots.
    url.ok()
        .and_then(|url| Url::parse(&url).ok())
        .map_or_else(|| "file:///-".to_owned(), String::from)
}

/// Which imports are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// Those without which the script can't start.
    Needed,
    /// Those, too, that may happen while it runs.
    Possible,
}

/// A graph that is being loaded.
struct Work<'f> {
    loader: Loader<'f>,
    seen: FxHashSet<String>,
    modules: Vec<Module>,
    identifiers: BTreeSet<String>,
    is_open: bool,
    exports: KnownExports,
}

impl Work<'_> {
    fn add(&mut self, prepared: Prepared) {
        self.seen.insert(prepared.module.url.clone());
        self.identifiers.extend(prepared.identifiers);
        self.is_open |= prepared.is_open;
        if let Some(exports) = prepared.exports {
            self.exports.add(&prepared.module, exports);
        }
        self.modules.push(prepared.module);
    }

    /// Loads what the modules import, and what those import, breadth first.
    fn follow(&mut self, certainty: Certainty) -> Result<(), ScriptError> {
        let mut at = 0;
        while at < self.modules.len() {
            let imports = self.modules[at].imports.clone();
            for import in imports {
                let is_possible = matches!(import.kind, ImportKind::Require | ImportKind::Dynamic);
                let Resolved::Local(url) = &import.resolved else {
                    continue;
                };
                if (is_possible && certainty == Certainty::Needed) || self.seen.contains(url) {
                    continue;
                }
                match self.load(url, import.is_json) {
                    Ok(prepared) => self.add(prepared),
                    Err(_) if certainty == Certainty::Possible => {
                        self.seen.insert(url.clone());
                    }
                    Err(error) => return Err(blame(error, &self.modules[at], &import)),
                }
            }
            at += 1;
        }
        Ok(())
    }

    fn load(&self, url: &str, is_json: bool) -> Result<Prepared, ScriptError> {
        if self.modules.len() >= MAX_MODULES {
            let message = format!("the script has more than {MAX_MODULES} modules");
            return Err(ScriptError::whole(ErrorKind::TooLarge, url, message));
        }
        self.loader.module(url, is_json)
    }
}

/// A file that can't be had is the fault of the import; one that can be had is to be mended itself.
fn blame(error: ScriptError, importer: &Module, import: &Import) -> ScriptError {
    if error.line > 0 || error.kind == ErrorKind::NotUtf8 {
        return error;
    }
    import.error(error.kind, importer, error.message).with_help(error.help)
}

/// Runs something that recurses with the input. Where no such thread can be had, here.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let slot = &mut work;
    let done = thread::scope(|scope| {
        let run = || slot.take().map(|work| work());
        let thread = thread::Builder::new().name("script".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, run) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "No thread for parsing");
                None
            }
        }
    });
    match (done, work) {
        (Some(done), _) => done,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work was either done or is still there"),
    }
}
