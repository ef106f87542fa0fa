//! What stands in README and on the pages: its length, its links, and the tutorial, which is played. `AXIOM_UPDATE_DOCS=1` writes
//! what the tutorial's commands print into it anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::Scratch;

/// What a first reader reads, at most.
const WORDS_OF_README: usize = 900;
const WORDS_OF_ITS_SENTENCE: usize = 15;
const ENTRIES_OF_THE_GLOSSARY: usize = 40;
/// The words of all pages of docs/ that somebody wrote, at most. Whoever adds some takes others out.
const WORDS_OF_DOCS: usize = 22_000;
/// Pages to look things up in, with a row for each verb or key: tests demand these rows, so they do not count.
const REFERENCE: [&str; 3] = ["docs/COMMANDS.md", "docs/JSON.md", "docs/VERBS.md"];
/// How the heads of tables begin that are made from the source, or compared with it.
const HEADS_OF_MADE_TABLES: [&str; 6] =
    ["| key | ", "| question | with nobody", "| placeholder | ", "| code | exit status |", "| class | codes |", "| while … |"];
const TUTORIAL: &str = "docs/TUTORIAL.md";
/// Where the tutorial says that it is played.
const THEIR_FOLDER: &str = "/home/you";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}

/// Every page for people, relative to the top, with its text. The list of changes tells of what was, so it is none.
pub fn pages() -> Vec<(String, String)> {
    let below_docs =
        std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let of_docs =
        below_docs.filter(|name| Path::new(name).extension().is_some_and(|end| end == "md")).map(|name| format!("docs/{name}"));
    let mut names: Vec<String> = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "llms.txt", "hooks/README.md"]
        .map(str::to_owned)
        .into_iter()
        .chain(of_docs)
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// A page's blocks of code, and what is left of it.
pub fn blocks_and_rest(page: &str) -> (Vec<&str>, String) {
    let (mut blocks, mut rest) = (Vec::new(), String::new());
    for (place, part) in page.split("\n```").enumerate() {
        if place % 2 == 1 {
            blocks.push(part);
        } else {
            rest += part;
            rest.push('\n');
        }
    }
    (blocks, rest)
}

/// The name by which a forge links to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

fn anchors(page: &str) -> BTreeSet<String> {
    let (_, rest) = blocks_and_rest(page);
    rest.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#'))).collect()
}

fn links(page: &str) -> Vec<String> {
    let (_, rest) = blocks_and_rest(page);
    let targets = rest.split("](").skip(1).filter_map(|after| after.split(')').next());
    targets.filter(|target| !target.starts_with("http")).map(str::to_owned).collect()
}

#[test]
fn every_link_leads_to_a_page_and_a_heading() {
    let mut broken = String::new();
    let mut found = 0;
    for (name, text) in pages() {
        for link in links(&text) {
            found += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let here = root().join(&name);
            let target = if file.is_empty() { here.clone() } else { here.parent().unwrap().join(file) };
            let exists = target.exists();
            if !exists || !(heading.is_empty() || anchors(&std::fs::read_to_string(&target).unwrap()).contains(heading)) {
                writeln!(broken, "{name}: {link}").unwrap();
            }
        }
    }
    assert!(broken.is_empty(), "these lead nowhere:\n{broken}");
    assert!(found > 100, "{found}");
}

/// What nothing leads to is read by nobody.
#[test]
fn the_index_and_the_list_for_models_lead_to_every_page() {
    for index in ["docs/README.md", "llms.txt"] {
        let text = read(index);
        let folder = root().join(index);
        let named: BTreeSet<PathBuf> = links(&text)
            .iter()
            .map(|link| folder.parent().unwrap().join(link.split('#').next().unwrap()).canonicalize().unwrap())
            .collect();
        for (page, _) in pages().iter().filter(|(page, _)| !["README.md", "llms.txt", index].contains(&page.as_str())) {
            assert!(named.contains(&root().join(page).canonicalize().unwrap()), "{index} does not lead to {page}");
        }
    }
}

