//! House rules of words: sentences that name their thing, in comments, pages and help.

use std::path::Path;

use crate::support::{brunt, repository};

/// Openings of sentences that hide the name of their thing.
const OPENINGS: [&str; 7] =
    ["What ", "What's ", "That of ", "Those of ", "Who ", "Whoever ", "Whose "];

/// Words that have a plainer one.
const WORDS: [&str; 8] = [
    "nobody",
    "so many",
    "so much that",
    "is so much",
    "stands",
    "has it not",
    "have it not",
    "there is not",
];

/// Endings that leave a name out; `it is none of these` has one.
const ENDINGS: [&str; 4] = ["that is none", "that are none", "it is none", "which is none"];

/// Folders that are not ours, are generated, or are never edited again.
const SKIPPED: [&str; 4] = ["target", "node_modules", "decisions", "third-party"];

/// The head of the file whose literals are parts of made-up sentences.
const MADE_UP: &str = "Without {doing} the {noun}";

/// The faults of a text: a part of each sentence that breaks a rule. Code between backticks is none of it.
fn faults(text: &str) -> Vec<String> {
    let mut plain = String::new();
    for (index, part) in text.split('`').enumerate() {
        plain.push_str(if index.is_multiple_of(2) { part } else { "x" });
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = |at: usize| plain[at..].chars().take(60).collect::<String>();
    let mut found = Vec::new();
    for opening in OPENINGS {
        for (at, _) in plain.match_indices(opening) {
            let before = plain[..at].trim_end();
            if before.is_empty() || before.ends_with(['.', '!', '?', ':', '|', '#', '*', '-', ')'])
            {
                found.push(shown(at));
            }
        }
    }
    let lower = plain.to_ascii_lowercase();
    for word in WORDS.into_iter().chain(ENDINGS) {
        let is_ending = ENDINGS.contains(&word);
        for (at, _) in lower.match_indices(word) {
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let end = at + word.len();
            if is_ending && lower[end..].starts_with(" of ") {
                continue;
            }
            if !is_part(lower[..at].chars().next_back()) && !is_part(lower[end..].chars().next()) {
                found.push(shown(at));
            }
        }
    }
    found
}

/// Kinds of files by the texts they hold.
#[derive(Clone, Copy)]
enum Kind {
    /// Paragraphs.
    Page,
    /// Comments in the manner of Rust, C and JavaScript.
    Source,
    /// Comments behind `#`.
    Script,
    /// Comments behind `#`, and the line that describes a crate.
    Manifest,
    /// The lines above the first hunk: `Why: …`.
    Patch,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        match path.extension().and_then(|end| end.to_str()) {
            _ if name == "Cargo.toml" => Some(Self::Manifest),
            Some("md") => Some(Self::Page),
            Some("rs" | "js" | "ts" | "c" | "h" | "css" | "proto") => Some(Self::Source),
            Some("patch") => Some(Self::Patch),
            Some("py" | "sh" | "toml" | "yml" | "yaml") => Some(Self::Script),
            None if name == "Makefile" => Some(Self::Script),
            None => std::fs::read(path).ok()?.starts_with(b"#!").then_some(Self::Script),
            Some(_) => None,
        }
    }

    /// The mark and the text of a line that is prose.
    fn prose(self, line: &str) -> Option<(&'static str, &str)> {
        let trimmed = line.trim_start();
        let marks: &[&str] = match self {
            Self::Page => return Some(("", line)),
            Self::Patch => return Some(head_of_patch(line)),
            Self::Source => &["///", "//!", "//", BLOCKS[0], BLOCKS[1]],
            Self::Script => &["#"],
            Self::Manifest => &["#", "description = \""],
        };
        let behind = |mark: &&'static str| Some((*mark, trimmed.strip_prefix(*mark)?));
        marks.iter().find_map(behind).filter(|(_, text)| !text.starts_with('!'))
    }
}

/// The beginnings of comments that go on to `*/`.
const BLOCKS: [&str; 2] = ["/**", "/*"];

/// The text of a line of a patch's head, and as its mark the name before it; a line that begins with blanks goes on.
fn head_of_patch(line: &str) -> (&'static str, &str) {
    match line.split_once(": ") {
        Some((_, text)) if !line.starts_with(' ') => ("a", text),
        _ => ("", line),
    }
}

