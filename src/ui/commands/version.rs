//! `git axiom --version --verbose`: what a report of a fault needs, and nothing private.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use serde::Serialize;

use super::answers::NO_VERB;
use super::{VerbExit, working_dir};
use crate::cli::report;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};
use axiom_safety::context::about::RunningOn;

/// What a report of a fault needs. It has no path, no name of yours, and no value of a setting.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VersionJson {
    /// The version of git axiom.
    version: &'static str,
    /// The processor and system that it was built for.
    built_for: String,
    /// The modules for the system that were built in: linux, macos or portable.
    modules: &'static str,
    /// What git says of itself; null where it cannot be started.
    git: Option<String>,
    /// The kernel, its release and the processor.
    system: String,
    /// The file system that the repository is on; null where it is not known.
    file_system: Option<String>,
    /// The version of the log that it writes.
    log_format: u32,
    /// The repository; null where there is none.
    repository: Option<RepositoryFormatJson>,
}

/// The formats of a repository.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryFormatJson {
    /// The hash of its objects.
    objects: &'static str,
    /// How it stores refs.
    refs: &'static str,
    /// The names of its extensions.
    extensions: Vec<String>,
    /// What leaves work to the git program.
    left_to_git: Vec<LeftToGitJson>,
}

/// Something that leaves work to the git program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeftToGitJson {
    /// Its name.
    condition: &'static str,
    /// The shortcuts that it forbids.
    shortcuts: &'static [&'static str],
    /// Why.
    why: &'static str,
}

impl VersionJson {
    fn of(found: RunningOn) -> Self {
        let RunningOn { git, system, modules, built_for, file_system, log, repository } = found;
        let repository = repository.map(|found| RepositoryFormatJson {
            objects: found.objects,
            refs: found.refs,
            extensions: found.extensions,
            left_to_git: found
                .forbidden
                .into_iter()
                .map(|one| LeftToGitJson { condition: one.condition, shortcuts: one.shortcuts, why: one.why })
                .collect(),
        });
        let version = env!("CARGO_PKG_VERSION");
        Self { version, built_for, modules, git, system, file_system, log_format: log, repository }
    }

    fn text(&self) -> String {
        let or_unknown = |known: &Option<String>| known.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut text = format!("git axiom {}, for {} ({} modules)\n", self.version, self.built_for, self.modules);
        let mut row = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<12} {value}");
        };
        row("git", self.git.clone().unwrap_or_else(|| "cannot be started".to_owned()));
        row("system", self.system.clone());
        row("file system", or_unknown(&self.file_system));
        row("log", format!("format {}", self.log_format));
        let Some(found) = &self.repository else {
            row("repository", "none here".to_owned());
            return text;
        };
        let extensions = if found.extensions.is_empty() { "none".to_owned() } else { found.extensions.join(", ") };
        row("repository", format!("objects {}, refs {}, extensions {extensions}", found.objects, found.refs));
        if found.left_to_git.is_empty() {
            row("left to git", "nothing".to_owned());
        }
        for one in &found.left_to_git {
            row("left to git", format!("{} ({}): {}", one.shortcuts.join(", "), one.condition, one.why));
        }
        text
    }
}

/// Answers where the version is asked for and no verb is given, without the grammar of all verbs; `None` leaves the command line to that.
pub fn at_once(arguments: &[OsString]) -> Option<VerbExit> {
    let asked = WantedVersion::read(arguments)?;
    let mut screen = Screen::new(asked.global.json, Some(NO_VERB.to_owned()));
    if !asked.verbose {
        let line = format!("git-axiom {}\n", env!("CARGO_PKG_VERSION"));
        let written = screen.write(line.as_bytes());
        return Some(VerbExit::Ours(written.map_or_else(|error| report::error(&mut screen, &error), |()| Exit::Done)));
    }
    Some(VerbExit::Ours(asked.answer(&mut screen).unwrap_or_else(|error| report::error(&mut screen, &error))))
}

/// What such a command line asks for.
#[derive(Debug)]
struct WantedVersion {
    global: GlobalArgs,
    /// Whether more than its number is wanted.
    verbose: bool,
}

impl WantedVersion {
    fn read(arguments: &[OsString]) -> Option<Self> {
        let mut global = GlobalArgs { directory: Vec::new(), json: false, non_interactive: false };
        let (mut version, mut verbose) = (false, false);
        let mut words = arguments.iter().skip(1);
        while let Some(word) = words.next() {
            match OsStr::to_str(word)? {
                "--version" | "-V" => version = true,
                "--verbose" => verbose = true,
                "--json" => global.json = true,
                "--non-interactive" => global.non_interactive = true,
                "-C" => global.directory.push(words.next()?.clone()),
                _ => return None,
            }
        }
        version.then_some(Self { global, verbose })
    }

    fn answer(&self, screen: &mut Screen) -> Result<Exit> {
        let found = VersionJson::of(RunningOn::at(&working_dir(&self.global)?));
        screen.answer(&found, || found.text())?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str) -> Option<WantedVersion> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        WantedVersion::read(&words)
    }

    #[test]
    fn the_option_and_no_verb_ask_for_it() {
        assert!(wanted("git-axiom --version --verbose").is_some_and(|wanted| wanted.verbose));
        assert!(wanted("git-axiom --verbose -C x --json --version").is_some_and(|wanted| wanted.global.json && wanted.verbose));
        assert!(wanted("git-axiom -V").is_some_and(|wanted| !wanted.verbose));
        for line in ["git-axiom", "git-axiom --verbose", "git-axiom log --version --verbose", "git-axiom --version -C"] {
            assert!(wanted(line).is_none(), "{line}");
        }
    }
}
