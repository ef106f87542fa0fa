//! The newest operations, read from an older state on, are those of the whole log.

use crate::common::TestEnv;

#[test]
fn a_part_of_the_log_is_its_end() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "One", "--id", "one"]);
    for number in 0..70 {
        let title = format!("the title number {number}");
        env.ok(&["task", "edit", "one", "--title", &title]);
        if number % 9 == 0 {
            env.ok(&["checkpoint", "create", &format!("c{number}")]);
        }
        if number % 20 == 0 {
            env.ok(&["undo", "--yes"]);
        }
    }
    let anchors = std::fs::read_dir(env.repo().join(".git/axiom/state")).unwrap();
    let anchors = anchors.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("anchor-")).count();
    assert!(anchors > 1, "older states are there to read from");
    let listed = |args: &[&str]| env.json(&[&["log"], args].concat())["operations"].as_array().unwrap().clone();
    let all = listed(&[]);
    for count in [1, 2, 5, 12, 25, 60, 500] {
        let newest = listed(&["-n", &count.to_string()]);
        assert_eq!(newest, all[..count.min(all.len())], "{count}");
    }
}
