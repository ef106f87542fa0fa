//! Tasks that begin before the work of others is merged: with what an agent reports as ready, or on what needs none of it.

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

/// A program that saves its prompts as `prompt.TASK.ITERATION` and then does what is given for the task.
fn agent(world: &World, cases: &str) -> String {
    let (place, beside) = (world.beside("agent.sh"), world.env.root().display().to_string());
    let script = format!(
        "n=$(($(ls '{beside}' | grep -c \"^prompt.$AXIOM_TASK_ID.\") + 1))\ncat > '{beside}/prompt.'$AXIOM_TASK_ID.$n\n\
         case $AXIOM_TASK_ID.$n in\n{}\nesac\necho 1 > $AXIOM_TASK_ID.txt\n",
        cases.replace("BESIDE", &beside)
    );
    std::fs::write(&place, script).unwrap();
    place.to_str().unwrap().to_owned()
}

fn prompt(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.beside(&format!("prompt.{name}"))).unwrap()
}

/// The tasks in the order in which they were merged.
fn merged(world: &World) -> Vec<String> {
    let log = world.env.git(&[
        "log",
        "--reverse",
        "--first-parent",
        "--format=%(trailers:key=Axiom-Task,valueonly,separator=%x2c)",
        "main",
    ]);
    log.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn what_is_ready_releases_those_who_wait_for_it_and_they_are_merged_later() {
    let world = World::new();
    let program =
        agent(&world, "a.1) git axiom signal ready api 'call f(x)' || exit 9; while [ ! -f BESIDE/go ]; do sleep 0.02; done;;");
    world.task("a", "", &[]);
    world.task("b", "", &["--after", "a:api"]);
    world.task("c", "", &["--after", "a:api,a:other"]);
    world.task("d", "", &["--after", "a"]);
    let live = world.start_autopilot(&["--agents", "2", "--", "sh", &program]);
    wait_until("b is done", || world.status_of("b") == "done");
    let (b, c) = (world.find_task("b"), world.find_task("c"));
    assert_eq!((&b["needs"], &b["merged"], &b["after"]), (&json!(["a:api"]), &json!(null), &json!(["a"])), "{b}");
    assert_eq!((&c["shown"], &c["waitsFor"]), (&json!("waiting"), &json!(["a"])), "{c}");
    let words = world.env.ok(&["task", "show", "c"]);
    assert!(words.contains("a:api, ready") && words.contains("a:other, not ready yet"), "{words}");
    assert_eq!(world.show("a")["reports"]["ready"], json!([{"name": "api", "text": "call f(x)"}]));
    let told = prompt(&world, "a.1");
    assert!(told.contains("## What others wait for\n") && told.contains("- api (for b, c)\n- other (for c)\n"), "{told}");
    let told = prompt(&world, "b.1");
    assert!(told.contains("- a:api: call f(x)\n  (not merged yet; what is committed is on the branch `axiom/a`)\n"), "{told}");
    world.signal_file("go");
    live.wait().code(0);
    let order = merged(&world);
    assert!(order.iter().position(|id| id == "a") < order.iter().position(|id| id == "b"), "{order:?}");
    assert_eq!(order.len(), 4, "{order:?}");
    let told = prompt(&world, "c.1");
    assert!(told.contains("- a:api: call f(x)\n") && !told.contains("not merged yet") && !told.contains("Not ready"), "{told}");
    world.all_is_well();
}

#[test]
fn an_early_start_is_one_iteration_and_goes_on_when_all_is_ready() {
    let world = World::new();
    let program = agent(
        &world,
        "a.1) while [ ! -f BESIDE/go ]; do sleep 0.02; done; git axiom signal ready api 'call f(x)' || exit 9\n\
              while [ ! -f BESIDE/end ]; do sleep 0.02; done;;\n\
         b.1) exit 3;;\n\
         b.2) touch BESIDE/end;;",
    );
    world.task("a", "", &[]);
    world.task("b", "", &["--after", "a:api", "--start-early"]);
    let live = world.start_autopilot(&["--agents", "2", "--", "sh", &program]);
    wait_until("b waits", || world.show("b")["iterations"] == 1 && world.find_task("b")["shown"] == "waiting");
    let told = prompt(&world, "b.1");
    assert!(told.contains("## Not ready yet\n\n- a:api\n") && !told.contains("Ready in other tasks"), "{told}");
    assert!(world.env.ok(&["log", "--all"]).contains("it waits for a:api"));
    world.signal_file("go");
    live.wait().code(0);
    let told = prompt(&world, "b.2");
    assert!(told.contains("- a:api: call f(x)\n") && !told.contains("Not ready yet"), "{told}");
    assert_eq!(world.show("b")["iterations"], 2);
    world.all_is_well();
}

#[test]
fn needs_are_checked_edited_and_imported() {
    let world = World::new();
    let env = &world.env;
    env.ok(&["task", "add", "A", "--id", "a"]);
    for wrong in [&["--start-early"][..], &["--after", "a", "--start-early"], &["--after", "a:"], &["--after", "a: "]] {
        env.axiom(&[&["task", "add", "B"], wrong].concat()).fails_with(Code::InvalidInput);
    }
    env.axiom(&["task", "add", "G", "--kind", "group", "--after", "a:x"]).fails_with(Code::InvalidInput);
    env.axiom(&["task", "add", "B", "--after", "nope:x"]).fails_with(Code::UnknownDependency);
    env.ok(&["task", "add", "B", "--id", "b", "--after", "a:x y", "--start-early"]);
    let fields = |id: &str| {
        let task = world.find_task(id);
        json!([task["after"], task["needs"], task["startEarly"], task["shown"]])
    };
    assert_eq!(fields("b"), json!([["a"], ["a:x y"], true, "pending"]));
    env.ok(&["task", "edit", "b", "--start-early", "false"]);
    assert_eq!(fields("b"), json!([["a"], ["a:x y"], false, "waiting"]));
    env.ok(&["undo", "--yes"]);
    let line = world.find_task("b").to_string().replace("\"id\":\"b\"", "\"id\":\"c\"");
    std::fs::write(world.beside("lines"), line).unwrap();
    env.ok(&["task", "import", world.beside("lines").to_str().unwrap()]);
    assert_eq!(fields("c"), json!([["a"], ["a:x y"], true, "pending"]));
    env.ok(&["task", "edit", "c", "--after", "a"]);
    assert_eq!(fields("c"), json!([["a"], [], false, "waiting"]));
    env.axiom(&["task", "edit", "c", "--start-early", "true"]).fails_with(Code::InvalidInput);
}
