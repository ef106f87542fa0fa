//! Every verb with `--json`, in repositories in several states, held against `docs/schemas/answers.json`; and the exit statuses of
//! `docs/COMMANDS.md`.
//!
//! [`crate::common::documents`] holds every document of every other test against the schema, too. Here each verb has to come by.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)] // a failing test may panic, and tests prepare files

mod exits;
mod walk;

use std::collections::BTreeSet;

use crate::common::TestEnv;
use crate::common::documents;
use clap::CommandFactory;
use git_axiom::base::error::Code;
use git_axiom::ui::commands::answers::{ANSWERS, NO_VERB, VerbAnswer, WITHOUT_ANSWER};
use git_axiom::ui::commands::grammar::arguments::Cli;
use serde_json::{Value, json};

/// The verbs that people and agents call, all their words.
fn grammar() -> BTreeSet<String> {
    fn add(command: &clap::Command, path: &str, all: &mut BTreeSet<String>) {
        let below: Vec<&clap::Command> = command.get_subcommands().filter(|below| !below.is_hide_set()).collect();
        if !path.is_empty() && (below.is_empty() || !command.is_subcommand_required_set()) {
            all.insert(path.to_owned());
        }
        for below in below {
            add(below, format!("{path} {}", below.get_name()).trim(), all);
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut all = BTreeSet::new();
    add(&command, "", &mut all);
    all
}

#[test]
fn the_table_of_answers_has_every_verb_and_no_other() {
    let of_table = ANSWERS.iter().flat_map(|answer| answer.verbs).map(|verb| VerbAnswer::verb_in_document(verb));
    let table: BTreeSet<String> = of_table.chain(WITHOUT_ANSWER.map(str::to_owned)).filter(|verb| verb != NO_VERB).collect();
    let verbs: BTreeSet<String> = grammar();
    assert_eq!(table.difference(&verbs).collect::<Vec<_>>(), [] as [&str; 0], "answers.rs tells of these, which are no verbs");
    assert_eq!(verbs.difference(&table).collect::<Vec<_>>(), [] as [&str; 0], "answers.rs does not tell of these verbs");
}

#[test]
fn what_the_schema_does_not_say_is_found() {
    let learning = json!({"id": "l-1", "scope": "task", "text": "x", "taskId": "a", "agentId": "ed-001", "persona": "ed",
        "at": "2026-01-13T12:00:00.000Z", "edited": false});
    let sound = json!({"schema": 2, "verb": "learnings", "learnings": [learning]});
    let error = json!({"code": "USAGE", "verb": "learnings", "message": "", "hints": []});
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut document = sound.clone();
        change(&mut document);
        documents::complaints(&document)
    };
    for is_sound in [&|_: &mut Value| {}, &|document: &mut Value| document["error"] = error.clone()] as [&dyn Fn(&mut Value); 2] {
        assert_eq!(changed(is_sound), [] as [&str; 0]);
    }
    assert_eq!(documents::complaints(&json!({"schema": 2, "verb": "learnings", "error": error})), [] as [&str; 0]);
    let wrong: [&dyn Fn(&mut Value); 13] = [
        &|document| document["schema"] = 1.into(),
        &|document| document["verb"] = Value::Null,
        &|document| document["verb"] = "z".into(),
        &|document| document["verb"] = "learnings forget".into(),
        &|document| document["new"] = 1.into(),
        &|document| document["learnings"] = "x".into(),
        &|document| document["learnings"][0]["text"] = 1.into(),
        &|document| document["learnings"][0]["new"] = 1.into(),
        &|document| document["learnings"][0]["scope"] = "all".into(),
        &|document| document["learnings"][0]["at"] = "2026-01-13T12:00:00Z".into(),
        &|document| drop(document["learnings"][0].as_object_mut().unwrap().remove("id")),
        &|document| document["error"] = json!({"code": "USAGE", "verb": null, "message": "", "hints": []}),
        &|document| document["error"] = json!({"code": "NONE", "verb": "learnings", "message": "", "hints": []}),
    ];
    for (number, change) in wrong.iter().enumerate() {
        assert!(!changed(change).is_empty(), "number {number} is not found");
    }
}

#[test]
fn an_error_names_its_verb_whatever_went_wrong() {
    let env = TestEnv::new();
    let outside = TestEnv::empty();
    for verb in grammar() {
        let words: Vec<&str> = verb.split(' ').collect();
        let run = env.axiom(&[&words[..], &["--no-such-option", "--json"]].concat());
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.json()["verb"], verb, "{run}");
        // The demo needs neither arguments nor a repository, and takes its time.
        if verb == "demo" {
            continue;
        }
        let run = outside.axiom_in(outside.root(), &[&["--json"], &words[..]].concat());
        // Without its arguments, without a repository: some answer, the others say who did not.
        assert_eq!(run.json()["verb"], verb, "{run}");
    }
    for nothing in [&[][..], &["nonsense"], &["-C", "task", "nonsense"]] {
        let run = env.axiom(&[&["--json"], nothing].concat()).fails_with(Code::Usage);
        assert_eq!(run.json()["verb"], Value::Null, "{run}");
    }
}
