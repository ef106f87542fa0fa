//! The results of a task's verify steps that still count: each is bound to the command and to the commit that it was run on.

use serde::{Deserialize, Serialize};

use crate::base::names::Oid;
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use crate::work::verifying::verification::VerifyStepResult;

/// The result of one verify step of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptVerifyResult {
    /// The commit of the task's branch that it was run on.
    pub of: Oid,
    /// The result.
    pub result: VerifyStepResult,
}

/// Keeps a result in place of an older one of the same command. Those of commands that the task does not have any more go.
pub fn keep(kept: &mut Vec<KeptVerifyResult>, new: KeptVerifyResult, steps: &[String]) {
    kept.retain(|old| old.result.command != new.result.command && steps.contains(&old.result.command));
    kept.push(new);
}

/// The newest result of a step.
pub fn of_step<'k>(kept: &'k [KeptVerifyResult], step: &str) -> Option<&'k KeptVerifyResult> {
    kept.iter().find(|kept| kept.result.command == step)
}

/// The steps that still have to be run on this commit, with their places: all but those that have passed on it.
pub fn still_to_run<'s>(kept: &[KeptVerifyResult], steps: &'s [String], commit: &Oid) -> Vec<(usize, &'s String)> {
    let has_passed = |step: &String| of_step(kept, step).is_some_and(|kept| kept.of == *commit && kept.result.failure.is_none());
    steps.iter().enumerate().filter(|(_, step)| !has_passed(step)).collect()
}

/// Of the steps that still have to be run, those that are run together now: commands up to the first persona, or one persona, so that
/// what it does to the workspace is told from what commands did.
pub fn first_together<'r, 's>(to_run: &'r [(usize, &'s String)]) -> &'r [(usize, &'s String)] {
    let is_persona = |(_, step): &(usize, &String)| NamedVerifyStep::of(step).persona().is_some();
    match to_run.iter().position(is_persona) {
        Some(0) => &to_run[..1],
        Some(first) => &to_run[..first],
        None => to_run,
    }
}

/// The step that failed on this commit.
pub fn failed_on<'k>(kept: &'k [KeptVerifyResult], commit: &Oid) -> Option<&'k VerifyStepResult> {
    kept.iter().find(|kept| kept.of == *commit && kept.result.failure.is_some()).map(|kept| &kept.result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn result(of: &str, command: &str, failure: Option<&str>) -> KeptVerifyResult {
        let result =
            VerifyStepResult { command: command.into(), failure: failure.map(str::to_owned), ..VerifyStepResult::default() };
        KeptVerifyResult { of: oid(of), result }
    }

    #[test]
    fn a_persona_is_run_alone() {
        let steps = ["a", "b", "r=@ed", "@other", "c"].map(str::to_owned);
        let all: Vec<(usize, &String)> = steps.iter().enumerate().collect();
        let places = |from: usize| first_together(&all[from..]).iter().map(|(place, _)| *place).collect::<Vec<_>>();
        assert_eq!([places(0), places(1), places(2), places(3), places(4)], [vec![0, 1], vec![1], vec![2], vec![3], vec![4]]);
        assert!(first_together(&[]).is_empty());
    }

    #[test]
    fn only_what_failed_or_changed_is_run_again() {
        let steps: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut kept = Vec::new();
        let open = |kept: &[KeptVerifyResult], steps: &[String], commit: &str| -> Vec<usize> {
            still_to_run(kept, steps, &oid(commit)).into_iter().map(|(place, _)| place).collect()
        };
        assert_eq!(open(&kept, &steps, "1"), [0, 1, 2]);
        keep(&mut kept, result("1", "a", None), &steps);
        keep(&mut kept, result("1", "b", Some("exited with status 1")), &steps);
        assert_eq!(open(&kept, &steps, "1"), [1, 2]);
        assert_eq!(failed_on(&kept, &oid("1")).unwrap().command, "b");
        // Another commit, another command.
        assert_eq!(open(&kept, &steps, "2"), [0, 1, 2]);
        assert_eq!(failed_on(&kept, &oid("2")), None);
        let changed: Vec<String> = ["a2", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(open(&kept, &changed, "1"), [0, 1, 2]);
        // The newest result counts, and what is not asked for any more is not kept.
        keep(&mut kept, result("1", "b", None), &changed);
        assert_eq!((kept.len(), open(&kept, &changed, "1")), (1, vec![0, 2]));
    }
}
