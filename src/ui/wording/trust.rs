//! The project's files in words, for a human who approves them: what the configuration sets, and the contents or what differs.

use serde_json::Value;

use crate::cli::table::table;
use crate::cli::{visible, words};
use axiom_base::error::Error;
use axiom_safety::context::Repository;
use axiom_safety::context::session_hooks::{SessionHooks, of_session};
use axiom_safety::project_hooks::difference;
use axiom_safety::project_hooks::difference::ProjectFileChange;
use axiom_safety::project_hooks::project_files::{ProjectFile, ProjectFilePath, ProjectFiles};
use axiom_safety::settings::trust::ProjectSettingEffect;

/// What is said of hooks and configuration while a session runs; `None` where none runs.
pub fn session_goes_by(repo: &Repository) -> Option<&'static str> {
    Some(match of_session(repo)? {
        SessionHooks::Nothing | SessionHooks::Approved => {
            "A session runs, and goes by the hooks and the configuration with which it began."
        }
        SessionHooks::Waiting => {
            "A session runs that began without approved hooks: it takes up those that you approve, and goes by the configuration with \
             which it began."
        }
    })
}

/// What is said where there are no hooks, in the order in which one is made.
pub const NO_HOOKS: &str = "\
There are no hooks. To make one that can refuse merges:
  write .axiom/hooks/pre-merge, an executable file that exits with 1 to refuse
  git axiom trust    shows it, and asks; without your approval it does not run
  git axiom hooks run pre-merge --task TASK    tries it
Other events: git axiom hooks -h. Samples: git axiom hooks install
";

/// What is said of hooks that nobody approved as they are.
pub fn unapproved_hooks(repo: &Repository) -> &'static str {
    match of_session(repo) {
        Some(SessionHooks::Approved) => {
            "Hooks that are not approved do not run, but in the session that runs, as they were when it began: git axiom trust"
        }
        Some(SessionHooks::Nothing | SessionHooks::Waiting) | None => "Hooks that are not approved do not run: git axiom trust",
    }
}

/// What is asked.
pub const QUESTION: &str = "Approve exactly this?";

/// How many lines are shown as they are; more are counted first.
const SHORT: usize = 200;

/// All that is to be approved.
pub struct ApprovalText {
    /// What the configuration sets.
    settings: String,
    /// Each file with its content; of what was approved before, only what differs.
    files: Vec<String>,
    /// Whether something was approved before.
    differs: bool,
}

impl ApprovalText {
    /// These files in words.
    pub fn new(
        now: &ProjectFiles,
        before: Option<&ProjectFiles>,
        effects: &std::result::Result<Vec<ProjectSettingEffect>, Error>,
    ) -> Self {
        let files = match before {
            None => now.iter().map(|(place, file)| whole(place, file)).collect(),
            Some(before) => {
                let one = |(place, change): (&ProjectFilePath, ProjectFileChange)| {
                    changed(place, change, before.get(place), now.get(place))
                };
                difference::changes(before, now).into_iter().map(one).collect()
            }
        };
        Self { settings: settings(effects), files, differs: before.is_some() }
    }

    /// All of it.
    pub fn all(&self) -> String {
        let since = if self.differs { "Since you approved it:\n\n" } else { "" };
        format!("{}{since}{}", self.settings, self.files.concat())
    }

    /// How many lines it has, where that is more than a human can see at once.
    pub fn is_long(&self) -> Option<usize> {
        Some(self.all().trim_end().lines().count()).filter(|lines| *lines > SHORT)
    }

    /// What it consists of, with the number of lines of each part, in place of all of it.
    pub fn summary(&self, lines: usize) -> String {
        let count = |text: &str| words::count(text.trim_end().lines().count(), "line");
        let row = |file: &String| {
            let (heading, rest) = file.split_once('\n').unwrap_or((file, ""));
            vec![format!("  {}", heading.trim_end_matches(':')), count(rest)]
        };
        let files = table(&self.files.iter().map(row).collect::<Vec<_>>());
        let settings = match self.settings.lines().count() {
            few if few <= SHORT => self.settings.clone(),
            _ => format!("What the project's configuration sets takes {}.\n\n", count(&self.settings)),
        };
        let since = if self.differs { "What differs since you approved it" } else { "All of it" };
        let lines = words::count(lines, "line");
        format!("{settings}{since} takes {lines}:\n{files}")
    }
}

fn settings(effects: &std::result::Result<Vec<ProjectSettingEffect>, Error>) -> String {
    let effects = match effects {
        Ok(effects) if effects.is_empty() => return String::new(),
        Ok(effects) => effects,
        Err(error) => return format!("The project's configuration cannot be applied: {error}\n\n"),
    };
    let value = |value: &Value| {
        if value.is_null() { "not set".to_owned() } else { visible::line(&value.to_string()).into_owned() }
    };
    let now = |one: &ProjectSettingEffect| match (one.counts, one.value == one.without) {
        (true, _) if one.adds => format!("(added to {})", value(&one.without)),
        (true, true) => "(as now)".to_owned(),
        (true, false) => format!("(now {})", value(&one.without)),
        (false, _) => format!("(git config sets {})", value(&one.without)),
    };
    let row = |one: &ProjectSettingEffect| vec![format!("  {}", one.key), value(&one.value), now(one)];
    let rows = table(&effects.iter().map(row).collect::<Vec<_>>());
    format!("The project's configuration sets, also what is run as you:\n{rows}\n")
}

/// A file with its content. Every line is set in, so that none can look like one of ours.
fn whole(place: &ProjectFilePath, file: &ProjectFile) -> String {
    let kind = if file.executable { "executable" } else { "not executable" };
    let size = words::count(file.content.bytes().len(), "byte");
    format!("{} ({kind}, {size}):\n{}\n", visible::line(&place.to_string()), set_in(&visible::bytes(file.content.bytes())))
}

fn changed(
    place: &ProjectFilePath,
    change: ProjectFileChange,
    before: Option<&ProjectFile>,
    now: Option<&ProjectFile>,
) -> String {
    match (change, before, now) {
        (ProjectFileChange::Added, _, Some(now)) => format!("added: {}", whole(place, now)),
        (ProjectFileChange::Modified, Some(before), Some(now)) => {
            let mode = if before.executable == now.executable { "" } else { ", executable or not differs too" };
            let name = visible::line(&place.to_string()).into_owned();
            match difference::lines(before, now) {
                Some(lines) => format!("modified{mode}: {name}\n{}\n", set_in(&visible::text(&lines))),
                None => format!("modified{mode}: {}", whole(place, now)),
            }
        }
        (ProjectFileChange::ModeChanged, _, Some(now)) => {
            let is = if now.executable { "executable" } else { "not executable" };
            format!("{}: now {is}\n\n", visible::line(&place.to_string()))
        }
        (change, _, _) => format!("{}: {}\n\n", change.word(), visible::line(&place.to_string())),
    }
}

fn set_in(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}\n")).collect()
}

/// After an approval.
pub fn approved(files: &ProjectFiles) -> String {
    let count = words::count(files.iter().count(), "file");
    format!("Approved {count}. To take it back: git axiom trust --revoke\n")
}
