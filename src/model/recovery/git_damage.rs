//! Damage to git's own files and objects, as a power loss leaves it, and the exact way out of each. Pure.
//!
//! A damaged file is moved aside, never deleted. No command here changes a file of the user's: only indexes, refs, HEADs.

use crate::base::names::{Oid, RefName, RepoPath};
use axiom_base::error::some_of;
use axiom_base::shell_word::shell_word;

/// How many paths a command names; of more, the user sees what there are.
const NAMED: usize = 20;

/// Something of git's that is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitDamage {
    /// The index of a worktree is empty or cut off, or the file is that a split one has its other entries in.
    Index {
        /// The path of the worktree.
        worktree: String,
    },
    /// The file of a ref names no object.
    Ref {
        /// The ref.
        name: RefName,
        /// Its file.
        file: String,
        /// Where the file may be moved.
        aside: String,
        /// The worktree that is on this branch, if one is.
        worktree: Option<String>,
        /// The newest commit in its log of which nothing is missing.
        whole: Option<Oid>,
    },
    /// A worktree is on a branch that is gone, and the log of the branch is there: nobody has deleted it.
    BranchGone {
        /// The worktree.
        worktree: String,
        /// The branch.
        name: RefName,
        /// As for [`GitDamage::Ref`].
        whole: Option<Oid>,
    },
    /// The commit that a worktree is on is lost.
    Head {
        /// The worktree.
        worktree: String,
        /// The branch that it is on.
        branch: Option<RefName>,
        /// The commit.
        lost: Oid,
        /// As for [`GitDamage::Ref`].
        whole: Option<Oid>,
    },
    /// Something of the history or the files of a ref is lost; its commit is there.
    History {
        /// The ref; `HEAD` of a worktree that is on no branch.
        name: RefName,
        /// The worktree that is on it, if one is.
        worktree: Option<String>,
        /// As for [`GitDamage::Ref`].
        whole: Option<Oid>,
    },
    /// An entry of the stash of which something is lost.
    Stash {
        /// Its number.
        number: usize,
        /// Its commit, where only the ref names it and no log does.
        unlogged: Option<Oid>,
    },
    /// The log of a ref names commits of which something is lost, and no ref does.
    Log {
        /// The ref, or `HEAD`.
        name: RefName,
        /// The worktree whose log of HEAD it is; for a ref, none.
        worktree: Option<String>,
    },
    /// Contents that an index names are lost.
    Staged {
        /// The worktree.
        worktree: String,
        /// The paths.
        paths: Vec<RepoPath>,
        /// Whether there is a commit to take them from.
        has_commit: bool,
    },
}

impl GitDamage {
    /// The worktree that cannot be captured because of it.
    pub fn not_captured(&self) -> Option<&str> {
        match self {
            Self::Index { worktree } | Self::Head { worktree, .. } | Self::Staged { worktree, .. } => Some(worktree),
            Self::Ref { .. } | Self::BranchGone { .. } | Self::History { .. } | Self::Stash { .. } | Self::Log { .. } => None,
        }
    }

    /// Whether checkpoints, or rollbacks, fail because of it. Otherwise something of the user's is not held.
    pub fn stops(&self) -> bool {
        match self {
            Self::Index { .. } | Self::BranchGone { .. } | Self::Head { .. } | Self::Staged { .. } => true,
            Self::Ref { worktree, .. } | Self::History { worktree, .. } => worktree.is_some(),
            Self::Stash { .. } | Self::Log { .. } => false,
        }
    }

    /// Whether `recover --yes` mends it.
    pub fn recovers(&self) -> bool {
        matches!(self, Self::Index { .. })
    }

