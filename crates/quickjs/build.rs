//! Compiles QuickJS-NG from the C sources of the `rquickjs-sys` package, with the few adjustments that Brunt needs.
//!
//! The package is never built as a crate (its manifest entry stands under a target that does not exist); Cargo only
//! fetches it, and its metadata tells where the sources lie. Nothing of them is committed here.
//! `engine/adjustments.rs` and `engine/places.rs` tell what is changed in them, `engine/additions.c` what is added.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "engine/adjustments.rs"]
mod adjustments;
#[path = "engine/places.rs"]
mod places;

use adjustments::{ADJUSTMENTS, Adjustment};
use places::PLACES;

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=engine");
    println!("cargo:rerun-if-env-changed=CARGO_CFG_SANITIZE");
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
    for source in SOURCES {
        build.file(out.join(source));
    }
    build.compile("quickjs");
}

fn adjust(name: &str, mut text: String) -> String {
    for &Adjustment { file, find, put, times } in ADJUSTMENTS.iter().chain(PLACES) {
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
