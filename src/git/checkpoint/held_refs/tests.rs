//! Tests of holding refs of every kind, and of the cache for packed refs.

use super::*;
use crate::checkpoint::held_ref_group::PackedRefsSource;
use crate::objects::database::NewCommit;
use crate::repo::repository::Repository;
use crate::repo::scratch::{ScratchRepository, git_at};

/// Writes a commit that refers to the held refs, as a checkpoint does.
fn publish(repo: &Repository, held: &HeldRefs) -> Oid {
    let (who, tree, parents) = (repo.objects().signature().unwrap(), &held.tree, held.commits.clone());
    let record = repo.objects().write_commit(&NewCommit { tree, parents, who: &who, message: "record" }).unwrap();
    repo.durability().sync_objects().unwrap();
    record
}

fn make_refs(scratch: &ScratchRepository) {
    let oid = |what: &str| scratch.git(&["rev-parse", what]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    scratch.git(&["tag", "-a", "-m", "x", "v1"]);
    scratch.git(&["tag", "-a", "-m", "of a tag", "nested", "v1"]);
    scratch.git(&["tag", "tree", &oid("HEAD^{tree}")]);
    scratch.git(&["tag", "-a", "-m", "of a blob", "blob", &oid("HEAD:a.txt")]);
    for name in ["refs/heads/side", "refs/worktree/own", "refs/notes/theirs", "refs/custom/x", "refs/heads/axiom/t"] {
        scratch.git(&["update-ref", name, "HEAD~"]);
    }
    scratch.git(&["symbolic-ref", "refs/heads/link", "refs/heads/side"]);
    let other = scratch.git(&["commit-tree", "-m", "other", "HEAD^{tree}"]);
    scratch.git(&["replace", &other, "HEAD"]);
    scratch.git(&["worktree", "add", "-q", "../linked"]);
    git_at(&scratch.path().join("../linked"), &["update-ref", "refs/worktree/there", "HEAD"]);
    for text in ["one", "two"] {
        scratch.write("a.txt", text.as_bytes());
        scratch.git(&["stash", "push", "-q", "-m", text]);
    }
}

#[test]
fn refs_of_every_kind_are_held_and_read_back_in_every_format() {
    for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
        let scratch = ScratchRepository::new(kind);
        make_refs(&scratch);
        let repo = scratch.repo();
        let now = repo.ref_lists().local_refs().unwrap();
        let names: Vec<&str> = now.refs.keys().map(RefName::as_str).filter(|name| !name.contains("replace")).collect();
        let expected = "refs/custom/x refs/heads/linked refs/heads/main refs/heads/side refs/notes/theirs refs/tags/blob \
                        refs/tags/nested refs/tags/tree refs/tags/v1 refs/worktree/own worktrees/linked/refs/worktree/there";
        assert_eq!(names.join(" "), expected, "{kind:?}");
        assert_eq!(now.refs.len(), names.len() + 1);
        let messages: Vec<&str> = now.stash.iter().map(|entry| entry.message.as_str()).collect();
        assert_eq!(messages, ["On main: two", "On main: one"]);
        let held = repo.checkpoints().hold_local_refs().unwrap();
        assert_eq!(held.not_held, []);
        let record = publish(&repo, &held);
        scratch.git(&["update-ref", "refs/axiom/captures/x", record.as_str()]);
        assert_eq!(repo.checkpoints().hold_local_refs().unwrap().tree, held.tree, "equal refs, equal objects");
        if kind != ["--ref-format=reftable"] {
            scratch.git(&["pack-refs", "--all"]);
            assert_eq!(repo.ref_lists().local_refs().unwrap(), now);
            scratch.git(&["update-ref", "refs/heads/side", "HEAD"]);
            assert_eq!(repo.checkpoints().hold_local_refs().unwrap().not_held, []);
            scratch.git(&["update-ref", "refs/heads/side", "HEAD~"]);
        }
        // All refs are deleted, and with them the objects that they pointed to.
        git_at(&scratch.path().join("../linked"), &["update-ref", "-d", "refs/worktree/there"]);
        scratch.git(&["stash", "clear"]);
        for name in now.refs.keys().chain(now.links.keys()).filter(|name| !name.as_str().starts_with("worktrees/")) {
            scratch.git(&["update-ref", "--no-deref", "-d", name.as_str()]);
        }
        scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
        scratch.git(&["gc", "-q", "--prune=now"]);
        scratch.git(&["fsck", "--strict"]);
        let repo = scratch.repo();
        let tips: Vec<Oid> = now.refs.values().chain(now.stash.iter().map(|entry| &entry.id)).cloned().collect();
        assert!(tips.iter().any(|tip| !repo.connectivity().holds(tip)), "tags went");
        repo.tips().write_tags_again(&held.tree, &tips).unwrap();
        repo.durability().sync_objects().unwrap();
        for tip in &tips {
            scratch.git(&["rev-list", "--objects", "--quiet", tip.as_str()]);
        }
    }
}