#[test]
fn readme_is_short_and_begins_with_what_it_is_and_where_it_runs() {
    let readme = read("README.md");
    let words = readme.split_whitespace().count();
    assert!(words <= WORDS_OF_README, "README has {words} words");
    let lines: Vec<&str> = readme.lines().collect();
    assert!(lines[1].ends_with('.') && lines[1].split_whitespace().count() <= WORDS_OF_ITS_SENTENCE, "{}", lines[1]);
    assert!(lines[2].contains("Linux") && lines[2].contains("macOS"), "{}", lines[2]);
    // What somebody types first is a block of its own, with nothing else in it.
    let (blocks, _) = blocks_and_rest(&readme);
    for block in ["sh\ncargo run --release -- demo\ncargo test", "sh\ncargo install --locked --path ."] {
        assert!(blocks.contains(&block), "{blocks:#?}");
    }
}

/// How many words of a page somebody wrote: without the tables that are made.
fn words_by_hand(text: &str) -> usize {
    let mut is_made = false;
    let by_hand = text.lines().filter(|line| {
        is_made = line.starts_with('|') && (is_made || HEADS_OF_MADE_TABLES.iter().any(|head| line.starts_with(head)));
        !is_made
    });
    by_hand.map(|line| line.split_whitespace().count()).sum()
}

#[test]
fn the_pages_are_short() {
    let written = pages().into_iter().filter(|(name, _)| name.starts_with("docs/") && !REFERENCE.contains(&name.as_str()));
    let counted: Vec<(usize, String)> = written.map(|(name, text)| (words_by_hand(&text), name)).collect();
    let all: usize = counted.iter().map(|(words, _)| words).sum();
    assert!(all <= WORDS_OF_DOCS, "docs/ has {all} words: {counted:#?}");
    assert!(all > 10_000, "{all}");
}

/// A path of the page on the code, or `PATH: NAME, NAME` with functions of that file. Paths are below `src`, or begin with another
/// folder.
fn named_in_code(span: &str) -> Option<(PathBuf, Vec<&str>)> {
    let (path, functions) = span.split_once(": ").unwrap_or((span, ""));
    let is_path = [".rs", ".toml", ".md", "/"].iter().any(|end| path.ends_with(end));
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
    if !is_path || !is_plain || path.contains("VERB") {
        return None;
    }
    let elsewhere =
        ["tests/", "docs/", "hooks/", "benches/", "fuzz/", "man/", "clippy.toml"].iter().any(|begin| path.starts_with(begin));
    let place = if elsewhere { root().join(path) } else { root().join("src").join(path) };
    Some((place, functions.split(", ").filter(|name| !name.is_empty()).collect()))
}

/// Names in parentheses after the path of a file: `PATH` (`NAME`, `NAME`).
fn named_beside(text: &str) -> Vec<(PathBuf, Vec<&str>)> {
    let parts: Vec<&str> = text.split('`').collect();
    let beside = |at: usize| {
        let (place, functions) = named_in_code(parts[at])?;
        let opens = parts.get(at + 1)?.trim() == "(" && functions.is_empty() && place.extension().is_some();
        let last = (at + 3..parts.len()).step_by(2).find(|end| parts[*end].trim() != ",").unwrap_or(parts.len());
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        opens.then(|| (place, parts[at + 2..last].iter().step_by(2).copied().filter(is_name).collect()))
    };
    (1..parts.len()).step_by(2).filter_map(beside).collect()
}

/// Whoever follows the map finds the place.
#[test]
fn what_the_map_of_the_code_names_exists() {
    let page = read("docs/ARCHITECTURE.md");
    let (_, text) = blocks_and_rest(&page);
    let text = text.replace('\n', " ");
    let mut found = 0;
    for (place, functions) in text.split('`').skip(1).step_by(2).filter_map(named_in_code) {
        found += 1;
        assert!(place.exists(), "there is no {}", place.display());
        let has = |code: &str, name: &str| ["(", "<"].iter().any(|end| code.contains(&format!("fn {name}{end}")));
        let missing = |name: &&str| !has(&std::fs::read_to_string(&place).unwrap(), name);
        let missing: Vec<&str> = functions.into_iter().filter(missing).collect();
        assert!(missing.is_empty(), "{} has no {missing:?}", place.display());
    }
    assert!(found > 150, "{found}");
    let beside = named_beside(&text);
    assert!(beside.iter().any(|(_, names)| !names.is_empty()), "none is read");
    for (place, names) in beside {
        let code = std::fs::read_to_string(&place).unwrap();
        let missing: Vec<&str> = names.into_iter().filter(|name| !code.contains(*name)).collect();
        assert!(missing.is_empty(), "{} has no {missing:?}", place.display());
    }
}

