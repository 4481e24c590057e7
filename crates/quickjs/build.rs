//! Compiles QuickJS-NG from the C sources of the `rquickjs-sys` package, with the few adjustments that Brunt needs.
//!
//! The package is never built as a crate (its manifest entry stands under a target that does not exist); Cargo only
//! fetches it, and its metadata tells where the sources lie. Nothing of them is committed here. Each adjustment names
//! text that must occur exactly as often as it says: a new version of the package that changed the place fails
//! the build instead of being patched wrongly.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

/// One change of the C sources: in `file`, `find` occurs `times` times and becomes `put`.
struct Adjustment {
    file: &'static str,
    find: &'static str,
    put: &'static str,
    times: usize,
}

const ADJUSTMENTS: [Adjustment; 5] = [
    // 31 size classes of 4 KiB for each runtime are 57 kB of mostly empty arenas for each VU.
    Adjustment {
        file: "quickjs.c",
        find: "#define JS_ARENA_SIZE              4096",
        put: "#define JS_ARENA_SIZE              1024",
        times: 1,
    },
    // Stacks as k6 prints them: `Name: message`, then lines of `\tat function (file:///path:line:column(pc))`.
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \"    at %s\"",
        put: "dbuf_printf(&dbuf, \"\\tat %s\"",
        times: 2,
    },
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \":%d:%d\", line_num1, col_num1);",
        put: "dbuf_printf(&dbuf, \":%d:%d(%u)\", line_num1, col_num1, pc);",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        js_dbuf_init(ctx, &dbuf);\n        if (stack_trace_limit == 0)",
        put: "        js_dbuf_init(ctx, &dbuf);\n        brunt_stack_head(ctx, &dbuf, error_obj);\n        \
              if (stack_trace_limit == 0)",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static void build_backtrace(JSContext *ctx, JSValueConst error_val,\n                            \
               JSValueConst filter_func, const char *filename,\n                            \
               int line_num, int col_num, int backtrace_flags)\n{",
        put: STACK_HEAD,
        times: 1,
    },
];

/// Writes the first line of a stack. It reads plain properties and lets no exception of theirs escape.
const STACK_HEAD: &str = r#"
static void brunt_stack_part(JSContext *ctx, DynBuf *dbuf, JSValueConst error, JSAtom prop, const char *before)
{
    JSValue value = JS_GetProperty(ctx, error, prop);
    if (JS_IsString(value)) {
        size_t len = 0;
        const char *text = JS_ToCStringLen(ctx, &len, value);
        if (text && len > 0) {
            dbuf_putstr(dbuf, before);
            dbuf_put(dbuf, (const uint8_t *)text, len);
        }
        JS_FreeCString(ctx, text);
    }
    if (JS_IsException(value))
        JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, value);
}

static void brunt_stack_head(JSContext *ctx, DynBuf *dbuf, JSValueConst error)
{
    JSValue saved;
    if (!JS_IsError(error))
        return;
    saved = JS_GetException(ctx);
    brunt_stack_part(ctx, dbuf, error, JS_ATOM_name, "");
    brunt_stack_part(ctx, dbuf, error, JS_ATOM_message, ": ");
    dbuf_putc(dbuf, '\n');
    JS_Throw(ctx, saved);
}

static void build_backtrace(JSContext *ctx, JSValueConst error_val,
                            JSValueConst filter_func, const char *filename,
                            int line_num, int col_num, int backtrace_flags)
{"#;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_CFG_SANITIZE");
    let package = package_dir();
    let from = package.join("quickjs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));

    for entry in fs::read_dir(&from).expect("the package has its quickjs folder") {
        let path = entry.expect("a readable folder").path();
        let is_source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if is_source {
            let name = path.file_name().and_then(|name| name.to_str()).expect("ASCII file names");
            let text = fs::read_to_string(&path).expect("C sources are UTF-8");
            fs::write(out.join(name), adjust(name, text)).expect("OUT_DIR is writable");
        }
    }

    let mut build = cc::Build::new();
    build.include(&out).define("_GNU_SOURCE", None).warnings(false).opt_level(3);
    build.flag_if_supported("-std=gnu11").flag_if_supported("-fwrapv");
    build.flag_if_supported("-fno-math-errno").flag_if_supported("-funsigned-char");
    if env::var("PROFILE").as_deref() == Ok("release") {
        // Debug builds keep the engine's assertions: a value that is not freed aborts there.
        build.define("NDEBUG", None);
    }
    if env::var("CARGO_CFG_SANITIZE").is_ok_and(|kind| kind.contains("address")) {
        build.flag("-fsanitize=address").flag("-fno-omit-frame-pointer");
    }
    for source in SOURCES {
        build.file(out.join(source));
    }
    build.compile("quickjs");
}

fn adjust(name: &str, mut text: String) -> String {
    for Adjustment { file, find, put, times } in ADJUSTMENTS {
        if file == name {
            let found = text.matches(find).count();
            assert!(found == times, "{file}: `{find}` occurs {found} times, not {times}");
            text = text.replace(find, put);
        }
    }
    text
}

/// Where Cargo keeps the sources of `rquickjs-sys`.
fn package_dir() -> PathBuf {
    let cargo = env::var_os("CARGO").expect("Cargo sets CARGO");
    let manifest =
        Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|package| package["name"] == "rquickjs-sys"))
        .and_then(|package| package["manifest_path"].as_str())
        .expect("rquickjs-sys is in the lock file");
    Path::new(manifest).parent().expect("a manifest lies in a folder").to_owned()
}
