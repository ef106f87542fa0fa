//! Inside a room: what its entries name of each other goes one way. Only a file and its own folder know each other, as parent and child.
//! Which room may name which: `arrows` and `floors`.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_paths::{code_of, is_of_tests, module_of, named, sources};

/// Rooms whose entries name each other in a circle, until that is turned. None may be added.
const IN_CIRCLES: [&str; 0] = [];

/// What names what among the entries of each room: a file, or a folder with all that is in it. What the room's own file has does not
/// count: it is the parent of all.
fn arrows_in_rooms() -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let all: Vec<(String, String)> = sources().into_iter().filter(|(path, _)| !is_of_tests(path)).collect();
    let modules: BTreeSet<Vec<&str>> = all.iter().map(|(path, _)| module_of(path)).collect();
    let mut found: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (path, text) in &all {
        let from = module_of(path);
        for named in named(&from, &code_of(text)) {
            let words: Vec<&str> = named.iter().map(String::as_str).collect();
            let Some(to) = (1..=words.len()).rev().map(|at| &words[..at]).find(|part| modules.contains(*part)) else { continue };
            let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                let arrows = found.entry(from[..common].join("/")).or_default();
                arrows.entry((*one).to_owned()).or_default().insert((*other).to_owned());
            }
        }
    }
    found.remove("");
    found
}

/// The entries that are in a circle: what is left when all that names nothing of the rest is taken away, and all that nothing names.
fn in_circles(mut arrows: BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    loop {
        let before = arrows.len();
        let known: BTreeSet<String> = arrows.keys().cloned().collect();
        arrows.values_mut().for_each(|named| named.retain(|other| known.contains(other)));
        arrows.retain(|_, named| !named.is_empty());
        let named: BTreeSet<String> = arrows.values().flatten().cloned().collect();
        arrows.retain(|one, _| named.contains(one));
        if arrows.len() == before {
            return known;
        }
    }
}

#[test]
fn no_entries_of_a_room_name_each_other_in_a_circle() {
    let all = arrows_in_rooms();
    let read: usize = all.values().flat_map(BTreeMap::values).map(BTreeSet::len).sum();
    assert!(all.len() > 60 && read > 1000, "only {} rooms and {read} arrows were read", all.len());
    let circles: BTreeMap<String, BTreeSet<String>> =
        all.into_iter().map(|(room, arrows)| (room, in_circles(arrows))).filter(|(_, left)| !left.is_empty()).collect();
    let rooms: BTreeSet<&str> = circles.keys().map(String::as_str).collect();
    assert_eq!(rooms, BTreeSet::from(IN_CIRCLES), "{circles:#?}");
}

#[test]
fn a_circle_is_found_and_what_hangs_on_it_is_not() {
    let arrows = |list: &[(&str, &str)]| {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in list {
            all.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        in_circles(all)
    };
    assert!(arrows(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    let left = arrows(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "e")]);
    assert_eq!(left, BTreeSet::from(["b".to_owned(), "c".to_owned()]));
}
