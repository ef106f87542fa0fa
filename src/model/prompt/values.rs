//! The placeholders of a template, and their values. Pure.

use std::collections::BTreeMap;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident $word:literal, $says:literal;)+) => {
        /// A placeholder.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Name { $(#[doc = $says] $name,)+ }

        /// All of them, in the order of the documentation.
        pub const NAMES: &[Name] = &[$(Name::$name,)+];

        impl Name {
            /// The name in a template.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// What it stands for.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$name => $says,)+ }
            }
        }
    };
}

names! {
    Persona "persona", "what the task's persona is told";
    Goal "goal", "the goal that the task is a part of: the outermost group, with its text";
    Parents "parents", "the groups in between, outermost first, with their texts";
    Id "task.id", "the task's id";
    Title "task.title", "the task's title";
    Body "task.body", "the task's text";
    Branch "branch", "the task's branch";
    Target "target", "the branch that the work is merged into";
    Iteration "iteration", "the number of the iteration";
    MaxIterations "maxIterations", "how many there may be";
    Verify "verify", "the commands that must pass, as a list";
    MergeVerify "mergeVerify", "the commands of `merge.verify`, which must pass on the result of the merge, as a list";
    Learnings "learnings", "what agents learnt that applies to the task, as a list";
    LastEnd "lastEnd", "how the last iteration ended; empty before the first has";
    Resumed "resumed", "how the session was cut off with which the program now goes on; empty where it begins anew";
    Ready "ready", "what agents of other tasks reported as ready for this one, with their words";
    NotReady "notReady", "what the task needs of others and is not ready yet, where it begins early";
    Awaited "awaited", "what other tasks wait for of this one, as a list of names";
    Reported "reported", "what was reported of the work so far";
    Denied "denied", "the tool calls that the program refused in the last iteration, as a list";
    Unfinished "unfinished", "commands and the like that had begun and not ended in the last iteration, of writes and edits with what became of them, as a list";
    Commits "commits", "the commits on the branch, as a list";
    Changes "changes", "what is uncommitted in the workspace, as a list";
    Verification "verification", "the verification that failed";
    Answers "answers", "what a human answered";
    Edits "edits", "what a human changed of the task since the last iteration";
    Crashes "crashes", "how many attempts crashed, or were stopped last; empty for none";
    CutOff "cutOff", "how the last of them ended: crashed, or was stopped";
    Anew "anew", "that it begins anew in a fresh workspace after earlier attempts, and why; empty where it goes on";
    History "history", "what is known of the last of them, as a list";
    Notes "notes", "what else the iteration has to know";
    Report "report", "how to report";
    Token "token", "the iteration's token, which the tags in the output need";
}

/// The values of a prompt. What was not put in is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptValues {
    values: BTreeMap<Name, String>,
}

impl PromptValues {
    /// Puts in a value, without white space at its ends.
    pub fn put(&mut self, name: Name, value: String) {
        let value = if value.trim().len() == value.len() { value } else { value.trim().to_owned() };
        self.values.insert(name, value);
    }

    /// A value.
    pub fn get(&self, name: Name) -> &str {
        self.values.get(&name).map_or("", String::as_str)
    }
}
