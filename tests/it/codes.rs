//! Codes that no other file has by their names, each where it is met.

use std::os::unix::fs::PermissionsExt;

use git_axiom::base::error::Code;

use crate::common::TestEnv;
use crate::session_support::World;

/// A verb, with nothing but these programs, each a script.
fn with_programs(env: &TestEnv, programs: &[(&str, &str)], verb: &[&str]) -> crate::common::Run {
    let folder = env.root().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, script) in programs {
        std::fs::write(folder.join(name), script).unwrap();
        std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut command = env.axiom_command(&env.repo(), verb);
    command.env("PATH", &folder);
    env.run(command, None)
}

fn which(program: &str) -> String {
    let folders = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap().display().to_string()
}

/// The verb that begins a checkpoint.
const SAVING: [&str; 3] = ["checkpoint", "create", "c"];

/// A git that says that it is of this version, and knows neither formats of refs nor merges without a worktree. As an old git does, it
/// repeats an option that it does not know.
fn script_of_old_git(version: &str) -> String {
    let (real, sed) = (which("git"), which("sed"));
    format!(
        "#!/bin/sh\nfor word; do shift; [ \"$word\" = --show-ref-format ] && word=--show-ref-formats; set -- \"$@\" \"$word\"; done\n\
         case \"$*\" in *version) echo git version {version};; *--show-ref-formats*) '{real}' \"$@\" | {sed} s/-ref-formats$/-ref-format/;;\n\
         *merge-tree*|*'worktree list --porcelain -z'*) exit 129;; *) exec '{real}' \"$@\";; esac\n"
    )
}

#[test]
fn git_of_2_34_saves_and_says_what_needs_a_newer_one() {
    let env = TestEnv::new();
    let script = script_of_old_git("2.34.1");
    let call = |verb: &[&str]| with_programs(&env, &[("git", &script)], verb);
    let works = |verb: &[&str]| {
        let run = call(verb);
        assert_eq!(run.code, Some(0), "{run}");
    };
    works(&["init"]);
    works(&SAVING);
    env.write("README", "changed\n");
    works(&["rollback", "c", "--yes"]);
    works(&["undo", "--yes"]);
    assert_eq!(env.read("README"), "changed\n");
    works(&["task", "add", "one", "--body", "true"]);
    let refused = call(&["run", "--mode", "autopilot", "--until-idle"]).fails_with(Code::GitTooOld);
    assert!(refused.stderr.contains("need git 2.38, and this is 'git version 2.34.1'"), "{refused}");
}

#[test]
fn git_missing_and_git_too_old_say_what_to_install() {
    let env = TestEnv::new();
    let missing = with_programs(&env, &[], &SAVING).fails_with(Code::GitMissing);
    assert!(missing.stderr.contains("hint: install git"), "{missing}");
    let script = script_of_old_git("2.25.1");
    let old = with_programs(&env, &[("git", &script)], &SAVING).fails_with(Code::GitTooOld);
    assert!(old.stderr.contains("2.25.1") && old.stderr.contains("hint: install git 2.34 or newer"), "{old}");
    assert_eq!(env.git(&["for-each-ref", "refs/axiom", "refs/tags"]), "", "nothing is made");
}

#[test]
fn ambiguous_name_and_protected_change_nothing() {
    let env = TestEnv::new();
    for number in 0..5 {
        env.write("README", format!("{number}\n"));
        env.ok(&["checkpoint", "create", &format!("mine-{number}")]);
    }
    let unclear = env.axiom(&["checkpoint", "show", "mine-"]).fails_with(Code::AmbiguousName);
    assert!(unclear.stderr.contains("mine-0") && unclear.stderr.contains("hint: write more of the name"), "{unclear}");
    env.axiom(&["rollback", "checkpoint", "mine-", "--yes"]).fails_with(Code::AmbiguousName);
    let kept = env.axiom(&["checkpoint", "delete", "mine-0", "--yes"]).fails_with(Code::Protected);
    assert!(kept.stderr.contains("it was named") && kept.stderr.contains("hint: --protected deletes it anyway"), "{kept}");
    assert_eq!(env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len(), 5);
    assert_eq!(env.read("README"), "4\n");
    env.ok(&["checkpoint", "delete", "mine-0", "--protected", "--yes"]);
}

#[test]
fn hook_failed_names_what_failed_and_nothing_else_happens() {
    let env = TestEnv::new();
    env.write(".axiom/hooks/on-error.sh", "#!/bin/sh\necho I cannot; exit 3\n");
    std::fs::set_permissions(env.repo().join(".axiom/hooks/on-error.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    env.ok(&["trust", "--yes"]);
    let tried = env.axiom(&["hooks", "run", "on-error"]).fails_with(Code::HookFailed);
    assert!(tried.stdout.contains("exited with status 3") && tried.stdout.contains("I cannot"), "{tried}");
    assert!(tried.stderr.contains("1 hook of on-error failed"), "{tried}");
}

/// What the source of this design has in a checkpoint, by the same keys, while an agent works.
#[test]
fn a_checkpoint_has_git_commit_case_states_state_snapshot_and_agent_states() {
    let world = World::new();
    world.waiting_task("t");
    world.env.ok(&["task", "add", "later", "--id", "later", "--after", "t", "--body", "echo 1 > later.txt"]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    world.env.ok(&["checkpoint", "create", "before-auth-refactor"]);
    let shown = world.env.json(&["checkpoint", "show", "before-auth-refactor"]);
    let document = &shown["checkpoint"]["document"];
    assert_eq!(document["name"], "before-auth-refactor");
    assert!(document["createdAt"].as_str().unwrap().ends_with('Z'), "{document}");
    assert_eq!(document["gitCommit"], world.env.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(document["caseStates"], serde_json::json!({"t": "active", "later": "pending"}));
    assert!(document["stateSnapshot"]["tasks"]["t"].is_object(), "{document}");
    let agent = &document["agentStates"][0];
    assert_eq!((&agent["taskId"], &agent["iteration"]), (&"t".into(), &1.into()), "{document}");
    assert!(agent["id"].as_str().unwrap().starts_with("agent-"), "{document}");
    world.signal_file("go");
    world.wait_until_merged("later");
    world.quits_well(live);
}