#[test]
fn a_ref_of_which_something_is_missing_is_named_and_in_no_ones_way() {
    let scratch = ScratchRepository::new(&[]);
    let gone = "1".repeat(40);
    scratch.write(".git/refs/heads/broken", format!("{gone}\n").as_bytes());
    scratch.write(".git/refs/heads/empty", b"");
    let tag = format!("object {gone}\ntype commit\ntag t\ntagger A <a@b> 0 +0000\n\nx\n");
    scratch.write("tag", tag.as_bytes());
    let tag = scratch.git(&["hash-object", "-t", "tag", "-w", "--literally", "tag"]);
    scratch.write(".git/refs/tags/hollow", format!("{tag}\n").as_bytes());
    let repo = scratch.repo();
    let mut held = repo.checkpoints().hold_local_refs().unwrap();
    held.not_held.sort();
    let names: Vec<&str> = held.not_held.iter().map(RefName::as_str).collect();
    assert_eq!(names, ["refs/heads/broken", "refs/heads/empty", "refs/tags/hollow"]);
    let record = publish(&repo, &held);
    assert_eq!(repo.connectivity().missing_below(&[record]).unwrap(), None);
}

#[test]
fn packed_refs_are_remembered_as_long_as_nothing_about_them_changes() {
    let scratch = ScratchRepository::new(&[]);
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let mut text = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    (0..2000).for_each(|n| text.push_str(&format!("{head} refs/tags/t{n:05}\n")));
    scratch.write(".git/packed-refs", text.as_bytes());
    let repo = scratch.repo();
    let capture = RefName::new("refs/axiom/captures/x");
    std::thread::sleep(std::time::Duration::from_millis(150));
    let first = repo.checkpoints().hold_local_refs().unwrap();
    let remembered =
        |held: &HeldRefs| held.packed.as_ref().is_some_and(|(_, memory)| matches!(memory.source, PackedRefsSource::Memory(_)));
    assert!(!remembered(&first));
    let record = publish(&repo, &first);
    scratch.git(&["update-ref", capture.as_str(), record.as_str()]);
    repo.packed_refs().remember_packed_refs(&first, &capture, &record);
    let again = repo.checkpoints().hold_local_refs().unwrap();
    assert!(remembered(&again));
    assert_eq!((&again.tree, &again.commits), (&first.tree, &first.commits));
    // A loose ref may hide a packed one.
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    assert!(remembered(&repo.checkpoints().hold_local_refs().unwrap()), "the same names");
    scratch.git(&["tag", "-f", "t00007"]);
    let hidden = repo.checkpoints().hold_local_refs().unwrap();
    assert!(!remembered(&hidden) && hidden.tree != first.tree);
    scratch.git(&["tag", "-d", "t00007"]);
    assert!(!remembered(&repo.checkpoints().hold_local_refs().unwrap()), "packed-refs was written again");
    // Without the commit that holds them, the cached objects may be gone.
    scratch.write(".git/packed-refs", text.as_bytes());
    std::thread::sleep(std::time::Duration::from_millis(150));
    let held = repo.checkpoints().hold_local_refs().unwrap();
    repo.packed_refs().remember_packed_refs(&held, &capture, &record);
    assert!(remembered(&repo.checkpoints().hold_local_refs().unwrap()));
    let memory = scratch.read(".git/axiom/tmp/packed-refs");
    scratch.write(".git/axiom/tmp/packed-refs", &memory.as_bytes()[..memory.len() - 1]);
    assert!(!remembered(&repo.checkpoints().hold_local_refs().unwrap()), "torn");
    scratch.write(".git/axiom/tmp/packed-refs", memory.as_bytes());
    scratch.git(&["update-ref", "-d", capture.as_str()]);
    assert!(!remembered(&repo.checkpoints().hold_local_refs().unwrap()), "its holder is gone");
}

#[test]
fn a_record_that_does_not_keep_what_it_names_is_found() {
    let scratch = ScratchRepository::new(&[]);
    make_refs(&scratch);
    let repo = scratch.repo();
    let held = repo.checkpoints().hold_local_refs().unwrap();
    let who = repo.objects().signature().unwrap();
    let commit = |tree: &Oid, parents: &[&Oid]| {
        let parents = parents.iter().map(|oid| (*oid).clone()).collect();
        repo.objects().write_commit(&NewCommit { tree, parents, who: &who, message: "x" }).unwrap()
    };
    let json = repo.objects().write_blob(b"{}").unwrap();
    let entries = [
        TreeEntry { mode: 0o100_644, oid: json, name: b"checkpoint.json".to_vec() },
        TreeEntry { mode: TREE, oid: held.tree.clone(), name: REFS.to_vec() },
    ];
    let (tree, nothing) = (repo.trees().write_tree(&entries).unwrap(), repo.trees().empty_tree().unwrap());
    let capture = |kept: &[Oid]| {
        let (base, record) = (repo.objects().root_commit().unwrap(), commit(&tree, &kept.iter().collect::<Vec<_>>()));
        commit(&nothing, &[&base, &commit(&nothing, &[&base, &record])])
    };
    assert_eq!(repo.checkpoints().refs_not_kept(&capture(&held.commits)).unwrap(), Vec::<String>::new());
    let wrong = repo.checkpoints().refs_not_kept(&capture(&[])).unwrap();
    assert!(wrong.iter().any(|line| line.starts_with("refs/heads/side at ")), "{wrong:?}");
    assert!(wrong.iter().any(|line| line.starts_with("stash entry ")), "{wrong:?}");
    assert!(!wrong.iter().any(|line| line.contains("refs/tags/")), "their content is kept: {wrong:?}");
}
