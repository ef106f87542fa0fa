//! Which of a project's files are hooks of an event, and in which order they run. Pure.
//!
//! A hook is `hooks/<event>`, `hooks/<event>.sh`, or a file in `hooks/<event>.d/`: first the project's, then this clone's, each in
//! order of name.

use super::project_files::{HOOKS, ProjectFile, ProjectFilePath, ProjectFiles};
use axiom_model::work::hooks::hook_event::HookEvent;

/// A hook of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectHook {
    /// Its event.
    pub event: HookEvent,
    /// Its file.
    pub place: ProjectFilePath,
    /// Why it cannot be run, where that is known.
    pub problem: Option<&'static str>,
}

/// The hooks of an event, in the order in which they run.
pub fn hooks_of(files: &ProjectFiles, event: HookEvent) -> Vec<ProjectHook> {
    let of_event = files.iter().filter(|(place, _)| event_of(&place.path) == Some(event));
    of_event.map(|(place, file)| ProjectHook { event, place: place.clone(), problem: problem(file) }).collect()
}

/// The event that a file is a hook of, by its path.
pub fn event_of(path: &str) -> Option<HookEvent> {
    let path = path.strip_prefix(HOOKS)?.strip_prefix('/')?;
    let is_of = |event: &HookEvent| match path.strip_prefix(event.as_str()) {
        Some("" | ".sh") => true,
        Some(rest) => rest.strip_prefix(".d/").is_some_and(runs),
        None => false,
    };
    HookEvent::ALL.into_iter().find(is_of)
}

/// Whether a file in the folder of an event is meant to run: copies of editors, samples and texts are not.
fn runs(name: &str) -> bool {
    let ends = ["~", ".bak", ".orig", ".sample", ".md", ".txt"];
    !name.is_empty() && !name.starts_with('.') && !name.contains('/') && !ends.iter().any(|end| name.ends_with(end))
}

/// The first line of a script, which names its interpreter.
pub fn first_line(file: &ProjectFile) -> Option<String> {
    let script = file.content.bytes().strip_prefix(b"#!")?;
    let line = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Some(String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned())
}

fn problem(file: &ProjectFile) -> Option<&'static str> {
    if !file.executable {
        return Some("is not executable (chmod +x, then git axiom trust)");
    }
    let has_return = first_line(file).is_some_and(|line| line.ends_with('\r'));
    has_return.then_some("has CRLF line ends, so its interpreter is not found (save it with LF line ends)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_hooks::project_files::ProjectFileOrigin;

    #[test]
    fn hooks_run_the_projects_first_each_in_order_of_name() {
        let file = |executable, text: &str| ProjectFile { executable, content: text.as_bytes().to_vec().into() };
        let at = |origin, path: &str| ProjectFilePath { origin, path: path.to_owned() };
        let files: ProjectFiles = [
            (at(ProjectFileOrigin::Own, "hooks/pre-merge"), file(true, "#!/bin/sh\n")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.d/20-b"), file(false, "#!/bin/sh\n")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.d/10-a"), file(true, "#!/bin/sh\r\n")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.sh"), file(true, "no script")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.d/README.md"), file(false, "")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.d/.hidden"), file(true, "")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merge.d/sub/x"), file(true, "")),
            (at(ProjectFileOrigin::Shared, "hooks/pre-merger"), file(true, "")),
            (at(ProjectFileOrigin::Shared, "pre-merge"), file(true, "")),
            (at(ProjectFileOrigin::Shared, "hooks/post-merge"), file(true, "")),
        ]
        .into_iter()
        .collect();
        let hooks = hooks_of(&files, HookEvent::PreMerge);
        let told: Vec<_> = hooks.iter().map(|hook| (hook.place.to_string(), hook.problem.map(|why| &why[..6]))).collect();
        let expected = [
            (".axiom/hooks/pre-merge.d/10-a", Some("has CR")),
            (".axiom/hooks/pre-merge.d/20-b", Some("is not")),
            (".axiom/hooks/pre-merge.sh", None),
            ("this clone's hooks/pre-merge", None),
        ];
        assert_eq!(told, expected.map(|(place, why)| (place.to_owned(), why)));
        assert_eq!(hooks_of(&files, HookEvent::PostMerge).len(), 1);
        assert!(hooks_of(&files, HookEvent::OnError).is_empty());
    }
}
