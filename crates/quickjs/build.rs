//! Compiles QuickJS-NG from the C sources of the `rquickjs-sys` package, with the patches of our fork.
//!
//! The package is never built as a crate (its manifest entry is under a target that does not exist); Cargo only fetches
//! it, and its metadata tells where the sources are. `patches` has each change of them with its reason, `engine` the
//! functions that are added, `docs/decisions/0014-quickjs-fork.md` why there is a fork.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "build/copies.rs"]
mod copies;
#[allow(dead_code, reason = "tests/patches.rs reads the fields that the build does not")]
#[path = "build/patches.rs"]
mod patches;

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

fn main() {
    for changed in ["build.rs", "build", "engine", "patches", "src/sys.rs"] {
        println!("cargo:rerun-if-changed={changed}");
    }
    println!("cargo:rerun-if-env-changed=CARGO_CFG_SANITIZE");
    println!("cargo:rerun-if-env-changed=BRUNT_GC_STRESS");
    println!("cargo:rerun-if-env-changed=BRUNT_ENGINE_APART");
    println!("cargo:rerun-if-env-changed=BRUNT_WITHOUT_PATCH");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let package = package_dir(&here);

    let mut sources = sources(&package.join("quickjs"));
    for needed in SOURCES.into_iter().chain(["quickjs-atom.h"]) {
        let folder = package.display();
        assert!(sources.contains_key(needed), "there is no {needed} in {folder}/quickjs");
    }
    let names = function_names(&sources["quickjs.c"], &sources["quickjs-atom.h"]);
    sources.insert("brunt-names.h".to_owned(), names);
    let sys = fs::read_to_string(here.join("src/sys.rs")).expect("the crate has its sys.rs");
    let copies = copies::assertions(&sys)
        .unwrap_or_else(|copy| panic!("build/copies.rs does not know how to check {copy}"));
    sources.insert("brunt-copies.h".to_owned(), copies);

    // For `patches/prove`, which shows that the test of a patch fails without it.
    let without = env::var("BRUNT_WITHOUT_PATCH").ok();
    let mut patches =
        patches::read(&here.join("patches")).unwrap_or_else(|error| panic!("{error}"));
    if let Some(without) = &without {
        patches::leave_out(&mut patches, without).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut failures = patches::unsaid(include_str!("engine/words.c"), &sources["quickjs.c"]);
    for patch in &patches {
        failures.extend(patch.apply(&mut sources));
    }
    let release = package.file_name().unwrap_or_default().to_string_lossy();
    assert!(failures.is_empty(), "{}", patches::told(&failures, &release));
    for (name, text) in &sources {
        fs::write(out.join(name), text).expect("OUT_DIR is writable");
    }

    let mut build = cc::Build::new();
    build.include(&out).include(&here).define("_GNU_SOURCE", None).warnings(false);
    let apart = env::var("BRUNT_ENGINE_APART").ok();
    let sanitized = env::var("CARGO_CFG_SANITIZE").is_ok_and(|kind| kind.contains("address"));
    // An engine that tests alone run is compiled in less time.
    build.opt_level(if apart.is_some() || without.is_some() || sanitized { 1 } else { 3 });
    build.flag_if_supported("-std=gnu11").flag_if_supported("-fwrapv");
    build.flag_if_supported("-fno-math-errno").flag_if_supported("-funsigned-char");
    if env::var("PROFILE").as_deref() == Ok("release") {
        // Debug builds keep the engine's assertions: a value that is not freed aborts there.
        build.define("NDEBUG", None);
    }
    if sanitized {
        build.flag("-fsanitize=address").flag("-fno-omit-frame-pointer");
    }
    if env::var_os("BRUNT_GC_STRESS").is_some() {
        // The engine's own switch: collect cycles before each object is made. For `.ci/asan`.
        build.define("FORCE_GC_AT_MALLOC", None);
    }
    for source in SOURCES {
        build.file(out.join(source));
    }
    match apart {
        Some(place) => link_apart(build.pic(true), &out, &place),
        None => build.compile("quickjs"),
    }
}

/// Makes a library of it that programs load when they start, from `place` and not from where it is made: `patches/prove` gives
/// programs that were built once the engine without each patch. Its name is that path, so that programs need no variable to
/// find it, which tests would not hand on.
fn link_apart(build: &cc::Build, out: &Path, place: &str) {
    let status = build
        .get_compiler()
        .to_command()
        .arg(format!("-Wl,-soname,{place}"))
        .args(["-shared", "-o"])
        .arg(out.join("libquickjs.so"))
        .args(build.compile_intermediates())
        .arg("-lm")
        .status()
        .expect("the C compiler runs");
    assert!(status.success(), "the engine is not linked");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=dylib=quickjs");
}

/// The engine's sources and headers, by name.
fn sources(from: &Path) -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    for entry in fs::read_dir(from).expect("the package has its quickjs folder") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_some_and(|end| end == "c" || end == "h") {
            let name = path.file_name().and_then(|name| name.to_str()).expect("ASCII file names");
            let text = fs::read_to_string(&path).expect("C sources are UTF-8");
            sources.insert(name.to_owned(), text);
        }
    }
    sources
}

/// A C list of the names of built-in functions and constants: what the engine's own lists (`JS_CFUNC_DEF("map", …)`,
/// `JS_CGETSET_DEF("size", …)` and their like) have as first argument. Those that the engine has as its own are left out:
/// no name may be there twice.
fn function_names(text: &str, own: &str) -> String {
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
        "#define BRUNT_NAME_COUNT {}\nstatic const char brunt_names[] =\n{list};\n",
        names.len()
    )
}

/// Where Cargo keeps the sources of `rquickjs-sys`.
fn package_dir(here: &Path) -> PathBuf {
    let cargo = env::var_os("CARGO").expect("Cargo sets CARGO");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(here.join("Cargo.toml"))
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "cargo metadata failed, which fetches rquickjs-sys; without a network, `cargo fetch` must have run before: {}",
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
