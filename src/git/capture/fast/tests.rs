//! The quick capture beside the one that git makes, for random worktrees.
#![allow(clippy::disallowed_methods)]

mod left_to_git;
mod remembered;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::EarlierCapture;
use crate::capture::captured::{CaptureOptions, WorktreeCapture};
use crate::index::path_patterns::PathPatterns;
use crate::repo::scratch::{ScratchRepository, git_at};
use crate::trials::AskedCases;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::RepoPath;
use axiom_model::base::path_set::PathSet;
use left_to_git::Odd;

fn options() -> CaptureOptions {
    CaptureOptions { max_file_size: 1000, excluded: vec![RepoPath::new(&b".worktrees"[..])], ..Default::default() }
}

/// As [`options`], with ignored files that are held and untracked ones that are not.
fn configured() -> CaptureOptions {
    let patterns = |texts: &[&str]| PathPatterns::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let include = patterns(&["*.log", "build/keep", "dir/**", "!dir/a", "/sp ace/"]);
    CaptureOptions { include, exclude: patterns(&["keep", "!dir/keep", "build/a/", ":colon/"]), ..options() }
}

/// Whether the quick way was taken; what it says is what git says.
fn same(scratch: &ScratchRepository, options: &CaptureOptions, what: &str) -> bool {
    let (repo, main) = (scratch.repo(), scratch.main());
    let by_git = repo.captures().capture_by_git(&main, options).unwrap();
    match repo.quick_captures().fast_capture(&main, options).unwrap() {
        Some(mut quick) => {
            // git leaves out an ignored folder that has the place of a tracked file.
            let tracked = scratch.git(&["ls-files", "-z"]);
            let ignored = &mut quick.coverage.ignored;
            let before = ignored.paths.len();
            ignored.paths.retain(|path| !tracked.split('\0').any(|file| file == path.to_string()));
            ignored.count -= (before - ignored.paths.len()) as u64;
            repo.durability().sync_objects().unwrap();
            let differs = scratch.git(&["diff", "--stat", by_git.tree.as_str(), quick.tree.as_str()]);
            assert_eq!(quick, by_git, "{what}: {differs}\n{}", scratch.git(&["status", "--ignored", "-uall", "--short"]));
            true
        }
        None => false,
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

const NAMES: &[&str] =
    &["a", "b.txt", "c.log", "dir", "build", "keep", "sp ace", "*star", "x[1]", "!bang", "#hash", ":colon", "ü"];

const PATTERNS: &[&str] = &[
    "*.log",
    "!keep.log",
    "build/",
    "/build",
    "build/*",
    "!build/keep",
    "dir/**/b.txt",
    "**/keep",
    "a",
    "!a",
    "\\!bang",
    "\\#hash",
    "sp ace",
    "trailing  ",
    "x\\[1\\]",
    "[a-b]*",
    "dir/",
    "!dir/",
    "/*",
    "!/*/",
    "*",
    "!*/",
    "keep/",
    ":colon",
    "ü",
    "dir/b.txt",
];

fn path(dice: &mut Dice) -> String {
    let depth = 1 + dice.roll(3);
    let parts: Vec<&str> = (0..depth).map(|_| NAMES[dice.roll(NAMES.len() as u64) as usize]).collect();
    parts.join("/")
}

/// Makes the path free for a file, and puts one there.
fn put(root: &Path, path: &str, make: impl FnOnce(&Path)) {
    let mut above = root.to_owned();
    let parts: Vec<&str> = path.split('/').collect();
    for part in &parts[..parts.len() - 1] {
        above.push(part);
        if !std::fs::symlink_metadata(&above).is_ok_and(|meta| meta.is_dir()) {
            drop(std::fs::remove_file(&above));
            std::fs::create_dir(&above).unwrap();
        }
    }
    let place = root.join(path);
    match std::fs::symlink_metadata(&place) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&place).unwrap(),
        Ok(_) => std::fs::remove_file(&place).unwrap(),
        Err(_) => {}
    }
    make(&place);
}

