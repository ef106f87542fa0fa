//! Whether a condition of the table holds now.

use gix::index::entry::{Flags, Mode};

use super::{Condition, ConditionSign, FastWay};
use crate::repo::handles::Shortcuts;
use crate::repo::shortcut_conditions::ShortcutConditions;
use crate::repo::worktrees::Worktree;
use axiom_base::env;

impl Shortcuts<'_> {
    /// Whether nothing forbids a fast way, as far as the repository itself shows it.
    pub(crate) fn allow(&self, way: FastWay) -> bool {
        self.forbidden_by(way, None).is_none()
    }

    /// As [`Shortcuts::allow`], for a fast way that works on a worktree.
    pub(crate) fn allow_in(&self, way: FastWay, worktree: &Worktree) -> bool {
        self.forbidden_by(way, Some(worktree)).is_none()
    }

    /// What forbids a fast way, if anything does.
    pub(crate) fn forbidden_by(&self, way: FastWay, worktree: Option<&Worktree>) -> Option<Condition> {
        let forbids = Condition::against(way).find(|condition| self.holds(*condition, worktree));
        if let Some(condition) = forbids {
            tracing::debug!(?way, ?condition, why = condition.row().why, "left to git");
        }
        forbids
    }

    /// Whether a condition holds; of those that a worktree causes, in this one.
    pub(crate) fn holds(&self, condition: Condition, worktree: Option<&Worktree>) -> bool {
        condition.row().signs.iter().any(|sign| match sign {
            ConditionSign::Not(..)
            | ConditionSign::Is(..)
            | ConditionSign::Other(..)
            | ConditionSign::Set(_)
            | ConditionSign::Section(_)
            | ConditionSign::Variable(_) => {
                // Where the configuration cannot be read, git says why.
                self.settings().is_none_or(|settings| settings.0 & bit(condition) != 0)
            }
            ConditionSign::File(name) => self.repo.common_dir().join(name).exists(),
            ConditionSign::WorktreeFile(name) => worktree.is_some_and(|worktree| worktree.git_dir().join(name).exists()),
            ConditionSign::Fact(holds) => holds(self.repo),
            ConditionSign::Found => false,
        })
    }

    /// What settings and variables cause; read once.
    fn settings(&self) -> Option<ShortcutConditions> {
        if let Some(known) = self.repo.settings.forbidden.get() {
            return Some(*known);
        }
        let gix = self.repo.gix().ok()?;
        let config = gix.config_snapshot();
        let holds = |condition: &&Condition| condition.row().signs.iter().any(|sign| is_set(*sign, &config));
        let bits = Condition::ALL.iter().filter(holds).fold(0, |bits, condition| bits | bit(*condition));
        Some(*self.repo.settings.forbidden.get_or_init(|| ShortcutConditions(bits)))
    }
}

impl Shortcuts<'_> {
    /// Whether there is an attributes file that is not in a worktree.
    pub(super) fn has_attributes_file(&self) -> bool {
        let files = self.repo.conversions().attribute_files();
        files.is_none_or(|files| files.iter().any(|file| file.symlink_metadata().is_ok()))
    }
}

fn bit(condition: Condition) -> u64 {
    1 << condition as u64
}

/// The last value of a setting. A key without a value is true, whatever an earlier one says.
pub(crate) fn value_of(config: &gix::config::Snapshot<'_>, key: &str) -> Option<String> {
    let value = config.plumbing().string_implicit(key)?;
    Some(value.map_or_else(|| "true".to_owned(), |value| value.to_string()))
}

/// Whether settings or variables show a sign.
fn is_set(sign: ConditionSign, config: &gix::config::Snapshot<'_>) -> bool {
    let value = |key: &str| value_of(config, key);
    match sign {
        ConditionSign::Not(key, usual) => config.boolean(key).is_some_and(|value| value != usual),
        ConditionSign::Is(key, unusual) => value(key).is_some_and(|value| value.eq_ignore_ascii_case(unusual)),
        ConditionSign::Other(key, usual) => {
            value(key).is_some_and(|value| !usual.iter().any(|usual| value.eq_ignore_ascii_case(usual)))
        }
        ConditionSign::Set(key) => value(key).is_some(),
        ConditionSign::Section(name) => config.plumbing().sections_by_name(name).is_some(),
        ConditionSign::Variable(name) => env::var(name).is_some(),
        ConditionSign::File(_) | ConditionSign::WorktreeFile(_) | ConditionSign::Fact(_) | ConditionSign::Found => false,
    }
}

/// What an index has that forbids a fast way. The two files of a split index are one to gix.
pub(crate) fn forbidding_part(way: FastWay, index: &gix::index::File) -> Option<Condition> {
    let forbids = |condition: &Condition| condition.forbids(way);
    let sparse = index.is_sparse().then_some(Condition::SparseIndex);
    sparse.filter(forbids).or_else(|| index.entries().iter().filter_map(of_entry).find(forbids))
}

/// What is unusual about an entry of an index.
fn of_entry(entry: &gix::index::Entry) -> Option<Condition> {
    if entry.flags.intersects(Flags::STAGE_MASK) {
        return Some(Condition::ConflictEntry);
    }
    if entry.flags.intersects(Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD | Flags::REMOVE) {
        return Some(Condition::MarkedEntry);
    }
    let is_file = [Mode::FILE, Mode::FILE_EXECUTABLE, Mode::SYMLINK].contains(&entry.mode);
    (!is_file).then_some(Condition::SubmoduleEntry)
}
