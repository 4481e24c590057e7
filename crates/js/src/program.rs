//! A script and all it imports, compiled once for every VU.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use brunt_quickjs::{Compiled, Ctx, Exports, Hooks, JsResult, Loaded, ModuleHost, Vm};
use brunt_script::{
    Disk, Files, Format, Graph, Import, ImportKind, Loader, Module, Names, Positions, Resolved,
    ScriptError, TAKES_METHODS, path_of,
};
use rustc_hash::FxHashMap;

use crate::api::Api;
use crate::named_exports::named_exports;
use crate::opened::OpenedFiles;

/// Stack that compiling may use: the parser is recursive, and it runs on a thread's own stack.
const COMPILE_STACK: usize = 6 * 1024 * 1024;

/// The stack of a thread that compiles: with room below for what is not the parser.
const COMPILE_THREAD_STACK: usize = 8 * 1024 * 1024;

/// A compiled script.
#[derive(Debug)]
pub struct Program {
    entry: String,
    source: Arc<str>,
    modules: RwLock<Modules>,
    identifiers: BTreeSet<String>,
    /// Whether methods of responses are taken away from them.
    takes_methods: bool,
    /// Some name may be put together at run time: nothing can be said of what is never used.
    open: bool,
    /// The files that scripts opened.
    files: OpenedFiles,
    /// Where modules come from that only computed specifiers name.
    origin: Origin,
}

/// Where modules are read from.
#[derive(Clone)]
struct Origin(Arc<dyn Files>);

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Origin").finish_non_exhaustive()
    }
}

/// The modules that are known. They grow only in the first init run, by what a computed `require()` or `import()` finds.
#[derive(Debug, Default)]
struct Modules {
    units: FxHashMap<String, Arc<Unit>>,
    asked: FxHashMap<String, Arc<Asked>>,
}

/// The exports that all importers together ask of a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// Exports that are named.
    pub(crate) names: BTreeSet<String>,
    /// Somebody wants the namespace: `* as ns`, `export *` or `import()`.
    pub(crate) all: bool,
    /// Those names that a built-in module has not, if they are `null` then.
    pub(crate) missing: Vec<String>,
}

/// The modules of k6 that export one object, of which named imports are properties: what they have not is `undefined`, and
/// `null` for all others.
const ONE_OBJECT: [&str; 4] = ["k6/http", "k6/execution", "k6/html", "k6/ws"];

impl Modules {
    /// Notes what built-in modules are asked for in vain.
    fn compare(&mut self, api: &dyn Api) {
        for (name, asked) in &mut self.asked {
            if asked.names.is_empty() || ONE_OBJECT.contains(&name.as_str()) {
                continue;
            }
            let Ok(offered) = api.exports(name) else { continue };
            let missing: Vec<_> =
                asked.names.iter().filter(|name| !offered.contains(name)).cloned().collect();
            if !missing.is_empty() {
                Arc::make_mut(asked).missing = missing;
            }
        }
    }

    /// Notes what `module` asks of others.
    fn ask(&mut self, module: &Module) {
        for import in &module.imports {
            let (Resolved::Builtin(target) | Resolved::Local(target)) = &import.resolved else {
                continue;
            };
            let asked = Arc::make_mut(self.asked.entry(target.clone()).or_default());
            match &import.names {
                Names::Only(wanted) => asked.names.extend(wanted.iter().cloned()),
                Names::All => asked.all |= import.kind != ImportKind::Require,
            }
        }
    }

    fn add(&mut self, module: &Module, code: Option<Compiled>) -> Arc<Unit> {
        let is_json = module.format == Format::Json;
        let unit = Arc::new(Unit {
            format: module.format,
            code,
            text: if is_json { Arc::clone(&module.code) } else { Arc::from("") },
            positions: module.positions.clone(),
            named: match module.format {
                Format::CommonJs => named_exports(&module.source).into_iter().collect(),
                _ => Vec::new(),
            },
        });
        self.units.insert(module.url.clone(), Arc::clone(&unit));
        unit
    }
}

