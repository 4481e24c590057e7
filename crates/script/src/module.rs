//! From the bytes of a file to a module.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    commonjs,
    error::{ErrorKind, ScriptError},
    exports::Exports,
    files::Files,
    graph::{Format, Import, ImportKind, Module},
    json,
    lines::Lines,
    positions::{Positions, Told},
    resolve::{Resolved, resolve},
    source_map::SourceMap,
    syntax::{self, FoundImport, Language},
};

/// A module, and what the graph as a whole is told of it.
pub(crate) struct Prepared {
    pub(crate) module: Module,
    pub(crate) identifiers: BTreeSet<String>,
    pub(crate) is_open: bool,
    /// Of an ES module; `None` for the other formats.
    pub(crate) exports: Option<Exports>,
}

/// Understands one file. `files` is asked for its source map only.
pub(crate) fn prepare(
    url: &str,
    bytes: Vec<u8>,
    is_json: bool,
    files: &dyn Files,
) -> Result<Prepared, ScriptError> {
    let text = decode(url, bytes)?;
    if is_json || ends_with_one_of(url, &[".json"]) {
        return json_module(url, text);
    }
    // A script from standard input has no ending.
    let may_have_types = ends_with_one_of(url, &[".ts", ".mts", ".cts", "/-"]);
    let language = if may_have_types { Language::TypeScript } else { Language::JavaScript };
    let prepared = syntax::prepare(&text, language).map_err(|fault| {
        let place = (fault.start, fault.length);
        ScriptError::at(ErrorKind::Syntax, url, &text, place, fault.message).with_help(fault.help)
    })?;

    let has_types = prepared.code.is_some();
    let plain: Arc<str> = prepared.code.map_or_else(|| Arc::clone(&text), Into::into);
    let counted = if prepared.generated.is_some() { &plain } else { &text };
    let own = Positions::new(prepared.shifts, counted, prepared.generated);
    let imports = Importer { url, text: &text, code: &plain, positions: &own };
    let imports = imports.all(prepared.imports)?;
    let (code, head) = if prepared.format == Format::CommonJs {
        let (code, head) = commonjs::wrap(&plain, prepared.declares_require);
        (code.into(), Some(head))
    } else {
        (plain, None)
    };
    let told = if may_have_types && has_types {
        Told::Typed(Arc::clone(&text), Lines::of(&text))
    } else if prepared.format == Format::CommonJs {
        Told::Wrapped { names_map: SourceMap::is_named_in(&text) }
    } else {
        Told::Bytes
    };
    Ok(Prepared {
        module: Module {
            url: url.to_owned(),
            format: prepared.format,
            code,
            imports,
            positions: own.within(head, SourceMap::of_bundle(&text, url, files), told),
            source: text,
            has_top_level_await: prepared.has_top_level_await,
        },
        identifiers: prepared.identifiers,
        is_open: prepared.is_open,
        exports: (prepared.format == Format::Esm).then_some(prepared.exports),
    })
}

/// The text of a file, without a byte order mark.
fn decode(url: &str, bytes: Vec<u8>) -> Result<Arc<str>, ScriptError> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).into()),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let message = "this is not UTF-8 text".to_owned();
            Err(ScriptError::at(ErrorKind::NotUtf8, url, &text, (valid as u32, 3), message)
                .with_help(Some("save the file in the UTF-8 encoding".to_owned())))
        }
    }
}

fn ends_with_one_of(url: &str, endings: &[&str]) -> bool {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url[..end].to_ascii_lowercase();
    endings.iter().any(|ending| url.ends_with(ending))
}

fn json_module(url: &str, text: Arc<str>) -> Result<Prepared, ScriptError> {
    json::check(&text).map_err(|fault| {
        ScriptError::at(ErrorKind::Json, url, &text, (fault.offset, 1), fault.message)
    })?;
    let positions = Positions::new(Vec::new(), &text, None);
    let module = Module {
        url: url.to_owned(),
        format: Format::Json,
        code: Arc::clone(&text),
        source: text,
        imports: Vec::new(),
        positions,
        has_top_level_await: false,
    };
    Ok(Prepared { module, identifiers: BTreeSet::new(), is_open: false, exports: None })
}

/// A file whose imports are being looked at.
struct Importer<'m> {
    url: &'m str,
    text: &'m str,
    /// The text with the imports.
    code: &'m str,
    positions: &'m Positions,
}

impl Importer<'_> {
    fn all(&self, found: Vec<FoundImport>) -> Result<Vec<Import>, ScriptError> {
        let lines = Lines::of(self.code);
        found.into_iter().map(|found| self.one(found, &lines)).collect()
    }

    fn one(&self, found: FoundImport, lines: &Lines) -> Result<Import, ScriptError> {
        let (line, column) = lines.locate_bytes(found.offset);
        let place = self.positions.author(line, column);
        let mut import = Import {
            specifier: found.specifier,
            resolved: Resolved::Nowhere,
            kind: found.kind,
            names: found.names,
            is_json: found.is_json,
            line: place.line,
            column: place.column,
        };
        match resolve(&import.specifier, self.url) {
            Ok(resolved) => import.resolved = resolved,
            Err(_) if matches!(import.kind, ImportKind::Require | ImportKind::Dynamic) => {}
            Err(error) => {
                return Err(import
                    .error_in(error.kind, self.url, self.text, error.message)
                    .with_help(Some(error.help)));
            }
        }
        Ok(import)
    }
}

impl Import {
    /// An error that this import of `importer` is to blame for.
    pub(crate) fn error(&self, kind: ErrorKind, importer: &Module, message: String) -> ScriptError {
        self.error_in(kind, &importer.url, &importer.source, message)
    }

    fn error_in(&self, kind: ErrorKind, url: &str, text: &str, message: String) -> ScriptError {
        let quoted = self.specifier.encode_utf16().count() + 2;
        ScriptError {
            line: self.line,
            column: self.column,
            length: quoted as u32,
            source_line: Lines::of(text).content(text, self.line).to_owned(),
            ..ScriptError::whole(kind, url, message)
        }
    }
}
