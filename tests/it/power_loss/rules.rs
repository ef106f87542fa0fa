//! The rules themselves, on a real recording: what a small program's files come to.

use std::collections::BTreeSet;
use std::process::Command;

use crate::power_loss::losses::windows;
use crate::power_loss::model::{Disk, Kind, Recording};
use crate::power_loss::tracer;

/// Every disk that a power loss may leave while the script runs, as `name=content` of its files.
fn disks(script: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("old"), "old").unwrap();
    let mut recording = Recording::begin(&root);
    let mut command = Command::new("/bin/sh");
    command.args(["-ec", script]).current_dir(&root).env("PATH", std::env::var_os("PATH").unwrap());
    assert_eq!(tracer::run(command, &root, |change| recording.take(change)), Some(0), "{script}");
    recording.check();
    let windows = windows(&recording);
    let losses = windows.iter().flat_map(|window| [window.sharp(), window.plain(), window.pairs()].concat());
    losses.map(|loss| in_words(&recording, &loss.moment.0.after(&loss.moment.1, &loss.left))).collect()
}

fn in_words(recording: &Recording, disk: &Disk) -> String {
    let files = disk.paths().into_iter().filter(|(_, node)| matches!(recording.nodes[*node].0, Kind::File));
    let words = files.map(|(path, node)| {
        let content = disk.contents.get(&node).map_or(&b""[..], |content| &content.bytes);
        format!("{}={}", path.display(), String::from_utf8_lossy(content))
    });
    words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn expect(script: &str, possible: &[&str]) {
    assert_eq!(disks(script), possible.iter().map(|words| (*words).to_owned()).collect(), "{script}");
}

#[test]
fn a_name_may_be_there_without_its_content_until_the_file_is_synced() {
    expect("printf new > new", &["old=old", "new= old=old", "new=new old=old"]);
    expect("printf new > new; sync new; sync .", &["old=old", "new= old=old", "new=new old=old"]);
}

#[test]
fn a_rename_is_there_whole_or_not_at_all() {
    // Into the place of another file: empty where nothing was synced.
    let begun = ["old=old", "new= old=old", "new=new old=old"];
    expect("printf new > new; mv new old", &[&begun[..], &["old=", "old=new"]].concat());
    // The content first: the old or the new one, never an empty file.
    let synced = disks("printf new > new; sync new; mv new old; sync .");
    assert!(synced.contains("old=new") && !synced.contains("old="), "{synced:?}");
}

#[test]
fn what_was_synced_stays() {
    // The last window is what comes after: with everything synced there is one disk more and no other.
    let all = disks("printf new > new; sync -f .; printf more >> new");
    let kept: Vec<_> = all.iter().filter(|words| words.contains("newmore")).collect();
    assert_eq!(kept, ["new=newmore old=old"], "{all:?}");
    expect("ln old two; rm old; sync .", &["old=old", "old=old two=old", "two=old", ""]);
    // In a folder: both the folder's name and the file's must be there.
    expect("mkdir -p a; sync .; printf x > a/b", &["old=old", "old=old a/b=", "old=old a/b=x"]);
}
