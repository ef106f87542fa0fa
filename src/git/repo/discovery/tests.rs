//! Tests that a repository found without git is the one that git finds; otherwise git is called.
#![allow(clippy::disallowed_methods)]

use std::os::unix::fs::symlink;

use super::*;
use crate::git_since::git_since;
use crate::repo::repository::Repository;
use crate::repo::scratch::{ScratchRepository, git_at};
use crate::skipped::skipped;

/// What is found from `folder` without git, compared with what git finds.
fn compared(folder: &Path) -> Option<DiscoveredRepository> {
    let here = find(folder, &[]);
    if let Some(found) = &here {
        let by_git = Repository::discover_by_git(folder).unwrap();
        let said = (by_git.git_dir(), by_git.common_dir(), by_git.hash(), by_git.ref_format(), by_git.is_bare());
        let files = crate::base::formats::RefFormat::Files;
        assert_eq!(said, (found.git_dir.as_path(), found.common_dir.as_path(), found.hash, files, false), "{}", folder.display());
        let top = git_at(folder, &["rev-parse", "--path-format=absolute", "--show-toplevel"]);
        assert_eq!(found.top, Path::new(&top));
    }
    here
}

#[test]
fn plain_repositories_are_found_as_git_finds_them() {
    for kind in [&[][..], &["--object-format=sha256"]] {
        let scratch = ScratchRepository::new(kind);
        let linked = scratch.path().with_file_name("linked");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        let inside = scratch.path().join("in");
        scratch.git(&["worktree", "add", "-q", "--detach", inside.to_str().unwrap()]);
        let link = scratch.path().with_file_name("link");
        symlink(scratch.path().join("sub"), &link).unwrap();
        for from in [scratch.path(), scratch.path().join("sub"), linked.clone(), linked.join("sub"), inside.join("sub"), link] {
            assert!(compared(&from).is_some(), "{}", from.display());
        }
        let found = compared(&linked.join("sub")).unwrap();
        assert_eq!((found.top, found.common_dir), (linked, scratch.path().join(".git")));
    }
}

#[test]
fn what_is_unusual_is_asked_of_git() {
    let scratch = ScratchRepository::new(&[]);
    let root = scratch.path();
    let outside = root.with_file_name("elsewhere");
    scratch.git(&["clone", "-q", "--separate-git-dir", outside.to_str().unwrap(), ".", "../separate"]);
    scratch.git(&["clone", "-q", "--bare", ".", "../bare"]);
    git_at(&root.with_file_name("bare"), &["worktree", "add", "-q", "../of-bare"]);
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./", "module"]);
    symlink(root.join(".git"), root.with_file_name("linked-git")).unwrap();
    std::fs::create_dir(root.with_file_name("w")).unwrap();
    symlink(root.join(".git"), root.with_file_name("w").join(".git")).unwrap();
    for name in ["separate", "bare", "bare/refs", "of-bare", "r/module", "r/.git", "r/.git/refs", "linked-git", "w", ""] {
        assert_eq!(compared(&root.with_file_name(name)), None, "{name}");
    }
    assert!(compared(&root).is_some());
    let reftable = ScratchRepository::new(&["--ref-format=reftable"]);
    assert!(compared(&reftable.path()).is_none() || !git_since(45, "reftables"));
}

