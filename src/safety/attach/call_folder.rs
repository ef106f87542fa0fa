//! The folder of a call of a hook.

use std::path::{Path, PathBuf};

use axiom_model::attach::payload::AgentHookEvent;

/// The folder in which something happened: the one that the event names, else that in which the hook was called. Where the named one is
/// gone, as after a `git switch`, something happens beside it all the same: where the hook was called, if that is near it, else in the
/// nearest folder that is left of it.
pub(super) fn folder_of(event: &AgentHookEvent, here: &Path) -> PathBuf {
    let Some(named) = event.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_absolute()) else {
        return here.to_owned();
    };
    match named.ancestors().find(|folder| folder.is_dir()) {
        Some(left) if left != named && here.starts_with(left) => here.to_owned(),
        Some(left) => left.to_owned(),
        None => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_model::attach::payload::AgentHookMoment;

    #[test]
    fn what_is_left_of_a_folder_that_is_gone_stands_for_it() {
        let there = tempfile::tempdir().unwrap();
        let place = |name: &str| there.path().join(name);
        ["repo/src", "other"].iter().for_each(|name| axiom_base::files::create_dir_all(&place(name)).unwrap());
        let folder = |named: &str, here: &str| {
            let event = AgentHookEvent::without_payload("PreToolUse", AgentHookMoment::SessionStart);
            folder_of(&AgentHookEvent { folder: Some(place(named).display().to_string()), ..event }, &place(here))
        };
        assert_eq!(folder("repo/src", "other"), place("repo/src"));
        assert_eq!(folder("repo/gone/deep", "other"), place("repo"));
        assert_eq!(folder("repo/gone/deep", "repo/src"), place("repo/src"));
        assert_eq!(folder("worktree/src", "repo"), place("repo"), "a worktree that was removed");
    }
}
