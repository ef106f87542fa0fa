//! What only git decides right, and is left to it.
#![allow(clippy::disallowed_methods)]

use super::{options, same};
use crate::repo::scratch::{ScratchRepository, git_at};

/// What is odd, and what makes it.
pub(super) type Odd = (&'static str, fn(&ScratchRepository));

#[test]
fn what_only_git_decides_right_is_left_to_git() {
    let odd: &[Odd] = &[
        ("nested repository", |scratch| drop(git_at(&scratch.path(), &["init", "-q", "nested"]))),
        ("assume unchanged", |scratch| drop(scratch.git(&["update-index", "--assume-unchanged", "a.txt"]))),
        ("skip worktree", |scratch| drop(scratch.git(&["update-index", "--skip-worktree", "a.txt"]))),
        ("announced", |scratch| {
            scratch.write("n", b"");
            scratch.git(&["add", "-N", "n"]);
        }),
        ("file mode", |scratch| drop(scratch.git(&["config", "core.fileMode", "false"]))),
        ("ignoring case", |scratch| drop(scratch.git(&["config", "core.ignoreCase", "true"]))),
        ("a filter", |scratch| {
            scratch.git(&["config", "filter.f.clean", "tr a-z A-Z"]);
            scratch.write(".gitattributes", b"* filter=f\n");
        }),
        ("line ends", |scratch| {
            scratch.write(".gitattributes", b"* text=auto\n");
            scratch.write("crlf", b"1\r\n");
        }),
        ("line ends by configuration", |scratch| {
            scratch.git(&["config", "core.autocrlf", "input"]);
            scratch.write("crlf", b"1\r\n");
        }),
        ("an odd name", |scratch| scratch.write("git~1", b"")),
        ("no index", |scratch| std::fs::remove_file(scratch.path().join(".git/index")).unwrap()),
    ];
    for (what, make) in odd {
        let scratch = ScratchRepository::new(&[]);
        assert!(same(&scratch, &options(), what), "{what}");
        make(&scratch);
        scratch.write("sub/b.txt", b"other\n");
        if *what != "an odd name" {
            assert!(!same(&scratch, &options(), what), "{what}");
        } else {
            assert!(scratch.repo().quick_captures().fast_capture(&scratch.main(), &options()).unwrap().is_none());
        }
    }
    // Attributes that change nothing here, and are not changed themselves.
    let scratch = ScratchRepository::new(&[]);
    scratch.write(".gitattributes", b"*.txt text=auto eol=lf\n");
    assert!(!same(&scratch, &options(), "new attributes"));
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "attributes"]);
    scratch.write("sub/b.txt", b"other\n");
    assert!(same(&scratch, &options(), "harmless attributes"));
}
