//! Takes each fast way in a repository, and compares what it says with what git says.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::base::object_kind::ObjectKind;
use crate::capture::captured::CaptureOptions;
use crate::index::file::facts_by_gix;
use crate::index::lock::IndexLock;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::discovery;
use crate::repo::repository::Repository;
use crate::repo::scratch::{ScratchRepository, git_at, try_git_at};
use crate::repo::shortcuts::FastWay;
use axiom_model::base::names::{Oid, RefName, RepoPath};

/// All fast ways.
pub const ALL: [FastWay; 14] = [
    FastWay::FindRepository,
    FastWay::FindMainWorktree,
    FastWay::ReadConfiguration,
    FastWay::ReadWorktreeConfiguration,
    FastWay::ReadRefs,
    FastWay::ListWorktrees,
    FastWay::ChangeOwnRefs,
    FastWay::ReadHistory,
    FastWay::StageObjects,
    FastWay::CaptureFiles,
    FastWay::ConvertContents,
    FastWay::PlainContents,
    FastWay::ReadIndex,
    FastWay::EditIndex,
];

/// A repository with two commits, the second checked out, an edited file and an untracked one.
pub struct Probe {
    pub scratch: ScratchRepository,
    one: Oid,
    two: Oid,
    variables: Vec<(&'static str, &'static str)>,
    before_edits: fn(&ScratchRepository),
}

impl Probe {
    pub fn new(extra: &[&str]) -> Self {
        Self::in_new(ScratchRepository::empty(extra))
    }