#[test]
fn an_unusual_configuration_is_asked_of_git() {
    let scratch = ScratchRepository::new(&[]);
    let plain = std::fs::read_to_string(scratch.path().join(".git/config")).unwrap();
    let tried = |more: &str| {
        std::fs::write(scratch.path().join(".git/config"), format!("{plain}{more}")).unwrap();
        compared(&scratch.path()).is_some()
    };
    let usual = [
        "",
        "[remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        "# said\n; twice\n[user]\n  name = \u{dc}\n[core]\nautocrlf=input\n[extensions]\n",
        "[core]\n\trepositoryFormatVersion2 = 1\n",
        "[extensions]\n\tpartialClone = origin\n",
        "[core]\n\tfileMode = \"true\" ; said\n",
        "[core] bare = false\n[core \"part\"]\n\tworktree = x\n[core.part]\n\tbare = true\n",
        "[alias]\n\tx = a \\\nb\n\ty = \"!f() { git log # all; }; f\"\n",
        "[core]\r\n\tautocrlf = true\r\n[user]\r\n\tname = \"A; B\"\r\n",
        "[include]\n\tpath = elsewhere\n[includeIf \"gitdir:~/\"]\n\tpath = ~/elsewhere\n",
    ];
    scratch.write(".git/elsewhere", b"[core]\n\tfileMode = false\n");
    assert_eq!(usual.map(tried), [true, true, true, false, true, true, true, true, true, true]);
    let unusual = [
        "[core]\n\tworktree = ../w\n",
        "[core]\n\tbare = true\n",
        "[core]\n\tbare\n",
        "[core]\n\thooksPath\n",
        "[core]\n\tbare = \"tr\"ue\n",
        "[core]\n\tworktree = ../w \\\n/deeper\n",
        "[CORE]\r\n\tBARE = true\r\n",
        "[core]\n\trepositoryformatversion = 1\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[extensions]\n\tobjectFormat = sha1\n",
        "[extensions]\n\tnobodyKnows = true\n",
        "[include]\n\tpath = \"x\n",
        "[extensions]\n\tworktreeConfig\n",
        "[extensions]\n\trefStorage = \"reftable\"\n",
        "[core] bare = true\n",
        "[core\n",
        "nothing\n",
        "no thing\n",
        "[alias]\n\tx; = y\n",
    ];
    for more in unusual {
        assert!(!tried(more), "{more}");
    }
    let version = |text: &str| std::fs::write(scratch.path().join(".git/config"), text).unwrap();
    version("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpreciousObjects = true\n");
    assert!(compared(&scratch.path()).is_some());
    version("[core]\n\trepositoryformatversion = 2\n");
    assert_eq!(compared(&scratch.path()), None);
    version("");
    assert_eq!(compared(&scratch.path()), None);
}

#[test]
fn variables_and_damage_are_asked_of_git() {
    let scratch = ScratchRepository::new(&[]);
    let with = |name: &str| find(&scratch.path(), &[(name.into(), "1".into())]).is_some();
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CEILING_DIRECTORIES"] {
        assert!(!with(name), "{name}");
    }
    assert!(!with("GIT_DISCOVERY_ACROSS_FILESYSTEM") && !with("GIT_OBJECT_DIRECTORY"));
    assert!(!with("GIT_TEST_ASSUME_DIFFERENT_OWNER") && with("GIT_AUTHOR_NAME") && with("HOME"));
    let head = scratch.path().join(".git/HEAD");
    for content in ["", "ref: refs/heads/main", "ref: nothing\n", "abc\n"] {
        std::fs::write(&head, content).unwrap();
        assert_eq!(find(&scratch.path(), &[]), None, "{content}");
    }
    std::fs::write(&head, "ref: refs/heads/main\n").unwrap();
    assert!(compared(&scratch.path()).is_some());
    std::fs::rename(scratch.path().join(".git/objects"), scratch.path().join(".git/gone")).unwrap();
    assert_eq!(find(&scratch.path(), &[]), None);
}

#[test]
fn what_belongs_to_somebody_else_is_asked_of_git() {
    let scratch = ScratchRepository::new(&[]);
    let top = scratch.path();
    if std::os::unix::fs::chown(&top, Some(12345), None).is_err() {
        return skipped("only root gives files away");
    }
    assert_eq!(find(&top, &[]), None);
    std::os::unix::fs::chown(&top, Some(0), None).unwrap();
    assert!(compared(&top).is_some());
    std::os::unix::fs::chown(top.join(".git"), Some(12345), None).unwrap();
    assert_eq!(find(&top, &[]), None);
}

#[test]
fn no_configuration_that_git_refuses_is_understood() {
    let pieces = [
        "a",
        "b c",
        "a_b",
        "= x",
        " = ",
        "\"",
        "\\",
        "\n",
        "\t",
        "[s]",
        "[s \"t\"]",
        "[",
        "]",
        "#",
        ";",
        "\r\n",
        "\\x",
        "\\n",
        "\u{e9}",
        "a.b",
        "1a",
        "-",
        "\r",
        "key = \"v\"",
        " ",
        "\0",
        "[s.t]",
        "[s\"t\"]",
        "[s t]",
        "[s ]",
        "[ s]",
        "\u{b}",
    ];
    let mut dice = 7_u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % sides
    };
    let scratch = ScratchRepository::new(&[]);
    let mut understood = 0;
    for _ in 0..1000 {
        let more: String = (0..1 + roll(4)).map(|_| pieces[roll(pieces.len())]).collect();
        let config = format!("[core]\n\trepositoryformatversion = 0\n[user]\n\t{more}\n[last]\n\tx = y\n");
        if format_of(config.as_bytes()).is_some() {
            scratch.write("config", config.as_bytes());
            scratch.git(&["config", "-f", "config", "--list"]);
            understood += 1;
        }
    }
    assert!(understood > 50, "{understood}");
}
