//! What a planner is told in each phase.

use super::document::PlanningStateJson;
use super::plan::{GoalPlan, PlanningPhase};

/// What a planner is told, as Markdown. `body` is what more is known of the goal, `known` are the ids and titles of tasks that exist.
pub fn prompt(plan: &GoalPlan, body: &str, known: &[String]) -> String {
    let mut text = format!("# Plan: {}\n\n", plan.goal.jtbd);
    text.push_str(
        "You plan work that others will do, in this repository. Change nothing: no file, no commit. What you print is read by a \
         program: print objects of JSON, each on a line of its own. Everything else that you say is left out.\n",
    );
    let mut part = |heading: &str, content: &str| {
        if !content.trim().is_empty() {
            text.push_str(&format!("\n## {heading}\n\n{}\n", content.trim()));
        }
    };
    part("The goal", body);
    let answered = plan.clarifications.iter().filter_map(|one| Some(format!("- {}\n  {}", one.question, one.answer.as_ref()?)));
    part("Questions and answers", &answered.collect::<Vec<_>>().join("\n"));
    part("What you found", plan.analysis.as_deref().unwrap_or_default());
    part("Tasks that exist", &known.join("\n"));
    if let Some(last) = plan.proposal() {
        part(&format!("Version {} of your proposal", last.version), &last.text);
        part("What the human wants to be different", last.feedback.as_deref().unwrap_or_default());
    }
    if !plan.tasks.is_empty() {
        part("The tasks so far", &lines(plan));
    }
    part("What is wrong with them", &plan.problems.iter().flatten().map(|one| format!("- {one}\n")).collect::<String>());
    part("What to do now", instructions(plan));
    text
}

/// The tasks as lines of JSON.
fn lines(plan: &GoalPlan) -> String {
    let lines = PlanningStateJson::tasks_of(plan).into_iter().filter_map(|line| serde_json::to_string(&line).ok());
    lines.collect::<Vec<_>>().join("\n")
}

const fn instructions(plan: &GoalPlan) -> &'static str {
    match plan.phase {
        PlanningPhase::Understand => {
            "Ask what only a human can decide, at most five questions, each as {\"question\": \"…\"}. Ask nothing that the repository \
             answers. If nothing is unclear, print {\"understood\": true}."
        }
        PlanningPhase::Analyze => {
            "Look at the repository, and print what matters for the goal: {\"analysis\": \"…\"}, at most 16 KiB."
        }
        PlanningPhase::Propose => {
            "Propose a way: {\"proposal\": \"…\"}, and the outline of its tasks, one object each: {\"id\": \"short-name\", \"title\": \
             \"one line\", \"kind\": \"task\", \"after\": [\"ids\"], \"parent\": \"id\"}. A task is what one agent does in one \
             branch; kind group holds tasks. after names what has to be merged before. A human will approve it."
        }
        PlanningPhase::Decompose => {
            "The human approved the outline. Print each pending task completely: the keys of the outline, and \"body\": the \
             instructions for the agent that works on it, who knows nothing of this plan, and \"verify\": [\"shell commands\"] that \
             pass when it is done. Keep ids and titles; add no task."
        }
        PlanningPhase::Validate => {
            "Print the tasks that have to change, completely, with the same ids, so that nothing is wrong any more."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::tests::{plan, task};

    #[test]
    fn each_phase_is_told_what_is_known_and_what_to_do() {
        let mut plan = plan(Some("claude"));
        plan.tasks = vec![task("a", None, &["b"])];
        for phase in PlanningPhase::ALL {
            plan.phase = phase;
            let told = prompt(&plan, "more of it", &["x: exists".to_owned()]);
            let wanted =
                ["# Plan: sign in", "more of it", "x: exists", "{\"id\":\"a\"", "## What to do now", instructions(&plan)];
            assert!(wanted.iter().all(|part| told.contains(part)), "{told}");
        }
    }
}
