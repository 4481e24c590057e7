//! `brunt types`: what it writes is checked by TypeScript's compiler, with the examples, with expressions that must and must not
//! compile (`tests/types`), and with the names that scripts find when they run.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{Brunt, brunt, repository};

/// The folder with the compiler and `@types/k6`. They are fetched once, as long as the lock file stays the same.
fn tools() -> &'static Path {
    static TOOLS: OnceLock<PathBuf> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("types");
        fs::create_dir_all(&folder).expect("a folder for packages");
        let lock = fs::read(repository("tests/types/package-lock.json")).expect("a lock file");
        let stamp = folder.join("installed-lock.json");
        if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
            return folder;
        }
        for name in [".npmrc", "package.json", "package-lock.json"] {
            let text = fs::read(repository("tests/types").join(name)).expect("a manifest");
            fs::write(folder.join(name), text).expect("a copy of the manifest");
        }
        let words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
        let told = Command::new("npm").args(words).current_dir(&folder).output();
        let told = told.expect("npm is there: `tools/need npm` installs it");
        assert!(
            told.status.success(),
            "npm ci in {}: {}",
            folder.display(),
            String::from_utf8_lossy(&told.stderr)
        );
        fs::write(stamp, lock).expect("a stamp");
        folder
    })
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let (from, to) =
            entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("it works");
        if from.is_dir() {
            copied(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy");
        }
    }
}

/// A folder of scripts as a user has it: with the declarations, the packages that npm would put there, and the settings that
/// `brunt types` prints.
struct Project(Brunt);

impl Project {
    fn new() -> Self {
        let mut call = brunt("types");
        let told = call.told();
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
        let start = told.stdout.find('{').expect("settings");
        fs::write(call.path("jsconfig.json"), &told.stdout[start..]).expect("it works");
        fs::create_dir(call.path("node_modules")).expect("it works");
        symlink("../brunt-types", call.path("node_modules/brunt-types")).expect("it works");
        symlink(tools().join("node_modules/@types"), call.path("node_modules/@types"))
            .expect("it works");
        Self(call)
    }

    /// Checks all files of the folder by the printed settings, with a change of them; each error is a line.
    fn errors(&self, changed: &serde_json::Value, include: &[&str]) -> String {
        let config = serde_json::json!({
            "extends": "./jsconfig.json",
            "compilerOptions": changed,
            "include": include,
        });
        fs::write(self.0.path("tsconfig.json"), config.to_string()).expect("it works");
        let compiler = tools().join("node_modules/typescript/bin/tsc");
        let mut node = Command::new("node");
        let told = node.arg(compiler).current_dir(self.0.path("")).output().expect("node is there");
        let said = String::from_utf8(told.stdout).expect("the compiler writes UTF-8");
        assert_eq!(told.status.success(), said.is_empty(), "{said}");
        said
    }
}

#[test]
fn the_examples_are_of_their_types() {
    let project = Project::new();
    copied(&repository("examples"), &project.0.path("examples"));
    let strict = serde_json::json!({ "skipLibCheck": false, "allowJs": true });
    assert_eq!(project.errors(&strict, &["examples"]), "");
}

#[test]
fn types_refuse_what_they_must() {
    let project = Project::new();
    for name in ["globals.ts", "libraries.ts", "modules.ts", "options.ts"] {
        fs::copy(repository("tests/types").join(name), project.0.path(name)).expect("it works");
    }
    fs::write(project.0.path("names.ts"), names()).expect("it works");
    let strict = serde_json::json!({ "skipLibCheck": false, "noImplicitAny": true });
    assert_eq!(project.errors(&strict, &["*.ts"]), "");
    // Beside the browser's own declarations, and the oldest that they need.
    let script = "import http from 'k6/http';\nfetch('http://a.test', { k6: { timeout: '1s' } });\nhttp.get('').stream;\n";
    fs::create_dir(project.0.path("page")).expect("it works");
    fs::write(project.0.path("page/script.ts"), script).expect("it works");
    let page = serde_json::json!({ "skipLibCheck": false, "lib": ["es2023", "dom"] });
    let said = project.errors(&page, &["page"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.starts_with("page/script.ts(3,14)") && line.contains("'stream'")),
        "{said}"
    );
}

/// Modules that our files declare whole: they have no values that a script would not find.
const OURS: [&str; 6] =
    ["brunt/", "k6/crypto/x509", "k6/data", "k6/experimental/streams", "k6/websockets", "k6/x/"];

