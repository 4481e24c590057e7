//! `brunt manual DIR`: pages for man(1).

use std::path::Path;

use anyhow::Context as _;
use clap::{Arg, Command};
use clap_mangen::Man;

use super::completion::{ONE_DASH, with_flags_of_attacks};
use super::help;
use crate::print::print;
use crate::{Context, exit::Exit, failure::Outcome};

pub(super) fn command() -> Command {
    Command::new("manual")
        .about("Write pages for man into a folder")
        .override_usage("brunt manual <DIR>")
        .after_help("Where man looks for pages of one user: brunt manual ~/.local/share/man/man1")
        .arg(
            Arg::new("dir")
                .value_name("DIR")
                .required(true)
                .help("The folder; it is made if it does not exist"),
        )
}

pub(super) fn perform(context: &Context, folder: &str) -> Outcome<Exit> {
    let pages = pages().context("cannot make the pages")?;
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        pages.iter().try_for_each(|(name, page)| std::fs::write(Path::new(folder).join(name), page))
    };
    write().with_context(|| format!("cannot write the pages into {folder}"))?;
    let said = format!("{} pages are in {folder}; brunt.1 is the first\n", pages.len());
    if context.global.quiet { Ok(Exit::Success) } else { print(context, &said) }
}

/// File names and texts, of all commands.
fn pages() -> std::io::Result<Vec<(String, String)>> {
    let mut root = help::arrange(with_flags_of_attacks(super::commands_of_help()))
        .disable_help_subcommand(true)
        .term_width(0);
    root.build();
    let mut pages = Vec::new();
    add(&root, &mut pages)?;
    Ok(pages)
}

/// A page of this command, and of those below it.
fn add(command: &Command, pages: &mut Vec<(String, String)>) -> std::io::Result<()> {
    let parts = command.get_subcommands().filter(|part| !part.is_hide_set());
    // Examples stand before the options in help, and at the end in a manual.
    let after = [command.get_before_help(), command.get_after_help()];
    let after: Vec<String> = after.into_iter().flatten().map(ToString::to_string).collect();
    let page = Man::new(command.clone().after_help(after.join("\n\n")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    // Each dash has a backslash in such pages.
    let mark = ONE_DASH.replace('-', "\\-");
    let text = String::from_utf8_lossy(&text).replace(&format!("\\-\\-{mark}"), "\\-");
    pages.push((page.get_filename(), text.replace('\u{a0}', " ")));
    parts.into_iter().try_for_each(|part| add(part, pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_with_its_flags() {
        let pages: std::collections::BTreeMap<_, _> = pages().unwrap().into_iter().collect();
        for (name, flag) in [
            ("brunt.1", "brunt\\-run(1)"),
            ("brunt-run.1", "\\-\\-vus"),
            ("brunt-attack.1", "\\-redirects"),
            ("brunt-k8s-manifest.1", "\\-\\-agents"),
            ("brunt-doctor.1", "\\-\\-json"),
        ] {
            let page = &pages.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", pages.keys()));
            assert!(page.contains(flag), "{name}: {page}");
            assert!(!page.contains("one-dash") && !page.contains("one\\-dash"), "{name}: {page}");
        }
    }
}
