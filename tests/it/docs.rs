//! Generated files must not be stale. `AXIOM_UPDATE_DOCS=1 cargo test --test it docs` writes them anew.

mod answers;

use std::path::{Path, PathBuf};

use git_axiom::base::error::Code;
use git_axiom::model::verbs;
use git_axiom::model::work::endings::failures;
use git_axiom::model::work::endings::failures::{FIRST_PAUSE, LONGEST_PAUSE, MOST_TRIES};
use git_axiom::safety::config::{Config, keys};
use git_axiom::ui::commands::config::unattended;
use git_axiom::ui::commands::grammar::man_pages;

fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn check(name: &str, wanted: &str) {
    let path = path_of(name);
    if std::env::var_os("AXIOM_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{name} is stale: run 'AXIOM_UPDATE_DOCS=1 cargo test --test it docs'");
}

#[test]
fn the_man_pages_are_current() {
    let pages = man_pages::pages().unwrap();
    if std::env::var_os("AXIOM_UPDATE_DOCS").is_some() {
        let _ = std::fs::remove_dir_all(path_of("man"));
    }
    for page in &pages {
        check(&format!("man/{}", page.name), &page.text);
    }
    let known: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    for entry in std::fs::read_dir(path_of("man")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "man/{name} is of no verb any more");
    }
}

/// The hand-written page with the table of keys between its two marks.
#[test]
fn the_keys_of_the_panel_are_current() {
    let page = std::fs::read_to_string(path_of("docs/PANEL.md")).unwrap();
    let (begin, end) = ("<!-- keys: made from src/ui/panel/keys/table.rs -->\n", "<!-- end of keys -->\n");
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    check("docs/PANEL.md", &format!("{before}{begin}\n{}{end}{after}", git_axiom::ui::panel::keys::documentation()));
}

#[test]
fn the_list_of_errors_is_current() {
    let mut text = String::from(
        "# Errors\n\nErrors are printed as `error[CODE]: what happened: why` and `hint: what to do`, on standard error; \
         with `--json` also\nas `{\"schema\": 2, \"verb\", \"error\": {\"code\", \"verb\", \"message\", \"hints\"}}` on standard \
         output. Codes are stable. A status of 0\nis a warning: the command did its work.\n\n\
         | code | exit status | meaning |\n| --- | --- | --- |\n",
    );
    for code in Code::ALL {
        text.push_str(&format!("| `{code}` | {} | {} |\n", code.exit() as i32, code.meaning()));
    }
    text.push_str(&format!(
        "\n## When a step of a session fails\n\n`run` decides by one table (`src/model/work/endings/failures.rs`). *Retry*: tried up to \
         {MOST_TRIES} times, with pauses that double\nfrom {} ms up to {} s. *Wait*: looked at again with the same pauses, \
         however often, and not counted.\n*Another iteration*: the agent is told, since only it can repair \
         it. *Gate*: the task waits for you with the reason, and\napproving tries again. *Task blocked*: with the reason, until \
         `task unblock`. *Goes on*: with a warning. *Answered with it*:\nwhoever made the request gets the error. *Session ends*: \
         agents that run go on, and the next `run` takes them over.\n\nOther tasks go on in all of these but the last. \
         `status` shows what waits and why; `log --all`, `task audit` and `events`\nhave it too. The next `run` tries everything \
         at once. `run --until-idle` does not end while anything waits by itself.\n\n{}",
        FIRST_PAUSE.as_millis(),
        LONGEST_PAUSE.as_secs(),
        failures::table(),
    ));
    check("docs/ERRORS.md", &text);
}

/// Who may call what, from the table that the parser, the rule for agents and the question of hooks read.
#[test]
fn the_table_of_verbs_is_current() {
    let mut text = String::from(
        "# Verbs\n\nWhat only humans may call is refused to the agents of a session. An agent that a human runs is asked for it by its \
         program where\nthat can ask (Claude Code, Cursor), and is refused it elsewhere; without hooks it is refused too. Agents of both kinds may call \
         the\nrest. This page is made from `src/model/verbs/table.rs`.\n\n| verb | does | may be called by | needs |\n| --- | --- | --- | --- |\n",
    );
    for row in verbs::all().filter(|row| row.group != verbs::VerbGroup::Hidden) {
        let (callers, needs) = (row.callers.in_words(), row.needs.as_str());
        text.push_str(&format!("| `{}` | {} | {callers} | {needs} |\n", row.name, row.summary));
    }
    check("docs/VERBS.md", &text);
}

