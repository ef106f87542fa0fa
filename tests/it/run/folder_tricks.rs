//! Agents that do to their folder, or to what git knows of it, whatever they like: it only ever costs that agent.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::session_support::World;

/// Each trick, as a script in a workspace that has the file `work` in it already.
const TRICKS: [(&str, &str); 13] = [
    ("fifo", "rm .git; mkfifo .git"),
    ("folder", "rm .git; mkdir .git"),
    ("repository", "rm .git; git init -q . && git add -A && git -c user.name=x -c user.email=x@y commit -qm own"),
    ("symlink", "mv .git dot; ln -s dot .git"),
    ("large", "{ cat .git; head -c 70000 /dev/zero | tr '\\0' '\\n'; } > big; mv big .git"),
    ("dangling", "echo 'gitdir: /nowhere/at/all' > .git"),
    ("encoding", "echo '*.u working-tree-encoding=UTF-16' > .gitattributes; echo abc > a.u"),
    (
        "filter",
        "git config filter.fails.clean false; git config filter.fails.required true; echo '*.f filter=fails' > .gitattributes; echo f > a.f",
    ),
    ("branch", "git checkout -q -b \"$(printf 'b\\377')\""),
    ("index", "echo garbage > \"$(git rev-parse --git-dir)/index\""),
    ("head", "rm \"$(git rev-parse --git-dir)/HEAD\""),
    ("entry", "rm -rf \"$(git rev-parse --git-dir)\""),
    ("rubbish", "echo rubbish > .git"),
];

/// Those after which a human has to say what shall become of the workspace; the others are mended for the next iteration.
const FOR_A_HUMAN: [&str; 3] = ["repository", "encoding", "filter"];

/// Whose workspaces no checkpoint holds: files whose filter fails, or that are not in their encoding, are held as they are.
const NOT_CAPTURED: usize = 1;

/// On a branch of its own there is nothing to merge, whatever its name: the agent is told so, and its task fails at last.
const FAILS: &str = "branch";

/// Plays the trick in the first iteration, and stays at work for as long as the world wants: others are merged beside it.
fn tricky(world: &World, name: &str, trick: &str) -> String {
    let go = world.beside("go").display().to_string();
    format!(
        "[ $AXIOM_ITERATION = 1 ] || {{ echo mended > {name}.txt; exit 0; }}\n\
         echo mine > work; {trick}; touch \"{go}-{name}\"; while [ ! -e '{go}' ]; do sleep 0.1; done; exit 0"
    )
}

fn merged(world: &World, task: &str) -> bool {
    !world.find_task(task)["merged"].is_null()
}

fn not_captured(world: &World, checkpoint: &str) -> usize {
    let shown = world.env.json(&["checkpoint", "show", checkpoint]);
    let coverage = shown["checkpoint"]["document"]["coverage"].as_object().unwrap();
    coverage.values().filter(|one| one["notCaptured"].is_string()).count()
}

#[test]
fn a_session_with_odd_agents_ends_with_the_good_ones_merged() {
    let world = World::new();
    for (name, trick) in TRICKS {
        world.task(&format!("bad-{name}"), &tricky(&world, name, trick), &[]);
    }
    for number in 0..10 {
        world.task(&format!("good-{number}"), &format!("echo {number} > good-{number}.txt"), &[]);
    }
    let session = world.start_autopilot(&["--agents", "16", "--max-iterations", "3"]);
    for (name, _) in TRICKS {
        world.wait_for_file(&format!("go-{name}"));
    }
    // All tricks are played and nobody has ended: the others go on.
    let begun = Instant::now();
    while !(0..10).all(|number| merged(&world, &format!("good-{number}"))) {
        assert!(begun.elapsed() < Duration::from_secs(240), "the good ones are not merged");
        std::thread::sleep(Duration::from_millis(200));
    }
    world.env.ok(&["checkpoint", "create", "meanwhile"]);
    // Of the one without an index, the files are held.
    assert!(not_captured(&world, "meanwhile") >= 9, "{}", world.env.ok(&["checkpoint", "show", "meanwhile"]));
    world.signal_file("go");
    let begun = Instant::now();
    while !TRICKS.iter().all(|(name, _)| is_settled(&world, name)) {
        assert!(begun.elapsed() < Duration::from_secs(240), "not settled: {:?}", world.gates());
        std::thread::sleep(Duration::from_millis(200));
    }
    let ended = session.wait();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for number in 0..10 {
        assert_eq!(world.env.read(&format!("good-{number}.txt")), format!("{number}\n"));
    }
    the_user_goes_on(&world);
    world.no_process_is_left();
    world.env.fsck();
}

/// Merged, failed, or behind a gate, as it should be.
fn is_settled(world: &World, name: &str) -> bool {
    let task = format!("bad-{name}");
    if FOR_A_HUMAN.contains(&name) {
        return world.gates().iter().any(|gate| gate["taskId"] == task.as_str());
    }
    if name == FAILS { world.status_of(&task) == "failed" } else { merged(world, &task) }
}

/// Checkpoints, previews and rollbacks work, and name what they leave out; recovery names the repository that it moves.
fn the_user_goes_on(world: &World) {
    let env = &world.env;
    env.write("README", "mine\n");
    env.ok(&["checkpoint", "create", "afterwards"]);
    assert_eq!(not_captured(world, "afterwards"), NOT_CAPTURED);
    env.write("README", "changed\n");
    let preview = env.json(&["rollback", "checkpoint", "afterwards", "--dry-run"]);
    let left = preview["workspaces"].as_array().unwrap().iter().filter(|one| one["action"] == "notCaptured").count();
    assert_eq!(left, NOT_CAPTURED, "{preview}");
    env.ok(&["rollback", "checkpoint", "afterwards", "--yes"]);
    assert_eq!(env.read("README"), "mine\n");
    let looked: Value = env.json(&["recover"]);
    let named = |reason: &str| looked["wedges"].as_array().unwrap().iter().filter(|one| one["reason"] == reason).count();
    assert_eq!((named("notCaptured"), named("notTheWorktree")), (0, 1), "{looked}");
    let done = env.axiom(&["recover", "--yes"]).success();
    let line = done.stderr.lines().find(|line| line.contains("the repository that was in")).unwrap_or_else(|| panic!("{done}"));
    let place = line.rsplit('\'').nth(1).unwrap().replace("$ROOT", &env.root().display().to_string());
    assert!(env.git_in(env.root(), &["--git-dir", &place, "log", "-1", "--format=%s"]) == "own", "{line}");
}
