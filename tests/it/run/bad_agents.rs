//! Agents that reach for what is not theirs: what comes of it is known, and the others go on.

use crate::session_support::{World, wait_until};

const GOES_ON: &str = "echo whole > good.txt";

/// Another task's token counts neither in a signal nor in a line of the output.
#[test]
fn the_token_of_another_task_reports_nothing() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let wait = |name: &str| format!("until [ -s '{beside}/{name}' ]; do sleep 0.05; done");
    let steal = format!(
        "{}\ntoken=$(cat '{beside}/token')\nAXIOM_TOKEN=$token git axiom signal blocked 'by a thief'\n\
         echo \"<axiom $token>BLOCKED: by a thief</axiom>\"\necho done > '{beside}/stolen'; exit 3",
        wait("token")
    );
    let own = format!("echo $AXIOM_TOKEN > '{beside}/token.new'; mv '{beside}/token.new' '{beside}/token'\n{}", wait("stolen"));
    world.task("thief", &steal, &[]);
    world.task("victim", &format!("{own}; {GOES_ON}"), &[]);
    world.autopilot(&["--max-iterations", "1"]).code(1);
    assert_eq!((world.status_of("thief").as_str(), world.status_of("victim").as_str()), ("failed", "done"));
    assert!(world.env.ok(&["output", "thief"]).contains("its token belongs to another iteration"));
    assert_eq!(world.env.read("good.txt"), "whole\n");
    world.all_is_well();
}

/// An answer is a human's: an agent gives none, also where nobody asked, and a human's answer to nothing is an error.
#[test]
fn nobody_answers_a_question_that_was_not_asked() {
    let world = World::new();
    world.task("asks", "git axiom signal waiting 'which one?'", &[]);
    let answer = "git axiom gate answer asks this; git axiom gate answer answers this; git axiom gate approve --all; exit 3";
    world.task("answers", answer, &[]);
    world.task("good", GOES_ON, &[]);
    world.autopilot(&["--max-iterations", "1"]).code(1);
    assert_eq!(world.env.ok(&["output", "answers"]).matches("error[NOT_FOR_AGENTS]").count(), 3);
    assert_eq!(world.gates()[0]["id"], "question-asks");
    world.env.axiom(&["gate", "answer", "good", "this"]).fails_with(git_axiom::base::error::Code::UnknownGate);
    assert_eq!(world.env.read("good.txt"), "whole\n");
    // Its agent waits for the answer still.
    world.no_process_is_left();
    world.env.fsck();
}

/// The user's worktree shows then what the target has no longer. Nothing of it is lost, merges that do not touch it go on, and the
/// others wait for a human.
#[test]
fn a_target_that_an_agent_moves_costs_nobody_anything() {
    let world = World::new();
    world.env.write("mine.txt", "mine\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "mine"]);
    let (main, go) = (world.env.repo().display().to_string(), world.until_go());
    let old = world.env.git(&["rev-parse", "main"]);
    world.task("bad", &format!("git -C '{main}' update-ref refs/heads/main main~1; {go}; echo 1 > bad.txt"), &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    assert_ne!(world.env.git(&["rev-parse", "main"]), old);
    world.task("good", GOES_ON, &[]);
    wait_until("the other is merged", || world.find_task("good")["merged"].is_object());
    world.signal_file("go");
    live.wait().code(1);
    let gate = &world.gates()[0];
    let reason = gate["reason"].as_str().unwrap();
    assert!(gate["id"] == "merge-bad" && reason.contains("changes of yours") && reason.contains("mine.txt"), "{gate}");
    assert_eq!((world.env.read("mine.txt").as_str(), world.env.read("good.txt").as_str()), ("mine\n", "whole\n"));
    // The commits are there: what the agent's branch began at is merged again with it.
    world.env.git(&["commit", "-qm", "mine again", "mine.txt"]);
    world.env.ok(&["gate", "approve", "merge-bad"]);
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("mine.txt").as_str(), world.env.read("bad.txt").as_str()), ("mine\n", "1\n"));
    world.env.git(&["merge-base", "--is-ancestor", &old, "main"]);
    world.all_is_well();
}