    /// What is wrong, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Index { worktree } => {
                format!(
                    "the index of '{worktree}' cannot be read whole: it is made again from the commit; what is there of it is kept, no file changes"
                )
            }
            Self::Ref { name, worktree, .. } => {
                format!(
                    "{}{} names no object, since its file is empty or torn: no checkpoint holds it",
                    ref_words(name),
                    where_it_is(worktree.as_deref())
                )
            }
            Self::BranchGone { worktree, name, .. } => {
                format!("{}{} is gone, and nobody deleted it", ref_words(name), where_it_is(Some(worktree)))
            }
            Self::Head { worktree, branch: Some(name), lost, .. } => {
                let (branch, at) = (ref_words(name), where_it_is(Some(worktree)));
                format!("commit {} of {branch}{at} is lost: nothing there can be captured", lost.short())
            }
            Self::Head { worktree, branch: None, lost, .. } => {
                format!("commit {}, on which '{worktree}' is, is lost: nothing there can be captured", lost.short())
            }
            Self::History { name, worktree, .. } => {
                let (name, at) = (ref_words(name), where_it_is(worktree.as_deref()));
                let files = if worktree.is_some() { "; its files are held" } else { "" };
                format!("something in the history of {name}{at} is lost: no checkpoint holds it{files}")
            }
            Self::Stash { number, .. } => format!("something of stash@{{{number}}} is lost: no checkpoint holds it"),
            Self::Log { name, worktree } => {
                let of = worktree.as_ref().map_or_else(|| ref_words(name), |worktree| format!("HEAD in '{worktree}'"));
                format!("the log of {of} names commits of which something is lost: 'git fsck' says so until the log forgets them")
            }
            Self::Staged { worktree, paths, .. } => {
                format!(
                    "what is staged in '{worktree}' is lost ({}): its files are held, and HEAD's in its place",
                    some_of(paths, 5)
                )
            }
        }
    }

    /// How a human mends it: commands, each with an explanation.
    pub fn by_hand(&self) -> Vec<String> {
        match self {
            Self::Index { .. } => Vec::new(),
            Self::Ref { name, file, aside, worktree, whole } => {
                let aside = format!("mv {} {}", shell_word(file), shell_word(aside));
                let log = match worktree {
                    Some(_) => "its newest whole commit; the files stay, what was staged too",
                    None => "its newest whole commit",
                };
                match whole {
                    Some(whole) => vec![format!("{aside} && {}    {log}", update(worktree.as_deref(), name, whole))],
                    None => vec![format!("{aside}    then, for a branch: git fsck --lost-found; git update-ref {name} COMMIT")],
                }
            }
            Self::BranchGone { worktree, name, whole } | Self::Head { worktree, branch: Some(name), whole, .. } => {
                back(Some(worktree), name, whole.as_ref())
            }
            Self::Head { worktree, branch: None, whole, .. } => back(Some(worktree), &RefName::new("HEAD"), whole.as_ref()),
            Self::History { name, worktree, whole } => {
                let mut ways = vec!["git fetch --refetch    where a remote has what is lost".to_owned()];
                match (whole, worktree) {
                    (Some(_), _) | (None, Some(_)) => ways.extend(back(worktree.as_deref(), name, whole.as_ref())),
                    (None, None) => ways.push(format!("git update-ref -d {name}    gives it up")),
                }
                ways
            }
            Self::Stash { unlogged: Some(lost), .. } => {
                vec![format!("git update-ref -d refs/stash {lost}    gives it up: no log has it")]
            }
            Self::Stash { number, unlogged: None } => vec![format!(
                "git reflog delete --updateref --rewrite 'stash@{{{number}}}'    gives it up: 'git stash drop' refuses such an entry"
            )],
            Self::Log { name, worktree } => {
                let at = worktree.as_ref().map_or_else(String::new, |worktree| format!(" -C {}", shell_word(worktree)));
                let never = "--stale-fix --expire=never --expire-unreachable=never";
                vec![format!("git{at} reflog expire {never} {}    takes these out of the log", shell_word(name.as_str()))]
            }
            Self::Staged { worktree, paths, has_commit } => {
                let list: Vec<String> = paths.iter().take(NAMED).map(|path| shell_word(&path.to_string())).collect();
                let (at, list) = (format!("git -C {}", shell_word(worktree)), list.join(" "));
                let away = if *has_commit { "restore --staged" } else { "rm --cached -q" };
                vec![
                    format!("{at} add -- {list}    stages what the files have now"),
                    format!("{at} {away} -- {list}    takes them out of the index; the files stay"),
                ]
            }
        }
    }
}

fn ref_words(name: &RefName) -> String {
    match name.as_str().strip_prefix("refs/heads/") {
        Some(branch) => format!("the branch '{branch}'"),
        None => format!("'{name}'"),
    }
}

fn where_it_is(worktree: Option<&str>) -> String {
    worktree.map_or_else(String::new, |worktree| format!(", on which '{worktree}' is,"))
}

fn update(worktree: Option<&str>, name: &RefName, whole: &Oid) -> String {
    let at = worktree.map_or_else(String::new, |worktree| format!(" -C {}", shell_word(worktree)));
    let how = if name.as_str() == "HEAD" { " --no-deref" } else { "" };
    format!("git{at} update-ref{how} {name} {whole}")
}

fn back(worktree: Option<&str>, name: &RefName, whole: Option<&Oid>) -> Vec<String> {
    match whole {
        Some(whole) => {
            let stays = if worktree.is_some() { "; the files stay, what was staged too" } else { "" };
            vec![format!("{}    its newest whole commit{stays}", update(worktree, name, whole))]
        }
        None => vec![
            "git fsck --lost-found    lists commits that are there".to_owned(),
            format!("git update-ref {name} COMMIT    puts it at one of them; the files stay, what was staged too"),
        ],
    }
}

/// What to do where git stops with this message: commands, each with an explanation. Empty where the message is of something else.
pub fn ways_out_of(message: &str) -> Vec<String> {
    message.lines().find_map(way_out_of).into_iter().collect()
}

