//! `attach --user` and `attach --status` where there is no repository: in a folder that holds several, for example.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::status::AttachEventJson;
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_safety::attach::outside::{UnsavedPrompt, last, repositories_in};

/// The most repositories that are named for people.
const NAMED: usize = 10;

/// In a folder that is no repository: where something would be saved.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachOutsideJson {
    /// None: no event can protect anything here.
    events: [AttachEventJson; 0],
    /// The folder: no repository, but it holds some. Nothing is saved there.
    folder: String,
    /// Their paths.
    repositories: Vec<String>,
    /// The last prompt that was sent here.
    last_prompt: Option<UnsavedPrompt>,
}

/// Whether it is because of the folder that no repository was opened.
pub(super) fn is_outside(error: &Error) -> bool {
    error.code() == Code::NotARepository
}

/// Says that nothing is saved of what is done in this folder, and where it would be.
pub(super) fn show(folder: &Path, error: Error, screen: &mut Screen) -> Result<Exit> {
    let all = repositories_in(folder);
    if all.is_empty() {
        return Err(error);
    }
    let last_prompt = last(folder);
    let text = in_words(folder, &all, last_prompt.as_ref());
    let repositories = all.iter().map(|path| path.display().to_string()).collect();
    let answer = AttachOutsideJson { events: [], folder: folder.display().to_string(), repositories, last_prompt };
    screen.answer(&answer, || text)?;
    Ok(Exit::Done)
}

fn in_words(folder: &Path, all: &[PathBuf], last: Option<&UnsavedPrompt>) -> String {
    let name =
        |path: &PathBuf| path.file_name().map(|name| visible::line(&name.to_string_lossy()).into_owned()).unwrap_or_default();
    let mut names: Vec<String> = all.iter().take(NAMED).map(name).collect();
    if all.len() > NAMED {
        names.push(format!("{} more", all.len() - NAMED));
    }
    let folder = folder.display().to_string();
    let prompt = last.map_or_else(String::new, |last| {
        format!("The last prompt to {} here, {}, was not saved.\n", visible::line(&last.program), words::time(last.at))
    });
    format!(
        "NOT PROTECTED: '{}' is no repository, and nothing is saved of a session that starts here.\n{prompt}\
         It holds repositories: {}\nStart the agent in one of them, where git axiom init was called.\n",
        visible::line(&folder),
        names.join(", ")
    )
}
