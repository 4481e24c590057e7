//! The tutorial of the guide: its files are written and its commands run, in their order, against the demo target that it starts.
//! Only ports differ, and times are shorter.

use std::path::Path;
use std::process::Command;

use crate::support::{Running, free_port, repository};

/// Times of the page, and those of the test.
const SHORTER: [(&str, &str); 4] = [
    ("--from 2s --to 8s", "--from 1s --to 2s"),
    ("5s:20,10s:20,5s:0", "1s:20,1s:20,1s:0"),
    ("duration 10s", "duration 2s"),
    ("duration: '10s'", "duration: '2s'"),
];

/// The blocks of code of a page, with their languages.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fences = page.split("```").skip(1).step_by(2);
    fences.map(|block| block.split_once('\n').expect("a language, then lines")).collect()
}

/// Writes the file that a block names in its first line; `+` puts the lines into the file that is there.
fn write(folder: &Path, block: &str) {
    let (head, text) = block.split_once('\n').expect("a name, then lines");
    let name = head.strip_prefix("// ").unwrap_or_else(|| panic!("no name of a file: {head}"));
    if let Some(name) = name.strip_suffix(" +") {
        let path = folder.join(name);
        let before = std::fs::read_to_string(&path).expect("an earlier block wrote it");
        let (imports, rest) = before.split_once("const base").expect("code behind the imports");
        std::fs::write(path, format!("{imports}{text}const base{rest}")).expect("a file");
    } else {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

#[test]
fn every_command_of_the_tutorial_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_brunt"), bin.path().join("brunt"))
        .expect("the binary on the path");
    let page = std::fs::read_to_string(repository("docs/guide/tutorial.md")).expect("the page");
    let page = SHORTER.iter().fold(page, |page, (from, to)| {
        assert!(page.contains(from), "the tutorial has no {from} any more");
        page.replace(from, to)
    });
    let address = format!("127.0.0.1:{}", free_port());
    let shell = |line: &str| {
        let mut command = Command::new("bash");
        command
            .args(["-c", line])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.path().display()))
            .env("HOME", folder.path())
            .env("BASE_URL", format!("http://{address}"));
        command
    };
    let (mut demo, mut commands) = (None, 0);
    for (language, block) in blocks(&page) {
        match language {
            "js" => write(folder.path(), block),
            "sh" if block.starts_with("brunt demo") => {
                let line = format!("exec {} --listen {address}", block.trim());
                let mut running = Running::start(&mut shell(&line));
                running.line_with(&address);
                demo = Some(running);
            }
            "sh" => {
                for line in block.lines() {
                    let (line, code) = line.split_once("# ends with ").unwrap_or((line, "0"));
                    let told = Running::start(&mut shell(line)).wait();
                    let code: i32 = code.trim().parse().expect("an exit code");
                    assert_eq!(told.code, code, "{line}: {told:?}");
                    commands += 1;
                }
            }
            other => panic!("a block of {other:?}: nobody runs it"),
        }
    }
    assert!(demo.is_some() && commands > 10, "{commands} commands");
    for name in ["first.html", "out/junit.xml", "out/summary.md"] {
        assert!(folder.path().join(name).exists(), "no {name}");
    }
}
