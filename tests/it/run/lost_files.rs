//! Files that are lost with the machine, or with the folder of a workspace, and that the newest capture holds. A machine that stops is a
//! variable; what it loses is done by hand.

use std::path::PathBuf;

use crate::session_support::{World, wait_until};

const WHOLE: &str = "whole\n";

/// A session in which a task writes five files, which are captured, and then dies with all of its processes.
fn dies_after_a_capture() -> World {
    let mut world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "if [ ! -f '{beside}/begun' ]; then for f in empty zeros gone old.txt kept; do echo whole > $f; done; touch '{beside}/begun'; \
         sleep 1000; fi; echo done > t.txt"
    );
    world.task("t", &script, &[]);
    world.env.git(&["config", "axiom.agents.captureInterval", "1"]);
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "one".into())];
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is captured", || {
        let names = world.env.git(&["for-each-ref", "refs/axiom/live/"]);
        !names.is_empty() && world.env.git(&["ls-tree", "--name-only", "refs/axiom/live/t"]).contains("zeros")
    });
    live.kill();
    world.all_die();
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "two".into())];
    world
}

fn workspace(world: &World) -> PathBuf {
    world.env.repo().join(".worktrees/agent-001-t")
}

fn content(world: &World, name: &str) -> String {
    std::fs::read_to_string(workspace(world).join(name)).unwrap()
}

#[test]
fn what_the_machine_emptied_comes_back_and_the_rest_is_a_choice() {
    let world = dies_after_a_capture();
    let folder = workspace(&world);
    std::fs::write(folder.join("empty"), "").unwrap();
    std::fs::write(folder.join("zeros"), [0; 6]).unwrap();
    std::fs::remove_file(folder.join("gone")).unwrap();
    let old = std::fs::File::create(folder.join("old.txt")).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(600)).unwrap();
    std::fs::write(folder.join("kept"), "newer\n").unwrap();

    let look = world.env.json(&["recover"]);
    let files = look["lostFiles"][0]["files"].as_array().unwrap();
    let found: Vec<_> = files.iter().map(|file| (file["path"].as_str().unwrap(), file["comesBack"].as_bool().unwrap())).collect();
    assert_eq!(found, [("empty", true), ("gone", false), ("old.txt", false), ("zeros", true)]);
    assert_eq!(content(&world, "empty"), "", "looking changes nothing");

    let did = world.env.axiom(&["recover", "--yes"]).success();
    assert!(did.stderr.contains("empty, zeros that the machine emptied came back"), "{did:?}");
    assert_eq!((content(&world, "empty"), content(&world, "zeros")), (WHOLE.into(), WHOLE.into()));
    assert_eq!((content(&world, "old.txt"), content(&world, "kept")), ("".into(), "newer\n".into()));
    assert!(!folder.join("gone").exists());

    // What is left was committed and captured since, and the choice is still there.
    let shown = world.env.ok(&["recover", "--files", "t"]);
    assert!(shown.contains("gone (gone)") && shown.contains("old.txt (empty)") && shown.contains("kept (has another"), "{shown}");
    assert!(shown.contains("Nothing was changed."), "{shown}");
    let one = world.env.json(&["recover", "--files", "t", "kept"]);
    assert_eq!((content(&world, "kept"), &one["files"][0]["path"]), (WHOLE.into(), &"kept".into()));
    world.env.ok(&["undo", one["undo"].as_str().unwrap(), "--yes"]);
    assert_eq!(content(&world, "kept"), "newer\n", "the other version was kept");
    let rest = world.env.json(&["recover", "--files", "t", "--yes"]);
    assert_eq!(rest["files"].as_array().unwrap().len(), 2, "{rest}");
    assert_eq!((content(&world, "gone"), content(&world, "old.txt")), (WHOLE.into(), WHOLE.into()));
    assert_eq!(content(&world, "kept"), "newer\n", "nobody asked for it");
    let nothing = world.env.json(&["recover", "--files", "t", "--yes"]);
    assert_eq!(nothing["undo"], serde_json::Value::Null, "{nothing}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("gone"), world.env.read("zeros")), (WHOLE.into(), WHOLE.into()));
    world.all_is_well();
}

#[test]
fn in_the_same_start_of_the_machine_nothing_comes_back_unasked() {
    let mut world = dies_after_a_capture();
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "one".into())];
    std::fs::write(workspace(&world).join("empty"), "").unwrap();
    let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
    command.env("AXIOM_TEST_BOOT", "one");
    let did = world.env.run(command, None).success();
    assert!(!did.stderr.contains("came back"), "{did:?}");
    assert_eq!(content(&world, "empty"), "");
}

#[test]
fn a_folder_that_is_gone_is_made_again_with_all_that_its_newest_capture_holds() {
    let world = dies_after_a_capture();
    std::fs::remove_dir_all(workspace(&world)).unwrap();
    let look = world.env.ok(&["recover"]);
    assert!(look.contains("5 files of t that were lost: back from its newest capture"), "{look}");
    assert!(!workspace(&world).exists(), "looking changes nothing");
    let did = world.env.axiom(&["recover", "--yes"]).success();
    assert!(did.stderr.contains("the folder of its workspace was gone; it is made again from its newest capture"), "{did}");
    for name in ["empty", "zeros", "gone", "old.txt", "kept"] {
        assert_eq!(content(&world, name), WHOLE, "{name}");
    }
    let shown = world.env.ok(&["recover", "--files", "t"]);
    assert!(shown.contains("Everything is as in the newest capture"), "{shown}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("gone"), world.env.read("zeros")), (WHOLE.into(), WHOLE.into()));
    world.all_is_well();
}
