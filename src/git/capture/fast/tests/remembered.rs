//! What is remembered of files never makes a capture miss a change.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::{options, same};
use crate::capture::capture_cache::CaptureCacheKind;
use crate::capture::fast::memory::FEW;
use crate::capture::file_blob_cache::{FileBlobCache, KnownContent, RememberedFile};
use crate::capture::file_stat::SeenFile;
use crate::capture::stat_moment::StatMoment;
use crate::repo::scratch::{ScratchRepository, git_at};
use crate::repo::worktrees::Worktree;
use axiom_model::base::names::RepoPath;

fn name(number: usize) -> String {
    format!("many/{number}.txt")
}

/// As old as a file must be to be remembered.
fn pause() {
    std::thread::sleep(Duration::from_millis(250));
}

/// A repository whose index has the stat data of none of its files (they were touched), and which remembers what they are.
fn stale() -> ScratchRepository {
    let scratch = ScratchRepository::new(&[]);
    (0..=FEW).for_each(|number| scratch.write(&name(number), format!("file {number}\n").as_bytes()));
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "many"]);
    (0..=FEW).for_each(|number| scratch.write(&name(number), format!("file {number}\n").as_bytes()));
    pause();
    assert!(same(&scratch, &options(), "before"));
    scratch
}

/// Has the memory say of each of the many files that it is the file `a.txt`: the only way to see that none is read.
fn lie(scratch: &ScratchRepository, worktree: &Worktree) {
    let repo = scratch.repo();
    let blob = gix::ObjectId::from_hex(scratch.git(&["rev-parse", "HEAD:a.txt"]).as_bytes()).unwrap();
    let (content, since) = (KnownContent { blob, has_returns: false, has_feeds: true }, StatMoment::begin(&repo).unwrap());
    let paths = (0..=FEW).map(|number| RepoPath::new(name(number).as_bytes()));
    let lies = paths.map(|path| {
        let seen = SeenFile::of(&worktree.path().join(path.to_path()).symlink_metadata().unwrap());
        RememberedFile::of(&path, &seen, content, &since).unwrap()
    });
    FileBlobCache::of(lies).write_unless(&FileBlobCache::default(), &repo, worktree);
}

/// What a capture has at one of the many paths.
fn captured(scratch: &ScratchRepository, worktree: &Worktree, number: usize) -> String {
    let repo = scratch.repo();
    let capture = repo.captures().capture_worktree(worktree, &options()).unwrap();
    repo.durability().sync_objects().unwrap();
    drop(repo);
    scratch.git(&["cat-file", "blob", &format!("{}:{}", capture.tree, name(number))])
}

#[test]
fn tracked_files_that_the_index_does_not_know_are_read_once() {
    let scratch = stale();
    let main = scratch.main();
    assert_eq!(captured(&scratch, &main, 1), "file 1");
    lie(&scratch, &main);
    assert_eq!(captured(&scratch, &main, 1), "a", "what is remembered is believed");
    scratch.write(&name(1), b"FILE 1\n");
    assert_eq!(captured(&scratch, &main, 1), "FILE 1");
    // Of which the index knows itself what they are.
    scratch.git(&["add", "-A"]);
    pause();
    assert_eq!(captured(&scratch, &main, 2), "file 2");
}

#[test]
fn each_worktree_remembers_its_own_files() {
    let scratch = stale();
    let place = scratch.path().join("../beside");
    scratch.git(&["worktree", "add", "-q", "-b", "beside", place.to_str().unwrap()]);
    let git_dir = PathBuf::from(git_at(&place, &["rev-parse", "--absolute-git-dir"]));
    let beside = Worktree::linked(place.canonicalize().unwrap(), git_dir);
    let file = |number| beside.path().join(name(number));
    (0..=FEW).for_each(|number| axiom_base::files::write_scratch(&file(number), format!("file {number}\n").as_bytes()).unwrap());
    pause();
    assert_eq!(captured(&scratch, &beside, 1), "file 1");
    let own = CaptureCacheKind::FileBlobs.place(&scratch.repo(), &beside);
    assert!(own.starts_with(beside.git_dir()) && own.exists());
    lie(&scratch, &beside);
    assert_eq!((captured(&scratch, &beside, 1), captured(&scratch, &scratch.main(), 1)), ("a".to_owned(), "file 1".to_owned()));
    // What another worktree remembers is of other files.
    std::fs::copy(&own, CaptureCacheKind::FileBlobs.place(&scratch.repo(), &scratch.main())).unwrap();
    assert_eq!(captured(&scratch, &scratch.main(), 1), "file 1");
}

