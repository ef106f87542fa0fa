//! Settings of git's that change what `git merge` does and that our merges do not follow: whoever has set one is told.

use crate::repo::handles::Merges;
use axiom_base::error::Result;
use axiom_model::base::git_config;
use axiom_model::base::names::RefName;

/// The keys that are looked at, as git prints them.
const KEYS: &str = r"^(branch\..*\.mergeoptions|merge\.(verifysignatures|log|ff)|rerere\.autoupdate|pull\.twohead)$";

/// Options of `git merge` that change nothing here: the merge is always a commit of its own, and nobody is asked.
const HARMLESS: [&str; 12] = [
    "--no-ff",
    "--edit",
    "-e",
    "--no-edit",
    "--stat",
    "--no-stat",
    "-n",
    "--commit",
    "--no-squash",
    "-q",
    "--quiet",
    "--no-progress",
];

impl Merges<'_> {
    /// The settings that do not count in merges into a branch, as `key=value`.
    pub fn unheeded_merge_settings(&self, target: &RefName) -> Result<Vec<String>> {
        // Exit code 1 means that there is none.
        let listed = self.repo.git().args(["config", "--null", "--get-regexp", KEYS]).run()?;
        Ok(unheeded(&String::from_utf8_lossy(&listed.stdout), target.short()))
    }
}

fn unheeded(listed: &str, target: &str) -> Vec<String> {
    let of_target = format!("branch.{target}.mergeoptions");
    let counts = |(key, value): &(&str, &str)| match *key {
        "merge.ff" => *value == "only",
        "merge.verifysignatures" | "merge.log" | "rerere.autoupdate" => !git_config::is_false(value),
        "pull.twohead" => !matches!(*value, "ort" | "recursive"),
        key => key == of_target && value.split_whitespace().any(|option| !HARMLESS.contains(&option)),
    };
    let mut all: Vec<String> = git_config::entries(listed).filter(counts).map(|(key, value)| format!("{key}={value}")).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_count_are_told_and_those_that_change_nothing_are_not() {
        let all =
            "merge.ff\nonly\0merge.log\0rerere.autoupdate\ntrue\0pull.twohead\nours\0branch.main.mergeoptions\n--no-ff -Xours\0";
        let named = [
            "branch.main.mergeoptions=--no-ff -Xours",
            "merge.ff=only",
            "merge.log=true",
            "pull.twohead=ours",
            "rerere.autoupdate=true",
        ];
        assert_eq!(unheeded(all, "main"), named);
        assert_eq!(unheeded(all, "other"), named[1..]);
        let harmless = "merge.ff\nfalse\0merge.log\n0\0merge.verifysignatures\nno\0pull.twohead\nort\0branch.main.mergeoptions\n--no-ff -n\0";
        assert!(unheeded(harmless, "main").is_empty() && unheeded("", "main").is_empty());
    }
}
