//! Compiles QuickJS-NG from the C sources of the `rquickjs-sys` package, with the few adjustments that Brunt needs.
//!
//! The package is never built as a crate (its manifest entry stands under a target that does not exist); Cargo only
//! fetches it, and its metadata tells where the sources lie. Nothing of them is committed here.
//! The Rust files in `engine` tell what is changed in them, and why; the C files beside them are added to `quickjs.c`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "engine/adjustments.rs"]
mod adjustments;
#[path = "engine/bytes.rs"]
mod bytes;
#[path = "engine/frozen.rs"]
mod frozen;
#[path = "engine/json.rs"]
mod json;
#[path = "engine/lending.rs"]
mod lending;
#[path = "engine/limits.rs"]
mod limits;
#[path = "engine/messages.rs"]
mod messages;
#[path = "engine/places.rs"]
mod places;
#[path = "engine/refusals.rs"]
mod refusals;
#[path = "engine/scopes.rs"]
mod scopes;
#[path = "engine/shapes.rs"]
mod shapes;
#[path = "engine/sorting.rs"]
mod sorting;
#[path = "engine/sources.rs"]
mod sources;
#[path = "engine/touched.rs"]
mod touched;

use adjustments::{ADJUSTMENTS, Adjustment};
use bytes::BYTES;
use frozen::FROZEN;
use json::JSON;
use lending::LENDING;
use limits::LIMITS;
use messages::MESSAGES;
use places::PLACES;
use refusals::{OF_PATTERNS, REFUSALS};
use scopes::SCOPES;
use shapes::SHAPES;
use sorting::SORTING;
use sources::SOURCES_OF_FUNCTIONS;
use touched::TOUCHED;

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=engine");
    println!("cargo:rerun-if-env-changed=CARGO_CFG_SANITIZE");
    println!("cargo:rerun-if-env-changed=BRUNT_GC_STRESS");
    let package = package_dir();
    let from = package.join("quickjs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));

    for entry in fs::read_dir(&from).expect("the package has its quickjs folder") {
        let path = entry.expect("a readable folder").path();
        let is_source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if is_source {
            let name = path.file_name().and_then(|name| name.to_str()).expect("ASCII file names");
            let mut text = fs::read_to_string(&path).expect("C sources are UTF-8");
            if name == "quickjs.c" {
                let names = function_names(&text);
                text.push_str(include_str!("engine/limits.c"));
                text.push_str(&names);
                text.push_str(include_str!("engine/names.c"));
                text.push_str(include_str!("engine/groups.c"));
                text.push_str(include_str!("engine/shapes.c"));
                text.push_str(include_str!("engine/lending.c"));
                text.push_str(include_str!("engine/bytes.c"));
                text.push_str(include_str!("engine/json.c"));
                text.push_str(include_str!("engine/sorting.c"));
                text.push_str(include_str!("engine/additions.c"));
            }
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
    if env::var_os("BRUNT_GC_STRESS").is_some() {
        // The engine's own switch: collect cycles before each object is made. For `.ci/asan`.
        build.define("FORCE_GC_AT_MALLOC", None);
    }
    for source in SOURCES {
        build.file(out.join(source));
    }
    build.compile("quickjs");
}

fn adjust(name: &str, mut text: String) -> String {
    let lists = [
        ADJUSTMENTS,
        PLACES,
        SHAPES,
        LENDING,
        FROZEN,
        BYTES,
        TOUCHED,
        JSON,
        SCOPES,
        SORTING,
        LIMITS,
        SOURCES_OF_FUNCTIONS,
        MESSAGES,
        REFUSALS,
        OF_PATTERNS,
    ];
    for &Adjustment { file, find, put, times } in lists.into_iter().flatten() {
        if file == name {
            let found = text.matches(find).count();
            assert!(found == times, "{file}: `{find}` occurs {found} times, not {times}");
            text = text.replace(find, put);
        }
    }
    text
}

/// A C list of the names of built-in functions and constants: what the engine's own lists (`JS_CFUNC_DEF("map", …)`,
/// `JS_CGETSET_DEF("size", …)` and their like) have as first argument. Those that the engine has as its own are left out:
/// no name may be there twice.
fn function_names(text: &str) -> String {
    let own = fs::read_to_string(package_dir().join("quickjs/quickjs-atom.h"));
    let own = own.expect("the package has its list of atoms");
    let mut names = Vec::new();
    let mut add = |name: String| {
        let quoted = format!("\"{name}\")");
        if !own.contains(&quoted) && !names.contains(&name) {
            names.push(name);
        }
    };
    for (at, _) in text.match_indices("DEF") {
        let Some(rest) = text[at + 3..].trim_start_matches('2').strip_prefix("(\"") else {
            continue;
        };
        let Some((name, rest)) = rest.split_once('"') else { continue };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !name.bytes().all(is_plain) || name.starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        // Accessors have functions called `get size` and `set size`.
        let macro_name = text[..at].rsplit(|c: char| !c.is_ascii_uppercase() && c != '_').next();
        if macro_name.is_some_and(|name| name.contains("CGETSET")) {
            let mut functions = rest.split([',', ')']).skip(1).map(str::trim);
            for kind in ["get", "set"] {
                if functions.next().is_some_and(|function| function != "NULL") {
                    add(format!("{kind} {name}"));
                }
            }
        }
        add(name.to_owned());
    }
    let mut list = String::new();
    for name in &names {
        list.push_str("    \"");
        list.push_str(name);
        list.push_str("\\0\"\n");
    }
    format!(
        "\n#define BRUNT_NAME_COUNT {}\nstatic const char brunt_names[] =\n{list};\n\n",
        names.len()
    )
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
