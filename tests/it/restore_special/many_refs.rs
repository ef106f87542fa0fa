//! Thousands of refs that come back, and checkpoints of a version that held none.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::support::Scratch;

const MANY: usize = 5_000;

/// So many branches and tags, a quarter of them annotated, half of the branches with a commit of their own.
fn with_many(scratch: &Scratch) {
    let mut stream = String::new();
    for number in 0..MANY {
        let who = format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
        let (mark, below) = (number + 1, number + 1 - number % 4);
        match number % 4 {
            0 => write!(
                stream,
                "commit refs/heads/b/{number:05}\nmark :{mark}\ncommitter {who}\ndata 2\nx\nfrom refs/heads/main^0\n\n"
            ),
            1 => write!(stream, "reset refs/heads/b/{number:05}\nfrom :{below}\n\n"),
            2 => write!(stream, "reset refs/tags/t{number:05}\nfrom :{below}\n\n"),
            _ => write!(stream, "tag t{number:05}\nfrom :{below}\ntagger {who}\ndata 2\nx\n\n"),
        }
        .unwrap();
    }
    scratch.write("../stream", &stream);
    let mut import = scratch.command("git");
    let stream = std::fs::File::open(scratch.path().join("../stream")).unwrap();
    assert!(import.args(["fast-import", "--quiet"]).stdin(stream).status().unwrap().success());
    scratch.git(&["pack-refs", "--all"]);
}

fn all(scratch: &Scratch) -> String {
    scratch.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags/t*"])
}

#[test]
fn thousands_of_deleted_refs_come_back_in_one_rollback() {
    let scratch = Scratch::new();
    with_many(&scratch);
    let mut config = scratch.read(".git/config");
    for number in (0..MANY).step_by(4) {
        write!(config, "[branch \"b/{number:05}\"]\n\tremote = origin\n\tmerge = refs/heads/b/{number:05}\n").unwrap();
    }
    scratch.write(".git/config", &config);
    let then = all(&scratch);
    assert_eq!(then.lines().count(), MANY + 1);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    // As git deletes them, without a lock file for each.
    let packed = scratch.read(".git/packed-refs");
    let stays: Vec<&str> = packed.split_inclusive('\n').filter(|line| line.starts_with('#') || line.contains("/main")).collect();
    scratch.write(".git/packed-refs", stays.concat());
    let configured: Vec<&str> = config.split_inclusive('\n').take_while(|line| !line.contains("b/00000")).collect();
    scratch.write(".git/config", configured.concat());
    scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(all(&scratch).lines().count(), 1);
    let words = scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
    let lines: Vec<&str> = words.lines().collect();
    assert!(lines.len() <= 24 && lines.iter().all(|line| line.chars().count() <= 80), "a screen of 80×24: {words}");
    assert!(words.contains(&format!("  {MANY} refs brought back\n    branch b/00000 at ")), "{words}");
    assert!(words.contains(&format!("    and {} more\n", MANY - 20)), "{words}");
    let began = Instant::now();
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    let took = began.elapsed();
    println!("{MANY} refs came back after {took:?}");
    assert!(took < Duration::from_secs(100), "{took:?}");
    assert_eq!((done["refs"].as_array().unwrap().len(), done["branchConfigs"].as_array().unwrap().len()), (MANY, MANY / 4));
    assert_eq!(all(&scratch), then);
    assert_eq!(scratch.read(".git/config"), config);
    scratch.fsck();
}

/// The objects of a checkpoint without the refs that it held, under another name.
fn without_refs(scratch: &Scratch, name: &str, as_name: &str) -> String {
    let rewritten = |kind: &str, object: &str, from: &str, to: &str| {
        let text = scratch.git(&["cat-file", kind, object]);
        assert!(text.contains(from), "{from} in {text}");
        scratch.write("../object", format!("{}\n", text.replace(from, to)));
        let file = scratch.path().join("../object");
        scratch.git(&["hash-object", "-w", "-t", kind, file.to_str().unwrap()])
    };
    let of = |what: &str| scratch.git(&["rev-parse", &format!("refs/axiom/captures/{name}{what}")]);
    let (capture, index) = (of(""), of("^2"));
    let is_record = |further: &&str| scratch.try_git(&["cat-file", "-e", &format!("{further}:checkpoint.json")]).status.success();
    let further = scratch.git(&["rev-parse", &format!("{index}^@")]);
    let record = further.lines().find(is_record).unwrap();
    let json = rewritten("blob", &format!("{record}:checkpoint.json"), &format!("\"{name}\""), &format!("\"{as_name}\""));
    scratch.write("../tree", format!("100644 blob {json}\tcheckpoint.json\n"));
    let tree = std::fs::File::open(scratch.path().join("../tree")).unwrap();
    let tree = scratch.command("git").arg("mktree").stdin(tree).output().unwrap().stdout;
    let tree = String::from_utf8(tree).unwrap().trim().to_owned();
    let new_record = rewritten("commit", record, &scratch.git(&["rev-parse", &format!("{record}^{{tree}}")]), &tree);
    let new_index = rewritten("commit", &index, record, &new_record);
    rewritten("commit", &capture, &index, &new_index)
}

#[test]
fn a_checkpoint_without_its_refs_is_damaged_and_still_gives_files() {
    let scratch = Scratch::new();
    scratch.git(&["branch", "side"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let capture = without_refs(&scratch, "safe", "other");
    scratch.git(&["update-ref", "refs/axiom/captures/other", &capture]);
    scratch.axiom(&["recover", "--yes"]);
    scratch.axiom(&["checkpoint", "delete", "safe", "--protected", "--yes"]);
    scratch.write("a.txt", "since\n");
    scratch.git(&["branch", "-q", "-D", "side"]);
    scratch.refused(&["checkpoint", "verify"], "CHECKPOINT_DAMAGED", 1);
    scratch.refused(&["rollback", "checkpoint", "other", "--yes"], "CHECKPOINT_DAMAGED", 1);
    assert_eq!(scratch.read("a.txt"), "since\n");
    scratch.axiom(&["rollback", "checkpoint", "other", "--yes", "--", "a.txt"]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.git(&["branch", "--list", "side"]).as_str()), ("a\n", ""));
}
