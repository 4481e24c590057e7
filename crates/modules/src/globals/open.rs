//! `open(path[, 'b'])`.

use std::path::{Component, Path, PathBuf};

use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Name};

use crate::state::throw;

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
            "the \"open\" function is only available in the init stage (i.e. the global scope), see the k6 \
             documentation on the test life cycle",
        ));
    }
    let name = call.argument(0).to_string_lossy()?;
    if name.is_empty() {
        return Err(throw(ctx, "open() can't be used with an empty filename"));
    }
    let path = path_of(host, ctx, &name);
    let first = host.ids().local == 0;
    let bytes = host.program().open_file(&path, first).map_err(|message| throw(ctx, &message))?;
    let mode = call.argument(1);
    if mode.as_str().is_some_and(|mode| mode.contains('b')) {
        return ctx.array_buffer(bytes.to_vec());
    }
    ctx.string_from_utf8(&bytes)
}

/// Relative paths count from the folder of the module that runs, as if each file opened its own.
fn path_of(host: &Host, ctx: Ctx<'_>, name: &str) -> PathBuf {
    let name = name.strip_prefix("file://").unwrap_or(name);
    let path = Path::new(name);
    if path.is_absolute() {
        return path.to_path_buf();
    }
    // Level 0 is `open` itself.
    let running = ctx.running_module(1).and_then(|url| brunt_js::path_of(&url));
    let folder = running
        .and_then(|path| path.parent().map(Path::to_path_buf))
        .unwrap_or_else(|| host.program().folder());
    plain(&folder.join(path))
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
