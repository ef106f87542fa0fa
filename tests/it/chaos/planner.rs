//! A planner that is killed while it plans, and is resumed.

use serde_json::Value;

use crate::chaos::measured::script;
use crate::session_support::{Live, World};

/// The tasks that it makes.
const CASES: [&str; 2] = ["store", "check"];

/// It takes its time in each phase.
const SCRIPT: &str = r#"
sleep 0.2
case $AXIOM_PLAN_PHASE in
understand) echo '{"understood": true}' ;;
analyze) echo '{"analysis": "It is small."}' ;;
propose)
    echo '{"proposal": "Two steps."}'
    echo '{"id": "store", "title": "Store keys"}'
    echo '{"id": "check", "title": "Check a key", "after": "store"}' ;;
decompose)
    echo '{"id": "store", "title": "Store keys", "body": "Do it."}'
    echo '{"id": "check", "title": "Check a key", "body": "Do it."}' ;;
esac
"#;

/// What plans, and what the tasks will do.
pub fn prepare(world: &World) {
    std::fs::write(world.beside("planner.sh"), SCRIPT).unwrap();
    CASES.iter().for_each(|id| script(world, id, &format!("echo {id} > {id}.txt")));
}

/// What comes next; `None` where it has come to its end.
fn next(world: &World) -> Option<Vec<String>> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let shown = world.env.axiom(&["--json", "plan", "show"]);
    if shown.code != Some(0) {
        return Some(words("plan start Keys --agent shell --script ../planner.sh"));
    }
    let plan = shown.json();
    match (&plan["status"], &plan["running"]) {
        (status, _) if status == "done" => None,
        (_, Value::Null) => match plan["next"]["command"].as_str().unwrap().strip_prefix("git axiom ").unwrap() {
            "plan finish" => Some(words("plan finish --yes")),
            command => Some(words(command)),
        },
        (_, _) => Some(words("plan recover --resume")),
    }
}

/// Lets it go on, in the background, until a human is to decide.
pub fn goes_on(world: &World, number: usize) -> Option<Live> {
    let command = next(world).filter(|command| command[1] != "finish")?;
    Some(Live::start(world.env.axiom_command(&world.env.repo(), command), world.env.root(), &format!("plan-{number}")))
}

/// Brings the plan to its end; returns the tasks that it became.
#[track_caller]
pub fn comes_to_its_end(world: &World, note: &str) -> [&'static str; 2] {
    for _ in 0..20 {
        let Some(command) = next(world) else { break };
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let run = world.env.axiom(&words);
        assert!(run.code == Some(0), "{note}: {words:?}\n{run}");
    }
    let plan = world.env.json(&["plan", "show"]);
    assert_eq!(
        (&plan["status"], &plan["became"]),
        (&"done".into(), &serde_json::json!(["goal-001", "store", "check"])),
        "{note}"
    );
    CASES
}
