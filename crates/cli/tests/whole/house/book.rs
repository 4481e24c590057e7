//! The pages as a book (`docs/SUMMARY.md`): none is left out, and each link to a heading leads to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{links, pages, read};
use crate::support::{brunt, repository};

/// The anchors of a page's headings, as GitHub makes them (mdBook makes the same of them).
fn anchors(text: &str) -> BTreeSet<String> {
    let mut count = BTreeMap::<String, usize>::new();
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading == line || !heading.starts_with(' ') {
            continue;
        }
        let kept = |char: &char| char.is_alphanumeric() || " -_".contains(*char);
        let words: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        let anchor = words.replace(' ', "-");
        let earlier = count.entry(anchor.clone()).or_default();
        found.insert(if *earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
        *earlier += 1;
    }
    found
}

#[test]
fn anchors_are_those_of_headings() {
    let page = "# A `b`: c, d?\n```\n# no\n```\n## Two words\n## Two words\n";
    let found: Vec<String> = anchors(page).into_iter().collect();
    assert_eq!(found, ["a-b-c-d", "two-words", "two-words-1"]);
}

#[test]
fn links_to_headings_lead_to_one() {
    let mut gone = Vec::new();
    for page in pages() {
        let text = read(&page);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            let Some((file, anchor)) = target.split_once('#') else { continue };
            if file.contains(':') || anchor.is_empty() {
                continue;
            }
            // The same words lead there as in `links`, which knows folders.
            let place = links(&page, &format!("]({file})")).pop();
            let place = place.unwrap_or_else(|| PathBuf::from(&page));
            let is_page = place.extension().is_some_and(|it| it == "md");
            if is_page && repository(&place.to_string_lossy()).exists() {
                let there = anchors(&read(&place.to_string_lossy()));
                if !there.contains(anchor) {
                    gone.push(format!("{page}: {} has no heading #{anchor}", place.display()));
                }
            }
        }
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

#[test]
fn the_book_has_every_page_once() {
    let summary = "docs/SUMMARY.md";
    let mut chapters = links(summary, &read(summary));
    let count = chapters.len();
    chapters.sort();
    chapters.dedup();
    assert_eq!(chapters.len(), count, "{summary} has a page twice");
    for page in pages().iter().filter(|page| page.starts_with("docs/") && *page != summary) {
        let is_there = chapters.iter().any(|chapter| chapter == Path::new(page));
        assert!(is_there, "{summary} has no line for {page}");
    }
}

#[test]
fn the_page_of_commands_has_every_command() {
    let page = "docs/guide/commands.md";
    let text = read(page);
    let asked = text.split("<!-- help: ").nth(1).and_then(|rest| rest.split(" -->").next());
    let asked: BTreeSet<&str> = asked.expect("a line that asks for help").split(' ').collect();
    let help = brunt("--help").told().stdout;
    let options = help.find("Global options:").expect("options behind the commands");
    let is_command = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let lines = help[..options].lines().filter(is_command);
    let names: BTreeSet<&str> = lines
        .filter(|line| !line.starts_with("  brunt ") && !line.starts_with("  echo "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(text.contains(&format!("`brunt {name}`")), "{page} has no row for {name}");
        assert!(asked.contains(name) || name == "help", "{page} asks for no help of {name}");
    }
}
