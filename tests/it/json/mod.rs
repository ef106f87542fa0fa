//! Every verb with `--json`, in repositories in several states, held against `docs/JSON.md`; and the exit statuses of `docs/COMMANDS.md`.
//!
//! [`crate::common::documents`] holds every document of every other test against the page, too. Here each verb has to come by.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)] // a failing test may panic, and tests prepare files

mod exits;
mod walk;

use std::collections::BTreeSet;

use crate::common::TestEnv;
use crate::common::documents::{self, Page};
use clap::CommandFactory;
use git_axiom::base::error::Code;
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
fn the_page_tells_of_every_verb_and_of_no_other() {
    let page: BTreeSet<String> = documents::page().verbs().into_iter().map(str::to_owned).collect();
    let signals = |verb: &String| verb.starts_with("signal ");
    let verbs: BTreeSet<String> = grammar().into_iter().filter(|verb| !signals(verb)).chain(["signal".to_owned()]).collect();
    assert_eq!(page.difference(&verbs).collect::<Vec<_>>(), [] as [&str; 0], "docs/JSON.md tells of these, which are no verbs");
    assert_eq!(verbs.difference(&page).collect::<Vec<_>>(), [] as [&str; 0], "docs/JSON.md does not tell of these verbs");
}

#[test]
fn what_the_page_does_not_say_is_found() {
    let page = Page::read(
        "# Verbs\n### `x`, `x --y`\n| key | type | |\n| --- | --- | --- |\n| `a`, `b` | number or null | |\n\
         | `c` | thing[], may be absent | |\n### `x` otherwise\n| `d` | time | |\n# Shapes\n### thing\n| `e` | one of f, g | |\n| … | other | |\n\
         ### other\n| `h` | ref{} | |\n",
    );
    let sound = json!({"schema": 2, "verb": "x", "a": 1, "b": null, "c": [{"e": "f", "h": {"any": "refs/heads/x"}}]});
    assert_eq!(page.complaints(&sound), [] as [&str; 0]);
    assert_eq!(page.complaints(&json!({"schema": 2, "verb": "x", "d": "2026-01-13T12:00:00.000Z"})), [] as [&str; 0]);
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut document = sound.clone();
        change(&mut document);
        let found = page.complaints(&document);
        assert!(!found.is_empty(), "{document}");
    };
    wrong(&|document| document["schema"] = 1.into());
    wrong(&|document| document["verb"] = Value::Null);
    wrong(&|document| document["verb"] = "z".into());
    wrong(&|document| document["new"] = 1.into());
    wrong(&|document| document["a"] = "1".into());
    wrong(&|document| drop(document.as_object_mut().unwrap().remove("a")));
    wrong(&|document| document["c"][0]["e"] = "h".into());
    wrong(&|document| document["c"][0]["h"]["any"] = "main".into());
    wrong(&|document| document["error"] = json!({"code": "USAGE", "verb": null, "message": "", "hints": []}));
    for time in ["2026-01-13T12:00:00Z", "2026-01-13T12:00:00.0000Z", "yesterday"] {
        assert!(!page.complaints(&json!({"schema": 2, "verb": "x", "d": time})).is_empty(), "{time}");
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
