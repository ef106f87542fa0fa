//! Bytes that are damaged by a seed: bits, cuts, pieces lost, doubled, moved or taken from other files.

use crate::random::Random;

/// Pieces that parsers stumble over.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xf0\x9f",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"\\ud83d",
    b"{",
    b"}",
    b"[[",
    b"[]",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"9223372036854775807",
    b",\"sum\":\"00000000\"}",
    b"{\"axiom\":1,\"seq\":1",
    b"true",
    b"../",
    b" ",
];

/// A damaged version; `other` is where foreign pieces come from. One in ten is not damaged.
pub fn damaged(random: &mut Random, whole: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let below = |random: &mut Random, end: usize| random.below(end.max(1) as u64) as usize;
    for _ in 0..random.below(10).div_ceil(3) {
        let (one, two) = (below(random, bytes.len() + 1), below(random, bytes.len() + 1));
        let (from, to) = (one.min(two), one.max(two));
        // Most damage is short.
        let to = if random.below(3) > 0 { to.min(from + 20) } else { to };
        match random.below(10) {
            0 => bytes.truncate(from),
            1 => drop(bytes.drain(from..to)),
            2 => bytes.extend_from_within(from..to),
            3 | 4 if from < bytes.len() => bytes[from] ^= 1 << random.below(8),
            5 if from < bytes.len() => bytes[from] = random.below(256) as u8,
            6 => bytes[from..to].fill(0),
            7 => {
                let piece = PIECES[below(random, PIECES.len())];
                drop(bytes.splice(from..from, piece.iter().copied()));
            }
            8 => {
                let start = below(random, other.len());
                let piece = &other[start..(start + below(random, 200)).min(other.len())];
                drop(bytes.splice(from..to, piece.iter().copied()));
            }
            _ => lines(random, &mut bytes),
        }
    }
    bytes
}

/// A line is lost, doubled, or changes places with another.
fn lines(random: &mut Random, bytes: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let [one, two] = [0, 1].map(|_| random.below(lines.len() as u64) as usize);
    match random.below(3) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(two, lines[one].clone()),
        _ => lines.swap(one, two),
    }
    *bytes = lines.concat();
}
