//! Each row of the table in a real repository: what it forbids is left to git, and whatever else is done without git says
//! what git says.
#![allow(clippy::disallowed_methods)]

mod clones;
mod probe;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use super::{Condition, FastWay};
use crate::git_since::git_since;
use crate::objects::database::NewCommit;
use crate::repo::scratch::{ScratchRepository, crash_child_of, try_git_at};
use crate::skipped::skipped;
use axiom_model::base::names::Oid;
use probe::{ALL, Probe};

/// A repository in which a condition holds; `None` where a test of its own makes it.
fn make(condition: Condition) -> Option<Probe> {
    let plain = || Probe::new(&[]);
    let configured = |key: &str, value: &str| {
        let probe = plain();
        probe.scratch.git(&["config", key, value]);
        Some(probe)
    };
    let with = |change: fn(&ScratchRepository)| {
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
        Condition::Reftable => git_since(45, "reftables").then(|| Probe::new(&["--ref-format=reftable"])),
        Condition::ConditionalInclude => configured("includeIf.onbranch:other/.path", "other"),
        Condition::SharedRepository => configured("core.sharedRepository", "group"),
        Condition::TwoHashes => two_hashes().map(Probe::in_new),
        Condition::HooksPath => configured("core.hooksPath", "/nonexistent"),
        Condition::ConfiguredHook => configured("hook.mine.command", "true"),
        Condition::ReferenceHook => with(add_hook),
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
        Condition::AttributesFromTree => with(take_attributes_from_tree),
        // Of a file that exists, the next row says the same.
        Condition::OwnAttributesFile => configured("core.attributesFile", "/nonexistent"),
        Condition::AttributesFile => with(|scratch| scratch.write(".git/info/attributes", CRLF)),
        Condition::AutoCrlf => configured("core.autocrlf", "input"),
        Condition::ConvertingAttributes => with(|scratch| scratch.write(".git/info/attributes", b"*.none filter=none\n")),
        Condition::SparseIndex => {
            with(|scratch| drop(scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "sub"])))
        }
        Condition::SplitIndex => with(split_index),
        Condition::MarkedEntry => with(|scratch| drop(scratch.git(&["update-index", "--assume-unchanged", "a.txt"]))),
        Condition::ConflictEntry => with(add_conflict),
        Condition::SubmoduleEntry => with(|scratch| {
            scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./", "module"]);
        }),
        // git leaves such a part out when it writes the index.
        Condition::UnknownPart => Some(plain().before_edits(add_unknown_part)),
    }
}