/// The texts of a file with the lines they begin at: blocks of comments of a source, paragraphs of a page. Code between
/// fences is left out.
fn texts(source: &str, kind: Kind) -> Vec<(usize, String)> {
    let source = match kind {
        Kind::Patch => source.split("\n--- ").next().unwrap_or_default(),
        _ => source,
    };
    let mut all: Vec<(usize, String)> = Vec::new();
    let (mut is_new, mut is_code, mut last_mark) = (true, false, "");
    let mut is_block = false;
    for (index, line) in source.lines().enumerate() {
        let was_block = is_block;
        let prose = if is_block {
            let text = line.trim_start();
            Some((last_mark, text.strip_prefix("* ").unwrap_or(text)))
        } else {
            kind.prose(line)
        };
        let Some((mark, mut text)) = prose else {
            (is_new, is_code) = (true, false);
            continue;
        };
        let is_other = mark != last_mark && !mark.is_empty() || mark == "a";
        (is_new, is_code, last_mark) = (is_new || is_other, is_code && !is_other, mark);
        if BLOCKS.contains(&mark) {
            is_new |= !was_block;
            let end = text.find("*/");
            (is_block, text) = (end.is_none(), &text[..end.unwrap_or(text.len())]);
        }
        let text = text.trim();
        if text.starts_with("```") {
            (is_new, is_code) = (true, !is_code);
        } else if text.is_empty() {
            is_new = true;
        } else if !is_code {
            match all.last_mut() {
                Some((_, last)) if !is_new => {
                    last.push(' ');
                    last.push_str(text);
                }
                _ => all.push((index + 1, text.to_owned())),
            }
            // The text below `# Errors` is a text of its own.
            is_new = text.starts_with("# ");
        }
    }
    all
}

fn search(path: &Path, found: &mut Vec<String>) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Links lead to folders that are searched at their own places, or not at all.
    if path.is_symlink() {
        return;
    }
    if path.is_dir() {
        if SKIPPED.contains(&name) || name.starts_with('.') && name != ".ci" {
            return;
        }
        for entry in std::fs::read_dir(path).expect("a folder can be listed") {
            search(&entry.expect("an entry").path(), found);
        }
        return;
    }
    let Some(kind) = Kind::of(path) else {
        return;
    };
    let Ok(source) = std::fs::read_to_string(path) else {
        return;
    };
    let mut all = texts(&source, kind);
    if matches!(kind, Kind::Patch) {
        all.extend(texts(&added(&source), Kind::Source));
    }
    let shown = path.to_string_lossy();
    if super::is_named(name, "rs") && shown.contains("/src/") && !shown.contains("/tests") {
        all.extend(messages(&source));
    }
    for (line, text) in all {
        found.extend(faults(&text).iter().map(|fault| format!("{shown}:{line}: {fault}")));
    }
}

/// The lines that a patch adds, in their places.
fn added(patch: &str) -> String {
    let mut lines = String::new();
    for line in patch.lines() {
        lines.push_str(line.strip_prefix('+').unwrap_or_default());
        lines.push('\n');
    }
    lines
}

/// The literals of a source that are sentences, with their lines: four words and more. The literals of its tests are left
/// out. Words of made-up sentences ([`MADE_UP`]) are data.
fn messages(source: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    if source.contains(MADE_UP) {
        return all;
    }
    let is_inline = |at: usize| source[at..].lines().nth(1).is_some_and(|line| line.contains('{'));
    let tests = source.match_indices("#[cfg(test)]\nmod ").find(|&(at, _)| is_inline(at));
    let program = tests.map_or(source, |(at, _)| &source[..at]);
    let (mut line, mut rest) = (1, program);
    while let Some(at) = rest.find(['"', '\'', '/', '\n']) {
        let (mark, behind) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = match mark {
            b'\n' => {
                line += 1;
                behind
            }
            b'/' if behind.starts_with('/') => behind.find('\n').map_or("", |end| &behind[end..]),
            // A character: a quote in it is no beginning of a text.
            b'\'' if behind.starts_with("\"'") => &behind[2..],
            b'\'' if behind.starts_with("\\\"'") => &behind[3..],
            b'"' => {
                let end = end_of_text(behind);
                let text = behind[..end].replace("\\\n", " ");
                if text.split_whitespace().count() > 3 {
                    all.push((line, text));
                }
                line += behind[..end].matches('\n').count();
                behind.get(end + 1..).unwrap_or_default()
            }
            _ => behind,
        };
    }
    all
}

