//! Large prompts, large outputs, programs that never end.

use crate::session_support::World;

#[test]
fn a_program_that_never_ends_is_ended_at_its_time_limit() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.timeLimit", "1"]);
    world.env.git(&["config", "axiom.agents.graceSeconds", "1"]);
    world.task("t", "trap '' TERM; echo half > t.txt; setsid sleep 4000 & while :; do sleep 0.1; done", &[]);
    let ended = world.autopilot(&["--max-iterations", "1"]).code(1);
    assert_eq!(ended.stdout, "t is failed: not complete after 1 iteration: it ran over its time limit\n");
    assert_eq!(world.env.git(&["show", "axiom/t:t.txt"]), "half");
    world.all_is_well();
}

#[test]
fn a_prompt_of_ten_megabytes_arrives_whole() {
    let world = World::new();
    let body = "0123456789abcdef ".repeat(640_000) + "the end";
    std::fs::write(world.beside("body"), &body).unwrap();
    world.env.ok(&["task", "add", "t", "--id", "t", "--body-file", world.beside("body").to_str().unwrap()]);
    let script = "cat > prompt; grep -c 'the end' prompt; wc -c < prompt; rm prompt; echo 1 > t.txt";
    world.autopilot(&["--", "sh", "-c", script]).code(0);
    let output = world.env.ok(&["output", "t"]);
    let mut lines = output.lines();
    assert_eq!(lines.next(), Some("1"));
    assert!(lines.next().unwrap().trim().parse::<usize>().unwrap() > body.len());
    world.all_is_well();
    // As an argument it is too long for the system: said so, and nothing hangs.
    world.env.ok(&["task", "add", "u", "--id", "u", "--body-file", world.beside("body").to_str().unwrap()]);
    let ended = world.autopilot(&["--max-iterations", "1", "--", "echo", "{prompt}"]).code(1);
    assert!(ended.stdout.contains("u is blocked: cannot start 'echo'"), "{}", ended.stdout);
    world.all_is_well();
}

#[test]
fn two_hundred_megabytes_of_output_are_cut_and_stop_nobody() {
    let world = World::new();
    world.task("t", "head -c 200000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo; echo the end; echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let log = world.env.axiom_dir().join("agents/agent-001/logs/t.jsonl");
    let size = log.metadata().unwrap().len();
    assert!((60_000_000..150_000_000).contains(&size), "{size} bytes are kept");
    let tail = std::fs::read(&log).unwrap();
    let tail = String::from_utf8_lossy(&tail[tail.len() - 1000..]).into_owned();
    assert!(tail.contains("bytes"), "what was dropped is said: {tail}");
    world.all_is_well();
}