/// One module.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) format: Format,
    /// Empty for JSON.
    pub(crate) code: Option<Compiled>,
    /// JSON text.
    pub(crate) text: Arc<str>,
    positions: Positions,
    /// The probable exports of a CommonJS file.
    pub(crate) named: Vec<String>,
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
        /// UTF-16 units of the specifier with its quotes.
        length: u32,
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
        let mut modules = Modules::default();
        for module in &graph.modules {
            check_imports(module, api)?;
            modules.ask(module);
        }
        modules.compare(api);
        for module in &graph.modules {
            modules.add(module, compiled(module)?);
        }
        let open = is_open(graph);
        Ok(Self {
            entry: graph.entry.clone(),
            source: graph
                .module(&graph.entry)
                .map_or_else(|| Arc::from(""), |main| Arc::clone(&main.source)),
            modules: RwLock::new(modules),
            takes_methods: graph.identifiers.contains(TAKES_METHODS),
            identifiers: graph.identifiers.clone(),
            open,
            files: OpenedFiles::default(),
            origin: Origin(Arc::new(Disk)),
        })
    }

    /// The same, of which modules that are asked for later are read from `origin`, and opened files are `files`.
    #[must_use]
    pub fn from_elsewhere(self, origin: Arc<dyn Files>, files: OpenedFiles) -> Self {
        Self { origin: Origin(origin), files, ..self }
    }

    fn modules(&self) -> RwLockReadGuard<'_, Modules> {
        self.modules.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn modules_mut(&self) -> RwLockWriteGuard<'_, Modules> {
        self.modules.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the script may use this name: it occurs in it, or names are put together at run time.
    pub fn may_use(&self, name: &str) -> bool {
        self.open || self.identifiers.contains(name)
    }

    /// Whether the script takes methods of responses away from them: `const { json } = response`.
    pub fn takes_methods(&self) -> bool {
        self.takes_methods
    }

    /// Whether any module is an ES module.
    pub fn has_es_modules(&self) -> bool {
        self.modules().units.values().any(|unit| unit.format == Format::Esm)
    }

    /// The URL of the main module.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The main module as its author wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The folder of the main module, or the working directory for a script from standard input.
    pub fn folder(&self) -> PathBuf {
        let path = path_of(&self.entry).unwrap_or_default();
        path.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }

    pub(crate) fn unit(&self, url: &str) -> Option<Arc<Unit>> {
        self.modules().units.get(url).cloned()
    }

    /// The module with this URL; read from where the others came from if the specifier was computed and this is the first init run
    /// (`first`).
    ///
    /// # Errors
    /// A sentence: missing, no script, or not asked for in the first init run.
    pub(crate) fn unit_or_load(&self, url: &str, first: bool) -> Result<Arc<Unit>, String> {
        if let Some(unit) = self.unit(url) {
            return Ok(unit);
        }
        let module =
            Loader::new(&*self.origin.0).load_one(url).map_err(|error| match &error.help {
                Some(help) => format!("{error}: {help}"),
                None => error.to_string(),
            })?;
        if !first {
            return Err(format!(
                "\"{url}\" was not imported in the first run of the init code (__VU==0), so it can't be imported \
                 later"
            ));
        }
        // Compiling wants a stack of its own: this may be a fiber.
        let code = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(COMPILE_THREAD_STACK);
            let compiling = thread.spawn_scoped(scope, || compiled(&module));
            compiling.map(std::thread::ScopedJoinHandle::join)
        });
        let code = match code {
            Ok(Ok(code)) => code.map_err(|error| error.to_string())?,
            Ok(Err(_)) => return Err(format!("compiling \"{url}\" failed: a fault in Brunt")),
            Err(error) => return Err(format!("no thread for compiling \"{url}\": {error}")),
        };
        let mut modules = self.modules_mut();
        modules.ask(&module);
        Arc::make_mut(modules.asked.entry(url.to_owned()).or_default()).all = true;
        Ok(modules.add(&module, code))
    }

    /// The exports asked of a module.
    pub(crate) fn asked(&self, name: &str) -> Arc<Asked> {
        self.modules().asked.get(name).cloned().unwrap_or_default()
    }

    /// The files that scripts opened.
    pub fn files(&self) -> &OpenedFiles {
        &self.files
    }

    /// The author's place of a place in compiled code, as stacks tell it: perhaps another file, line, column. `None` if it is the
    /// same.
    pub(crate) fn author_place(
        &self,
        url: &str,
        line: u32,
        column: u32,
    ) -> Option<brunt_quickjs::Place> {
        let unit = self.unit(url).filter(|unit| !unit.positions.is_told_as_is())?;
        let place = unit.positions.told(line, column);
        let file = place.url.map(str::to_owned);
        Some(brunt_quickjs::Place { file, line: place.line, column: place.column })
    }
}

/// Static imports of built-in modules must lead somewhere. (`require()` and `import()` may never be reached: they complain
/// when they are.)
fn check_imports(module: &Module, api: &dyn Api) -> Result<(), ProgramError> {
    for import in &module.imports {
        let Resolved::Builtin(name) = &import.resolved else { continue };
        if !matches!(import.kind, ImportKind::Static | ImportKind::ReExport) {
            continue;
        }
        match api.exports(name) {
            Ok(offered) => warn_of_missing(module, import, &offered),
            Err(message) => {
                return Err(ProgramError::Import {
                    message,
                    url: module.url.clone(),
                    line: import.line,
                    column: import.column,
                    length: import.specifier.encode_utf16().count() as u32 + 2,
                    source_line: line_of(&module.source, import.line),
                });
            }
        }
    }
    Ok(())
}

/// Says which names a built-in module lacks. The script runs: as in k6, they are `null` or `undefined` in it.
fn warn_of_missing(module: &Module, import: &Import, offered: &[String]) {
    let Names::Only(wanted) = &import.names else { return };
    let Import { specifier, line, column, .. } = import;
    let is_missing = |name: &&String| *name != "default" && !offered.contains(name);
    for name in wanted.iter().filter(is_missing) {
        let message =
            format!("\"{specifier}\" does not export \"{name}\" ({}:{line}:{column})", module.url);
        match brunt_spelling::question(name, offered.iter().map(String::as_str)) {
            Some(hint) => log::warn!(hint = hint.as_str(); "{message}"),
            None => log::warn!("{message}"),
        }
    }
}

fn compiled(module: &Module) -> Result<Option<Compiled>, ProgramError> {
    match module.format {
        Format::Json => Ok(None),
        format => compile_one(&module.url, &module.code, format, &module.positions).map(Some),
    }
}

/// `eval`, `Function`, the global object and computed imports can reach any name.
fn is_open(graph: &Graph) -> bool {
    let ways = ["eval", "Function", "globalThis", "global"];
    graph.is_open || ways.iter().any(|way| graph.identifiers.contains(*way))
}

/// While compiling, imports need only exist.
struct AnyModule;

impl ModuleHost for AnyModule {
    fn resolve(&self, _: Ctx<'_>, _: &str, specifier: &str) -> Result<String, String> {
        Ok(format!("import:{specifier}"))
    }
    fn load(&self, _: Ctx<'_>, _: &str) -> Result<Loaded, String> {
        Ok(Loaded::Native { shown: Vec::new(), hidden: Vec::new() })
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
    let vm = Vm::new(Rc::new(()), Hooks::default(), COMPILE_STACK);
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
