//! The page `docs/compatibility.md`, made from the corpus.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::scripts;

const HEAD: &str = "# Compatibility with k6

This page is made by `tests/k6/record --table` from the scripts of `tests/k6`; a test fails if it is stale, and another if
one of its rows is not true. Each row is a script that was run by k6 1.8, whose answer was recorded: exit code, console
lines, exceptions, checks, metrics and their number of samples. \"As in k6\" means that Brunt answers the same. Where k6 2.2
answers otherwise than 1.8, and where Brunt means to differ, the row says so.
";

/// The page, for the corpus in this folder.
///
/// # Errors
/// If a script has no answer, or no title.
pub fn table(root: &Path) -> anyhow::Result<String> {
    let all = scripts(root)?;
    let mut page = HEAD.to_owned();
    let mut area = "";
    for script in &all {
        if area != script.area {
            area = &script.area;
            write!(page, "\n## {area}\n\n| what | Brunt | script |\n|---|---|---|\n")?;
        }
        anyhow::ensure!(!script.title.is_empty(), "{}: the first line tells no title", script.id());
        let told = match script.expected()?.why {
            Some(why) => format!("differs from k6 1.8: {why}"),
            None => "as in k6".to_owned(),
        };
        let (title, name) = (plain(&script.title), &script.name);
        writeln!(page, "| {title} | {} | `{name}` |", plain(&told))?;
    }
    page.push_str("\n## Shown by other tests\n\n| what | test |\n|---|---|\n");
    pairs(&root.join("elsewhere.json"), &mut page)?;
    page.push_str("\n## Not there\n\n| what | instead |\n|---|---|\n");
    pairs(&root.join("absent.json"), &mut page)?;
    Ok(page)
}

/// Rows of two columns: the pairs of an object in a file.
fn pairs(path: &Path, page: &mut String) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let pairs: Value = serde_json::from_str(&text)?;
    for (what, other) in pairs.as_object().into_iter().flatten() {
        let other = other.as_str().unwrap_or_default();
        writeln!(page, "| {} | {} |", plain(what), plain(other))?;
    }
    Ok(())
}

/// Text for a cell of a table.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}
