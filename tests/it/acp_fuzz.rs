//! Recordings of real agents, damaged, go through us in any pieces: the same bytes come out. In CI a few; a long run by `AXIOM_SECONDS`.

use std::time::Instant;

use serde_json::Value;

use crate::acp::through;
use crate::common::TestEnv;
use crate::common::random::Random;
use crate::common::trials::{AskedCases, case_of};

/// The messages of all recordings, of both sides.
fn lines() -> Vec<Vec<u8>> {
    let folder = format!("{}/fixtures/acp", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text: String = files.into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["m"].clone());
    entries.filter(Value::is_object).map(|message| message.to_string().into_bytes()).collect()
}

/// Some lines of them, damaged.
fn conversation(random: &mut Random, lines: &[Vec<u8>], folder: &str) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..random.below(30) {
        let line = random.pick(lines).unwrap();
        let line = String::from_utf8_lossy(line).replace("\"/repo", &format!("\"{folder}")).into_bytes();
        all.extend_from_slice(&line);
        match random.below(12) {
            0 => all.extend_from_slice(b"\r\n"),
            1 => all.extend(vec![b' '; 1 << random.below(20)]),
            2 => all.extend_from_slice(b"\xff\xfe\n"),
            3 => {}
            4 => all.extend(vec![b'['; 1 << random.below(17)]),
            _ => all.push(b'\n'),
        }
    }
    for _ in 0..random.below(8) {
        let at = random.below(all.len() as u64) as usize;
        if let Some(byte) = all.get_mut(at) {
            *byte = *random.pick(b"{}[]\",:\\\r\n0-e\xff\xd8\0").unwrap();
        }
    }
    if random.once_in(3) {
        all.truncate(random.below(all.len() as u64) as usize);
    }
    all
}

#[test]
fn damaged_conversations_come_out_as_they_went_in() {
    let (cases, lines) = (AskedCases::read(), lines());
    let env = TestEnv::new();
    env.ok(&["init"]);
    let folder = env.repo().display().to_string();
    let (begun, long) = (Instant::now(), cases.is_long_run());
    for seed in cases.seed(1).. {
        let mut random = Random::of(seed);
        let bytes = conversation(&mut random, &lines, &folder);
        // Half of them where nothing can be saved: that is faster.
        let here = if random.once_in(2) { env.repo() } else { env.root().to_owned() };
        assert!(through(&env, &here, &bytes) == bytes, "{}", case_of(seed));
        let rounds = seed - cases.seed(1) + 1;
        let is_over = if long {
            begun.elapsed() >= cases.seconds(u64::MAX >> 1) || rounds >= cases.rounds_asked().unwrap_or(u64::MAX)
        } else {
            rounds >= 4
        };
        if is_over {
            eprintln!("{rounds} conversations");
            return;
        }
    }
}
