//! Every call of the binary in a block of code of a page has a command and flags that there are.

use super::{pages, read};
use crate::support::{Brunt, brunt};

/// Commands whose flags are vegeta's.
const VEGETAS: [&str; 4] = ["attack", "encode", "report", "plot"];

/// The calls of a line of a shell, each as its words; quotes are taken off, comments left out.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    let (mut word, mut quote) = (None::<String>, None::<char>);
    for char in line.chars().chain([' ']) {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '&' | ';' | '>' | '<' | '(' | ')') => {
                let last = all.last_mut().expect("a call");
                last.extend(word.take());
                if char != ' ' {
                    all.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(char),
        }
    }
    all
}

/// The words behind `brunt`, if a call is one of it; variables before it are passed over. Calls with `…` or `[` in them are
/// patterns.
fn of_brunt(call: &[String]) -> Option<&[String]> {
    let first = call.iter().position(|word| !word.contains('=') || word.starts_with('-'))?;
    let is_pattern = call.iter().any(|word| word.contains(['…', '[']));
    (call[first] == "brunt" && !is_pattern).then(|| &call[first + 1..])
}

/// The lines of the blocks of code of a page, those that end in a backslash with the next.
fn lines(page: &str) -> Vec<String> {
    let blocks = format!("\n{page}");
    let blocks = blocks.split("\n```").skip(1).step_by(2);
    let of_shell = blocks.filter_map(|block| {
        let (language, text) = block.split_once('\n')?;
        ["", "sh", "bash", "console"].contains(&language.trim()).then(|| text.replace("\\\n", " "))
    });
    let text: Vec<String> = of_shell.collect();
    let lines = text.iter().flat_map(|text| text.lines());
    lines.map(|line| line.trim().trim_start_matches("$ ").to_owned()).collect()
}

#[test]
fn words_of_a_shell_are_told_apart() {
    let found = calls("A=1 brunt run 'a b' -e X=\"c|d\" | tee x # e");
    assert_eq!(found[0], ["A=1", "brunt", "run", "a b", "-e", "X=c|d"]);
    assert_eq!(found[1], ["tee", "x"]);
    assert_eq!(of_brunt(&found[0]).map(<[String]>::len), Some(4));
    assert_eq!(of_brunt(&found[1]), None);
}

#[test]
fn commands_and_flags_in_pages_are_there() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    // Decisions speak of their own day, and the tables of results of programs.
    let is_old = |page: &String| page.starts_with("docs/decisions/") || page == "bench/RESULTS.md";
    for page in pages().iter().filter(|page| !is_old(page)) {
        for line in lines(&read(page)) {
            for call in calls(&line) {
                let Some(words) = of_brunt(&call).filter(|words| !words.is_empty()) else {
                    continue;
                };
                count += 1;
                // Help comes before the work, and behind what can be wrong.
                let command = words.iter().find(|word| !word.starts_with('-'));
                let is_vegetas = command.is_some_and(|word| VEGETAS.contains(&word.as_str()));
                let before = words.iter().take_while(|word| *word != "--");
                let call = before.fold(brunt(""), Brunt::word);
                let told = call.word(if is_vegetas { "-help" } else { "--help" }).told();
                // Theirs is 2 where a flag is wrong, and 1 where a file is not there.
                let is_good = told.code == 0 || is_vegetas && told.code == 1;
                if !is_good {
                    wrong.push(format!("{page}: {line}\n    {}", told.stderr.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "{count} calls were found: the pages have more");
}
