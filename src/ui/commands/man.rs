//! `git axiom man`.

use std::path::PathBuf;

use clap::Args;

use super::{help, working_dir};
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::man_pages;
use axiom_base::error::{Exit, Result};
use axiom_base::files;

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
'git axiom --help' opens the main page once the pages are in a folder where man looks:
  git axiom man --out ~/.local/share/man/man1
'git axiom help' needs none.")]
pub struct ManArgs {
    /// The verb whose page to print, such as 'task' or 'task add'; the main page without it
    verb: Vec<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "verb")]
    out: Option<PathBuf>,
}

/// Prints a page, or writes all of them. Existing pages are replaced.
pub fn run(args: &ManArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let pages = man_pages::pages()?;
    if let Some(folder) = &args.out {
        let folder = working_dir(global)?.join(folder);
        files::create_public_dir(&folder)?;
        for page in &pages {
            files::write_public(&folder.join(&page.name), page.text.as_bytes())?;
        }
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        let written = serde_json::json!({ "path": folder, "pages": names });
        screen.answer(&written, || format!("{} written to {}\n", words::count(pages.len(), "page"), folder.display()))?;
        return Ok(Exit::Done);
    }
    let wanted = std::iter::once("git-axiom").chain(args.verb.iter().flat_map(|verb| verb.split_whitespace()));
    let name = format!("{}.1", wanted.collect::<Vec<_>>().join("-"));
    let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
        let words: Vec<&str> = args.verb.iter().flat_map(|verb| verb.split_whitespace()).collect();
        help::unknown(&words)
    })?;
    screen.answer(&serde_json::json!({ "name": page.name, "text": page.text }), || page.text.clone())?;
    Ok(Exit::Done)
}