/// Globals that are not declared: the engine's own, those newer than the `lib` of the settings, and two that throw in an ES module.
const UNDECLARED: [&str; 8] = [
    "InternalError",
    "SuppressedError",
    "Iterator",
    "DisposableStack",
    "AsyncDisposableStack",
    "Float16Array",
    "module",
    "exports",
];

/// The names that a script finds in each module, and as globals.
fn found(modules: &[String]) -> (Vec<Vec<String>>, Vec<String>) {
    let mut script = String::new();
    for (index, module) in modules.iter().enumerate() {
        let _ = writeln!(script, "import * as m{index} from '{module}';");
    }
    let list: Vec<_> = (0..modules.len()).map(|index| format!("Object.keys(m{index})")).collect();
    let _ = writeln!(
        script,
        "export default function () {{\n  const globals = Object.getOwnPropertyNames(globalThis);\n  \
         console.log(JSON.stringify([[{}], globals]));\n}}",
        list.join(", ")
    );
    let mut call = brunt("run --quiet --log-format raw --console-output names.json script.js")
        .file("script.js", script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    serde_json::from_str(&call.read("names.json")).expect("names as JSON")
}

/// A file that compiles if each of these names is declared, and in our modules no others are.
fn names() -> String {
    let modules: Vec<String> = brunt_modules::K6::modules()
        .map(str::to_owned)
        .chain(brunt_modules::jslib::addresses())
        .collect();
    let (exports, globals) = found(&modules);
    let mut file = String::new();
    for (index, (module, names)) in modules.iter().zip(exports).enumerate() {
        let _ = writeln!(file, "import * as m{index} from '{module}';\nvoid m{index};");
        for name in &names {
            let _ = writeln!(file, "void m{index}.{name};");
        }
        if OURS.iter().any(|ours| module.starts_with(ours)) {
            let known: String =
                names.iter().flat_map(|name| [" | '", name.as_str(), "'"]).collect();
            let _ = writeln!(
                file,
                "type More{index} = Exclude<keyof typeof m{index}, 'default'{known}>;\n\
                 export const more{index}: [More{index}] extends [never] ? 'none' : [More{index}, 'is not in {module}'] = 'none';"
            );
        }
    }
    assert!(globals.iter().any(|name| name == "fetch"), "{globals:?}");
    for name in globals.iter().filter(|name| !UNDECLARED.contains(&name.as_str())) {
        let _ = writeln!(file, "void globalThis.{name};");
    }
    file
}

#[test]
fn types_overwrites_nothing_unless_it_is_told_to() {
    let mut call = brunt("types declared").file("declared/README.md", "mine");
    let told = call.told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("declared already exists"), "{told:?}");
    assert_eq!(call.read("declared/README.md"), "mine");
    let mut call =
        brunt("types --force declared").file("declared/README.md", "mine").file("declared/own", "");
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("npm install --save-dev ./declared\n"), "{told:?}");
    assert!(call.read("declared/README.md").starts_with("# Declarations of Brunt"));
    assert!(call.path("declared/own").exists());
    let told = brunt("types file").file("file", "").told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("file is a file, not a folder"), "{told:?}");
    let told = brunt("types file/below").file("file", "").told();
    assert!(told.code != 0 && told.error().contains("file/below"), "{told:?}");
}

#[test]
fn the_whole_package_is_written_in_the_version_of_the_binary() {
    let told = brunt("types ./a/b").told();
    assert!(told.stdout.contains(" ./a/b\n"), "{told:?}");
    let mut call = brunt("types");
    assert!(call.told().stdout.contains(" ./brunt-types\n"));
    let names = |folder: PathBuf| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("it works"));
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().expect("it works")).collect();
        names.sort();
        names
    };
    let all = names(repository("types"));
    assert_eq!(names(call.path("brunt-types")), all, "crates/cli/src/cmd/types.rs has the list");
    let index = call.read("brunt-types/index.d.ts");
    for name in all.iter().filter(|name| name.ends_with(".d.ts") && *name != "index.d.ts") {
        let short = name.trim_end_matches(".d.ts");
        let is_loaded = index.contains(&format!("path=\"./{name}\""))
            || index.contains(&format!("import './{short}.js'"));
        assert!(is_loaded, "index.d.ts does not load {name}");
    }
    let package: serde_json::Value =
        serde_json::from_str(&call.read("brunt-types/package.json")).expect("it works");
    assert_eq!(package["name"], "brunt-types");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
}
