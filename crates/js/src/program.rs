//! A script and all it imports, compiled once for every VU.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use brunt_quickjs::{Compiled, Ctx, Exports, Hooks, Intrinsics, JsResult, Loaded, ModuleHost, Vm};
use brunt_script::{Format, Graph, Names, Positions, Resolved, ScriptError, path_of};
use rustc_hash::FxHashMap;

use crate::api::Api;

/// Stack that compiling may use: the parser is recursive, and it runs on a thread's own stack.
const COMPILE_STACK: usize = 6 * 1024 * 1024;

/// A file given to `open()`: at most this many bytes.
pub const FILE_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// A compiled script.
#[derive(Debug)]
pub struct Program {
    entry: String,
    units: FxHashMap<String, Unit>,
    /// Names asked of each native or CommonJS module, over all importers.
    asked: FxHashMap<String, BTreeSet<String>>,
    intrinsics: Intrinsics,
    /// What `open()` read in the first init run, by path. The VUs may open these and no others.
    files: Mutex<BTreeMap<PathBuf, Arc<[u8]>>>,
}

/// One module.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) format: Format,
    /// Empty for JSON.
    pub(crate) code: Option<Compiled>,
    /// JSON text.
    pub(crate) text: Arc<str>,
    pub(crate) source: Arc<str>,
    positions: Positions,
}

/// Why a script cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It cannot be loaded or parsed.
    #[error(transparent)]
    Script(#[from] Box<ScriptError>),
    /// An import is not offered.
    #[error("{message}")]
    Import {
        /// A sentence.
        message: String,
        /// The importing file.
        url: String,
        /// Line of the import, from 1.
        line: u32,
        /// Column of the import, from 1.
        column: u32,
        /// The text of that line.
        source_line: String,
    },
    /// The JavaScript engine refuses what the parser took.
    #[error("{message}")]
    Engine {
        /// The engine's words, with the place.
        message: String,
        /// The file.
        url: String,
    },
}

impl Program {
    /// Compiles a loaded script against what `api` offers.
    ///
    /// # Errors
    /// Imports that `api` does not offer, and what the engine does not compile.
    pub fn compile(graph: &Graph, api: &dyn Api) -> Result<Self, ProgramError> {
        let mut asked: FxHashMap<String, BTreeSet<String>> = FxHashMap::default();
        for module in &graph.modules {
            for import in &module.imports {
                let target = match &import.resolved {
                    Resolved::Builtin(name) => {
                        // `require()` and `import()` may never be reached: they complain when they are.
                        let certain = matches!(
                            import.kind,
                            brunt_script::ImportKind::Static | brunt_script::ImportKind::ReExport
                        );
                        if let (Err(message), true) = (api.exports(name), certain) {
                            return Err(ProgramError::Import {
                                message,
                                url: module.url.clone(),
                                line: import.line,
                                column: import.column,
                                source_line: line_of(&module.source, import.line),
                            });
                        }
                        name
                    }
                    Resolved::Local(url) => url,
                    Resolved::Nowhere => continue,
                };
                let names = asked.entry(target.clone()).or_default();
                if let Names::Only(wanted) = &import.names {
                    names.extend(wanted.iter().cloned());
                }
            }
        }
        let mut units = FxHashMap::default();
        for module in &graph.modules {
            let code = match module.format {
                Format::Json => None,
                _ => {
                    Some(compile_one(&module.url, &module.code, module.format, &module.positions)?)
                }
            };
            let unit = Unit {
                format: module.format,
                code,
                text: if module.format == Format::Json {
                    Arc::clone(&module.code)
                } else {
                    Arc::from("")
                },
                source: Arc::clone(&module.source),
                positions: module.positions.clone(),
            };
            units.insert(module.url.clone(), unit);
        }
        Ok(Self {
            entry: graph.entry.clone(),
            units,
            asked,
            intrinsics: intrinsics_for(graph),
            files: Mutex::default(),
        })
    }

    /// The URL of the main module.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The main module as its author wrote it.
    pub fn source(&self) -> &str {
        self.units.get(&self.entry).map_or("", |unit| &unit.source)
    }

    /// The folder of the main module, or the working directory for a script from standard input.
    pub fn folder(&self) -> PathBuf {
        let path = path_of(&self.entry).unwrap_or_default();
        path.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }

    pub(crate) fn unit(&self, url: &str) -> Option<&Unit> {
        self.units.get(url)
    }

    pub(crate) fn asked(&self, name: &str) -> Vec<String> {
        self.asked.get(name).map(|names| names.iter().cloned().collect()).unwrap_or_default()
    }

    pub(crate) fn intrinsics(&self) -> Intrinsics {
        self.intrinsics
    }