fn change(scratch: &ScratchRepository, dice: &mut Dice) {
    let root = scratch.path();
    let place = path(dice);
    match dice.roll(17) {
        0..=4 => put(&root, &place, |place| std::fs::write(place, format!("{}\n", dice.roll(10))).unwrap()),
        5 => put(&root, &place, |place| symlink("a", place).unwrap()),
        6 => {
            put(&root, &place, |place| std::fs::write(place, "run\n").unwrap());
            std::fs::set_permissions(root.join(&place), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        7 => drop(std::fs::remove_file(root.join(&place)).or_else(|_| std::fs::remove_dir_all(root.join(&place)))),
        8 => put(&root, &place, |place| std::fs::create_dir(place).unwrap()),
        9 => {
            let folder = place.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let count = 1 + dice.roll(4);
            let lines: Vec<&str> = (0..count).map(|_| PATTERNS[dice.roll(PATTERNS.len() as u64) as usize]).collect();
            put(&root, &format!("{folder}.gitignore"), |place| std::fs::write(place, lines.join("\n")).unwrap());
        }
        10 => put(&root, &place, |place| std::fs::write(place, vec![b'x'; 2000]).unwrap()),
        11 => drop(crate::repo::scratch::try_git_at(&root, &["add", "-A"])),
        12 => drop(crate::repo::scratch::try_git_at(&root, &["add", "-f", "-A", "."])),
        13 => {
            let mode = [0o600, 0o444, 0o640, 0o664, 0o755, 0o700][dice.roll(6) as usize];
            drop(std::fs::set_permissions(root.join(&place), std::fs::Permissions::from_mode(mode)));
        }
        14 | 15 => {
            let value = [&b"1"[..], b"", b"\xff\0"][dice.roll(3) as usize];
            // Of a link, or of nothing, there are none.
            let _ = rustix::fs::lsetxattr(root.join(&place), "user.dice", value, rustix::fs::XattrFlags::empty());
        }
        _ => drop(crate::repo::scratch::try_git_at(&root, &["commit", "-q", "-m", "more", "--allow-empty"])),
    }
}

#[test]
fn random_worktrees_are_captured_as_git_captures_them() {
    let mut quick = 0;
    let mut states = 0;
    for seed in AskedCases::read().seeds(0, 12) {
        let mut dice = Dice(seed.wrapping_mul(7919) + 1);
        let kind: &[&str] = [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]][seed as usize % 3];
        let scratch = ScratchRepository::new(kind);
        let options = if seed % 2 == 0 { options() } else { configured() };
        if seed % 4 == 1 {
            for_many_files(&scratch);
        }
        for step in 0..6 {
            for _ in 0..dice.roll(9) {
                change(&scratch, &mut dice);
            }
            states += 1;
            quick += u32::from(same(&scratch, &options, &format!("seed {seed}, step {step}")));
            if dice.roll(4) == 0 {
                // Old enough to be remembered by the next look, and recalled by the one after.
                std::thread::sleep(std::time::Duration::from_millis(150));
                for _ in 0..2 {
                    same(&scratch, &options, &format!("seed {seed}, after step {step}"));
                }
            }
        }
    }
    println!("{quick} of {states} the quick way");
    assert!(quick * 10 > states * 8, "only {quick} of {states} were captured the quick way");
}

/// As somebody sets up a large repository: a compressed index without a checksum, with all that git can remember.
fn for_many_files(scratch: &ScratchRepository) {
    scratch.git(&["config", "feature.manyFiles", "true"]);
    std::fs::remove_file(scratch.path().join(".git/index")).unwrap();
    scratch.git(&["read-tree", "HEAD"]);
    scratch.git(&["status"]);
    assert_eq!(std::fs::read(scratch.path().join(".git/index")).unwrap()[7], 4);
}

/// Everything in a worktree but git's own: kind, permissions and content of each path.
fn everything(root: &Path) -> BTreeMap<RepoPath, (String, Vec<u8>, axiom_base::files::ExtendedAttributes)> {
    use std::os::unix::ffi::OsStrExt;
    let walk = walkdir::WalkDir::new(root).min_depth(1).into_iter().filter_entry(|entry| entry.file_name() != ".git");
    let all = walk.map(|entry| {
        let entry = entry.unwrap();
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        let content = match entry.file_type() {
            kind if kind.is_file() => std::fs::read(path).unwrap(),
            kind if kind.is_symlink() => std::fs::read_link(path).unwrap().as_os_str().as_bytes().to_owned(),
            _ => Vec::new(),
        };
        let inside = RepoPath::new(path.strip_prefix(root).unwrap().as_os_str().as_bytes());
        let attributes = axiom_base::files::attributes(path).unwrap();
        (inside, (format!("{:?} {:o}", entry.file_type(), meta.permissions().mode()), content, attributes))
    });
    all.collect()
}

fn named(scratch: &ScratchRepository, then: &WorktreeCapture, paths: &[RepoPath]) -> Option<WorktreeCapture> {
    named_with(scratch, &options(), then, paths)
}

fn named_with(
    scratch: &ScratchRepository,
    options: &CaptureOptions,
    then: &WorktreeCapture,
    paths: &[RepoPath],
) -> Option<WorktreeCapture> {
    let (repo, main) = (scratch.repo(), scratch.main());
    let commit = repo.captures().commit_capture(then, "then", &[]).unwrap().commit;
    let checkpoint = CheckpointName::new("then").unwrap();
    let earlier = EarlierCapture { checkpoint: &checkpoint, main: &commit, capture: &commit, coverage: &then.coverage };
    let taken = repo.quick_captures().capture_named(&main, options, earlier, paths).unwrap();
    repo.durability().sync_objects().unwrap();
    taken
}

#[test]
fn to_look_at_what_changed_is_to_look_at_everything() {
    let (mut quick, mut states) = (0, 0);
    for seed in AskedCases::read().seeds(0, 12) {
        let mut dice = Dice(seed.wrapping_mul(104_729) + 5);
        let kind: &[&str] = [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]][seed as usize % 3];
        let scratch = ScratchRepository::new(kind);
        if seed % 4 == 1 {
            for_many_files(&scratch);
        }
        (0..dice.roll(12)).for_each(|_| change(&scratch, &mut dice));
        let options = if seed % 3 == 1 { configured() } else { options() };
        let mut then = scratch.landed(|repo| repo.captures().capture_worktree(&scratch.main(), &options).unwrap());
        let mut before = everything(&scratch.path());
        for step in 0..8 {
            (0..dice.roll(5)).for_each(|_| change(&scratch, &mut dice));
            if dice.roll(4) == 0 {
                let place = scratch.path().join("a.txt");
                scratch.write("a.txt", b"secret\n");
                std::fs::set_permissions(place, std::fs::Permissions::from_mode([0o600, 0o644][step % 2])).unwrap();
            }
            let folder = scratch.path().join("sub");
            if dice.roll(3) == 0 && folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                std::fs::set_permissions(folder, std::fs::Permissions::from_mode([0o700, 0o755][step % 2])).unwrap();
                scratch.write("sub/b.txt", format!("{}\n", ["b", "c"][dice.roll(2) as usize]).as_bytes());
            }
            let after = everything(&scratch.path());
            let differs = |path: &&RepoPath| before.get(*path) != after.get(*path);
            let mut paths: Vec<RepoPath> = before.keys().chain(after.keys()).filter(differs).cloned().collect();
            // Now and then the folder above in place of the path, as somebody may say it.
            for path in paths.iter_mut().filter(|_| dice.roll(4) == 0) {
                if let Some(end) = path.as_bytes().iter().rposition(|byte| *byte == b'/') {
                    *path = RepoPath::new(&path.as_bytes()[..end]);
                }
            }
            let mut full = scratch.landed(|repo| repo.captures().capture_worktree(&scratch.main(), &options).unwrap());
            full.included.clear();
            states += 1;
            if let Some(mut taken) = named_with(&scratch, &options, &then, &paths) {
                quick += 1;
                let only = taken.coverage.only.take().unwrap();
                assert!(paths.iter().all(|path| PathSet::new(only.paths.clone()).covers(path)), "{paths:?} {only:?}");
                let differs = scratch.git(&["diff", "--stat", full.tree.as_str(), taken.tree.as_str()]);
                let status = scratch.git(&["status", "--ignored", "-uall", "--short"]);
                assert_eq!(taken, full, "seed {seed}, step {step}, {paths:?}: {differs}\n{status}");
            }
            // What is built on stays for a while.
            if dice.roll(3) == 0 || !paths.is_empty() {
                (then, before) = (full, after);
            }
        }
    }
    println!("{quick} of {states} by known paths");
    assert!(quick * 10 > states * 6, "only {quick} of {states} were captured by known paths");
}

