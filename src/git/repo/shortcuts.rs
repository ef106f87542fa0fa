//! The one table of shortcuts: what forbids which fast way, and why.
//!
//! A fast way does in this process, with gix or with code of ours, what otherwise the `git` program does. It must give the
//! same result as git. Where a setting, a file or a part of an index makes that impossible, a row of the table below forbids
//! it, and git does the work. Before a fast way begins, it asks once: `repo.shortcuts().allow(FastWay::CaptureFiles)`.
//!
//! | file | what lives there |
//! | --- | --- |
//! | this one | the table, pure: conditions, fast ways, reasons |
//! | `read` | whether a condition holds now, for a repository, a worktree or an index |
//! | `keys` | the settings that do not matter for finding a repository |
//! | `tests` | each row in a real repository, and each setting that forbids nothing |
//!
//! The configuration and the variables are read once for each `Repository`. Files are looked at whenever somebody asks: they
//! may appear while a session runs, and a look costs a microsecond. The parts of an index are found by whoever reads it,
//! since each read may find another index.
//!
//! To add a row: a line in `table!`, what makes the condition hold in `tests::make`. The tests then try all fast ways under
//! that condition, and fail where one is taken that the table forbids, or the other way round, or says something else than
//! git.

pub(crate) mod keys;
pub(crate) mod read;

#[cfg(test)]
mod tests;

use super::repository::Repository;
use crate::base::formats::RefFormat;

/// What is done without the `git` program, if nothing forbids it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FastWay {
    /// Finding the repository of a folder. [`keys`] has the settings that do not matter.
    FindRepository,
    /// Finding the main worktree of a repository that git found.
    FindMainWorktree,
    /// Reading the configuration of the repository.
    ReadConfiguration,
    /// Reading the configuration as it is in a worktree.
    ReadWorktreeConfiguration,
    /// Reading and listing refs, HEAD and the stash.
    ReadRefs,
    /// Listing the worktrees with their HEADs.
    ListWorktrees,
    /// Changing and deleting refs of ours.
    ChangeOwnRefs,
    /// Reading commits and their parents.
    ReadHistory,
    /// Writing objects into a folder of ours until a ref needs them.
    StageObjects,
    /// Capturing a worktree.
    CaptureFiles,
    /// Within such a capture: storing files of which git may convert line ends.
    ConvertContents,
    /// Writing and hashing files of a tree byte for byte.
    PlainContents,
    /// Reading flags and conflicts of an index.
    ReadIndex,
    /// Replacing entries of an index.
    EditIndex,
}

