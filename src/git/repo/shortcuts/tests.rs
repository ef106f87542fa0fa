//! Each row of the table in a real repository: what it forbids is left to git, and whatever else is done without git says
//! what git says.
#![allow(clippy::disallowed_methods)]

mod probe;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use super::{Condition, FastWay};
use crate::git::repo::scratch::{Scratch, crash_child_of};
use probe::{ALL, Probe};

/// A repository in which a condition holds; `None` where a test of its own makes it.
fn make(condition: Condition) -> Option<Probe> {
    let plain = || Probe::new(&[]);
    let configured = |key: &str, value: &str| {
        let probe = plain();
        probe.scratch.git(&["config", key, value]);
        Some(probe)
    };
    let with = |change: fn(&Scratch)| {
        let probe = plain();
        change(&probe.scratch);
        Some(probe)
    };
    match condition {
        Condition::CallerConfigures => Some(plain().called_with(&[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.ignoreCase"),
            ("GIT_CONFIG_VALUE_0", "false"),
        ])),
        Condition::WorkTreeVariable | Condition::OtherSystem => None,
        Condition::ElsewhereWorktree => configured("core.worktree", ".."),
        Condition::WorktreeConfig => configured("extensions.worktreeConfig", "true"),
        Condition::Reftable => Some(Probe::new(&["--ref-format=reftable"])),
        Condition::SharedRepository => configured("core.sharedRepository", "group"),
        Condition::HooksPath => configured("core.hooksPath", "/nonexistent"),
        Condition::ConfiguredHook => configured("hook.mine.command", "true"),
        Condition::ReferenceHook => with(|scratch| {
            scratch.write(".git/hooks/reference-transaction", b"#!/bin/sh\n");
            let hook = scratch.path().join(".git/hooks/reference-transaction");
            std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        }),
        Condition::LogsAllRefs => configured("core.logAllRefUpdates", "always"),
        Condition::Shallow => with(|scratch| scratch.write(".git/shallow", format!("{}\n", head(scratch)).as_bytes())),
        Condition::Grafts => with(|scratch| scratch.write(".git/info/grafts", format!("{}\n", head(scratch)).as_bytes())),
        Condition::NoFileMode => configured("core.fileMode", "false"),
        Condition::NoSymlinks => configured("core.symlinks", "false"),
        Condition::IgnoresCase => configured("core.ignoreCase", "true"),
        Condition::PrecomposesUnicode => configured("core.precomposeUnicode", "true"),
        Condition::ProtectsHfs => configured("core.protectHFS", "true"),
        Condition::SparseCheckout => configured("core.sparseCheckout", "true"),
        Condition::SparsePatterns => with(|scratch| scratch.write(".git/info/sparse-checkout", b"/*\n")),
        Condition::AttributesFromTree => configured("attr.tree", "HEAD"),
        Condition::OwnAttributesFile => configured("core.attributesFile", "/nonexistent"),
        Condition::AttributesFile => with(|scratch| scratch.write(".git/info/attributes", b"*.none text\n")),
        Condition::AutoCrlf => configured("core.autocrlf", "input"),
        Condition::SafeCrlf => configured("core.safecrlf", "true"),
        Condition::ConvertingAttributes => with(|scratch| scratch.write(".git/info/attributes", b"*.none filter=none\n")),
        Condition::SparseIndex => {
            with(|scratch| drop(scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "sub"])))
        }
        Condition::SplitIndex => with(|scratch| {
            scratch.git(&["config", "core.splitIndex", "true"]);
            scratch.git(&["update-index", "--split-index"]);
            scratch.write("a.txt", b"split\n");
            scratch.git(&["add", "a.txt"]);
        }),
        Condition::MarkedEntry => with(|scratch| drop(scratch.git(&["update-index", "--assume-unchanged", "a.txt"]))),
        Condition::ConflictEntry => with(|scratch| {
            let blob = scratch.git(&["rev-parse", "HEAD:a.txt"]);
            let stages: String = (1..=3).map(|stage| format!("100644 {blob} {stage}\tboth\n")).collect();
            scratch.repo().git_in(&scratch.main()).args(["update-index", "--index-info"]).stdin(stages).run_ok().unwrap();
        }),
        Condition::SubmoduleEntry => with(|scratch| {
            scratch.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", head(scratch))]);
        }),
        // git leaves such a part out when it writes the index.
        Condition::UnknownPart => Some(plain().before_edits(|scratch| {
            let index = scratch.path().join(".git/index");
            let mut bytes = std::fs::read(&index).unwrap();
            bytes.truncate(bytes.len() - 20);
            bytes.extend_from_slice(b"ZZZZ\0\0\0\0");
            // As with 'index.skipHash'.
            bytes.extend_from_slice(&[0; 20]);
            std::fs::write(index, bytes).unwrap();
        })),
    }
}

fn head(scratch: &Scratch) -> String {
    scratch.git(&["rev-parse", "HEAD"])
}

#[test]
fn every_condition_has_a_bit_and_a_reason_and_every_way_can_be_forbidden() {
    assert!(Condition::ALL.len() <= 64);
    for condition in Condition::ALL {
        let row = condition.row();
        let ways: BTreeSet<&FastWay> = row.ways.iter().collect();
        assert!(ways.len() == row.ways.len() && !row.why.is_empty(), "{condition:?}");
    }
    assert!(ALL.iter().all(|way| Condition::against(*way).next().is_some()));
}

#[test]
fn an_ordinary_repository_is_handled_without_git() {
    let probe = Probe::new(&[]);
    let (allowed, taken) = (probe.allowed(), probe.taken());
    assert_eq!(taken, allowed, "nothing is unusual but what this machine configures");
}