#[test]
fn what_nobody_named_is_as_it_was_unless_it_was_staged() {
    let scratch = ScratchRepository::new(&[]);
    for name in ["dirty", "a.txt", "gone/x", "new/y"] {
        scratch.write(name, b"then\n");
    }
    let then = scratch.landed(|repo| repo.captures().capture_worktree(&scratch.main(), &options()).unwrap());
    for name in ["dirty", "a.txt", "sub/b.txt", "new/y", "unheard-of"] {
        scratch.write(name, b"now\n");
    }
    std::fs::remove_dir_all(scratch.path().join("gone")).unwrap();
    let path = |text: &str| RepoPath::new(text.as_bytes());
    let tree = |paths: &[&str]| {
        let paths: Vec<RepoPath> = paths.iter().map(|text| path(text)).collect();
        let taken = named(&scratch, &then, &paths).unwrap();
        let list = scratch.git(&["ls-tree", "-r", "--name-only", taken.tree.as_str()]);
        let now = |name: &&str| scratch.git(&["show", &format!("{}:{name}", taken.tree)]) == "now";
        (list.replace('\n', " "), list.lines().filter(now).collect::<Vec<_>>().join(" "), taken.coverage.only.unwrap().paths)
    };
    let all = "a.txt dirty gone/x new/y sub/b.txt".to_owned();
    assert_eq!(tree(&[]), (all.clone(), String::new(), vec![]));
    assert_eq!(tree(&["dirty"]), (all.clone(), "dirty".into(), vec![path("dirty")]));
    assert_eq!(tree(&["new"]), (all.clone(), "new/y".into(), vec![path("new")]));
    // Of a folder that is gone nothing can be there.
    assert_eq!(
        tree(&["gone/x", "sub"]),
        ("a.txt dirty new/y sub/b.txt".into(), "sub/b.txt".into(), vec![path("gone"), path("sub")])
    );
    scratch.git(&["add", "a.txt"]);
    assert_eq!(tree(&[]), (all.clone(), "a.txt".into(), vec![path("a.txt")]));
    scratch.git(&["commit", "-q", "-m", "second"]);
    scratch.write("a.txt", b"later\n");
    let (_, now, looked_at) = tree(&[]);
    assert_eq!((now.as_str(), looked_at), ("", vec![path("a.txt")]), "what was committed since is looked at, as it is now");
}

