//! What is recorded, shown and accepted is so: no environment on disk, no dead keeper that runs, no key that does nothing;
//! commits and folders as in git.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};

#[test]
fn no_environment_is_recorded_of_a_run() {
    let world = World::new();
    world.task("t", "git axiom signal progress 5 && echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let specs = walkdir::WalkDir::new(world.env.axiom_dir()).into_iter().flatten();
    let specs: Vec<_> = specs.filter(|entry| entry.file_name() == "spec.json").collect();
    assert_eq!(specs.len(), 1);
    let spec: serde_json::Value = serde_json::from_slice(&std::fs::read(specs[0].path()).unwrap()).unwrap();
    let names: Vec<&String> = spec["env"].as_object().unwrap().keys().collect();
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("AXIOM_")), "{names:?}");
}

#[test]
fn a_dead_keeper_is_shown_as_dead() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", &format!("touch '{beside}/begun'; sleep 3000"), &[]);
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    assert_eq!(world.agents()[0]["state"], "running", "the agent goes on");
    world.keepers_die();
    // Its locks go a moment after its command line.
    wait_until("its program goes on, and nobody looks after it", || world.agents()[0]["state"] == "orphaned");
    world.all_die();
    wait_until("it is shown", || world.agents()[0]["state"] == "dead");
    assert!(world.env.ok(&["status"]).contains("dead"));
    world.env.ok(&["recover", "--yes"]);
    assert_eq!(world.agents()[0]["state"], "idle");
}

#[test]
fn merges_and_reverts_have_the_author_that_git_would_give_them() {
    let mut world = World::new();
    let dated =
        [("GIT_AUTHOR_NAME", "Ann Other"), ("GIT_AUTHOR_EMAIL", "ann@example.org"), ("GIT_AUTHOR_DATE", "1000000000 +0200")];
    world.variables = dated.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let who = || world.env.git(&["log", "-1", "--format=%an <%ae> %ad / %cn <%ce>", "--date=raw", "main"]);
    assert_eq!(who(), "Ann Other <ann@example.org> 1000000000 +0200 / C O Mitter <committer@example.org>");
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    let who = who();
    assert!(who.starts_with("A U Thor <author@example.org> ") && who.ends_with("/ C O Mitter <committer@example.org>"), "{who}");
    assert!(!who.contains("1000000000"), "{who}");
}

#[test]
fn folders_are_given_as_to_git() {
    let world = World::new();
    world.task("t", "", &[]);
    let root = world.env.root();
    for args in [&["-C", "repo", "-C", "src", "task", "list"][..], &["-C", "", "-C", "repo", "-C", "src", "task", "list"]] {
        let listed = world.env.axiom_in(root, args).success();
        assert!(listed.stdout.contains("t "), "{listed}");
    }
    world.env.axiom_in(root, &["-C", "src", "-C", "repo", "task", "list"]).fails_with(Code::IoFailed);
}

/// A branch of the user's with a name that is not UTF-8 breaks no verb.
#[test]
fn a_branch_whose_name_is_not_utf8_is_left_alone() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let git = |args: &[&std::ffi::OsStr]| {
        let mut command = world.env.program("git", &world.env.repo());
        assert!(command.args(args).status().unwrap().success());
    };
    let text = |text: &'static str| std::ffi::OsStr::new(text);
    for packed in [false, true] {
        git(&[text("branch"), text("-f"), odd]);
        if packed {
            git(&[text("pack-refs"), text("--all")]);
        }
        let name = if packed { "packed" } else { "loose" };
        world.env.ok(&["checkpoint", "create", name]);
        world.env.write("README", name);
        world.env.ok(&["rollback", "checkpoint", name, "--yes"]);
        world.env.ok(&["undo", "--yes"]);
        assert_eq!(world.env.read("README"), name);
        world.task(&format!("t-{name}"), "echo 1 > $AXIOM_TASK_ID.txt", &[]);
        world.env.git(&["checkout", "-q", "--", "README"]);
        world.autopilot(&[]).code(0);
    }
    world.all_is_well();
}