    /// In a repository without commits.
    pub fn in_new(scratch: ScratchRepository) -> Self {
        scratch.write("a.txt", b"a\n");
        scratch.write("sub/b.txt", b"b\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "first"]);
        for (path, text) in [("far/x", "1"), ("far/y", "2\n"), ("gone/deep/x", "3"), ("sub-", "4"), ("sub/c.txt", "c\n")] {
            scratch.write(path, text.as_bytes());
        }
        std::os::unix::fs::symlink("b.txt", scratch.path().join("sub/link")).unwrap();
        let oid = |what: &str| Oid::new(scratch.git(&["rev-parse", what])).unwrap();
        let commit = |message: &str| {
            scratch.git(&["add", "-A"]);
            scratch.git(&["commit", "-q", "-m", message]);
            oid("HEAD")
        };
        let one = commit("one");
        scratch.git(&["rm", "-q", "-r", "gone", "far/x"]);
        for (path, text) in [("new/deep/x", "5"), ("a.txt", "two\n"), ("sub/d.txt", "d\n")] {
            scratch.write(path, text.as_bytes());
        }
        let two = commit("two");
        let probe = Self { scratch, one, two, variables: Vec::new(), before_edits: |_| () };
        probe.dirty();
        probe
    }

    pub fn called_with(self, variables: &[(&'static str, &'static str)]) -> Self {
        Self { variables: variables.to_vec(), ..self }
    }

    /// What happens to the index before it is edited.
    pub fn before_edits(self, change: fn(&ScratchRepository)) -> Self {
        Self { before_edits: change, ..self }
    }

    /// The repository as it is opened by somebody who has these variables.
    pub fn repo(&self) -> Repository {
        self.opened(Repository::discover(&self.scratch.path()).unwrap())
    }

    fn opened(&self, repo: Repository) -> Repository {
        let mut repo = repo.isolated();
        repo.given.callers.extend(self.variables.iter().map(|(name, value)| (name.into(), value.into())));
        repo
    }

    /// What is allowed by all that the repository itself shows.
    pub fn allowed(&self) -> BTreeSet<FastWay> {
        let (repo, main) = (self.repo(), self.scratch.main());
        ALL.into_iter().filter(|way| repo.shortcuts().allow_in(*way, &main)).collect()
    }

    /// What was done without git; each result is compared with git's.
    pub fn taken(&self) -> BTreeSet<FastWay> {
        // Capturing converted contents is part of capturing, and an edit of the index changes what the others look at.
        let mut taken: BTreeSet<FastWay> = ALL.into_iter().filter(|way| self.takes(*way)).collect();
        if !taken.contains(&FastWay::CaptureFiles) && self.allows(FastWay::ConvertContents) {
            taken.insert(FastWay::ConvertContents);
        }
        taken
    }

    fn allows(&self, way: FastWay) -> bool {
        self.repo().shortcuts().allow(way)
    }

    fn git(&self, args: &[&str]) -> String {
        self.scratch.git(args)
    }

    fn takes(&self, way: FastWay) -> bool {
        match way {
            FastWay::FindRepository => self.finds_repository(),
            FastWay::FindMainWorktree => self.finds_main_worktree(),
            FastWay::ReadConfiguration => self.without_git(|repo| {
                let says = try_git_at(&self.scratch.path(), &["config", "--type=bool", "core.ignoreCase"]).stdout;
                assert_eq!(repo.settings().ignores_case(), says == b"true\n");
            }),
            FastWay::ReadWorktreeConfiguration => self.without_git(|repo| {
                let settings = repo.conversions().line_end_settings(&self.scratch.main()).unwrap();
                let says = try_git_at(&self.scratch.path(), &["config", "core.autocrlf"]).stdout;
                let says = String::from_utf8(says).unwrap();
                let expected = axiom_model::base::forms::line_ends::LineEndConfig::of(says.lines().next(), None);
                assert_eq!(settings, expected);
                let values = crate::repo::configured::configured(repo, "filter", Some(&self.scratch.main())).unwrap();
                let says = try_git_at(&self.scratch.path(), &["config", "--null", "--get-regexp", r"^filter\."]).stdout;
                let says = String::from_utf8(says).unwrap();
                let expected = axiom_model::base::git_config::entries(&says).map(|(key, value)| (key.into(), value.into()));
                assert_eq!(values, expected.collect::<Vec<(String, String)>>());
            }),
            FastWay::ReadRefs => {
                let repo = self.repo();
                let listed = repo.packed_refs().list_files("refs/heads/");
                listed.is_some_and(|listed| {
                    assert_eq!(listed, repo.refs().list_refs(&["refs/heads/"]).unwrap());
                    true
                })
            }
            FastWay::ListWorktrees => self.lists_worktrees(),
            FastWay::ChangeOwnRefs => self.changes_refs(),
            FastWay::ReadHistory => self.reads_history(),
            FastWay::StageObjects => {
                let repo = self.repo();
                let staged = repo.durability().stage().unwrap().is_some();
                let blob = repo.objects().write_object(ObjectKind::Blob, b"staged").unwrap();
                repo.durability().sync_objects().unwrap();
                assert_eq!(self.git(&["cat-file", "blob", blob.as_str()]), "staged");
                staged
            }
            FastWay::CaptureFiles => {
                let clean = || self.unchanged(|| captures(&self.repo(), &self.scratch));
                let later = || {
                    // git compares whole seconds: only now it notes every time that differs from what the index has.
                    std::thread::sleep(std::time::Duration::from_millis(1100));
                    clean()
                };
                // Perhaps only what changed is left to git.
                captures(&self.repo(), &self.scratch) || clean() || (self.allows(way) && later())
            }
            FastWay::ConvertContents => self.converts(),
            FastWay::PlainContents => self.writes_contents(),
            FastWay::ReadIndex => self.reads_index(),
            FastWay::EditIndex => self.edits_index(),
        }
    }

    fn finds_repository(&self) -> bool {
        let variables: Vec<_> = self.variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let Some(found) = discovery::find(&self.scratch.path(), &variables) else { return false };
        let by_git = Repository::discover_by_git(&self.scratch.path()).unwrap();
        assert_eq!((found.git_dir.as_path(), found.common_dir.as_path()), (by_git.git_dir(), by_git.common_dir()));
        assert_eq!((found.hash, by_git.ref_format()), (by_git.hash(), crate::RefFormat::Files));
        true
    }

    fn finds_main_worktree(&self) -> bool {
        let repo = self.opened(Repository::discover_by_git(&self.scratch.path()).unwrap());
        let main = repo.worktrees().main_worktree().unwrap();
        assert_eq!(main.path(), Path::new(&self.git(&["rev-parse", "--path-format=absolute", "--show-toplevel"])));
        // git is asked in the environment of the caller, where no trace can be asked for.
        repo.shortcuts().allow(FastWay::FindMainWorktree)
    }

    /// Whether no git process is started.
    fn without_git(&self, work: impl Fn(&Repository)) -> bool {
        let trace = self.scratch.path().with_file_name("trace");
        let mut repo = self.repo();
        repo.given.callers.push(("GIT_TRACE2_EVENT".into(), trace.clone().into_os_string()));
        work(&repo);
        let events = std::fs::read_to_string(&trace).unwrap_or_default();
        drop(std::fs::remove_file(trace));
        !events.contains("\"event\":\"start\"")
    }

    /// With one on a branch, a locked one on a commit, and one whose folder is gone.
    fn lists_worktrees(&self) -> bool {
        let folder = |name: &str| self.scratch.path().with_file_name(name);
        let at = |name: &str| folder(name).display().to_string();
        self.git(&["worktree", "add", "-q", "-b", "there", &at("on branch")]);
        self.git(&["worktree", "add", "-q", "--detach", &at("locked"), self.one.as_str()]);
        self.git(&["worktree", "lock", "--reason", "for now", &at("locked")]);
        self.git(&["worktree", "add", "-q", "-b", "gone", &at("gone")]);
        std::fs::remove_dir_all(folder("gone")).unwrap();
        self.git(&["branch", "-q", "-m", "there", "packed"]);
        self.git(&["pack-refs", "--all"]);
        let listed = self.without_git(|repo| {
            let by_git = self.repo().worktrees().list_by_git(&repo.worktrees().linked_git_dirs().unwrap()).unwrap();
            let listed = repo.worktrees().list().unwrap();
            assert_eq!(listed.len(), 4);
            assert_eq!(listed, by_git);
        });
        self.git(&["worktree", "unlock", &at("locked")]);
        for name in ["on branch", "locked", "gone"] {
            self.git(&["worktree", "remove", "--force", &at(name)]);
        }
        self.git(&["branch", "-q", "-D", "packed", "gone"]);
        listed
    }

    fn changes_refs(&self) -> bool {
        let repo = self.repo();
        let name = RefName::new("refs/axiom/captures/probe");
        let edit = |expected, new| RefEdit { name: name.clone(), expected, new };
        if !repo.own_refs().update_own_refs(&[edit(ExpectedRefValue::Absent, Some(self.one.clone()))], "probe").unwrap() {
            return false;
        }
        assert_eq!(self.git(&["rev-parse", name.as_str()]), self.one.as_str());
        assert!(repo.own_refs().delete_own_refs(&[edit(ExpectedRefValue::Value(self.one.clone()), None)]).unwrap());
        assert!(!try_git_at(&self.scratch.path(), &["rev-parse", "--verify", "-q", name.as_str()]).status.success());
        true
    }

    fn reads_history(&self) -> bool {
        let repo = self.repo();
        let history = repo.history();
        let by_git = |old: &Oid, new: &Oid| {
            let args = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
            try_git_at(&self.scratch.path(), &args).status.success()
        };
        for (old, new) in [(&self.one, &self.two), (&self.two, &self.one)] {
            assert_eq!(history.is_ancestor(old, new).unwrap(), by_git(old, new));
        }
        let log = repo.task_commits().task_commits_in_order(&self.two, None, None).unwrap();
        let line = history.line(&self.two, std::slice::from_ref(&self.one), 9);
        assert_eq!(history.walk_history(&self.two).is_some(), line.is_some());
        history.walk_history(&self.two).is_some_and(|walked| {
            assert_eq!(walked, log);
            true
        })
    }

    /// With all files as in the commit that is checked out.
    fn unchanged<T>(&self, work: impl FnOnce() -> T) -> T {
        let (place, now) = (|path: &'static str| self.scratch.path().join(path), std::time::SystemTime::now());
        std::fs::remove_file(place("sub/link")).unwrap();
        std::os::unix::fs::symlink("b.txt", place("sub/link")).unwrap();
        std::fs::set_permissions(place("sub/c.txt"), std::fs::Permissions::from_mode(0o644)).unwrap();
        self.scratch.write("sub/b.txt", b"b\n");
        let stamp = |file: &Path, time| std::fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
        // git compares whole seconds only.
        for path in ["sub/b.txt", "sub/c.txt", "far/y"].map(place).iter().filter(|path| path.exists()) {
            stamp(path, now - std::time::Duration::from_secs(100));
        }
        std::fs::remove_dir_all(self.scratch.path().join("untracked")).unwrap();
        drop(try_git_at(&self.scratch.path(), &["update-index", "-q", "--refresh"]));
        // As if the files were older than the index.
        stamp(&self.scratch.main().index_file(), now + std::time::Duration::from_secs(2));
        let done = work();
        self.dirty();
        done
    }

    /// Changes files; where modes and links are not kept, git sees less of it.
    pub fn dirty(&self) {
        let place = |path: &str| self.scratch.path().join(path);
        std::fs::remove_file(place("sub/link")).unwrap();
        for (path, bytes) in [("sub/b.txt", "edited\n"), ("sub/link", "other.txt"), ("untracked/file", "u")] {
            self.scratch.write(path, bytes.as_bytes());
        }
        std::fs::set_permissions(place("sub/c.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn converts(&self) -> bool {
        self.scratch.write("sub/.gitattributes", b"*.txt text=auto\n");
        self.git(&["add", "sub/.gitattributes"]);
        let converts = captures(&self.repo(), &self.scratch);
        self.git(&["rm", "-q", "-f", "--cached", "sub/.gitattributes"]);
        std::fs::remove_file(self.scratch.path().join("sub/.gitattributes")).unwrap();
        converts
    }

    fn writes_contents(&self) -> bool {
        let (repo, there) = (self.repo(), tempfile::tempdir().unwrap());
        let path = RepoPath::new(&b"far/y"[..]);
        std::fs::create_dir(there.path().join("far")).unwrap();
        let place = |path: &RepoPath| Ok(there.path().join(path.to_path()));
        if !repo.conversions().write_plain(&self.two, std::slice::from_ref(&path), place).unwrap() {
            return false;
        }
        let main = self.scratch.main();
        let by_git = repo.git_in(&main).args(["cat-file", "--filters", &format!("{}:far/y", self.two)]);
        let by_git = by_git.run_ok().unwrap().stdout;
        assert_eq!(std::fs::read(there.path().join("far/y")).unwrap(), by_git);
        self.scratch.write("far/y", b"2\r\n");
        let hashes = repo.conversions().hash_plain(&self.scratch.main(), &self.two, &[&path]).unwrap();
        assert_eq!(hashes[0].as_str(), self.git(&["hash-object", "far/y"]));
        self.scratch.write("far/y", b"2\n");
        true
    }

    fn reads_index(&self) -> bool {
        let Some(facts) = facts_by_gix(&self.repo(), &self.scratch.main().index_file()) else { return false };
        let tagged = self.git(&["ls-files", "-v"]);
        let marked = tagged.lines().filter(|line| line.starts_with(char::is_lowercase));
        assert_eq!(facts.assume_unchanged.len(), marked.count());
        let tagged = self.git(&["ls-files", "-t"]);
        let left_out: Vec<String> = facts.skip_worktree.iter().map(ToString::to_string).collect();
        assert_eq!(left_out, tagged.lines().filter_map(|line| line.strip_prefix("S ")).collect::<Vec<_>>());
        assert_eq!(facts.unmerged.len(), self.git(&["ls-files", "-u"]).lines().count());
        true
    }

    fn edits_index(&self) -> bool {
        // A conflict has no tree.
        drop(try_git_at(&self.scratch.path(), &["write-tree"]));
        drop(try_git_at(&self.scratch.path(), &["status", "-uall"]));
        (self.before_edits)(&self.scratch);
        let edited = |to: &Oid| {
            let (repo, worktree) = (self.repo(), self.scratch.main());
            let tree = repo.objects().read_commit(to).unwrap().tree;
            let lock = IndexLock::take(&worktree, "t").unwrap();
            let edited = repo.index_edits(&worktree).edit_whole_index(&tree, &lock, &[]).unwrap();
            lock.release().unwrap();
            edited
        };
        if !edited(&self.one) {
            return false;
        }
        self.is_as_git_makes_it(&self.one);
        assert!(edited(&self.two), "and back");
        self.is_as_git_makes_it(&self.two);
        true
    }

    /// The index holds this commit, and git sees the worktree as with an index that it made itself.
    fn is_as_git_makes_it(&self, commit: &Oid) {
        let (here, fresh) = (self.scratch.path(), self.scratch.path().with_file_name("fresh"));
        let by_git = |args: &[&str]| {
            let output = std::process::Command::new("git")
                .args(args)
                .current_dir(&here)
                .env("GIT_INDEX_FILE", &fresh)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
        };
        let plain = ["-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];
        by_git(&[&plain[..], &["read-tree", commit.as_str()]].concat());
        for args in [&["ls-files", "--stage"][..], &["status", "--porcelain", "-uall"], &["status", "--porcelain"]] {
            assert_eq!(self.git(args), by_git(&[&plain[..], args].concat()), "git {args:?}");
        }
        assert_eq!(self.git(&["write-tree"]), self.git(&["rev-parse", &format!("{commit}^{{tree}}")]));
        git_at(&here, &["fsck", "--strict", "--no-dangling"]);
        std::fs::remove_file(fresh).unwrap();
    }
}

pub fn options() -> CaptureOptions {
    CaptureOptions { max_file_size: 1000, ..Default::default() }
}

/// Whether a capture is made without git; it is the one that git makes.
fn captures(repo: &Repository, scratch: &ScratchRepository) -> bool {
    let (options, main) = (options(), scratch.main());
    let Some(quick) = repo.quick_captures().fast_capture(&main, &options).unwrap() else { return false };
    repo.durability().sync_objects().unwrap();
    assert_eq!(quick, repo.captures().capture_by_git(&main, &options).unwrap());
    true
}