#[test]
fn each_row_forbids_what_it_says_and_nothing_else() {
    // The machine may have settings for all repositories.
    let usual = Probe::new(&[]).allowed();
    for condition in Condition::ALL.iter().copied() {
        let Some(probe) = make(condition) else { continue };
        let allowed = probe.allowed();
        let by_table: BTreeSet<FastWay> = allowed.iter().copied().filter(|way| !condition.forbids(*way)).collect();
        let taken = probe.taken();
        assert_eq!(taken, by_table, "{condition:?}: what was done without git, and what the table allows");
        let is_found = condition.row().signs.iter().any(|sign| matches!(sign, super::Sign::Found));
        let noticed = |way: &FastWay| is_found || !usual.contains(way) || !allowed.contains(way);
        assert!(condition.row().ways.iter().all(noticed), "{condition:?} is not noticed: {allowed:?}");
    }
}

/// What is set, and how.
type Setting = (&'static str, fn(&Scratch));

fn configure(scratch: &Scratch, settings: &[(&str, &str)]) {
    settings.iter().for_each(|(key, value)| drop(scratch.git(&["config", key, value])));
}

/// Settings that forbid nothing.
const HARMLESS: &[Setting] = &[
    ("line ends that are never refused", |scratch| configure(scratch, &[("core.safecrlf", "false")])),
    ("objects that gc keeps", |scratch| {
        configure(scratch, &[("core.repositoryFormatVersion", "1"), ("extensions.preciousObjects", "true")]);
    }),
    ("a partial clone", |scratch| {
        configure(scratch, &[("remote.origin.url", "."), ("remote.origin.promisor", "true")]);
        configure(scratch, &[("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin")]);
    }),
    ("a replaced commit", |scratch| {
        let other = scratch.git(&["commit-tree", "-m", "other", "HEAD^{tree}"]);
        scratch.git(&["replace", &scratch.git(&["rev-parse", "HEAD~2"]), &other]);
    }),
    ("stat data that are ignored", |scratch| {
        configure(scratch, &[("core.trustctime", "false"), ("core.checkStat", "minimal"), ("core.preloadIndex", "true")]);
    }),
    ("many packs as one, and a commit graph", |scratch| {
        configure(scratch, &[("core.multiPackIndex", "true"), ("core.commitGraph", "true")]);
        scratch.git(&["repack", "-q", "-a", "-d", "--write-midx"]);
        scratch.git(&["commit-graph", "write", "--reachable"]);
    }),
];

#[test]
fn settings_without_a_row_forbid_nothing() {
    let usual = Probe::new(&[]).allowed();
    for (what, set) in HARMLESS {
        let probe = Probe::new(&[]);
        set(&probe.scratch);
        assert_eq!(probe.taken(), usual, "{what}");
    }
}

#[test]
fn a_setting_without_a_value_is_true() {
    let scratch = Scratch::new(&[]);
    let config = scratch.read(".git/config");
    scratch.write(".git/config", format!("{config}[core]\n\tautocrlf\n\tignoreCase\n").as_bytes());
    let repo = scratch.repo();
    let forbids = |way| repo.shortcuts().forbidden_by(way, None);
    assert!(forbids(FastWay::CaptureFiles) == Some(Condition::IgnoresCase));
    assert!(!repo.shortcuts().allow(FastWay::PlainContents));
    assert!(repo.conversions().plain(&crate::domain::base::names::Oid::new(head(&scratch)).unwrap(), [].iter()).is_none());
}

#[test]
fn files_are_looked_at_whenever_somebody_asks() {
    let scratch = Scratch::new(&[]);
    let repo = scratch.repo();
    for (file, way) in [
        ("shallow", FastWay::ReadHistory),
        ("info/grafts", FastWay::ReadHistory),
        ("hooks/reference-transaction", FastWay::ChangeOwnRefs),
        ("info/attributes", FastWay::PlainContents),
        ("info/sparse-checkout", FastWay::EditIndex),
    ] {
        let main = scratch.main();
        let before = repo.shortcuts().allow_in(way, &main);
        scratch.write(&format!(".git/{file}"), b"\n");
        assert!(!repo.shortcuts().allow_in(way, &main), "{file}");
        std::fs::remove_file(scratch.path().join(".git").join(file)).unwrap();
        assert_eq!(repo.shortcuts().allow_in(way, &main), before, "{file}");
    }
}

/// Runs as a process of its own in the test of variables; does nothing otherwise.
#[test]
fn crash_child() {
    let Some(ways) = crate::env::var("AXIOM_TEST_FORBIDDEN").and_then(|text| text.into_string().ok()) else { return };
    let repo = crate::git::Repository::discover_by_git(&std::env::current_dir().unwrap()).unwrap().isolated();
    let forbidden = ALL.iter().filter(|way| !repo.shortcuts().allow(**way)).map(|way| format!("{way:?}"));
    let forbidden: Vec<String> = forbidden.collect();
    assert!(ways.split(' ').all(|way| forbidden.iter().any(|one| one == way)), "{forbidden:?}");
}

#[test]
fn variables_forbid_what_the_table_says() {
    let variables =
        [("GIT_WORK_TREE", "/", Condition::WorkTreeVariable), ("GIT_ATTR_SOURCE", "HEAD", Condition::AttributesFromTree)];
    for (name, value, condition) in variables {
        let ways: Vec<String> = condition.row().ways.iter().map(|way| format!("{way:?}")).collect();
        let scratch = Scratch::new(&[]);
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &crash_child_of(module_path!()), "-q"])
            .current_dir(scratch.path())
            .env("GIT_DIR", scratch.path().join(".git"))
            .env(name, value)
            .env("AXIOM_TEST_FORBIDDEN", ways.join(" "))
            .output()
            .unwrap();
        assert!(child.status.success(), "{name}: {}", String::from_utf8_lossy(&child.stdout));
    }
}