fn way_out_of(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once(" line in ")
        && let Some((folder, _)) = rest.split_once("packed-refs")
    {
        let (file, aside) = (shell_word(&format!("{folder}packed-refs")), shell_word(&format!("{folder}packed-refs.damaged")));
        let lines = "'^(#|[0-9a-f]{40,64} refs/|\\^[0-9a-f]{40,64}$)'";
        let whole = if line.contains("unterminated") { format!("sed '$d' {aside}") } else { format!("cat {aside}") };
        return Some(format!(
            "mv {file} {aside} && {whole} | grep -aE {lines} > {file}    keeps its whole lines; other refs are in checkpoints"
        ));
    }
    if let Some((_, rest)) = line.split_once("bad config line ")
        && let Some((number, file)) = rest.split_once(" in file ")
    {
        let (file, aside) = (shell_word(file), shell_word(&format!("{file}.damaged")));
        return Some(match file.trim_end_matches('\'').ends_with("config.worktree") {
            true => format!("mv {file} {aside}    its settings are kept there; line {number} cannot be read"),
            false => format!("cp {file} {aside}, then correct line {number} of {file} with an editor"),
        });
    }
    let index =
        ["index file smaller than expected", "index file corrupt", "bad index file", "null sha1", "unordered stage entries"];
    let objects = [
        "could not get object info",
        "unable to read tree",
        "unable to read sha1 file",
        "unable to read ",
        "Could not read ",
        "bad object ",
        "bad tree object",
        "missing blob object",
        "missing tree object",
        "invalid object ",
        "bad signature 0x",
        "reference broken",
    ];
    let is_damage = index.iter().chain(&objects).any(|words| line.contains(words));
    is_damage.then(|| "git axiom recover    shows what is damaged, and the way out".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<GitDamage> {
        let oid = || Oid::new("1".repeat(40)).unwrap();
        let (main, wt) = (|| RefName::branch("main"), || "/r r".to_owned());
        let mut all = vec![GitDamage::Index { worktree: wt() }, GitDamage::Stash { number: 1, unlogged: None }];
        all.push(GitDamage::Log { name: RefName::new("HEAD"), worktree: Some(wt()) });
        all.push(GitDamage::Log { name: main(), worktree: None });
        for whole in [Some(oid()), None] {
            for worktree in [Some(wt()), None] {
                let (file, aside) = ("/r r/.git/refs/heads/main".to_owned(), "/r r/.git/aside".to_owned());
                all.push(GitDamage::Ref { name: main(), file, aside, worktree: worktree.clone(), whole: whole.clone() });
                all.push(GitDamage::History { name: main(), worktree, whole: whole.clone() });
            }
            all.push(GitDamage::BranchGone { worktree: wt(), name: main(), whole: whole.clone() });
            for branch in [Some(main()), None] {
                all.push(GitDamage::Head { worktree: wt(), branch, lost: oid(), whole: whole.clone() });
            }
        }
        let paths = vec![RepoPath::new(b"a b".to_vec())];
        all.extend([true, false].map(|has_commit| GitDamage::Staged { worktree: wt(), paths: paths.clone(), has_commit }));
        all
    }

    #[test]
    fn each_damage_has_words_and_a_way_out_that_deletes_nothing() {
        for damage in all() {
            let ways = damage.by_hand();
            assert_eq!(damage.recovers(), ways.is_empty(), "{damage:?}");
            for way in &ways {
                assert!(way.contains("git") || way.starts_with("mv "), "{way}");
                assert!(!way.contains("rm -f") && !way.contains("reset --hard") && !way.contains("git clean"), "{way}");
                assert!(!way.contains("/r r") || way.contains("'/r r"), "{way}");
            }
            assert!(!damage.words().is_empty());
        }
    }

    #[test]
    fn what_git_says_of_a_damaged_file_leads_to_the_way_out() {
        let ways = |message: &str| ways_out_of(message).join("\n");
        assert_eq!(ways_out_of("fatal: something else"), [] as [&str; 0]);
        let packed = ways("fatal: unterminated line in /r/.git/packed-refs: f5962c3");
        assert!(packed.starts_with("mv /r/.git/packed-refs /r/.git/packed-refs.damaged && sed '$d' "), "{packed}");
        let packed = ways("fatal: unexpected line in /r r/.git/packed-refs: x");
        assert!(packed.contains("cat '/r r/.git/packed-refs.damaged' | grep "), "{packed}");
        assert!(ways("fatal: bad config line 3 in file .git/config.worktree").starts_with("mv .git/config.worktree "));
        assert!(ways("fatal: bad config line 3 in file .git/config").contains("line 3 of .git/config"));
        assert!(ways("fatal: git cat-file: could not get object info").starts_with("git axiom recover "));
    }
}
