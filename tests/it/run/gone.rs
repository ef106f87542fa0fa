//! A repository that is deleted, moved or replaced while a session runs in it: the session ends and writes nothing.

use std::path::{Path, PathBuf};

use crate::session_support::{Ended, Live, World, wait_until};

/// Ends by itself, and says why.
#[track_caller]
fn ends(live: Live) -> Ended {
    let ended = live.wait().code(1);
    assert!(ended.stderr.contains("is not the repository of this session any more"), "{}", ended.stderr);
    ended
}

fn elsewhere(world: &World) -> PathBuf {
    world.beside("elsewhere")
}

fn log(repo: &Path) -> Vec<u8> {
    std::fs::read(repo.join(".git/axiom/state/events.jsonl")).unwrap()
}

#[test]
fn a_session_ends_where_its_repository_is_deleted_or_another_one_takes_its_place() {
    for is_replaced in [false, true] {
        let world = World::new();
        let repo = world.env.repo();
        world.task("t", "true", &[]);
        let live = world.start(&[]);
        world.wait_for_gate("claim-t");
        std::fs::rename(&repo, elsewhere(&world)).unwrap();
        if is_replaced {
            let made = std::process::Command::new("git").args(["init", "-q"]).arg(&repo).status().unwrap();
            assert!(made.success());
        }
        std::fs::remove_dir_all(elsewhere(&world)).unwrap();
        ends(live);
        let axiom = repo.join(".git/axiom");
        assert_eq!((repo.exists(), axiom.exists(), repo.join(".worktrees").exists()), (is_replaced, false, false));
    }
}

#[test]
fn a_repository_that_is_moved_is_left_as_it_is_and_the_next_session_goes_on_with_its_agents() {
    let world = World::new();
    let repo = world.env.repo();
    world.waiting_task("t");
    let live = world.start_until_begun();
    let mut before = Vec::new();
    // The agent may begin before the session has recorded that it did.
    wait_until("nothing more is recorded of its beginning", || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::mem::replace(&mut before, log(&repo)) == before
    });
    std::fs::rename(&repo, elsewhere(&world)).unwrap();
    ends(live);
    assert!(!repo.exists());
    assert_eq!(log(&elsewhere(&world)), before, "nothing was written");
    std::fs::rename(elsewhere(&world), &repo).unwrap();
    let live = world.start_autopilot(&[]);
    world.signal_file("go");
    world.wait_until_merged("t");
    live.wait().code(0);
    assert_eq!(world.show("t")["retryCount"], 0);
    world.all_is_well();
}
