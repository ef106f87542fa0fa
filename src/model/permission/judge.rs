//! What an agent may do: by the rules, then by the mode.

use super::matching::is_for;
use super::plain_command;
use super::requested::{PermissionAct, PermissionPath, PermissionPlace};
use crate::attach::shell::{self, ShellSurroundings};
use crate::base::names::RepoPath;
use crate::work::guarded::{GuardedNames, GuardedPathKind};
use crate::work::permissions::permission_rule::{
    PermissionMode, PermissionPattern, PermissionPolicy, PermissionRule, PermissionRuleAnswer, PermissionSubject,
};

/// What follows from a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// The agent may do it.
    Allowed,
    /// A human is asked.
    Asked {
        /// Why.
        why: String,
    },
    /// It may not.
    Rejected {
        /// The rule that says so.
        by: PermissionRule,
    },
}

/// What follows from what an agent asks for, in this workspace.
pub fn judge(policy: &PermissionPolicy, act: &PermissionAct, workspace: &str) -> PermissionVerdict {
    if is_signal(act) {
        return PermissionVerdict::Allowed;
    }
    let rule = policy.rules.iter().find(|rule| is_for(rule, act));
    let asked = |why: String| PermissionVerdict::Asked { why };
    match rule.map(|rule| (rule.answer, rule)) {
        Some((PermissionRuleAnswer::Reject, rule)) => return PermissionVerdict::Rejected { by: rule.clone() },
        Some((PermissionRuleAnswer::Ask, rule)) => return asked(format!("a rule says so: {rule}")),
        Some((PermissionRuleAnswer::Allow, _)) | None => {}
    }
    // Nothing but a human's own word lets an agent do what is kept for humans.
    if let Some(why) = kept_for_humans(act, workspace) {
        return asked(why);
    }
    if policy.mode == PermissionMode::Allow {
        // What cannot be understood may be what a rule forbids.
        let forbids = policy.rules.iter().any(|rule| rule.answer != PermissionRuleAnswer::Allow);
        return unclear(act).filter(|_| forbids).map_or(PermissionVerdict::Allowed, asked);
    }
    let by_rule = rule.is_some();
    let named = rule.is_some_and(|rule| matches!(rule.pattern, PermissionPattern::Exactly(_)));
    match act {
        PermissionAct::Unknown { why } => asked(why.clone()),
        PermissionAct::Command { .. } if !by_rule => asked("it is a command".into()),
        PermissionAct::Command { folder, .. } => match folder.as_ref().and_then(|folder| obstacle(folder, None)) {
            Some(why) => asked(why),
            None => PermissionVerdict::Allowed,
        },
        PermissionAct::Read { paths } => match paths.iter().find_map(|path| obstacle(path, None)) {
            Some(why) if !by_rule => asked(why),
            Some(_) | None => PermissionVerdict::Allowed,
        },
        PermissionAct::Edit { paths } => {
            let guarded = GuardedNames::new(&policy.guarded);
            let is_outside = |path: &&PermissionPath| matches!(path.place, PermissionPlace::Outside { .. });
            // A rule names what is outside. What is guarded is named by a rule that means just that.
            let mut open = paths.iter().filter(|path| !(by_rule && is_outside(path)));
            match open.find_map(|path| obstacle(path, (!named).then_some(&guarded))) {
                Some(why) => asked(why),
                None if by_rule || policy.mode == PermissionMode::Workspace => PermissionVerdict::Allowed,
                None => asked("it changes a file".into()),
            }
        }
    }
}

/// What it could destroy, so that a checkpoint is made before it.
pub fn risk(act: &PermissionAct) -> Option<String> {
    match act {
        PermissionAct::Command { text, .. } => shell::risk(text, &|_| None),
        PermissionAct::Unknown { .. } => Some("something unknown".into()),
        PermissionAct::Edit { paths } => {
            let is_plain = |path: &&PermissionPath| matches!(path.place, PermissionPlace::Inside { .. });
            let removed = paths.iter().find(|path| path.goes).map(|path| format!("the removal of {}", path.said));
            removed.or_else(|| paths.iter().find(|path| !is_plain(path)).map(|path| format!("a change of {}", path.said)))
        }
        PermissionAct::Read { .. } => None,
    }
}