/// Something that somebody does to a worktree.
type Deed = (&'static str, fn(&ScratchRepository));

fn at(scratch: &ScratchRepository, number: usize) -> PathBuf {
    scratch.path().join(name(number))
}

/// Another content of the same size with the same time: in place, or as another file that is renamed to its path.
fn disguise(scratch: &ScratchRepository, number: usize, renamed: bool) {
    let place = at(scratch, number);
    let then = place.metadata().unwrap().modified().unwrap();
    let new = if renamed { scratch.path().join(".git/new") } else { place.clone() };
    std::fs::write(&new, format!("FILE {number}\n")).unwrap();
    File::open(&new).unwrap().set_modified(then).unwrap();
    if renamed {
        std::fs::rename(new, place).unwrap();
    }
}

const DEEDS: &[Deed] = &[
    ("edited", |s| s.write(&name(1), b"other\n")),
    ("edited in size and time", |s| disguise(s, 1, false)),
    ("replaced by a file of the same size and time", |s| disguise(s, 1, true)),
    ("two change places", |s| {
        std::fs::rename(at(s, 1), at(s, 99)).unwrap();
        std::fs::rename(at(s, 2), at(s, 1)).unwrap();
        std::fs::rename(at(s, 99), at(s, 2)).unwrap();
    }),
    ("a time in the future", |s| {
        s.write(&name(1), b"FILE 1\n");
        let later = std::time::SystemTime::now() + Duration::from_secs(3600);
        File::open(at(s, 1)).unwrap().set_modified(later).unwrap();
    }),
    ("touched once more", |s| s.write(&name(1), b"file 1\n")),
    ("executable", |s| {
        std::fs::set_permissions(at(s, 1), std::fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("removed", |s| std::fs::remove_file(at(s, 1)).unwrap()),
    ("a link", |s| {
        std::fs::remove_file(at(s, 1)).unwrap();
        std::os::unix::fs::symlink("2.txt", at(s, 1)).unwrap();
    }),
    ("staged", |s| {
        s.write(&name(1), b"FILE 1\n");
        s.git(&["add", &name(1)]);
        s.write(&name(1), b"file 1\n");
    }),
    ("another commit", |s| {
        s.git(&["rm", "-q", "--cached", &name(1)]);
        s.git(&["commit", "-q", "-m", "without"]);
    }),
    ("an attribute", |s| s.write(".git/info/attributes", b"* filter=up\n")),
    ("a filter", |s| {
        s.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        s.write(".git/info/attributes", b"many/* filter=up\n");
    }),
    ("text", |s| s.write(".git/info/attributes", b"* text eol=crlf\n")),
    ("changed text", |s| {
        s.write(".git/info/attributes", b"* text eol=crlf\n");
        s.write(&name(1), b"FILE 1\n");
    }),
    ("line ends", |s| drop(s.git(&["config", "core.autocrlf", "true"]))),
    ("assume unchanged", |s| {
        s.git(&["update-index", "--assume-unchanged", &name(1)]);
        disguise(s, 1, false);
    }),
    ("skip worktree", |s| {
        s.git(&["update-index", "--skip-worktree", &name(1)]);
        disguise(s, 1, false);
    }),
    ("announced", |s| {
        s.write("new", b"new\n");
        s.git(&["add", "-N", "new"]);
        disguise(s, 1, false);
    }),
    ("a split index", |s| {
        s.git(&["update-index", "--split-index"]);
        disguise(s, 1, false);
    }),
    ("git trusts less", |s| {
        s.git(&["config", "core.trustctime", "false"]);
        s.git(&["config", "core.checkStat", "minimal"]);
        disguise(s, 1, true);
    }),
    ("a torn memory", |s| {
        let place = CaptureCacheKind::FileBlobs.place(&s.repo(), &s.main());
        let whole = std::fs::read(&place).unwrap();
        std::fs::write(&place, &whole[..whole.len() / 2]).unwrap();
    }),
    ("no memory", |s| CaptureCacheKind::FileBlobs.write(b"something else".to_vec(), &s.repo(), &s.main())),
];

/// Mostly they wait, so several at a time.
#[test]
fn whatever_happens_to_a_file_that_is_remembered_is_seen() {
    std::thread::scope(|scope| {
        for some in DEEDS.chunks(DEEDS.len().div_ceil(4)) {
            scope.spawn(move || some.iter().for_each(|(what, deed)| is_seen(what, *deed)));
        }
    });
}

fn is_seen(what: &str, deed: fn(&ScratchRepository)) {
    let scratch = stale();
    deed(&scratch);
    for moment in ["at once", "once more", "later", "when it is remembered"] {
        // What only the way by git can capture is captured by it: whatever way, it holds what is there.
        same(&scratch, &options(), &format!("{what}, {moment}"));
        let there = std::fs::read_to_string(at(&scratch, 1)).unwrap_or_default();
        let is_plain =
            ["edited", "replaced", "two", "a time", "touched", "assume", "skip", "announced", "a split", "a torn", "no memory"];
        if is_plain.iter().any(|beginning| what.starts_with(beginning)) {
            assert_eq!(captured(&scratch, &scratch.main(), 1), there.trim_end(), "{what}, {moment}");
        }
        if moment == "once more" {
            pause();
        }
    }
}

#[test]
fn a_changed_file_is_remembered_as_long_as_its_content_is_kept() {
    let scratch = stale();
    let main = scratch.main();
    (0..=FEW).for_each(|number| scratch.write(&name(number), format!("FILE {number}\n").as_bytes()));
    pause();
    assert_eq!(captured(&scratch, &main, 1), "FILE 1");
    // Nothing refers to the capture.
    scratch.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(captured(&scratch, &main, 1), "FILE 1");
}
