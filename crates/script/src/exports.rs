//! The exports of modules, and a check of every import against them: a linker's check, done where the place of the
//! import is known.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    error::{ErrorKind, ScriptError},
    graph::{Import, ImportKind, Module, Names},
    resolve::Resolved,
};

/// The maximum number of names that are shown of a module that lacks one.
const SHOWN: usize = 8;

/// The exports of an ES module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exports {
    /// By these names; `default` is one.
    pub(crate) names: BTreeSet<String>,
    /// All that these export, but `default`: the specifiers of `export * from '…'`.
    pub(crate) stars: Vec<String>,
}

/// The known exports of each module, by URL. Modules of other formats are not in it: they have every export.
#[derive(Debug, Default)]
pub(crate) struct KnownExports(FxHashMap<String, (BTreeSet<String>, Vec<Resolved>)>);

impl KnownExports {
    pub(crate) fn add(&mut self, module: &Module, exports: Exports) {
        let starred = |import: &&Import| {
            import.kind == ImportKind::ReExport && exports.stars.contains(&import.specifier)
        };
        let stars = module.imports.iter().filter(starred).map(|import| import.resolved.clone());
        let stars = stars.collect();
        self.0.insert(module.url.clone(), (exports.names, stars));
    }

    /// Looks at all static imports of a module.
    ///
    /// # Errors
    /// The first import of a name that its module does not have.
    pub(crate) fn check(&self, importer: &Module) -> Result<(), ScriptError> {
        for import in &importer.imports {
            let (Names::Only(names), Resolved::Local(url)) = (&import.names, &import.resolved)
            else {
                continue;
            };
            if let Some(name) = names.iter().find(|name| !self.has(url, name)) {
                return Err(self.missing(importer, import, url, name));
            }
        }
        Ok(())
    }

    fn has(&self, url: &str, name: &str) -> bool {
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![url]);
        while let Some(url) = waiting.pop() {
            let Some((names, stars)) = self.0.get(url) else { return true };
            if names.contains(name) {
                return true;
            }
            if !seen.insert(url) || name == "default" {
                continue;
            }
            for star in stars {
                match star {
                    Resolved::Local(url) => waiting.push(url),
                    _ => return true,
                }
            }
        }
        false
    }

    fn missing(&self, importer: &Module, import: &Import, url: &str, name: &str) -> ScriptError {
        let from = &import.specifier;
        let message = if name == "default" {
            format!("\"{from}\" has no default export")
        } else {
            format!("\"{from}\" does not export \"{name}\"")
        };
        let names: Vec<&str> =
            self.0.get(url).into_iter().flat_map(|(names, _)| names).map(String::as_str).collect();
        let help = match names.len() {
            0 => None,
            1..=SHOWN => Some(format!("it exports {}", names.join(", "))),
            more => {
                Some(format!("it exports {} and {} more", names[..SHOWN].join(", "), more - SHOWN))
            }
        };
        let meant = brunt_spelling::question(name, names.iter().copied());
        import.error(ErrorKind::Export, importer, message).with_help(meant.or(help))
    }
}
