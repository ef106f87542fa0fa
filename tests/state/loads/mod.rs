//! Whatever is read from disk, damaged by a seed: nothing panics, nothing hangs, and nothing is loaded that never was so.
//!
//! `AXIOM_ROUNDS=1000000 AXIOM_SEED=2 cargo test --test state loads` tries other and more inputs.

mod damage;
mod ground;
mod judge;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::trials::AskedCases;
use damage::damaged;
use ground::{Ground, Kind};
use judge::{Outcome, judge};

/// The longest that one input may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Where the input is otherwise than the sound one.
fn differing(whole: &[u8], input: &[u8]) -> String {
    let same = whole.iter().zip(input).take_while(|(one, other)| one == other).count();
    let shown = |bytes: &[u8]| bytes[same.saturating_sub(40)..(same + 60).min(bytes.len())].escape_ascii().to_string();
    format!("{} of {} bytes, from {same}: {}, not {}", input.len(), whole.len(), shown(input), shown(whole))
}

/// What is sound, as `fuzz/fuzz_targets/loads.rs` reads it.
fn write_corpus(ground: &Ground, folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (number, (kind, _)) in (0_u8..).zip(Kind::ALL) {
        std::fs::write(folder.join(format!("{kind:?}")), [&[number], ground.whole(kind)].concat()).unwrap();
    }
}

#[test]
fn damaged_input_is_refused_or_true() {
    let asked = AskedCases::read();
    let (inputs, seed) = (asked.rounds(10_000), asked.seed(1));
    let ground = Ground::new();
    let mut random = Random::of(seed);
    let (mut counts, mut wrong) = (BTreeMap::<String, [u64; 2]>::new(), Vec::new());
    for (kind, _) in Kind::ALL {
        let sound = judge(&ground, kind, ground.whole(kind));
        assert_eq!(sound, Ok(Outcome::Loaded), "{kind:?} that is sound");
    }
    if let Some(folder) = std::env::var_os("AXIOM_LOADS_CORPUS") {
        return write_corpus(&ground, folder.as_ref());
    }
    for (kind, share) in Kind::ALL {
        let foreign = [ground.whole(Kind::Line), ground.whole(Kind::Exit), ground.whole(Kind::Signals)].concat();
        for count in 0..inputs * u64::from(share) / 1000 {
            let input = damaged(&mut random, ground.whole(kind), &foreign);
            let begun = Instant::now();
            let judged = catch_unwind(AssertUnwindSafe(|| judge(&ground, kind, &input))).unwrap_or(Err("a panic".into()));
            let late = (begun.elapsed() > LIMIT).then(|| "it takes too long".to_owned());
            match judged {
                Ok(outcome) => counts.entry(format!("{kind:?}")).or_default()[usize::from(outcome == Outcome::Refused)] += 1,
                Err(why) => wrong.push((kind, count, why, differing(ground.whole(kind), &input))),
            }
            wrong.extend(late.map(|why| (kind, count, why, differing(ground.whole(kind), &input))));
        }
    }
    println!("AXIOM_SEED={seed}, loaded and refused: {counts:?}");
    let first: Vec<_> = wrong.iter().take(5).collect();
    assert!(wrong.is_empty(), "{} of {inputs}, such as {first:#?}", wrong.len());
    assert!(counts.values().all(|[loaded, refused]| loaded + refused < 50 || *loaded > 0), "{counts:?}");
}

/// The target for fuzzing is a package of its own, which no test builds.
#[test]
fn the_target_for_fuzzing_has_each_crate_that_it_includes() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let names = |manifest: &str| {
        let table: toml::Table = toml::from_str(&read(manifest)).unwrap();
        let of = |part: &str| table.get(part).and_then(toml::Value::as_table).into_iter().flat_map(|part| part.keys().cloned());
        of("dependencies").chain(of("dev-dependencies")).collect::<std::collections::BTreeSet<String>>()
    };
    let mut included = read("tests/state/loads/ground.rs") + &read("tests/state/loads/judge.rs");
    for file in std::fs::read_dir(root.join("tests/state/support")).unwrap() {
        included.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
    }
    let has = names("fuzz/Cargo.toml");
    for name in names("Cargo.toml") {
        let is_used = included.contains(&format!("{}::", name.replace('-', "_")));
        assert!(!is_used || has.contains(&name), "fuzz/Cargo.toml lacks {name}");
    }
}
