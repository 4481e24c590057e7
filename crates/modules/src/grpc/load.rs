//! `load()` and `loadProtoset()`: descriptions are read once for all VUs.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use brunt_grpc::Schema;
use brunt_js::{Host, OpenError};
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::globals::open::path_from_entry;
use crate::reading::length_of;
use crate::state::VuState;
use crate::throwing::{throw, throw_type};

/// Descriptions that are kept; a script that loads more has each VU read the rest.
const SCHEMAS_MAX: usize = 256;

/// The key of a schema: where imports are looked for, and the files.
type Key = (Vec<PathBuf>, Vec<String>);

/// The schemas of a test.
#[derive(Default)]
struct Schemas(Mutex<Vec<(Key, Arc<Schema>)>>);

impl Schemas {
    /// Finds a description or makes it. Others wait meanwhile: it is made once.
    fn find<E>(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Result<Schema, E>,
    ) -> Result<Arc<Schema>, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, schema)) = known.iter().find(|(other, _)| *other == key) {
            return Ok(Arc::clone(schema));
        }
        let schema = Arc::new(make(&key)?);
        if known.len() < SCHEMAS_MAX {
            known.push((key, Arc::clone(&schema)));
        }
        Ok(schema)
    }
}

/// `load(importPaths, ...files)`.
pub(super) fn protos<'js>(
    ctx: Ctx<'js>,
    paths: &Value<'js>,
    files: &[Value<'js>],
) -> JsResult<'js, Arc<Schema>> {
    let host = Host::of(ctx);
    let mut folders = Vec::new();
    if !paths.is_object() && !paths.is_nullish() {
        let shown = paths.to_string_lossy()?;
        return Err(throw_type(
            ctx,
            &format!(
                "could not convert function call parameter 0: could not convert {shown} to []string"
            ),
        ));
    }
    if paths.is_object() {
        for index in 0..length_of(paths)? {
            let name = paths.get_index(index)?.to_string_lossy()?;
            folders.push(clean(&path_from_entry(host, &name)));
        }
    }
    if folders.is_empty() {
        folders.push(path_from_entry(host, ""));
    }
    let mut names = Vec::new();
    for file in files {
        names.push(file.to_string_lossy()?);
    }
    let schemas = VuState::of(ctx).shared.slot::<Schemas>();
    let found = schemas.find((folders, names), |(folders, names)| compile(host, folders, names));
    found.map_err(|told| throw(ctx, &told))
}

fn compile(host: &Host, folders: &[PathBuf], names: &[String]) -> Result<Schema, String> {
    // A file that is named with its whole path is found there, and its imports beside the others.
    for name in names {
        let is_there = |folder: &PathBuf| open(host, &clean(&folder.join(name))).is_ok();
        if !folders.iter().any(is_there) {
            let first = folders.first().map(|folder| clean(&folder.join(name))).unwrap_or_default();
            return Err(open(host, &first).err().unwrap_or_default());
        }
    }
    let program = Arc::clone(host.program());
    let may_read = host.ids().local == 0;
    let folders = folders.to_vec();
    let said: Vec<_> = names.iter().map(|name| (inside(name), name.clone())).collect();
    let plain: Vec<_> = said.iter().map(|(plain, _)| plain.clone()).collect();
    let source = move |name: &str| {
        let said = said.iter().find(|(plain, _)| plain == name);
        let path = said.map_or(name, |(_, said)| said.as_str());
        for folder in &folders {
            match program.files().open(&clean(&folder.join(path)), may_read) {
                Ok(bytes) => {
                    let text = String::from_utf8(bytes.as_slice().to_vec());
                    return Some(text.map_err(|_| format!("{name} is no UTF-8 text")));
                }
                Err(OpenError::NotFound(_)) => {}
                Err(error) => return Some(Err(error.to_string())),
            }
        }
        None
    };
    Schema::compile(&plain, Box::new(source)).map_err(|error| error.to_string())
}

/// A path without `.` and `..`, by its words alone: what `..` takes back need not exist.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(cleaned.components().next_back(), Some(Component::Normal(_))) =>
            {
                cleaned.pop();
            }
            Component::ParentDir if cleaned.has_root() => {}
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// The name under which the compiler knows a file: it takes no `.` and no `..` in it, as `../protos/a.proto` has.
fn inside(name: &str) -> String {
    let mut parts = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir => parts.push("".into()),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts.join("/")
}

fn open(host: &Host, path: &Path) -> Result<(), String> {
    let opened = host.program().files().open(path, host.ids().local == 0);
    opened.map(drop).map_err(|error| error.to_string())
}

/// `loadProtoset(path)`.
pub(super) fn protoset<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js, Arc<Schema>> {
    let host = Host::of(ctx);
    let path = path_from_entry(host, name);
    let schemas = VuState::of(ctx).shared.slot::<Schemas>();
    let found = schemas.find((vec![path], Vec::new()), |(paths, _)| {
        let opened = host.program().files().open(&paths[0], host.ids().local == 0);
        let bytes = opened.map_err(|error| format!("couldn't open protoset: {error}"))?;
        Schema::from_protoset(bytes.as_slice()).map_err(|error| error.to_string())
    });
    found.map_err(|told| throw(ctx, &told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cleaned_by_its_words_alone() {
        for (path, cleaned) in [
            ("/a/none/../b.proto", "/a/b.proto"),
            ("/a/./b/../../c", "/c"),
            ("/../../a", "/a"),
            ("../a/../../b", "../../b"),
            ("a/..", ""),
        ] {
            assert_eq!(clean(Path::new(path)), Path::new(cleaned), "{path}");
        }
    }
}