#[test]
fn the_glossary_has_one_sentence_for_each_of_a_few_words() {
    let text = read("docs/GLOSSARY.md");
    let rows: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .filter(|(word, _)| !matches!(*word, "word" | "---"))
        .collect();
    assert!((20..=ENTRIES_OF_THE_GLOSSARY).contains(&rows.len()), "{}", rows.len());
    assert!(rows.is_sorted_by_key(|(word, _)| word.to_lowercase()), "in the order of the alphabet: {rows:#?}");
    for (word, meaning) in rows {
        assert!(meaning.ends_with('.') && !meaning.contains(". "), "{word}: {meaning}");
    }
}

/// Times, ids and sizes differ each time, and so does the width of what they stand in.
pub fn masked(text: &str) -> String {
    let mut masked = String::new();
    let changes = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit()) || (word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit()))
    };
    for line in text.lines() {
        for word in line.split_whitespace() {
            let parts = word.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
            for part in parts {
                let name = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                masked += if changes(name) { "#" } else { name };
                masked += &part[name.len()..];
            }
            masked.push(' ');
        }
        masked.push('\n');
    }
    // The second checkpoint of a second has one number more in its name.
    while masked.contains("#-#") {
        masked = masked.replace("#-#", "#");
    }
    masked
}

/// The page with what its commands really print: all of them in one shell, in an empty folder.
fn played(page: &str, scratch: &Scratch) -> String {
    let above = scratch.path().parent().unwrap().to_path_buf();
    let (folder, printed) = (above.join("play"), above.join("printed"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(&printed).unwrap();
    let (blocks, _) = blocks_and_rest(page);
    let mut script = String::from("set -e\n");
    for (place, block) in blocks.iter().enumerate() {
        if let Some(commands) = block.strip_prefix("sh\n") {
            writeln!(script, "{{\n{commands}\n}} > '{}/{place}' 2>&1", printed.display()).unwrap();
        }
    }
    let program = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = scratch.command("sh");
    shell.args(["-c", &script]).current_dir(&folder).env("PATH", path).env("TZ", "UTC");
    let ended = shell.output().unwrap();
    let mut real: Vec<String> = Vec::new();
    let mut last = String::new();
    for (place, part) in page.split("\n```").enumerate() {
        let kind = part.lines().next().unwrap_or_default();
        real.push(if place % 2 == 1 && kind == "text" { format!("text\n{}", last.trim_end()) } else { part.to_owned() });
        if place % 2 == 1 && kind == "sh" {
            let said = std::fs::read_to_string(printed.join((place / 2).to_string())).unwrap_or_default();
            last = said.replace(folder.to_str().unwrap(), THEIR_FOLDER);
        }
    }
    let real = real.join("\n```");
    assert!(ended.status.success(), "{ended:?}: {last}\n{real}");
    real
}

#[test]
fn the_tutorial_prints_what_it_shows() {
    let page = read(TUTORIAL);
    let real = played(&page, &Scratch::new());
    if std::env::var_os("AXIOM_UPDATE_DOCS").is_some() {
        std::fs::write(root().join(TUTORIAL), &real).unwrap();
    }
    is_current(&masked(&page), &masked(&real));
    assert!(masked(&real).contains("Went back to checkpoint prompt-#"), "{real}");
}

/// The first line that differs, which a long text hides.
fn is_current(page: &str, real: &str) {
    let differs = page.lines().zip(real.lines()).find(|(page, real)| page != real);
    assert!(page == real, "{TUTORIAL} is stale: AXIOM_UPDATE_DOCS=1 cargo test --test it pages:: ({differs:?})");
}
