//! Repositories in which git's conversions lose information.
#![allow(dead_code)]

use crate::support::Scratch;

/// Configuration, `.gitattributes`, and the content of a file `f.txt` that git treats as unchanged although a checkout would
/// write other bytes.
pub type Lossy = (&'static [(&'static str, &'static str)], &'static str, &'static str);

pub const SECRETS: &[(&str, &str)] = &[("filter.s.clean", "sed s/SECRET=.*/SECRET=/"), ("filter.s.smudge", "cat")];

pub const LOSSY: &[Lossy] = &[
    (SECRETS, "*.txt filter=s\n", "SECRET=hunter2\n"),
    (&[("core.autocrlf", "input")], "", "one\r\ntwo\r\n"),
    (&[], "* text=auto\n", "one\r\ntwo\n"),
    (&[("core.autocrlf", "true")], "", "one\ntwo\n"),
    (&[], "*.txt text eol=crlf\n", "one\r\ntwo\n"),
    (&[], "*.txt ident\n", "$Id: mine $\n"),
    (&[], "f.txt working-tree-encoding=UTF-16\n", ""),
];

/// A repository with a committed `f.txt` that git treats as unchanged, and that is older than the index.
pub fn with_lossy((config, attributes, text): &Lossy) -> Scratch {
    let scratch = Scratch::new();
    for (key, value) in *config {
        scratch.git(&["config", key, value]);
    }
    if !attributes.is_empty() {
        scratch.write(".gitattributes", attributes);
    }
    if attributes.contains("encoding") {
        // Big-endian with a byte order mark: a checkout writes little-endian.
        std::fs::write(scratch.path().join("f.txt"), b"\xfe\xff\0h\0i\0\n").unwrap();
    } else {
        scratch.write("f.txt", text);
    }
    commit_settled(&scratch);
    scratch
}

/// Commits everything, and makes the index seconds newer than all files, because git compares these times.
pub fn commit_settled(scratch: &Scratch) {
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "all"]);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for path in scratch.git(&["ls-files"]).lines() {
        let file = std::fs::File::open(scratch.path().join(path)).unwrap();
        if file.metadata().unwrap().modified().unwrap() > long_ago + std::time::Duration::from_secs(50) {
            file.set_modified(long_ago).unwrap();
        }
    }
    std::fs::remove_file(scratch.path().join(".git/index")).unwrap();
    scratch.git(&["read-tree", "HEAD"]);
    scratch.git(&["update-index", "-q", "--refresh"]);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    std::thread::sleep(std::time::Duration::from_millis(150));
}

/// How many files a new checkpoint reports as `converted`, held only as git converts them.
pub fn converted(scratch: &Scratch, name: &str) -> u64 {
    let made = scratch.json(&["checkpoint", "create", name]);
    made["coverage"][scratch.path().to_str().unwrap()]["converted"]["count"].as_u64().unwrap()
}

pub fn bytes(scratch: &Scratch, path: &str) -> Vec<u8> {
    std::fs::read(scratch.path().join(path)).unwrap()
}
