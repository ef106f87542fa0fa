//! Workspaces that a power loss damaged, each mended or put aside.
#![allow(clippy::disallowed_methods)]

use super::*;
use crate::repo::scratch::{ScratchRepository, git_at};
use crate::workspace::making::WorkspaceBranch;

struct Workspace {
    scratch: ScratchRepository,
    path: PathBuf,
    branch: RefName,
    base: Oid,
}

fn workspace() -> Workspace {
    let scratch = ScratchRepository::new(&[]);
    let path = scratch.path().join(".worktrees/ed-001-t1");
    let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
    let branch = RefName::branch("axiom/t1");
    let new = WorkspaceBranch::New { name: branch.clone(), base: base.clone() };
    scratch.repo().workspaces().create_workspace(&path, &new, &scratch.path().join(".worktrees/trash/x")).unwrap();
    std::fs::write(path.join("work"), b"of the agent\n").unwrap();
    Workspace { scratch, path, branch, base }
}

impl Workspace {
    fn git(&self, args: &[&str]) -> String {
        git_at(&self.path, args)
    }

    fn trash(&self, name: &str) -> PathBuf {
        self.scratch.path().join(".worktrees/trash").join(name)
    }

    fn registration(&self) -> PathBuf {
        self.scratch.path().join(".git/worktrees/ed-001-t1")
    }
}

#[test]
fn what_says_where_a_workspace_belongs_is_mended_without_git() {
    let w = workspace();
    let repo = w.scratch.repo();
    assert_eq!(repo.registrations().mend_registration(&w.path, &w.branch, &w.trash("0")).unwrap(), None);
    for rest in ["", "ref: refs/hea", "ref: refs/heads/axiom/t"] {
        std::fs::write(w.registration().join("HEAD"), rest).unwrap();
        repo.registrations().mend_registration(&w.path, &w.branch, &w.trash("1")).unwrap().unwrap();
        assert_eq!(w.git(&["symbolic-ref", "HEAD"]), "refs/heads/axiom/t1", "{rest}");
    }
    for file in ["gitdir", "commondir"] {
        let w = workspace();
        std::fs::write(w.registration().join(file), b"").unwrap();
        std::fs::write(w.path.join(".git"), b"").unwrap();
        w.scratch.repo().registrations().mend_registration(&w.path, &w.branch, &w.trash("2")).unwrap().unwrap();
        assert!(!w.path.exists() && !w.registration().exists());
        assert_eq!(std::fs::read(w.trash("2/folder/work")).unwrap(), b"of the agent\n");
        assert_eq!(w.scratch.repo().worktrees().list().unwrap().len(), 1);
    }
}

#[test]
fn a_torn_registration_without_its_folder_keeps_no_branch() {
    let w = workspace();
    let gitdir = w.registration().join("gitdir");
    let whole = std::fs::read(&gitdir).unwrap();
    std::fs::write(&gitdir, &whole[..whole.len() / 2]).unwrap();
    std::fs::remove_dir_all(&w.path).unwrap();
    let done = w.scratch.repo().registrations().mend_registration(&w.path, &w.branch, &w.trash("1")).unwrap();
    assert_eq!(done, Some("was incomplete when the machine stopped, and was moved to the trash"));
    assert!(!w.registration().exists());
    w.scratch.git(&["worktree", "add", "-q", w.path.to_str().unwrap(), "axiom/t1"]);
}

#[test]
fn a_registration_that_leads_nowhere_is_mended_where_the_workspace_was_made() {
    for (file, rest) in [("commondir", Some("../")), ("commondir", Some("")), ("gitdir", Some("")), ("gitdir", None)] {
        let w = workspace();
        let broken = w.registration().join(file);
        std::fs::remove_file(&broken).unwrap();
        rest.iter().for_each(|rest| std::fs::write(&broken, rest).unwrap());
        let repo = w.scratch.repo();
        repo.registrations().mend_registration(&w.path, &w.branch, &w.trash("1")).unwrap().unwrap();
        assert_eq!(w.git(&["status", "--porcelain"]), "?? work", "{file} {rest:?}");
        assert_eq!(repo.registrations().mend_registration(&w.path, &w.branch, &w.trash("2")).unwrap(), None);
    }
}

#[test]
fn what_git_does_not_list_goes_aside_as_a_whole() {
    let w = workspace();
    std::fs::remove_file(w.registration().join("gitdir")).unwrap();
    let repair = w.scratch.repo().workspaces().repair_workspace(&w.path, &w.trash("1")).unwrap();
    assert_eq!(repair, crate::WorktreeRepair::PutAside);
    assert!(!w.path.exists() && !w.registration().exists() && w.trash("1/folder/work").exists());
}

