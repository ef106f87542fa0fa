//! A filter that works, is missing, or fails.

use super::{somewhere, write};
use crate::common::random::Random;
use crate::histories::place::Place;

/// The last ones are as of a machine on which it was never set up.
const WAYS: [[(&str, &str); 4]; 6] = [
    [("clean", "tr a-z A-Z"), ("smudge", "tr A-Z a-z"), ("process", ""), ("required", "true")],
    [("clean", "tr a-z A-Z"), ("smudge", "tr A-Z a-z"), ("process", ""), ("required", "false")],
    [("clean", "no-such-program"), ("smudge", "no-such-program"), ("process", ""), ("required", "true")],
    [("clean", "cat >/dev/null; exit 1"), ("smudge", "cat"), ("process", ""), ("required", "true")],
    [("clean", "no-such-program"), ("smudge", "no-such-program"), ("process", ""), ("required", "false")],
    [("clean", ""), ("smudge", ""), ("process", "no-such-program"), ("required", "true")],
];

pub fn set_up(place: &mut Place, dice: &mut Random) {
    place.attribute("*.flt filter=odd");
    let repo = place.env.repo();
    for path in ["f.flt", "sub/g.flt"] {
        write(place, &repo.join(path));
    }
    place.env.git(&["add", "-A"]);
    place.env.git(&["commit", "-q", "-m", "before there was a filter"]);
    works_otherwise(place, dice);
}

fn works_otherwise(place: &mut Place, dice: &mut Random) {
    let way = dice.pick(&WAYS).unwrap();
    place.says(&format!("the filter works otherwise: {way:?}"));
    for (key, value) in way {
        place.env.git(&["config", &format!("filter.odd.{key}"), value]);
    }
}

pub fn step(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    match dice.below(10) {
        0..=4 => {
            let path = *dice.pick(&["f.flt", "sub/g.flt", "new.flt"]).unwrap();
            place.says(&format!("write {}/{path}", at.display()));
            write(place, &at.join(path));
        }
        5..=6 => drop(place.git_at(&at, &["add", "-A"])),
        7 => drop(place.git_at(&at, &["commit", "-q", "-a", "-m", "with a filter"])),
        _ => works_otherwise(place, dice),
    }
}
