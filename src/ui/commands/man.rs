//! `git axiom man`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{help, working_dir};
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::man_pages;
use crate::commands::grammar::man_pages::ManPage;
use axiom_base::error::{Exit, Result};
use axiom_base::files;
use axiom_base::shell_word::shell_word;
use axiom_safety::user_programs::manual;
use axiom_safety::user_programs::manual::ManPageStanding;

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
'git axiom --help' opens the main page once the pages are in a folder where man looks: --install
puts them into your own one. 'git axiom help', 'git axiom -h' and 'git-axiom --help' need none.")]
pub struct ManArgs {
    /// The verb whose page to print, such as 'task' or 'task add'; the main page without it
    verb: Vec<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "verb")]
    out: Option<PathBuf>,
    /// Write all pages where man looks in your home folder, after a question
    #[arg(long, conflicts_with_all = ["verb", "out"])]
    install: bool,
    /// Do not ask
    #[arg(long, short, requires = "install")]
    yes: bool,
}

/// A page of the manual.
#[derive(Serialize)]
struct ManPageJson<'a> {
    /// The name of its file.
    name: &'a str,
    text: &'a str,
}

/// The pages that were written.
#[derive(Serialize)]
struct ManFolderJson<'a> {
    /// The names of the files.
    pages: Vec<&'a str>,
    /// The folder.
    path: String,
}

fn write_all(pages: &[ManPage], folder: &Path, screen: &mut Screen) -> Result<()> {
    files::create_public_dir(folder)?;
    for page in pages {
        files::write_public(&folder.join(&page.name), page.text.as_bytes())?;
    }
    let names = pages.iter().map(|page| page.name.as_str()).collect();
    let written = ManFolderJson { pages: names, path: folder.display().to_string() };
    screen.answer(&written, || format!("{} written to {}\n", words::count(pages.len(), "page"), folder.display()))
}

/// Says whether the pages are found, and how to take them out.
fn tell_how_it_is_found(folder: &Path, screen: &mut Screen) {
    let above = folder.parent().unwrap_or(folder).display().to_string();
    match manual::standing() {
        ManPageStanding::Found => screen.note("git axiom --help    opens the manual"),
        ManPageStanding::Missing => {
            screen.note("note: man does not look there yet. In your shell's profile:");
            screen.note(&format!("hint: export MANPATH={}:", shell_word(&above)));
        }
        ManPageStanding::NoProgram => {
            screen.note("note: there is no 'man' here: 'git axiom -h' and 'git axiom help VERB' need none")
        }
    }
    let pages = folder.join("git-axiom").display().to_string();
    screen.note(&format!("rm {}*.1    takes them out again", shell_word(&pages)));
}

/// Says once, where something of ours is made for the first time, that `git axiom --help` opens nothing.
pub(super) fn tell_of_missing_page(screen: &mut Screen) {
    if !screen.wants_json() && manual::standing() == ManPageStanding::Missing {
        screen.note("note: 'git axiom --help' finds no page yet; 'git axiom -h' and 'git axiom help VERB' need none");
        screen.note("hint: git axiom man --install    puts the pages where man looks");
    }
}

/// Prints a page, or writes all of them. Existing pages are replaced.
pub fn run(args: &ManArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let pages = man_pages::pages()?;
    if let Some(folder) = &args.out {
        write_all(&pages, &working_dir(global)?.join(folder), screen)?;
        return Ok(Exit::Done);
    }
    if args.install {
        let folder = manual::folder()?;
        if !args.yes {
            let what = words::count(pages.len(), "page");
            screen.confirm(&format!("Write {what} to {}?", visible::line(&folder.display().to_string())), false)?;
        }
        write_all(&pages, &folder, screen)?;
        tell_how_it_is_found(&folder, screen);
        return Ok(Exit::Done);
    }
    let wanted = std::iter::once("git-axiom").chain(args.verb.iter().flat_map(|verb| verb.split_whitespace()));
    let name = format!("{}.1", wanted.collect::<Vec<_>>().join("-"));
    let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
        let words: Vec<&str> = args.verb.iter().flat_map(|verb| verb.split_whitespace()).collect();
        help::unknown(&words)
    })?;
    screen.answer(&ManPageJson { name: &page.name, text: &page.text }, || page.text.clone())?;
    Ok(Exit::Done)
}