#[test]
fn a_commit_that_only_a_log_names_is_lost_and_said() {
    let w = workspace();
    w.git(&["add", "-A"]);
    w.git(&["commit", "-qm", "lost"]);
    let lost = Oid::new(w.git(&["rev-parse", "HEAD"])).unwrap();
    std::fs::write(w.scratch.path().join(".git/refs/heads/axiom/t1"), format!("{}\n", w.base)).unwrap();
    std::fs::remove_file(w.scratch.path().join(".git/objects").join(&lost.as_str()[..2]).join(&lost.as_str()[2..])).unwrap();
    let repo = w.scratch.repo();
    let mend = || repo.workspace_damage().mend_branch(&w.path, &w.branch, Some(&w.base), &w.trash("1")).unwrap();
    assert_eq!(mend(), Some(MendedBranch { lost: Some(lost), now: w.base.clone() }));
    assert_eq!(mend(), None);
    w.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_commit_without_its_tree_that_only_logs_and_hints_name_is_put_apart() {
    let w = workspace();
    w.git(&["add", "-A"]);
    w.git(&["commit", "-qm", "lost"]);
    w.git(&["reset", "-q", "HEAD"]);
    let [lost, tree] = ["HEAD", "HEAD^{tree}"].map(|name| Oid::new(w.git(&["rev-parse", name])).unwrap());
    assert_eq!(std::fs::read_to_string(w.registration().join("ORIG_HEAD")).unwrap().trim(), lost.as_str());
    w.git(&["read-tree", w.base.as_str()]);
    std::fs::write(w.scratch.path().join(".git/refs/heads/axiom/t1"), format!("{}\n", w.base)).unwrap();
    let object = |oid: &Oid| w.scratch.path().join(".git/objects").join(&oid.as_str()[..2]).join(&oid.as_str()[2..]);
    std::fs::remove_file(object(&tree)).unwrap();
    files::set_modified(&object(&lost), std::time::SystemTime::UNIX_EPOCH).unwrap();
    let repo = w.scratch.repo();
    let broken = repo.power_losses().broken_objects(&[]).unwrap();
    assert_eq!(broken, std::slice::from_ref(&lost));
    repo.power_losses().put_broken_apart(&broken).unwrap();
    assert!(object(&lost).exists(), "the log names it");
    let mended = repo.workspace_damage().mend_branch(&w.path, &w.branch, Some(&w.base), &w.trash("1")).unwrap();
    assert_eq!(mended, Some(MendedBranch { lost: Some(lost), now: w.base.clone() }));
    repo.power_losses().put_broken_apart(&broken).unwrap();
    w.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_branch_without_content_or_commit_goes_back_to_the_newest_whole_one() {
    for with_log in [true, false] {
        let w = workspace();
        w.git(&["add", "-A"]);
        w.git(&["commit", "-qm", "whole"]);
        let whole = Oid::new(w.git(&["rev-parse", "HEAD"])).unwrap();
        std::fs::write(w.path.join("work"), b"more\n").unwrap();
        w.git(&["commit", "-qam", "lost"]);
        let blob = w.git(&["rev-parse", "HEAD:work"]);
        let object = w.scratch.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
        std::fs::remove_file(object).unwrap();
        let repo = w.scratch.repo();
        if !with_log {
            // Both at once: an empty ref, and no reflog.
            std::fs::write(w.scratch.path().join(".git/refs/heads/axiom/t1"), b"").unwrap();
            std::fs::remove_file(w.scratch.path().join(".git/logs/refs/heads/axiom/t1")).unwrap();
            std::fs::remove_file(w.registration().join("logs/HEAD")).unwrap();
        }
        let mended = repo.workspace_damage().mend_branch(&w.path, &w.branch, Some(&w.base), &w.trash("1")).unwrap().unwrap();
        assert_eq!(mended.now, if with_log { whole } else { w.base.clone() });
        assert_eq!(mended.lost.is_some(), with_log);
        // The index names the lost object too.
        assert!(repo.workspace_damage().mend_index(&w.path, &w.trash("1")).unwrap());
        assert!(!repo.workspace_damage().mend_index(&w.path, &w.trash("1")).unwrap());
        assert_eq!(std::fs::read(w.path.join("work")).unwrap(), b"more\n");
        let status = w.git(&["status", "--porcelain"]);
        assert_eq!(status, if with_log { " M work" } else { "?? work" });
        let again = w.scratch.repo().workspace_damage().mend_branch(&w.path, &w.branch, Some(&w.base), &w.trash("2")).unwrap();
        assert_eq!(again, None);
        // The missing blob is written again from the file; then nothing is wrong.
        w.git(&["hash-object", "-w", "work"]);
        w.scratch.git(&["fsck", "--no-dangling"]);
    }
}

#[test]
fn an_index_without_content_is_made_again() {
    let w = workspace();
    std::fs::write(w.registration().join("index"), b"").unwrap();
    let repo = w.scratch.repo();
    assert!(repo.workspace_damage().mend_index(&w.path, &w.trash("1")).unwrap());
    assert_eq!(w.git(&["status", "--porcelain"]), "?? work");
    assert!(repo.unfinished_work().is_workspace_changed(&w.path).unwrap());
    repo.workspaces().put_in_trash(&w.path, &w.trash("2")).unwrap();
    assert!(!repo.unfinished_work().is_workspace_changed(&w.path).unwrap() && w.trash("2/folder/work").exists());
    assert_eq!(repo.worktrees().list().unwrap().len(), 1);
}
