//! A copied repository never touches its original; what was moved or restored goes on where it is.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use git_axiom::base::error::Code;

use crate::common::Run;
use crate::session_support::{Live, World};

/// Mode, inode, time of change, and content.
type Seen = (u32, u64, (i64, i64), Vec<u8>);

/// Everything below a folder: contents, modes, inodes, times of change, and what links name.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Seen> {
    let entries = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let look = |entry: walkdir::DirEntry| {
        let meta = entry.path().symlink_metadata().unwrap();
        // An object that is written again becomes as new, as with git itself, and hard links share their times.
        let is_object = meta.is_file() && entry.path().components().any(|part| part.as_os_str() == "objects");
        let time = if is_object { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
        let content = if meta.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
        (entry.path().to_owned(), (meta.mode(), meta.ino(), time, content))
    };
    entries.map(look).collect()
}

fn shell(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// A world in which an agent works on `t` and waits for the file `go`, and a task `done` is merged.
fn at_work() -> (World, Live) {
    let world = World::new();
    let (started, go) = (world.beside("started"), world.beside("go"));
    let script = format!(
        "echo work > w.txt; git add w.txt; echo more > untracked.txt; touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done",
        started.display(),
        go.display()
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("started");
    (world, live)
}

/// A world in which the supervisor and its agents were killed while an agent was at work.
fn crashed() -> World {
    let (world, mut live) = at_work();
    live.kill();
    world.all_die();
    world
}

fn copy(world: &World, how: &str) -> PathBuf {
    let there = world.beside("copy");
    shell(Command::new("cp").arg(how).arg(world.env.repo()).arg(&there));
    there
}

fn recover(world: &World, folder: &Path) -> Run {
    world.env.axiom_in(folder, &["recover", "--yes"])
}

fn status(world: &World, folder: &Path) -> serde_json::Value {
    world.env.axiom_in(folder, &["task", "list", "--json"]).success().json()["tasks"][0]["status"].clone()
}

/// The original is as it was, after what a copy did.
fn goes_on(world: &World, live: Live) {
    world.signal_file("go");
    let ended = live.wait().code(0);
    assert_eq!(world.env.read("w.txt"), "work\n", "{}", ended.stderr);
    world.all_is_well();
}

#[test]
fn a_copy_leaves_the_agents_of_the_original_alone() {
    let (world, live) = at_work();
    let copied = copy(&world, "-a");
    // The script's own little programs come and go: each is a second shell with the same words before it is `sleep`.
    let lasting = world.processes().into_iter().filter(|(_, words)| !words.is_empty() && !words.starts_with("sleep "));
    let mut before = lasting.collect::<Vec<_>>();
    before.sort();
    before.dedup_by(|later, earlier| later.1 == earlier.1);
    assert!(before.len() >= 2, "a keeper and its agent: {before:?}");
    let said = recover(&world, &copied).success();
    assert!(said.stderr.contains("is a copy of"), "{said}");
    assert_eq!(status(&world, &copied), "pending");
    // Said once.
    assert_eq!(recover(&world, &copied).success().stderr, "");
    world.env.axiom_in(&copied, &["checkpoint", "create", "x"]).success();
    world.env.axiom_in(&copied, &["rollback", "checkpoint", "x", "--yes"]).success();
    for (pid, _) in &before {
        assert!(world.processes().iter().any(|(other, _)| other == pid), "{pid} was ended");
    }
    // The copy's own work begins anew, in a workspace of its own.
    let run = world.env.axiom_command(&copied, ["run", "--mode", "autopilot", "--until-idle"]);
    let run = Live::start(run, world.env.root(), "copy-run");
    goes_on(&world, live);
    run.wait().code(0);
    assert_eq!(std::fs::read_to_string(copied.join("w.txt")).unwrap(), "work\n");
}

#[test]
fn nothing_of_the_original_changes_whatever_is_done_in_a_copy() {
    let world = crashed();
    world.env.ok(&["checkpoint", "create", "early"]);
    for how in ["-a", "-al"] {
        let copied = copy(&world, how);
        let before = everything(&world.env.repo());
        let axiom = |args: &[&str]| world.env.axiom_in(&copied, args).success();
        axiom(&["status"]);
        axiom(&["rollback", "checkpoint", "early", "--dry-run"]);
        axiom(&["recover"]);
        axiom(&["recover", "--yes"]);
        axiom(&["rollback", "checkpoint", "early", "--yes"]);
        axiom(&["undo", "--yes"]);
        axiom(&["rollback", "session", "--yes"]);
        axiom(&["task", "add", "more", "--body", "true"]);
        axiom(&["checkpoint", "cleanup", "--keep", "1", "--yes"]);
        world.signal_file("go");
        axiom(&["run", "--mode", "autopilot", "--until-idle"]);
        assert_eq!(std::fs::read_to_string(copied.join("w.txt")).unwrap(), "work\n");
        std::fs::remove_file(world.beside("go")).unwrap();
        let now = everything(&world.env.repo());
        let changed: Vec<_> = before.iter().filter(|(path, was)| now.get(*path) != Some(was)).map(|(path, _)| path).collect();
        assert!(changed.is_empty() && now.len() == before.len(), "{how}: {changed:?}");
        world.env.git_in(&copied, &["fsck", "--no-dangling"]);
        std::fs::remove_dir_all(copied).unwrap();
    }
    // The original goes on as if nothing had been.
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_command_that_only_looks_in_a_copy_shows_what_will_be_and_writes_nothing() {
    let world = crashed();
    let copied = copy(&world, "-a");
    let before = everything(&copied);
    let seen = world.env.axiom_in(&copied, &["recover", "--json"]).success();
    assert_eq!(seen.json()["needed"], false, "{seen}");
    assert_eq!(status(&world, &copied), "pending");
    assert!(world.env.axiom_in(&copied, &["status"]).success().stderr.contains("is a copy of"));
    assert!(everything(&copied) == before);
}

#[test]
fn a_repository_that_was_moved_goes_on_with_its_workspaces() {
    let world = crashed();
    let kept = world.env.repo().join(".worktrees/agent-001-t/untracked.txt");
    assert!(kept.exists());
    let moved = world.beside("elsewhere/moved");
    std::fs::create_dir(world.beside("elsewhere")).unwrap();
    std::fs::rename(world.env.repo(), &moved).unwrap();
    // Another repository has taken its place.
    world.env.git_in(world.env.root(), &["init", "-q", "repo"]);
    world.signal_file("go");
    let said = world.env.axiom_in(&moved, &["run", "--mode", "autopilot", "--until-idle"]).success();
    assert!(said.stderr.contains("was moved with it"), "{said}");
    assert_eq!(std::fs::read_to_string(moved.join("w.txt")).unwrap(), "work\n");
    assert_eq!(std::fs::read_to_string(moved.join("untracked.txt")).unwrap(), "more\n", "what the crash left is not lost");
    world.env.git_in(&moved, &["fsck", "--no-dangling"]);
    assert!(!world.env.repo().join(".worktrees").exists());
}

#[test]
fn a_repository_restored_elsewhere_or_in_its_place_keeps_what_names_it_back() {
    for place in ["elsewhere", "repo"] {
        let world = crashed();
        let (backup, there) = (world.beside("backup.tar"), world.beside(place));
        shell(Command::new("tar").arg("-cf").arg(&backup).arg("-C").arg(world.env.repo()).arg("."));
        std::fs::rename(world.env.repo(), world.beside("doomed")).unwrap();
        // Its inodes are taken until the other one stands: nothing tells the two apart but the names.
        std::fs::create_dir(&there).unwrap();
        shell(Command::new("tar").arg("-xf").arg(&backup).arg("-C").arg(&there));
        std::fs::remove_dir_all(world.beside("doomed")).unwrap();
        let said = recover(&world, &there).success();
        assert!(said.stderr.contains("restored"), "{said}");
        world.signal_file("go");
        world.env.axiom_in(&there, &["run", "--mode", "autopilot", "--until-idle"]).success();
        assert_eq!(std::fs::read_to_string(there.join("untracked.txt")).unwrap(), "more\n", "{place}");
    }
}

#[test]
fn what_was_done_before_a_move_or_in_the_original_can_be_taken_back_after_it() {
    for copies in [false, true] {
        let world = crashed();
        world.env.ok(&["recover", "--yes"]);
        let at = |folder: &Path| folder.join(".worktrees/agent-001-t/untracked.txt");
        world.env.ok(&["rollback", "session", "--yes"]);
        assert!(!at(&world.env.repo()).exists());
        let there = world.beside("copy");
        if copies {
            drop(copy(&world, "-a"))
        } else {
            std::fs::rename(world.env.repo(), &there).unwrap()
        }
        let before = if copies { everything(&world.env.repo()) } else { BTreeMap::new() };
        world.env.axiom_in(&there, &["undo", "--yes"]).success();
        assert_eq!(std::fs::read_to_string(at(&there)).unwrap(), "more\n", "copies: {copies}");
        let top = world.env.git_in(at(&there).parent().unwrap(), &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        assert_eq!(top.trim(), there.join(".git").to_str().unwrap());
        if copies {
            assert!(everything(&world.env.repo()) == before, "the original is as it was");
        }
    }
}

#[test]
fn a_copy_of_the_git_directory_alone_is_a_copy() {
    let world = crashed();
    let there = world.beside("other");
    std::fs::create_dir(&there).unwrap();
    shell(Command::new("cp").arg("-a").arg(world.env.repo().join(".git")).arg(&there));
    let before = everything(&world.env.repo());
    recover(&world, &there).success();
    assert_eq!(status(&world, &there), "pending");
    world.env.axiom_in(&there, &["checkpoint", "create", "x"]).success();
    assert!(everything(&world.env.repo()) == before);
}

#[test]
fn a_copy_of_an_older_version_s_repository_is_known_by_its_workspaces() {
    let world = crashed();
    std::fs::remove_file(world.env.axiom_dir().join("identity.json")).unwrap();
    let copied = copy(&world, "-a");
    let before = everything(&world.env.repo());
    let said = recover(&world, &copied).success();
    assert!(said.stderr.contains("is a copy of"), "{said}");
    assert!(everything(&world.env.repo()) == before);
}

#[test]
fn linked_worktrees_of_the_user_s_are_the_original_s_in_a_copy() {
    let world = World::new();
    let mine = world.beside("mine");
    world.env.git(&["worktree", "add", "-q", "-b", "mine", mine.to_str().unwrap()]);
    world.env.ok(&["init"]);
    world.env.ok(&["checkpoint", "create", "x"]);
    let copied = copy(&world, "-a");
    std::fs::write(mine.join("README"), "mine\n").unwrap();
    let before = everything(&mine);
    world.env.axiom_in(&copied, &["checkpoint", "create", "y"]).success();
    world.env.axiom_in(&copied, &["rollback", "checkpoint", "x", "--yes"]).success();
    let refused = world.env.axiom_in(&copied, &["rollback", "checkpoint", "x", "--worktree", mine.to_str().unwrap(), "--yes"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(everything(&mine) == before);
}

#[test]
fn a_workspace_that_became_another_repository_s_is_neither_moved_nor_written_to() {
    let world = crashed();
    let folder = world.env.repo().join(".worktrees/agent-001-t");
    // Somebody moved a worktree of another repository to this place.
    world.env.git_in(world.env.root(), &["clone", "-q", "repo", "other"]);
    std::fs::rename(&folder, world.beside("old")).unwrap();
    world.env.git_in(&world.beside("other"), &["worktree", "add", "-q", folder.to_str().unwrap()]);
    let before = everything(&folder);
    // It costs that agent alone, and is said.
    let run = recover(&world, &world.env.repo()).success();
    assert!(run.stderr.contains("is a worktree of another repository"), "{run}");
    assert!(everything(&folder) == before);
}

#[test]
fn in_the_copy_of_a_linked_worktree_nothing_is_done_to_the_original() {
    let world = World::new();
    let (mine, copied) = (world.beside("mine"), world.beside("copied"));
    world.env.git(&["worktree", "add", "-q", "-b", "mine", mine.to_str().unwrap()]);
    world.env.ok(&["init"]);
    shell(Command::new("cp").arg("-a").arg(&mine).arg(&copied));
    for args in [&["checkpoint", "create", "x"][..], &["task", "add", "x"]] {
        world.env.axiom_in(&copied, args).fails_with(Code::WorkspaceNotOurs);
        world.env.axiom_in(&mine, args).success();
    }
    world.env.axiom_in(&copied, &["status"]).success();
}

/// As `crashed`, with the folder of the workspaces beside the repository; a rollback has put something aside there.
fn crashed_with_shared_folder() -> (World, PathBuf) {
    let env = crate::common::TestEnv::new();
    let shared = env.root().join("shared");
    env.write(".git/info/exclude", "*.ign\n");
    env.git(&["config", "axiom.agents.workspaceRoot", shared.to_str().unwrap()]);
    let world = World::of(env);
    world.env.write("f", "before\n");
    world.env.ok(&["checkpoint", "create", "c"]);
    std::fs::remove_file(world.env.repo().join("f")).unwrap();
    world.env.write("f/x.ign", "precious\n");
    world.env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    world.task("t", "echo work > w.txt; git add w.txt; git commit -qm w; echo x > x.ign", &[]);
    world.env.ok(&["checkpoint", "create", "before-t"]);
    world.autopilot(&["--agents", "1"]).code(0);
    (world, shared)
}

#[test]
fn a_copy_leaves_alone_what_lies_in_a_folder_of_workspaces_outside_both() {
    let (world, shared) = crashed_with_shared_folder();
    let precious = || walkdir::WalkDir::new(&shared).into_iter().flatten().filter(|entry| entry.file_name() == "x.ign").count();
    assert!(precious() >= 1, "the trash of a workspace is there");
    let copied = copy(&world, "-a");
    let before = everything(&shared);
    // What was there stays; what the copy adds is its own.
    let stays = |what: &str| {
        let now = everything(&shared);
        let folders: Vec<&PathBuf> = before.keys().filter(|path| path.is_dir()).collect();
        let changed =
            before.iter().filter(|(path, was)| now.get(*path) != Some(was) && !folders.contains(path)).map(|(path, _)| path);
        assert_eq!(changed.collect::<Vec<_>>(), [] as [&PathBuf; 0], "{what}");
    };
    let later = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 30)).to_string();
    let axiom = |args: &[&str]| {
        let mut command = world.env.axiom_command(&copied, args);
        command.env("AXIOM_TEST_NOW", &later);
        let run = world.env.run(command, None);
        stays(&args.join(" "));
        run
    };
    axiom(&["recover", "--yes"]).success();
    axiom(&["rollback", "checkpoint", "before-t", "--yes"]).success();
    axiom(&["undo", "--yes"]).success();
    let ids = world.env.json(&["log"])["operations"].as_array().unwrap().clone();
    let back = ids.iter().find(|one| one["what"].as_str().unwrap().contains("checkpoint c"));
    let back = back.unwrap()["id"].as_str().unwrap();
    let undone = axiom(&["--json", "undo", back, "--yes"]).success().json();
    assert_eq!(undone["broughtBack"], serde_json::json!([]), "{undone}");
    assert_eq!(undone["lost"].as_array().unwrap().len(), 1, "{undone}");
    axiom(&["task", "add", "more", "--id", "more", "--body", "echo more > m.txt; git add m.txt; git commit -qm m"]).success();
    world.env.axiom_in(&copied, &["run", "--mode", "autopilot", "--until-idle"]).success();
    stays("run");
    assert_eq!(std::fs::read_to_string(copied.join("m.txt")).unwrap(), "more\n");
    axiom(&["recover", "--yes"]).success();
    // And the original has all of it.
    world.env.ok(&["undo", back, "--yes"]);
    assert_eq!(world.env.read("f/x.ign"), "precious\n");
}

#[test]
fn a_repository_seen_under_another_path_by_a_bind_mount_is_ours_where_it_is() {
    let world = crashed();
    world.env.ok(&["recover", "--yes"]);
    world.env.ok(&["checkpoint", "create", "c"]);
    let identity = || std::fs::read_to_string(world.env.axiom_dir().join("identity.json")).unwrap();
    let before = identity();
    let mut command = world.env.program("unshare", &world.env.repo());
    command.env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["-Urm", "sh", "-euc"]).arg(
        r#"
        mkdir ../bound && mount --bind . ../bound && repo=$PWD && cd ../bound
        echo edited > README
        for verb in 'status' 'checkpoint create d' 'rollback checkpoint c --yes' 'undo --yes' 'redo --yes' 'recover --yes' \
            'rollback session --yes' 'undo --yes'; do
            "$AXIOM" $verb > ../out 2>&1 || { echo "$verb"; cat ../out; exit 10; }
            ! grep -q 'copy of\|moved here\|restored' ../out || { echo "$verb"; cat ../out; exit 11; }
        done
        grep -q project README || exit 12
        test -e .worktrees/agent-001-t/w.txt || exit 13
        # The same with the other path hidden, as in a container.
        mkdir ../empty && mount --bind ../empty "$repo"
        for verb in 'status' 'checkpoint create e' 'rollback checkpoint d --yes' 'undo --yes'; do
            "$AXIOM" $verb > ../out2 2>&1 || { echo "$verb"; cat ../out2; exit 14; }
            ! grep -q 'copy of' ../out2 || { echo "$verb"; cat ../out2; exit 15; }
        done
        test -e .worktrees/agent-001-t/w.txt || exit 16
        "#,
    );
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{out}{err}", output.status.code());
    let id = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["id"].clone();
    assert_eq!(id(&identity()), id(&before));
    // Back under its own path it goes on.
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_copy_or_a_move_that_dies_while_it_settles_goes_on_with_the_next_verb() {
    let points =
        ["placement.before-workspace", "placement.before-event", "placement.before-identity", "placement.before-connect"];
    let world = crashed();
    world.env.ok(&["checkpoint", "create", "early"]);
    let repo = world.env.repo();
    let mut reached = 0;
    for point in points {
        for verb in [&["recover", "--yes"][..], &["checkpoint", "create", "late"]] {
            for copies in [true, false] {
                let there = world.beside("copy");
                if copies {
                    drop(copy(&world, "-a"));
                } else {
                    shell(Command::new("cp").arg("-a").arg(&repo).arg(world.beside("kept")));
                    std::fs::rename(&repo, &there).unwrap();
                }
                let before = if copies { everything(&repo) } else { BTreeMap::new() };
                let mut command = world.env.axiom_command(&there, verb);
                command.env("AXIOM_TEST_FAULT", format!("{point}:1"));
                let killed = world.env.run(command, None);
                let died = killed.code != Some(0);
                reached += usize::from(died);
                if died {
                    let run = world.env.axiom_in(&there, verb).success();
                    assert!(!run.stdout.is_empty() || !run.stderr.is_empty(), "{point}");
                }
                assert_eq!(world.env.axiom_in(&there, &["status"]).success().stderr, "", "{point}: it is said once");
                let wanted = if copies { "pending" } else { "active" };
                let is_recovered = verb[0] == "recover";
                if copies || !is_recovered {
                    assert_eq!(status(&world, &there), wanted, "{point} {verb:?}");
                }
                assert_eq!(there.join(".worktrees/agent-001-t").exists(), !copies, "{point} {verb:?}");
                world.env.axiom_in(&there, &["rollback", "checkpoint", "early", "--yes"]).success();
                world.env.git_in(&there, &["fsck", "--no-dangling"]);
                if copies {
                    assert!(everything(&repo) == before, "{point} {verb:?}: nothing of the original's was touched");
                }
                std::fs::remove_dir_all(&there).unwrap();
                if !copies {
                    // `kept` has other inodes, and is restored in the place of what was moved.
                    std::fs::rename(world.beside("kept"), &repo).unwrap();
                    recover_place(&world);
                }
            }
        }
    }
    assert!(reached >= 10, "{reached}");
}

/// Lets a repository that was restored in its place write down where it is, without doing anything else.
fn recover_place(world: &World) {
    world.env.ok(&["task", "add", "nothing", "--body", "true"]);
}
