//! `open(path[, 'b'])`.

use std::path::{Component, Path, PathBuf};

use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Name};

use crate::throwing::throw;

static OPEN: Name = Name::new("open");

pub(super) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let function = ctx.function(c"open", 2, open)?;
    ctx.global().define_hidden(&OPEN, function)
}

fn open<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        return Err(throw(
            ctx,
            "the \"open\" function is only available in the init stage (i.e. the global scope), see \
             https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information",
        ));
    }
    let name = call.argument(0);
    let name = if name.is_nullish() { String::new() } else { name.to_string_lossy()? };
    if name.is_empty() {
        return Err(throw(ctx, "open() can't be used with an empty filename"));
    }
    let path = path_of(host, ctx, &name);
    let first = host.ids().local == 0;
    let opened = host.program().files().open(&path, first);
    let bytes = opened.map_err(|error| throw(ctx, &error.to_string()))?;
    let mode = call.argument(1);
    if !mode.is_nullish() && mode.to_string_lossy()? == "b" {
        return ctx.common_buffer(&bytes);
    }
    ctx.common_string(&bytes)
}

/// The path that a relative one of `k6/experimental/fs` means: it counts from the folder of the main script.
pub(crate) fn path_from_entry(host: &Host, name: &str) -> PathBuf {
    path_beside(&host.program().folder(), name)
}

/// The path that `name` means beside a script in `folder`: an address `file://…`, an absolute path or a relative one.
pub fn path_beside(folder: &Path, name: &str) -> PathBuf {
    if name.starts_with("file://")
        && let Some(path) = brunt_js::path_of(name)
    {
        return path;
    }
    plain(&folder.join(name))
}

/// Relative paths count, as in k6, from the folder of the file whose top level runs: that which is being imported or
/// required, not always that in which the call is written.
fn path_of(host: &Host, ctx: Ctx<'_>, name: &str) -> PathBuf {
    if name.starts_with("file://")
        && let Some(path) = brunt_js::path_of(name)
    {
        return path;
    }
    let path = Path::new(name);
    if path.is_absolute() {
        return path.to_path_buf();
    }
    let folder = |url: Option<String>| {
        let path = url.and_then(|url| brunt_js::path_of(&url))?;
        path.parent().map(Path::to_path_buf)
    };
    let base = folder(host.loading_module(ctx)).unwrap_or_else(|| host.program().folder());
    let written = folder(host.calling_module(ctx)).unwrap_or_else(|| base.clone());
    let full = plain(&base.join(path));
    // Once for each file, however many VMs open it.
    if written != base && host.ids().local == 0 && !host.program().files().has(&full) {
        log::warn!(
            "open(\"{name}\") is relative to {}, where the file that is being loaded lies, not to {}, where the call is \
             written; open(import.meta.resolve(\"{name}\")) is relative to the latter",
            base.display(),
            written.display()
        );
    }
    full
}

/// Takes `.` and `..` out, so that one file has one name.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
