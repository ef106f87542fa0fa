//! A prompt waits no longer than `attach.deadline`: what does not fit is named as not held, left alone by a rollback, and held by a
//! checkpoint in the background.

use std::time::{Duration, Instant};

use git_axiom::base::files::{FileLock, LockAttempt};
use git_axiom::store::beside::attach::AttachFiles;
use git_axiom::store::layout::StoreLayout;
use serde_json::{Value, json};

use crate::common::TestEnv;

/// More than fits into a second, whatever the machine: it is not begun. Takes no space on the disk.
const BIG: u64 = 49 << 20;

fn big(env: &TestEnv, path: &str) {
    std::fs::File::create(env.repo().join(path)).unwrap().set_len(BIG).unwrap();
}

fn size(env: &TestEnv, path: &str) -> u64 {
    env.repo().join(path).metadata().unwrap().len()
}

fn prompt(env: &TestEnv) {
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": env.repo(), "prompt": "x"});
    env.run(env.axiom_command(&env.repo(), ["hook", "claude"]), Some(payload.to_string().as_bytes())).success();
}

fn late(env: &TestEnv, checkpoint: &str) -> Vec<String> {
    let shown = env.json(&["checkpoint", "show", checkpoint]);
    let all = shown["checkpoint"]["document"]["coverage"].as_object().unwrap().values();
    let paths = |of: &Value| of["notInTime"]["paths"].as_array().cloned().unwrap_or_default();
    all.flat_map(paths).map(|path| path.as_str().unwrap().to_owned()).collect()
}

fn held(env: &TestEnv, checkpoint: &str) -> String {
    env.git(&["ls-tree", "-r", "--name-only", &format!("refs/axiom/captures/{checkpoint}")])
}

/// What a capture leaves in folders for what is only of the moment.
fn left_over(env: &TestEnv) -> Vec<String> {
    let list = |path: &str| std::fs::read_dir(env.repo().join(path)).into_iter().flatten().map(|entry| entry.unwrap().path());
    let folders = list(".git/axiom/tmp").filter(|path| path.is_dir());
    let packs = list(".git/objects/pack").filter(|path| path.to_string_lossy().contains("tmp_"));
    folders.chain(packs).map(|path| path.display().to_string()).collect()
}

fn what_does_not_fit(attributes: &str) -> TestEnv {
    let env = TestEnv::new();
    env.ok(&["init"]);
    std::fs::write(env.repo().join("bin"), "as committed\n").unwrap();
    std::fs::write(env.repo().join(".gitattributes"), attributes).unwrap();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "bin"]);
    env.git(&["config", "axiom.attach.deadline", "1"]);
    std::fs::write(env.repo().join("README"), "changed\n").unwrap();
    std::fs::write(env.repo().join("small"), "not tracked\n").unwrap();
    ["big", "bin"].into_iter().for_each(|path| big(&env, path));
    let files = AttachFiles::of(&StoreLayout::new(&env.repo().join(".git")));
    files.ensure().unwrap();
    let LockAttempt::Taken(nothing_in_the_background) = FileLock::try_take(&files.joiner_lock()).unwrap() else {
        panic!("the joiner works already")
    };
    prompt(&env);
    assert_eq!(late(&env, "prompt-0001"), ["big", "bin"]);
    assert_eq!(held(&env, "prompt-0001"), ".gitattributes\nREADME\nbin\nsmall\nsrc/lib.txt");
    let of_index = |name: &str| env.git(&["rev-parse", &format!("{name}:bin")]);
    assert_eq!(of_index("refs/axiom/captures/prompt-0001"), of_index("HEAD"), "no plain restore deletes it");
    for verb in [&["attach", "--status"][..], &["sessions"], &["prompts"]] {
        let said = env.axiom(verb).success();
        assert!(said.to_string().contains("big, bin did not fit into attach.deadline"), "{said}");
    }
    assert_eq!(left_over(&env), Vec::<String>::new());

    std::fs::write(env.repo().join("README"), "the agent's\n").unwrap();
    std::fs::write(env.repo().join("later"), "the agent's\n").unwrap();
    std::fs::remove_file(env.repo().join("small")).unwrap();
    let said = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]).success();
    assert!(said.to_string().contains("did not fit into attach.deadline"), "{said}");
    let read = |path: &str| std::fs::read_to_string(env.repo().join(path)).unwrap_or_default();
    assert_eq!((read("README").as_str(), read("small").as_str(), read("later").as_str()), ("changed\n", "not tracked\n", ""));
    assert_eq!((size(&env, "big"), size(&env, "bin")), (BIG, BIG));
    drop(nothing_in_the_background);
    env
}

fn newest_of(env: &TestEnv, trigger: &str) -> Option<String> {
    let list = env.json(&["checkpoint", "list"]);
    let all = list["checkpoints"].as_array().unwrap().iter().filter(|one| one["trigger"] == trigger);
    all.max_by_key(|one| one["createdAt"].as_str().unwrap().to_owned()).map(|one| one["name"].as_str().unwrap().to_owned())
}

#[test]
fn the_same_where_git_makes_the_capture() {
    what_does_not_fit("*.none filter=none\n");
}

#[test]
fn what_does_not_fit_into_the_deadline_is_named_left_alone_and_held_by_a_checkpoint_in_the_background() {
    let env = what_does_not_fit("");
    // Something that no checkpoint has yet.
    big(&env, "another");
    prompt(&env);
    let begun = Instant::now();
    let complete = || newest_of(&env, "edits").filter(|name| late(&env, name).is_empty() && held(&env, name).contains("another"));
    while complete().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "everything is held in the background");
        std::thread::sleep(Duration::from_millis(50));
    }
    // What was held once and has not changed since takes no time, tracked or not.
    prompt(&env);
    let newest = newest_of(&env, "prompt").unwrap();
    assert_eq!(late(&env, &newest), Vec::<String>::new());
    assert!(held(&env, &newest).contains("another"));
}
