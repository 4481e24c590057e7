//! House rules of words: sentences that name their thing, in comments, pages and help.

use std::path::Path;

use crate::support::{brunt, repository};

/// Openings of sentences that hide the name of their thing.
const OPENINGS: [&str; 4] = ["What ", "What's ", "That of ", "Those of "];

/// Words that have a plainer one.
const WORDS: [&str; 6] =
    ["nobody", "so many", "stands", "has it not", "have it not", "there is not"];

/// Folders that are not ours, are generated, or are never edited again.
const SKIPPED: [&str; 4] = ["target", "node_modules", "decisions", "third-party"];

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
    for word in WORDS {
        for (at, _) in lower.match_indices(word) {
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let end = at + word.len();
            if !is_part(lower[..at].chars().next_back()) && !is_part(lower[end..].chars().next()) {
                found.push(shown(at));
            }
        }
    }
    found
}

/// The texts of a file with the lines they begin at: blocks of documentation of a source, paragraphs of a page. Code
/// between fences is left out.
fn texts(source: &str, is_page: bool) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let (mut is_new, mut is_code) = (true, false);
    for (index, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let comment = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
        let text = if is_page { Some(line) } else { comment };
        let Some(text) = text.map(str::trim) else {
            (is_new, is_code) = (true, false);
            continue;
        };
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
    if path.is_dir() {
        if SKIPPED.contains(&name) || name.starts_with('.') {
            return;
        }
        for entry in std::fs::read_dir(path).expect("a folder can be listed") {
            search(&entry.expect("an entry").path(), found);
        }
        return;
    }
    let is_page = super::is_named(name, "md");
    if !is_page && !super::is_named(name, "rs") {
        return;
    }
    let source = std::fs::read_to_string(path).expect("a text");
    for (line, text) in texts(&source, is_page) {
        found.extend(
            faults(&text).iter().map(|fault| format!("{}:{line}: {fault}", path.display())),
        );
    }
}

#[test]
fn comments_and_pages_name_their_things() {
    let mut found = Vec::new();
    for name in ["crates", "tests", "bench", "fuzz", "tools", "docs", "examples", "deploy"] {
        search(&repository(name), &mut found);
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
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
        "scale --help",
        "new --help",
        "demo --help",
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
fn the_rules_know_openings_words_and_code() {
    for bad in [
        "What a run came to.",
        "Ends it. What follows is lost.",
        "# What works",
        "| a | What it does |",
        "Those of the core.",
        "So many bytes.",
        "It stands there.",
        "Read by\nNobody.",
    ] {
        assert_eq!(faults(bad).len(), 1, "{bad}");
    }
    for good in [
        "The outcome, and what it cost.",
        "Files under `/home/nobody`.",
        "It withstands that.",
        "\"What\" is a word.",
    ] {
        assert!(faults(good).is_empty(), "{good}");
    }
}