/// How a condition is recognised.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConditionSign {
    /// A boolean setting that is not as usual.
    Not(&'static str, bool),
    /// A setting that has this value.
    Is(&'static str, &'static str),
    /// A setting that has another value than one of these.
    Other(&'static str, &'static [&'static str]),
    /// A setting that has any value.
    Set(&'static str),
    /// A section of the configuration.
    Section(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// A file in the git directory that all worktrees share.
    File(&'static str),
    /// A file in the git directory of the worktree.
    WorktreeFile(&'static str),
    /// Something else about the repository.
    Fact(fn(&Repository) -> bool),
    /// Whoever reads an index or a worktree finds it there.
    Found,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortcutRule {
    /// The name of the condition.
    pub name: &'static str,
    /// The condition holds if one of these does.
    pub signs: &'static [ConditionSign],
    /// What it forbids.
    pub ways: &'static [FastWay],
    /// Their names.
    pub way_names: &'static [&'static str],
    /// Why.
    pub why: &'static str,
}

/// Declares the conditions, with a row for each.
macro_rules! table {
    ($($(#[$doc:meta])* $condition:ident: [$($sign:expr),+] forbids $($way:ident)|+, $why:literal;)*) => {
        /// Something unusual about a repository, a worktree or an index.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Condition {
            $($(#[$doc])* $condition,)*
        }

        impl Condition {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$condition),*];

            /// Its row in the table.
            pub fn row(self) -> ShortcutRule {
                match self {
                    $(Self::$condition => ShortcutRule {
                        name: stringify!($condition),
                        signs: &[$($sign),+],
                        ways: &[$(FastWay::$way),+],
                        way_names: &[$(stringify!($way)),+],
                        why: $why,
                    },)*
                }
            }
        }
    };
}

use ConditionSign::{Fact, File, Found, Is, Not, Other, Section, Set, Variable, WorktreeFile};

table! {
    /// `git -c`, `GIT_CONFIG_COUNT`.
    CallerConfigures: [Fact(|repo| repo.settings().caller_configures())]
        forbids FindRepository | FindMainWorktree | ReadConfiguration | ReadWorktreeConfiguration | ChangeOwnRefs | CaptureFiles
            | PlainContents, "gix does not see all settings that a caller gives in variables";
    /// `GIT_WORK_TREE`.
    WorkTreeVariable: [Variable("GIT_WORK_TREE")] forbids FindRepository | FindMainWorktree, "only git knows what it changes";
    /// `core.worktree`.
    ElsewhereWorktree: [Set("core.worktree")] forbids FindRepository | FindMainWorktree | PlainContents,
        "the worktree is not beside the git directory";
    /// `extensions.worktreeConfig`.
    WorktreeConfig: [Not("extensions.worktreeConfig", false)]
        forbids FindRepository | FindMainWorktree | ReadWorktreeConfiguration | CaptureFiles | PlainContents,
        "gix is opened for all worktrees and does not see the settings of one";
    /// `includeIf`.
    ConditionalInclude: [Section("includeIf")] forbids ReadWorktreeConfiguration,
        "a worktree on another branch may have settings that gix does not see";
    /// Refs in a reftable.
    Reftable: [Fact(is_reftable)] forbids FindRepository | ReadRefs | ListWorktrees | ChangeOwnRefs,
        "only git reads and writes a reftable";
    /// `core.sharedRepository`.
    SharedRepository: [Set("core.sharedRepository")] forbids FindRepository | ChangeOwnRefs | StageObjects | EditIndex,
        "git sets the modes of the files";
    /// `extensions.compatObjectFormat`.
    TwoHashes: [Set("extensions.compatObjectFormat")] forbids FindRepository | StageObjects,
        "git notes the other id of each object that it writes, and cannot go on from one that has none";
    /// `core.hooksPath`.
    HooksPath: [Set("core.hooksPath")] forbids ChangeOwnRefs, "a hook may see changes of refs";
    /// `hook.NAME.command`.
    ConfiguredHook: [Section("hook")] forbids ChangeOwnRefs, "a hook may see changes of refs";
    /// The hook `reference-transaction`.
    ReferenceHook: [File("hooks/reference-transaction")] forbids ChangeOwnRefs, "the hook sees changes of refs";
    /// `core.logAllRefUpdates=always`.
    LogsAllRefs: [Is("core.logAllRefUpdates", "always")] forbids ChangeOwnRefs, "every ref has a reflog";
    /// A system on which nobody has tried them: any but Linux.
    OtherSystem: [Fact(is_other_system)] forbids ChangeOwnRefs, "the lock files were not tried there";
    /// A shallow clone.
    Shallow: [File("shallow")] forbids ReadHistory, "commits name parents that the history does not have";
    /// `info/grafts`.
    Grafts: [File("info/grafts")] forbids ReadHistory, "commits have other parents than they name";
    /// `core.fileMode=false`.
    NoFileMode: [Not("core.fileMode", true)] forbids CaptureFiles, "the executable bit comes from the index";
    /// `core.symlinks=false`.
    NoSymlinks: [Not("core.symlinks", true)] forbids CaptureFiles | PlainContents, "links are files";
    /// `core.ignoreCase`.
    IgnoresCase: [Not("core.ignoreCase", false)] forbids CaptureFiles, "names that differ in case are one";
    /// `core.precomposeUnicode`.
    PrecomposesUnicode: [Not("core.precomposeUnicode", false)] forbids CaptureFiles, "names on disk are not those in trees";
    /// `core.protectHFS`.
    ProtectsHfs: [Not("core.protectHFS", false)] forbids CaptureFiles, "git refuses further names";
    /// `core.sparseCheckout`.
    SparseCheckout: [Not("core.sparseCheckout", false)] forbids CaptureFiles, "a missing file may be one that is left out";
    /// `info/sparse-checkout`, also of a sparse checkout that was ended.
    SparsePatterns: [WorktreeFile("info/sparse-checkout")] forbids EditIndex, "git marks new entries that are left out";
    /// `attr.tree`, `GIT_ATTR_SOURCE`.
    AttributesFromTree: [Set("attr.tree"), Variable("GIT_ATTR_SOURCE")] forbids CaptureFiles | PlainContents,
        "attributes do not come from the files";
    /// `core.attributesFile`, whether the file exists or not.
    OwnAttributesFile: [Set("core.attributesFile")] forbids PlainContents, "it may ask for conversions";
    /// An attributes file of the user, the machine or the repository.
    AttributesFile: [Fact(|repo| repo.shortcuts().has_attributes_file())] forbids PlainContents, "it may ask for conversions";
    /// `core.autocrlf`.
    AutoCrlf: [Other("core.autocrlf", &["false"])] forbids PlainContents, "line ends are converted";
    /// An attributes file with a filter, `ident` or an encoding.
    ConvertingAttributes: [Found] forbids ConvertContents, "the result is known only after trying it";
    /// A sparse index: entries that are folders.
    SparseIndex: [Found] forbids CaptureFiles | ReadIndex | EditIndex, "the entries in the folders are not there";
    /// A split index: most entries are in another file.
    SplitIndex: [Found] forbids EditIndex, "the entries are in two files";
    /// An entry with the flag assume-unchanged or skip-worktree, or one that `git add -N` made.
    MarkedEntry: [Found] forbids CaptureFiles | EditIndex, "no tree holds the flag";
    /// An entry in conflict.
    ConflictEntry: [Found] forbids CaptureFiles | EditIndex, "no tree holds the stages";
    /// A submodule.
    SubmoduleEntry: [Found] forbids CaptureFiles, "git looks into the submodule";
    /// An index of a version, or with a part, that this program does not know.
    UnknownPart: [Found] forbids EditIndex, "what it means for the entries is not known";
}

impl Condition {
    /// Whether it forbids a fast way.
    pub fn forbids(self, way: FastWay) -> bool {
        self.row().ways.contains(&way)
    }

    /// All conditions that forbid a fast way.
    pub fn against(way: FastWay) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |condition| condition.forbids(way))
    }
}

fn is_reftable(repository: &Repository) -> bool {
    repository.ref_format() == RefFormat::Reftable
}

fn is_other_system(_: &Repository) -> bool {
    !axiom_base::platform::IS_TRIED
}