/// A hook that sees changes of refs.
fn add_hook(scratch: &ScratchRepository) {
    scratch.write(".git/hooks/reference-transaction", b"#!/bin/sh\n");
    let hook = scratch.path().join(".git/hooks/reference-transaction");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Attributes in a tree of their own.
fn take_attributes_from_tree(scratch: &ScratchRepository) {
    let attributes = scratch.git(&["hash-object", "-w", scratch.other("attributes", CRLF).to_str().unwrap()]);
    let repo = scratch.repo();
    let git = repo.git().arg("mktree").stdin(format!("100644 blob {attributes}\t.gitattributes\n"));
    scratch.git(&["config", "attr.tree", git.writing().text().unwrap().as_str()]);
}

/// Most entries of the index in another file.
fn split_index(scratch: &ScratchRepository) {
    scratch.git(&["config", "core.splitIndex", "true"]);
    scratch.git(&["update-index", "--split-index"]);
    scratch.write("a.txt", b"split\n");
    scratch.git(&["add", "a.txt"]);
}

/// A path with three stages.
fn add_conflict(scratch: &ScratchRepository) {
    let blob = scratch.git(&["rev-parse", "HEAD:a.txt"]);
    let stages: String = (1..=3).map(|stage| format!("100644 {blob} {stage}\tboth\n")).collect();
    scratch.repo().git_in(&scratch.main()).args(["update-index", "--index-info"]).stdin(stages).run_ok().unwrap();
}

/// An extension of the index that nobody knows.
fn add_unknown_part(scratch: &ScratchRepository) {
    let index = scratch.path().join(".git/index");
    let mut bytes = std::fs::read(&index).unwrap();
    bytes.truncate(bytes.len() - 20);
    bytes.extend_from_slice(b"ZZZZ\0\0\0\0");
    // As with 'index.skipHash'.
    bytes.extend_from_slice(&[0; 20]);
    std::fs::write(index, bytes).unwrap();
}

/// Attributes by which a checkout writes a file differently.
const CRLF: &[u8] = b"y text eol=crlf\n";

/// An empty repository in which git knows objects by the ids of two hashes; `None` if this git does not know that.
fn two_hashes() -> Option<ScratchRepository> {
    let scratch = ScratchRepository::empty(&["--object-format=sha256"]);
    scratch.git(&["config", "extensions.compatObjectFormat", "sha1"]);
    try_git_at(&scratch.path(), &["status"]).status.success().then_some(scratch)
}

#[test]
fn git_goes_on_from_our_commits_where_it_knows_objects_by_two_hashes() {
    let Some(scratch) = two_hashes() else { return skipped("this git knows objects by one hash only") };
    scratch.write("a.txt", b"a\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    let repo = scratch.repo();
    let (tree, who) = (Oid::new(scratch.git(&["rev-parse", "HEAD^{tree}"])).unwrap(), repo.objects().signature().unwrap());
    let parents = vec![Oid::new(head(&scratch)).unwrap()];
    let ours = repo.objects().write_commit(&NewCommit { tree: &tree, parents, who: &who, message: "ours" }).unwrap();
    repo.durability().sync_objects().unwrap();
    scratch.git(&["reset", "-q", "--hard", ours.as_str()]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "after"]);
    assert_eq!(scratch.git(&["rev-parse", "HEAD~1"]), ours.as_str());
}

fn head(scratch: &ScratchRepository) -> String {
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
    let is_held = |condition: Condition| {
        let Some(probe) = make(condition) else { return };
        let allowed = probe.allowed();
        let by_table: BTreeSet<FastWay> = allowed.iter().copied().filter(|way| !condition.forbids(*way)).collect();
        let taken = probe.taken();
        assert_eq!(taken, by_table, "{condition:?}: what was done without git, and what the table allows");
        let is_found = condition.row().signs.iter().any(|sign| matches!(sign, super::ConditionSign::Found));
        let noticed = |way: &FastWay| is_found || !usual.contains(way) || !allowed.contains(way);
        assert!(condition.row().ways.iter().all(noticed), "{condition:?} is not noticed: {allowed:?}");
    };
    std::thread::scope(|scope| {
        for some in Condition::ALL.chunks(Condition::ALL.len().div_ceil(4)) {
            scope.spawn(|| some.iter().copied().for_each(&is_held));
        }
    });
}

/// What is set, and how.
type Setting = (&'static str, fn(&ScratchRepository));

fn configure(scratch: &ScratchRepository, settings: &[(&str, &str)]) {
    settings.iter().for_each(|(key, value)| drop(scratch.git(&["config", key, value])));
}

/// Settings that forbid nothing.
const HARMLESS: &[Setting] = &[
    ("line ends that are never refused", |scratch| configure(scratch, &[("core.safecrlf", "false")])),
    ("line ends that 'git add' refuses", |scratch| configure(scratch, &[("core.safecrlf", "true")])),
    ("objects that gc keeps", |scratch| {
        configure(scratch, &[("core.repositoryFormatVersion", "1"), ("extensions.preciousObjects", "true")]);
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
    ("many files", |scratch| {
        configure(scratch, &[("feature.manyFiles", "true")]);
        new_index(scratch);
        assert_eq!(index_parts(scratch), (4, git_since(40, "an index without its sum"), true, false));
    }),
    ("a compressed index of many parts", |scratch| {
        configure(scratch, &[("index.version", "4"), ("index.threads", "2")]);
        configure(scratch, &[("index.recordEndOfIndexEntries", "true"), ("index.recordOffsetTable", "true")]);
        new_index(scratch);
        assert_eq!(index_parts(scratch), (4, false, false, false));
    }),
    ("an index without a checksum", |scratch| {
        configure(scratch, &[("index.skipHash", "true")]);
        new_index(scratch);
        assert_eq!(index_parts(scratch), (2, git_since(40, "an index without its sum"), false, false));
    }),
    ("an untracked cache that nothing asks for", |scratch| {
        scratch.git(&["update-index", "--untracked-cache"]);
        scratch.git(&["status"]);
        assert_eq!(index_parts(scratch), (2, false, true, false));
    }),
    // The hook says that nothing changed: what git saw unchanged must not be taken over.
    ("a file system monitor", |scratch| {
        scratch.write(".git/monitor", b"#!/bin/sh\nprintf 'token\\0'\n");
        let hook = scratch.path().join(".git/monitor");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        configure(scratch, &[("core.fsmonitor", hook.to_str().unwrap()), ("core.untrackedCache", "true")]);
        scratch.git(&["status"]);
        scratch.git(&["status"]);
        assert_eq!(index_parts(scratch), (2, false, true, true));
    }),
    ("a file system monitor of git's own", |scratch| {
        configure(scratch, &[("core.fsmonitor", "true")]);
        new_index(scratch);
    }),
    ("stat data that git does not look at again", |scratch| configure(scratch, &[("core.ignoreStat", "false")])),
];

fn new_index(scratch: &ScratchRepository) {
    std::fs::remove_file(scratch.path().join(".git/index")).unwrap();
    scratch.git(&["read-tree", "HEAD"]);
    scratch.git(&["status"]);
    scratch.git(&["status"]);
}

/// The version of the index; whether it lacks a checksum, has an untracked cache, and knows a file system monitor.
fn index_parts(scratch: &ScratchRepository) -> (u8, bool, bool, bool) {
    let bytes = std::fs::read(scratch.path().join(".git/index")).unwrap();
    let has = |name: &[u8]| memchr::memmem::find(&bytes, name).is_some();
    (bytes[7], bytes.ends_with(&[0; 20]), has(b"UNTR"), has(b"FSMN"))
}

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
    let scratch = ScratchRepository::new(&[]);
    let config = scratch.read(".git/config");
    // An earlier section says something else.
    let earlier = "[core]\n\tautocrlf = false\n\tignoreCase = false\n";
    scratch.write(".git/config", format!("{config}{earlier}[core]\n\tautocrlf\n\tignoreCase\n").as_bytes());
    let repo = scratch.repo();
    let forbids = |way| repo.shortcuts().forbidden_by(way, None);
    assert!(forbids(FastWay::CaptureFiles) == Some(Condition::IgnoresCase));
    assert!(!repo.shortcuts().allow(FastWay::PlainContents));
    assert!(repo.conversions().plain(&Oid::new(head(&scratch)).unwrap(), [].iter()).is_none());
}

#[test]
fn a_worktree_has_the_line_ends_that_its_branch_includes() {
    let scratch = ScratchRepository::new(&[]);
    scratch.write(".git/included", b"[core]\n\tautocrlf = true\n");
    scratch.git(&["config", "includeIf.onbranch:agents/.path", "included"]);
    let linked = scratch.path().join("linked");
    scratch.git(&["worktree", "add", "-q", "-b", "agents/x", linked.to_str().unwrap()]);
    let repo = scratch.repo();
    let linked = repo.worktrees().worktree_at(&linked).unwrap().unwrap().worktree;
    let settings = |worktree| repo.conversions().line_end_settings(worktree).unwrap();
    assert_eq!(settings(&linked), axiom_model::base::forms::line_ends::LineEndConfig::of(Some("true"), None));
    assert_eq!(settings(&scratch.main()), axiom_model::base::forms::line_ends::LineEndConfig::of(None, None));
}

#[test]
fn files_are_looked_at_whenever_somebody_asks() {
    let scratch = ScratchRepository::new(&[]);
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
    let Some(ways) = axiom_base::env::var("AXIOM_TEST_FORBIDDEN").and_then(|text| text.into_string().ok()) else { return };
    let repo = crate::Repository::discover_by_git(&std::env::current_dir().unwrap()).unwrap().isolated();
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
        let scratch = ScratchRepository::new(&[]);
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