    /// The bytes of a file for `open()`: read from the disk in the first init run (`first`), remembered for all others.
    ///
    /// # Errors
    /// A sentence: missing, a folder, too large, or not opened in the first init run.
    pub fn open_file(&self, path: &Path, first: bool) -> Result<Arc<[u8]>, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = files.get(path) {
            return Ok(Arc::clone(bytes));
        }
        let shown = path.display();
        if !first {
            return Err(format!(
                "open() can't be used with files that weren't previously opened during initialization \
                 (__VU==0), path: \"{shown}\""
            ));
        }
        let about = std::fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("The \"{shown}\" file couldn't be opened: no such file or directory")
            }
            _ => format!("The \"{shown}\" file couldn't be opened: {error}"),
        })?;
        if about.is_dir() {
            return Err(format!("open() can't be used with directories, path: \"{shown}\""));
        }
        if about.len() > FILE_MAX {
            return Err(format!("The \"{shown}\" file is larger than {FILE_MAX} bytes"));
        }
        let bytes: Arc<[u8]> = std::fs::read(path)
            .map_err(|error| format!("The \"{shown}\" file couldn't be read: {error}"))?
            .into();
        files.insert(path.to_path_buf(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// A text with places of compiled code, as stacks have them, put back to the author's places.
    pub(crate) fn author_positions(&self, text: &str) -> String {
        if self.units.values().all(|unit| unit.positions.is_identity()) {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                out.push('\n');
            }
            self.author_line(line, &mut out);
        }
        out
    }

    fn author_line(&self, line: &str, out: &mut String) {
        for (url, unit) in &self.units {
            let Some(start) = line.find(url.as_str()) else { continue };
            let rest = &line[start + url.len()..];
            let mut parts = rest.splitn(3, ':');
            let (Some(""), Some(row), Some(tail)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            let (Ok(row), Ok(column)) = (row.parse::<u32>(), tail[..digits].parse::<u32>()) else {
                continue;
            };
            let place = unit.positions.author(row, column);
            let file = place.url.unwrap_or(url);
            let _ = write!(
                out,
                "{}{file}:{}:{}{}",
                &line[..start],
                place.line,
                place.column,
                &tail[digits..]
            );
            return;
        }
        out.push_str(line);
    }
}

/// The intrinsics that the script can reach. `eval`, `Function` and computed globals can reach all of them.
fn intrinsics_for(graph: &Graph) -> Intrinsics {
    let has = |name: &str| graph.identifiers.contains(name);
    let open =
        graph.is_open || has("eval") || has("Function") || has("globalThis") || has("global");
    Intrinsics {
        // SharedArray and exec.test.options are proxies underneath.
        proxy: true,
        big_int: open || has("BigInt") || has("BigInt64Array") || has("BigUint64Array"),
        weak_ref: open || has("WeakRef") || has("FinalizationRegistry"),
        dom_exception: open
            || has("DOMException")
            || has("atob")
            || has("btoa")
            || has("structuredClone"),
    }
}

/// While compiling, imports need only exist.
struct AnyModule;

impl ModuleHost for AnyModule {
    fn resolve(&self, _: Ctx<'_>, _: &str, specifier: &str) -> Result<String, String> {
        Ok(format!("import:{specifier}"))
    }
    fn load(&self, _: Ctx<'_>, _: &str) -> Result<Loaded, String> {
        Ok(Loaded::Native(Vec::new()))
    }
    fn evaluate<'js>(&self, _: Ctx<'js>, _: &str, _: &Exports<'js>) -> JsResult<'js, ()> {
        Ok(())
    }
}

fn compile_one(
    url: &str,
    code: &str,
    format: Format,
    positions: &Positions,
) -> Result<Compiled, ProgramError> {
    let vm = Vm::new(Rc::new(()), Hooks::default(), Intrinsics::ALL, COMPILE_STACK);
    vm.set_modules(Rc::new(AnyModule));
    let ctx = vm.ctx();
    let compiled = match format {
        Format::CommonJs => ctx.compile_script(url, code),
        _ => ctx.compile_module(url, code),
    };
    compiled.map_err(|_| {
        let text = ctx.take_exception().map_or_else(String::new, |exception| {
            let message = exception.value.to_string_lossy().unwrap_or_default();
            let stack = exception
                .value
                .get("stack")
                .ok()
                .and_then(|stack| stack.as_str().map(|s| s.to_string()));
            let place =
                stack.as_deref().and_then(|stack| place_in(stack, url)).map(|(line, column)| {
                    let place = positions.author(line, column);
                    format!(" at {url}:{}:{}", place.line, place.column)
                });
            message + &place.unwrap_or_default()
        });
        ProgramError::Engine { message: text, url: url.to_owned() }
    })
}

/// The first place of `url` in a stack.
fn place_in(stack: &str, url: &str) -> Option<(u32, u32)> {
    let rest = &stack[stack.find(url)? + url.len()..];
    let mut numbers = rest.strip_prefix(':')?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn line_of(source: &str, line: u32) -> String {
    let index = (line as usize).saturating_sub(1);
    source.lines().nth(index).unwrap_or_default().to_owned()
}
