//! The main job: several agents, many tasks with dependencies, a repository with history and a user who works in it.

use std::collections::BTreeMap;

use crate::common::TestEnv;
use crate::common::trials::AskedCases;
use crate::session_support::World;

/// A repository of `files` files and a few commits of history.
fn repository_of(files: usize) -> World {
    let env = TestEnv::new();
    for number in 0..files {
        env.write(&format!("lib/d{}/f{number}.txt", number % 97), format!("file {number}\n"));
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "many files"]);
    for round in 0..10 {
        env.write(&format!("lib/d{round}/f{round}.txt"), format!("changed in round {round}\n"));
        env.git(&["commit", "-q", "-a", "-m", &format!("round {round}")]);
    }
    World::of(env)
}

/// Twenty tasks: a diamond, a chain, two groups (the second after the first), and loose ones. Returns what must come before
/// what.
fn twenty_tasks(world: &World) -> BTreeMap<String, Vec<String>> {
    let counter = world.beside("counter").display().to_string();
    let mut lines = String::new();
    let mut needs = BTreeMap::new();
    let mut add = |id: &str, kind: &str, parent: Option<&str>, after: &[&str], really: &[&str]| {
        let body = format!(
            "echo {id} >> '{counter}'\n\
             for file in {}; do test -f \"out/$file.txt\" || {{ echo missing $file; exit 1; }}; done\n\
             mkdir -p out; echo {id} > out/{id}.txt; echo {id} >> lib/d50/{id}.txt\n\
             if [ $((${{#AXIOM_TASK_ID}} % 2)) = 0 ]; then git add -A && git commit -qm \"own commit\"; fi\n",
            really.join(" ")
        );
        let case = serde_json::json!({"id": id, "title": format!("do {id}"), "kind": kind, "parent": parent, "after": after,
            "body": (kind == "task").then_some(body)});
        lines.push_str(&format!("{case}\n"));
        if kind == "task" {
            needs.insert(id.to_owned(), really.iter().map(|id| (*id).to_owned()).collect());
        }
    };
    add("goal", "goal", None, &[], &[]);
    add("top", "task", None, &[], &[]);
    add("left", "task", None, &["top"], &["top"]);
    add("right", "task", None, &["top"], &["top"]);
    add("bottom", "task", None, &["left", "right"], &["top", "left", "right"]);
    add("group1", "group", Some("goal"), &[], &[]);
    add("group2", "group", Some("goal"), &["group1"], &[]);
    for id in ["g1-a", "g1-bb", "g1-c"] {
        add(id, "task", Some("group1"), &[], &[]);
    }
    for id in ["g2-a", "g2-bb", "g2-c"] {
        add(id, "task", Some("group2"), &[], &["g1-a", "g1-bb", "g1-c"]);
    }
    add("chain1", "task", None, &["bottom"], &["bottom"]);
    add("chain2", "task", None, &["chain1"], &["chain1"]);
    add("chain3", "task", None, &["chain2"], &["chain2"]);
    for id in ["l1", "l2", "l3", "l4", "l55", "l66", "l77"] {
        add(id, "task", None, &[], &[]);
    }
    let file = world.beside("tasks.jsonl");
    std::fs::write(&file, lines).unwrap();
    world.env.ok(&["task", "import", file.to_str().unwrap()]);
    needs
}

fn three_agents_do_twenty_tasks(files: usize) {
    let world = repository_of(files);
    let needs = twenty_tasks(&world);
    assert_eq!(needs.len(), 20);
    let before = world.make_dirty();
    let begun = std::time::Instant::now();
    let ended = world.autopilot(&["--agents", "3"]).code(0);
    println!("{files} files: the session took {:.1?}", begun.elapsed());
    assert_eq!(world.users_things(), before, "{}", ended.stderr);
    let mut tasks: Vec<String> = needs.keys().cloned().collect();
    tasks.sort();
    assert_eq!(world.lines("counter"), tasks, "each task is worked on exactly once");
    for task in &tasks {
        let shown = world.find_task(task);
        assert!(shown["merged"]["commit"].is_string(), "{shown}");
        assert_eq!(world.env.git(&["show", &format!("HEAD:out/{task}.txt")]), *task);
        assert_eq!(world.env.read(&format!("out/{task}.txt")).trim(), task, "the checked-out target has it on disk");
        let commits = world.commits_of(task, "main");
        assert!(commits.iter().any(|subject| subject.starts_with(&format!("Merge task {task}: "))), "{commits:?}");
        let tag = format!("#{task} @agent-00");
        assert!(commits.iter().all(|subject| subject.contains(&tag)), "{commits:?}");
    }
    let used = world.agents().len();
    assert!((2..=3).contains(&used), "{used} agents took part");
    assert!(world.env.git(&["worktree", "list"]).lines().count() == 1, "merged workspaces are put aside");
    world.all_is_well();
}

#[test]
fn three_agents_do_twenty_tasks_and_leave_what_is_the_users() {
    three_agents_do_twenty_tasks(2_000);
}

/// The same with 50,000 files: `AXIOM_ROUNDS=50000 cargo test --release --test it -- --ignored --nocapture many_files`
#[test]
#[ignore = "takes minutes; run it as documented"]
fn three_agents_do_twenty_tasks_in_a_repository_of_many_files() {
    three_agents_do_twenty_tasks(AskedCases::read().rounds(50_000) as usize);
}