#[test]
fn where_paths_are_not_enough_everything_is_looked_at() {
    let odd: &[Odd] = &[
        (".gitignore", |scratch| scratch.write(".gitignore", b"x\n")),
        ("sub/.gitattributes", |scratch| scratch.write("sub/.gitattributes", b"* -text\n")),
        ("a.txt", |scratch| drop(scratch.git(&["update-index", "--assume-unchanged", "a.txt"]))),
        ("nested/x", |scratch| {
            git_at(&scratch.path(), &["init", "-q", "nested"]);
            scratch.write("nested/x", b"");
        }),
        ("nested", |scratch| drop(git_at(&scratch.path(), &["init", "-q", "nested"]))),
        ("git~1", |scratch| scratch.write("git~1", b"")),
        ("", |_| ()),
        ("hidden/x", |scratch| {
            scratch.write("hidden/x", b"");
            scratch.git(&["add", "-f", "hidden/x"]);
        }),
        ("crlf", |scratch| {
            scratch.git(&["config", "core.autocrlf", "true"]);
            scratch.write("crlf", b"1\r\n");
        }),
    ];
    for (path, make) in odd {
        let scratch = ScratchRepository::new(&[]);
        std::fs::create_dir_all(scratch.path().join(".git/info")).unwrap();
        std::fs::write(scratch.path().join(".git/info/exclude"), "hidden/\n").unwrap();
        scratch.write("hidden/y", b"");
        let then = scratch.landed(|repo| repo.captures().capture_worktree(&scratch.main(), &options()).unwrap());
        assert!(named(&scratch, &then, &[RepoPath::new(&b"a.txt"[..])]).is_some());
        make(&scratch);
        assert!(named(&scratch, &then, &[RepoPath::new(path.as_bytes())]).is_none(), "{path}");
    }
}

#[test]
fn an_edit_that_leaves_size_and_time_is_seen() {
    let scratch = ScratchRepository::new(&[]);
    let place = scratch.path().join("a.txt");
    for round in 0..3_u8 {
        scratch.write("a.txt", &[b'0' + round, b'\n']);
        scratch.git(&["add", "a.txt"]);
        let time = std::fs::metadata(&place).unwrap().modified().unwrap();
        scratch.write("a.txt", &[b'A' + round, b'\n']);
        std::fs::File::options().write(true).open(&place).unwrap().set_modified(time).unwrap();
        let taken = scratch.landed(|repo| repo.quick_captures().fast_capture(&scratch.main(), &options()).unwrap().unwrap());
        assert_eq!(scratch.git(&["show", &format!("{}:a.txt", taken.tree)]).as_bytes(), [b'A' + round]);
    }
}
