//! Users who work in the repository while agents do, and repositories that are set up in their own ways.

use std::os::unix::fs::PermissionsExt;

use crate::session_support::{Live, World, wait_until};

#[test]
fn a_user_who_checks_out_another_branch_meanwhile_keeps_it() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.git(&["checkout", "-q", "-b", "other"]);
    world.env.write("mine.txt", "mine\n");
    let before = world.users_things();
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.users_things(), before);
    assert_eq!(world.env.git(&["show", "main:t.txt"]), "1");
    assert!(!world.env.repo().join("t.txt").exists(), "the branch that is checked out is not the target");
    world.all_is_well();
}

#[test]
fn a_merge_waits_while_the_user_is_in_the_middle_of_one() {
    let world = World::new();
    world.env.git(&["checkout", "-q", "-b", "other"]);
    world.env.write("README", "other\n");
    world.env.git(&["commit", "-q", "-a", "-m", "other"]);
    world.env.git(&["checkout", "-q", "main"]);
    world.env.write("README", "main\n");
    world.env.git(&["commit", "-q", "-a", "-m", "main"]);
    assert_eq!(world.env.try_git(&["merge", "-q", "other"]).code, Some(1));
    let before = world.users_things();
    world.task("t", "echo 1 > t.txt", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(
        ended.stdout.contains("t waits at gate merge-t: could not be merged: a git operation is in progress"),
        "{}",
        ended.stdout
    );
    assert_eq!(world.users_things(), before);
    world.env.git(&["merge", "--abort"]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn hooks_and_signing_of_the_user_do_not_stop_the_machinery() {
    let world = World::new();
    let hooks = world.env.repo().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for name in ["pre-commit", "commit-msg", "pre-merge-commit", "prepare-commit-msg", "post-checkout"] {
        let path = hooks.join(name);
        std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (key, value) in [("commit.gpgSign", "true"), ("tag.gpgSign", "true"), ("gpg.program", "/bin/false")] {
        world.env.git(&["config", key, value]);
    }
    world.task("t", "echo 1 > t.txt", &[]);
    // Checkpoints and what agents leave need no signature; the merge is a commit of the user's branch, and waits for one.
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("t waits at gate merge-t: SIGNING_FAILED: the commit could not be signed"), "{}", ended.stdout);
    world.env.git(&["config", "commit.gpgSign", "false"]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn of_supervisors_that_start_at_once_exactly_one_runs() {
    let world = World::new();
    world.waiting_task("t");
    let mut all: Vec<Live> = (0..4).map(|_| world.start_autopilot(&[])).collect();
    world.wait_for_file("begun");
    wait_until("the others gave up", || all.iter_mut().map(Live::runs).filter(|runs| *runs).count() == 1);
    world.signal_file("go");
    let mut codes: Vec<_> = all.into_iter().map(|live| live.wait().code).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(5), Some(5), Some(5)]);
    world.all_is_well();
}

#[test]
fn sigterm_ends_a_session_as_ctrl_c_does() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    crate::session_support::signal(live.pid(), rustix::process::Signal::TERM);
    live.wait().code(130);
    assert_eq!(world.status_of("t"), "pending");
    assert_eq!(world.env.git(&["show", "axiom/t:t.txt"]), "1");
    world.all_is_well();
}

#[test]
fn a_supervisor_that_was_killed_while_paused_leaves_nothing_paused() {
    let world = World::new();
    world.waiting_task("t");
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    world.env.ok(&["pause"]);
    live.kill();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn signals_are_recorded_once_though_two_supervisors_heard_them() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "git axiom signal learning 'use tabs' && git axiom signal progress 30 && touch '{beside}/begun'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.02; done\n\
         git axiom signal progress 90; git axiom signal complete; exit 1"
    );
    world.task("t", &script, &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("both are heard", || world.agents()[0]["progress"] == 30);
    live.kill();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    let log = std::fs::read_to_string(world.env.axiom_dir().join("state/events.jsonl")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains("ignalled")).count(), 4, "{log}");
    world.all_is_well();
}

#[test]
fn a_repository_at_an_odd_place_with_odd_names_works() {
    let world = World::new();
    let odd = world.env.root().join("it's a \"re po\" \u{e9} $HOME");
    world.env.git_in(world.env.root(), &["clone", "-q", "repo", odd.to_str().unwrap()]);
    let run = |args: &[&str]| world.env.axiom_in(&odd, args).success();
    run(&["task", "add", "it's \"odd\" $(id) `id`", "--id", "t", "--body", "echo 1 > \"$(printf 'a b\\n\\303\\251')\""]);
    run(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(std::fs::read_to_string(odd.join("a b\n\u{e9}")).unwrap(), "1\n");
    assert_eq!(world.env.git_in(&odd, &["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    world.no_process_is_left();
}

/// A body that was written for a model would be nonsense to a shell, or worse.
#[test]
fn the_next_session_has_the_program_of_the_last_one_where_nobody_has_chosen_another() {
    let world = World::new();
    let program = world.beside("own");
    std::fs::write(&program, "#!/bin/sh\ncat > /dev/null\necho own >> who.txt\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    world.task("one", "echo shell >> who.txt", &[]);
    world.autopilot(&["--", program.to_str().unwrap()]).code(0);
    world.task("two", "echo shell >> who.txt", &[]);
    let shown = world.env.ok(&["agents"]);
    assert!(shown.contains(&format!("the program of the last session: {}", program.display())), "{shown}");
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("that of the last session"), "{}", ended.stderr);
    assert_eq!(world.env.read("who.txt"), "own\nown\n");
    // Whoever chooses has what they chose, also where that is what they would have had at first.
    world.env.git(&["config", "axiom.agents.default", "shell"]);
    world.task("three", "echo shell >> who.txt", &[]);
    let ended = world.autopilot(&[]).code(0);
    assert!(!ended.stderr.contains("last session"), "{}", ended.stderr);
    assert_eq!(world.env.read("who.txt"), "own\nown\nshell\n");
}

#[test]
fn a_session_that_never_began_is_not_the_last_one() {
    let world = World::new();
    world.task("one", "echo shell >> who.txt", &[]);
    world.autopilot(&["--", "./no-such-program", "--api-key", "SECRET"]).code(1);
    let ended = world.autopilot(&[]).code(0);
    assert!(!ended.stderr.contains("last session"), "{}", ended.stderr);
    assert_eq!(world.env.read("who.txt"), "shell\n");
    // What was configured is not remembered beyond its configuration.
    world.program_of_ones_own("#!/bin/sh\ncat > /dev/null; echo own >> who.txt", "exitCompletes = true");
    world.task("two", "echo shell >> who.txt", &[]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("who.txt"), "shell\nown\n");
}
