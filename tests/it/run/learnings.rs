//! What agents learn: kept, shown, in later prompts, changed and forgotten by humans.

use git_axiom::base::error::Code;

use crate::session_support::World;

#[test]
fn what_one_agent_learnt_is_in_later_prompts_until_a_human_forgets_it() {
    let world = World::new();
    let (agent, prompts) = (world.beside("agent.sh"), world.beside("prompt").display().to_string());
    let script = format!(
        "cat > '{prompts}'.$AXIOM_TASK_ID\n\
         if [ $AXIOM_TASK_ID = one ] && [ ! -e '{prompts}'.codes ]; then\n\
         git axiom signal learning 'use tabs' && git axiom signal learning 'only here' --scope task &&\n\
         git axiom signal learning 'as ed' --scope persona && git axiom signal learning 'use tabs' || exit 9\n\
         git axiom signal learning x --scope everywhere; echo $? >> '{prompts}'.codes\n\
         git axiom learnings forget learning-1; echo $? >> '{prompts}'.codes\n\
         fi; echo 1 > $AXIOM_TASK_ID.txt"
    );
    std::fs::write(&agent, script).unwrap();
    let run = || world.autopilot(&["--agents", "1", "--", "sh", agent.to_str().unwrap()]).code(0);
    world.env.ok(&["task", "add", "one", "--id", "one", "--persona", "ed"]);
    world.env.ok(&["task", "add", "two", "--id", "two", "--persona", "ed", "--after", "one"]);
    world.env.ok(&["task", "add", "three", "--id", "three", "--after", "two"]);
    run();
    let prompt = |task: &str| std::fs::read_to_string(world.beside(&format!("prompt.{task}"))).unwrap();
    let has = |task: &str| ["use tabs", "only here", "as ed"].map(|text| prompt(task).contains(text));
    assert_eq!(has("one"), [false; 3]);
    assert_eq!((has("two"), has("three")), ([true, false, true], [true, false, false]));
    assert_eq!(world.lines("prompt.codes"), ["2", "3"], "a scope that means nothing; not for agents");
    let page = |path: &str| std::fs::read_to_string(world.env.axiom_dir().join(path)).unwrap();
    assert_eq!(page("learnings.md").matches("use tabs").count(), 1, "{}", page("learnings.md"));
    assert!(page("agents/ed/learnings.md").contains("as ed"));
    let all = world.env.json(&["learnings"])["learnings"].as_array().unwrap().clone();
    let of = |key: &str| all.iter().map(|one| one[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(of("text"), ["use tabs", "only here", "as ed"]);
    assert_eq!(of("scope"), ["project", "task", "persona"]);
    assert_eq!(world.env.json(&["learnings", "--task", "three"])["learnings"].as_array().unwrap().len(), 1);
    // Taking the work back does not make it less true.
    world.env.ok(&["rollback", "session", "--yes"]);
    world.env.ok(&["learnings", "edit", &of("id")[0], "use spaces"]);
    world.env.ok(&["learnings", "forget", &of("id")[2]]);
    world.env.axiom(&["learnings", "forget", &of("id")[2]]).fails_with(Code::UnknownLearning);
    assert!(page("learnings.md").contains("use spaces") && !page("learnings.md").contains("use tabs"));
    assert!(!world.env.axiom_dir().join("agents/ed/learnings.md").exists());
    world.env.ok(&["task", "add", "four", "--id", "four", "--persona", "ed"]);
    world.env.axiom(&["gate", "approve", "--all"]);
    run();
    assert!(prompt("four").contains("use spaces") && !prompt("four").contains("as ed"), "{}", prompt("four"));
    world.all_is_well();
}