/// The place of the quote that ends a literal.
fn end_of_text(literal: &str) -> usize {
    let mut is_escaped = false;
    let ends = |byte: u8| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    };
    literal.bytes().position(ends).unwrap_or(literal.len())
}

#[test]
fn comments_pages_and_messages_name_their_things() {
    let mut found = Vec::new();
    for name in ["crates", "tests", "bench", "fuzz", "tools", "docs", "examples", "deploy", ".ci"] {
        search(&repository(name), &mut found);
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Cargo.toml"] {
        search(&repository(name), &mut found);
    }
    assert!(found.is_empty(), "name the thing, in plain words:\n{}", found.join("\n"));
}

#[test]
fn help_names_its_things() {
    for line in [
        "help",
        "run --help",
        "inspect --help",
        "archive --help",
        "deps --help",
        "features --help",
        "status --help",
        "stats --help",
        "pause --help",
        "resume --help",
        "scale --help",
        "completion --help",
        "version --help",
        "new --help",
        "convert --help",
        "record --help",
        "correlate --help",
        "sql --help",
        "demo --help",
        "demo sql --help",
        "attack -help",
        "encode -help",
        "report -help",
        "plot -help",
    ] {
        let told = brunt(line).told();
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{line}");
        assert_eq!(faults(&told.stdout), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn the_rules_read_comments_and_messages() {
    let source = "//! A head.\n// What it is,\n// in two lines.\n#[cfg(test)]\nmod t;\nfn f() {\n    \
                  let c = '\"';\n    bail!(\"nobody \\\"took\\\" \\\n  the hit\");\n}\n\
                  #[cfg(test)]\nmod t { const T: &str = \"nobody reads this one\"; }\n";
    let expected = [(1, "A head.".to_owned()), (2, "What it is, in two lines.".to_owned())];
    assert_eq!(texts(source, Kind::Source), expected);
    let expected = [(8, "nobody \\\"took\\\"    the hit".to_owned())];
    assert_eq!(messages(source), expected);
    let script = "#!/bin/sh\nset -u\n  # What it does.\n";
    assert_eq!(texts(script, Kind::Script), [(3, "What it does.".to_owned())]);
    let c = "/* A list of\n   letters: so\n * many. */\nint a; // Not read.\n/* One. */\n/* Two. */\nint b;\n";
    let read = |source: &str, kind| {
        let texts = texts(source, kind).into_iter();
        texts.map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(read(c, Kind::Source), ["A list of letters: so many.", "One.", "Two."]);
    let patch =
        "Title: A b\nWhy: What goes\n  on.\nTest: a/b.rs::c\n\n--- a/What \n+++ b\n What it\n";
    assert_eq!(read(patch, Kind::Patch), ["A b", "What goes on.", "a/b.rs::c"]);
    let patch = "--- a\n+++ b\n /* What\n+/* One\n+   text */\n-/* Who */\n";
    assert_eq!(read(&added(patch), Kind::Source), ["One text"]);
    let manifest = "[package]\nname = \"a\"\ndescription = \"What it is\"\n# A line.\n";
    assert_eq!(read(manifest, Kind::Manifest), ["What it is\"", "A line."]);
}

#[test]
fn the_rules_know_openings_words_and_code() {
    for bad in [
        "What a run came to.",
        "Ends it. What follows is lost.",
        "# What works",
        "| a | What it does |",
        "Those of the core.",
        "So many bytes.",
        "Who waits is told.",
        "The keys. Whose is this?",
        "A text that is none.",
        "It stands there.",
        "Read by\nNobody.",
    ] {
        assert_eq!(faults(bad).len(), 1, "{bad}");
    }
    for good in [
        "The outcome, and what it cost.",
        "Files under `/home/nobody`.",
        "It withstands that.",
        "A server, and who asks it.",
        "None is left, or it is none of these.",
    ] {
        assert!(faults(good).is_empty(), "{good}");
    }
}