/// The rule by which the same is always allowed, where it can be said what the same is.
pub fn rule_for_always(act: &PermissionAct) -> Option<PermissionRule> {
    let rule = |subject, text: &str| PermissionRule {
        answer: PermissionRuleAnswer::Allow,
        subject,
        pattern: PermissionPattern::Exactly(text.to_owned()),
    };
    match act {
        // What stands at the end of the line would not come back.
        PermissionAct::Command { text, folder: None } if text.trim().len() < 4096 => {
            Some(rule(PermissionSubject::Command, text.trim()))
        }
        PermissionAct::Edit { paths } | PermissionAct::Read { paths } => {
            let subject =
                if matches!(act, PermissionAct::Edit { .. }) { PermissionSubject::Edit } else { PermissionSubject::Read };
            let first = always_allowed(paths.first()?)?;
            paths.iter().all(|other| always_allowed(other) == Some(first)).then(|| rule(subject, first))
        }
        PermissionAct::Command { .. } | PermissionAct::Unknown { .. } => None,
    }
}

/// The path that a rule can always allow: none below `.git`.
fn always_allowed(path: &PermissionPath) -> Option<&str> {
    path.place.path().filter(|_| !matches!(path.place, PermissionPlace::BelowGit { .. }))
}

/// A report of the agent, as the whole command.
fn is_signal(act: &PermissionAct) -> bool {
    let PermissionAct::Command { text, .. } = act else { return false };
    let words = plain_command::words(text).unwrap_or_default();
    matches!(words.as_slice(), [git, axiom, signal, ..] if git == "git" && axiom == "axiom" && signal == "signal")
}

fn kept_for_humans(act: &PermissionAct, workspace: &str) -> Option<String> {
    let at = ShellSurroundings { aliases: &|_| None, worktree: workspace, folder: workspace };
    match act {
        PermissionAct::Command { text, .. } => {
            let verbs = shell::kept_for_humans(text, at);
            verbs.first().map(|verb| format!("'git axiom {verb}' is for humans"))
        }
        PermissionAct::Edit { paths } => {
            let names_one = |path: &str| shell::is_setting(path, at);
            let is_setting = |path: &&PermissionPath| names_one(&path.said) || path.place.path().is_some_and(names_one);
            paths.iter().find(is_setting).map(|path| format!("{} governs git axiom", path.said))
        }
        PermissionAct::Read { .. } | PermissionAct::Unknown { .. } => None,
    }
}

/// Why what is asked for cannot be judged by rules.
fn unclear(act: &PermissionAct) -> Option<String> {
    match act {
        PermissionAct::Unknown { why } => Some(why.clone()),
        PermissionAct::Command { text, .. } => shell::is_too_long(text).then(|| "it is too long to be read".to_owned()),
        PermissionAct::Edit { paths } => {
            let unclear = paths.iter().find(|path| path.place == PermissionPlace::Unclear)?;
            obstacle(unclear, None)
        }
        PermissionAct::Read { .. } => None,
    }
}

/// Why a path is asked about.
fn obstacle(path: &PermissionPath, guarded: Option<&GuardedNames>) -> Option<String> {
    match &path.place {
        PermissionPlace::Inside { relative } => {
            let name = guarded?.concerned(&RepoPath::new(relative.as_bytes()), GuardedPathKind::File)?;
            Some(format!("{} is guarded: {name}", path.said))
        }
        PermissionPlace::BelowGit { .. } => Some(format!("{} is below .git", path.said)),
        PermissionPlace::Outside { .. } => Some(format!("{} is outside the workspace", path.said)),
        PermissionPlace::Unclear => Some(format!("{} leads elsewhere, or nobody can say where", path.said)),
    }
}