/// What nothing emits is no code: scripts would wait for it in vain.
#[test]
fn every_code_is_emitted_somewhere() {
    let sources = walkdir::WalkDir::new(path_of("src")).into_iter().flatten();
    let sources = sources.filter(|entry| entry.file_type().is_file() && !entry.path().ends_with("src/base/error.rs"));
    let all: String = sources.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    let silent = |code: &&Code| !all.contains(&format!("Code::{code:?}"));
    let silent: Vec<&Code> = Code::ALL.iter().filter(silent).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn the_list_of_configuration_keys_is_current() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    const TABLE: &str = "| key | default | takes |\n| --- | --- | --- |\n";
    // What stands above the table is written by hand.
    let page = std::fs::read_to_string(path_of("docs/CONFIGURATION.md")).unwrap();
    let mut text = page.split(TABLE).next().unwrap().to_owned() + TABLE;
    // The questions stand twice, and say the same.
    assert!(page.contains(&unattended::in_markdown()), "docs/CONFIGURATION.md:\n{}", unattended::in_markdown());
    for key in keys::KEYS {
        let value = &defaults[key.section][key.name];
        let value = if value.is_null() { "not set".to_owned() } else { format!("`{value}`") };
        text.push_str(&format!("| `{}.{}` | {value} | {} |\n", key.section, key.name, key.kind.expects()));
    }
    for key in keys::NAMED_KEYS {
        text.push_str(&format!("| `{}.{}` | | {} |\n", key.section, key.name, key.kind.expects()));
    }
    check("docs/CONFIGURATION.md", &text);
}

#[test]
fn the_page_of_commands_names_every_verb_and_exit_status() {
    let commands = std::fs::read_to_string(path_of("docs/COMMANDS.md")).unwrap_or_default();
    for page in man_pages::pages().unwrap().iter().skip(1) {
        let verb = &page.verb[0];
        assert!(commands.contains(&format!("| `{verb}")), "docs/COMMANDS.md has no row for '{verb}'");
    }
    for status in ["0", "1", "2", "3", "4", "5", "6", "130"] {
        assert!(commands.contains(&format!("| {status} |")), "docs/COMMANDS.md does not explain exit status {status}");
    }
}

/// Whoever reads how a suite is run must be able to run it: what is named exists.
#[test]
fn what_the_document_on_testing_names_exists() {
    let text = std::fs::read_to_string(path_of("docs/TESTING.md")).unwrap();
    let sources: Vec<(String, String)> = ["tests", "src"]
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(path_of(folder)).into_iter().flatten())
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .map(|entry| (entry.path().display().to_string(), std::fs::read_to_string(entry.path()).unwrap()))
        .collect();
    let mut named = 0;
    for variable in text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).filter(|word| word.starts_with("AXIOM_")) {
        named += 1;
        let is_read = sources.iter().any(|(_, source)| source.contains(&format!("\"{variable}\"")));
        assert!(is_read, "nothing reads {variable}");
    }
    for call in text.split("cargo test ").skip(1).map(|rest| rest.split(['`', '\n']).next().unwrap()) {
        let (_, rest) = call.split_once("--test ").unwrap_or_else(|| panic!("no suite: {call}"));
        let mut words = rest.split_whitespace().filter(|word| !word.starts_with('-'));
        let suite = words.next().unwrap();
        assert!([".rs", "/main.rs"].iter().any(|end| path_of(&format!("tests/{suite}{end}")).exists()), "no suite {suite}");
        let Some(filter) = words.next() else { continue };
        named += 1;
        let is_test = |(path, source): &(String, String)| {
            let module = path
                .split_once(&format!("/tests/{suite}"))
                .map(|(_, rest)| rest.trim_end_matches(".rs").trim_end_matches("/mod"));
            let Some(module) = module else { return false };
            let module = module.trim_start_matches('/').replace('/', "::");
            let names = source.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next());
            names.into_iter().any(|name| format!("{module}::{name}").contains(filter))
        };
        assert!(sources.iter().any(is_test), "no test of {suite} fits {filter}");
    }
    assert!(named > 40, "{named}");
}
