//! The modules of a script, ready to be compiled.

use std::{collections::BTreeSet, sync::Arc};

use crate::{positions::Positions, resolve::Resolved};

/// A script with everything that it imports.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Graph {
    /// The URL of the main module, `file:///abs/path`; `file:///current/dir/-` for standard input.
    pub entry: String,
    /// Every local file that can be reached by imports whose specifier is written out; the entry
    /// first, then in the order in which they were found.
    ///
    /// A module that only `require()` or `import()` ask for is left out if it can't be loaded: the call, if it is
    /// ever made, gets the error from [`Loader::load_one`](crate::Loader::load_one).
    pub modules: Vec<Module>,
    /// Every name that occurs in any of the modules: variables, properties, and string literals
    /// that are shaped like a name. `RegExp`, `BigInt` and `Promise` are in it also when only
    /// their syntax occurs. A global that is not in here can be reached only through `eval`,
    /// `Function`, a name put together at run time, or a module outside of this graph.
    pub identifiers: BTreeSet<String>,
    /// Whether some `require()` or `import()` has a specifier that is not written out, so that
    /// modules may be loaded that are not in here.
    pub is_open: bool,
}

impl Graph {
    /// The module with this URL.
    pub fn module(&self, url: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.url == url)
    }
}

/// The kind of a module, and so the treatment of its `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// An ES module: compile `code` as a module.
    Esm,
    /// CommonJS: compile `code` as a (sloppy) script. Its value is a function to be called with
    /// `module`, `exports` and `require`.
    CommonJs,
    /// JSON: `code` is the text, valid, to be parsed.
    Json,
}

/// One file of a script.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Module {
    /// Where it is, `file:///abs/path`; also the name to compile it under.
    pub url: String,
    /// How to treat `code`.
    pub format: Format,
    /// The code for the engine: JavaScript without types, without import attributes.
    pub code: Arc<str>,
    /// The file as its author wrote it, without a byte order mark.
    pub source: Arc<str>,
    /// Its imports, in the order of the text.
    pub imports: Vec<Import>,
    /// From places in `code` to places in the author's file.
    pub positions: Positions,
    /// Whether the module has an `await` outside of functions; only ES modules can.
    pub has_top_level_await: bool,
}

/// One import of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// As written, for example `./a.js`.
    pub specifier: String,
    /// The module that it means.
    pub resolved: Resolved,
    /// By what syntax.
    pub kind: ImportKind,
    /// The names that it asks for.
    pub names: Names,
    /// Whether its attributes say `type: 'json'`.
    pub is_json: bool,
    /// Line of the specifier in the author's file, from 1.
    pub line: u32,
    /// Column of the specifier in the author's file in UTF-16 units, from 1.
    pub column: u32,
}

/// The syntax of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportKind {
    /// `import … from '…'` or `import '…'`.
    Static,
    /// `export … from '…'`.
    ReExport,
    /// `require('…')`, called on the global function.
    Require,
    /// `import('…')`.
    Dynamic,
}

/// The exports that an import asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// The namespace: `* as ns`, `export *`, `require()` and `import()`.
    All,
    /// These, by their exported names; `default` is one. Empty for `import '…'`.
    Only(Vec<String>),
}
