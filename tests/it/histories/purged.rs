//! `purge` of a path: it is gone from checkpoints and from the objects, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::common::Run;
use crate::common::random::Random;
use crate::histories::faults::{after_kill, faulty};
use crate::histories::held;
use crate::histories::oracle;
use crate::histories::place::Place;
use crate::histories::tool::forget_deleted;
use crate::histories::world::is_at;

const PATHS: [&str; 10] =
    ["a.txt", "sub/b.txt", "sub/deep/c.txt", "d.txt", "new.txt", "sub", "new/file.txt", "with space.txt", "-dash", "private.txt"];

/// What the captures of each checkpoint have: files and staged files, by `files` or `index` and path, with mode and id.
type Held = BTreeMap<String, BTreeMap<(String, String), String>>;

/// Takes one path out.
pub fn step(place: &mut Place, dice: &mut Random) {
    let path = place.odd.path_or(dice.pick(&PATHS).unwrap());
    let before = place.look();
    let held = captured(place);
    let dry = place.axiom(&["purge", "--dry-run", "--json", "--", path]);
    oracle::same(place, &before, &place.look(), "a dry run changed something");
    assert_eq!(held, captured(place), "{}a dry run changed checkpoints", place.story());
    let run = faulty(place, dice, &["purge", "--yes", "--json", "--", path], 4);
    let answer = match run.code {
        Some(0) => {
            let [said, done] = [&dry, &run].map(document);
            for key in ["contents", "madeAnew", "gone", "refs", "maskedTasks"] {
                assert_eq!(said[key], done[key], "{}the dry run said otherwise of {key}:\n{dry}\n{run}", place.story());
            }
            done
        }
        Some(code) => {
            assert!([5, 6].contains(&code) && dry.code == run.code, "{}{dry}{run}", place.story());
            assert_eq!(held, captured(place), "{}a purge that failed changed checkpoints", place.story());
            return;
        }
        None => {
            let is_begun = place.env.repo().join(".git/axiom-purge.json").exists();
            let done = is_begun.then(|| place.axiom(&["purge", "--continue", "--json"]));
            after_kill(place, dice, &before, &run);
            let Some(done) = done else { return };
            assert_eq!(done.code, Some(0), "{}{done}", place.story());
            document(&done)
        }
    };
    oracle::same(place, &before, &place.look(), "a purge changed files or refs");
    forget_deleted(place);
    gone_and_nothing_else(place, path, &held, &answer);
    place.checkpoints.values_mut().for_each(|world| world.purged.push(path.to_owned()));
    settle_debts(place, path, &answer);
}

fn document(run: &Run) -> Value {
    serde_json::from_str(run.stdout.lines().last().unwrap_or_default()).unwrap_or_default()
}

fn words<'v>(answer: &'v Value, key: &str) -> BTreeSet<&'v str> {
    answer[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn captured(place: &Place) -> Held {
    let mut all = Held::new();
    let names = place.env.try_git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures"]).stdout;
    for name in names.lines() {
        let mut entries = BTreeMap::new();
        for (kind, tree) in [("files", format!("{name}^{{tree}}")), ("index", format!("{name}^2^{{tree}}"))] {
            let listed = place.env.try_git(&["ls-tree", "-r", "-z", &tree]).stdout;
            for (facts, path) in listed.split('\0').filter_map(|line| line.split_once('\t')) {
                entries.insert((kind.to_owned(), path.to_owned()), facts.to_owned());
            }
        }
        all.insert(name.to_owned(), entries);
    }
    all
}

fn gone_and_nothing_else(place: &Place, path: &str, before: &Held, answer: &Value) {
    let after = captured(place);
    let gone = words(answer, "gone");
    for (name, had) in before {
        let short = name.strip_prefix("refs/axiom/captures/").unwrap();
        let Some(has) = after.get(name) else {
            assert!(gone.contains(short), "{}checkpoint {short} is gone, and that was not said: {answer}", place.story());
            continue;
        };
        let others = |entries: &BTreeMap<(String, String), String>| -> BTreeMap<(String, String), String> {
            entries.iter().filter(|((_, at), _)| !is_at(at, path)).map(|(at, facts)| (at.clone(), facts.clone())).collect()
        };
        assert_eq!(others(had), others(has), "{}another path than {path} is another one in {short}", place.story());
        // Only what the checked-out commit has itself may be there, and at which commit a submodule is: that stays.
        let submodules = |entries: &BTreeMap<(String, String), String>| -> BTreeMap<(String, String), String> {
            entries
                .iter()
                .filter(|(_, facts)| facts.starts_with("160000 "))
                .map(|(at, facts)| (at.clone(), facts.clone()))
                .collect()
        };
        assert_eq!(submodules(had), submodules(has), "{}a submodule is at another commit in {short}", place.story());
        let is_submodule = |facts: &str| facts.starts_with("160000 ");
        for ((kind, at), facts) in has.iter().filter(|((_, at), facts)| is_at(at, path) && !is_submodule(facts)) {
            let committed = place.env.try_git(&["ls-tree", &format!("{name}^1"), "--", at]).stdout;
            assert!(committed.starts_with(facts.as_str()), "{}{kind} of {short} still have {at}: {facts}", place.story());
        }
    }
    for id in words(answer, "contents") {
        let there = place.env.try_git(&["cat-file", "-e", id]);
        assert_ne!(there.code, Some(0), "{}{id} is still there: {answer}", place.story());
    }
}

/// What was at the path need not be there any more. Where checkpoints went as a whole, or what undo would need, more is gone.
fn settle_debts(place: &mut Place, path: &str, answer: &Value) {
    let reachable = held::refs(place).reachable();
    let went = !words(answer, "gone").is_empty() || words(answer, "refs").iter().any(|name| name.starts_with("refs/axiom/kept/"));
    let paths = &place.paths;
    let only_there = |id: &String| paths.get(id).is_some_and(|all| all.iter().all(|at| is_at(at, path)));
    place.owed.retain(|id, _| reachable.contains(id) || !went && !only_there(id));
}
