//! Recordings that were cut, doubled and damaged, and lines without an end: nothing panics, what is held stays bounded, and
//! the pieces in which bytes come still make no difference.

use super::decode::StreamDecoder;
use super::lines::MAX_LINE;
use super::recordings_tests::{RECORDINGS, seen};
use super::stream_event::StreamEvent;
use super::summary::{MOST_KEPT, StreamSummary};
use crate::agent::presets::preset;

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end.max(1)).unwrap()).unwrap()
    }
}

fn damaged(dice: &mut Dice, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(6) {
        let (at, other) = (dice.below(bytes.len()), dice.below(bytes.len()));
        let (from, to) = (at.min(other), at.max(other));
        match dice.below(7) {
            0 => bytes.truncate(to),
            1 => drop(bytes.drain(from..to)),
            2 => bytes.extend_from_within(from..to),
            3 if to > 0 => bytes[from] ^= 1 << dice.below(8),
            4 if to > 0 => bytes[from] = b"{}[]\",:\\\n0-e\xff\xd8\0"[dice.below(15)],
            5 => drop(bytes.splice(from..from, b"\"\\ud83d".iter().copied())),
            _ => bytes.insert(from, b"\n\"9{["[dice.below(5)]),
        }
    }
    bytes
}

fn pieces<'a>(dice: &mut Dice, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at((1 + dice.below(700)).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

#[test]
fn damaged_recordings_do_no_harm() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let adapters: Vec<_> = RECORDINGS.iter().map(|(_, program, bytes)| (preset(program).unwrap(), *bytes)).collect();
    let mut understood = 0;
    for round in 0..1500 {
        let (adapter, bytes) = &adapters[round % adapters.len()];
        let bytes = damaged(&mut dice, bytes);
        let whole = seen(adapter, [&bytes[..]]);
        let mut decoder = StreamDecoder::new(&adapter.stream, &adapter.tools);
        let mut summary = StreamSummary::new(&adapter.stream);
        let mut parts = Vec::new();
        for piece in pieces(&mut dice, &bytes) {
            parts.extend(decoder.feed(piece));
            assert!(decoder.held() <= 4 * bytes.len() + 64 * 1024, "round {round}");
        }
        parts.extend(decoder.end());
        assert_eq!(parts, whole, "round {round}");
        parts.iter().for_each(|seen| summary.add(seen));
        assert!(summary.calls.denied.len() <= MOST_KEPT && summary.calls.begun.len() <= MOST_KEPT);
        understood += parts.len();
    }
    assert!(understood > 5000, "{understood}");
}

/// The line of a gigabyte, in short: what is over the limit is gone at once, and the next line counts.
#[test]
fn a_line_without_an_end_is_not_held() {
    for program in ["claude", "aider"] {
        let adapter = preset(program).unwrap();
        let mut decoder = StreamDecoder::new(&adapter.stream, &adapter.tools);
        let piece = vec![b'{'; 1024 * 1024];
        for count in 0..40 {
            assert_eq!(decoder.feed(&piece), []);
            assert!(decoder.held() <= MAX_LINE, "{count}");
            assert!(count < 8 || decoder.held() == 0, "{count}");
        }
        let next: &[u8] = b"\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n";
        let texts = decoder.feed(next).into_iter().filter(|seen| matches!(seen, StreamEvent::Text { .. })).count();
        assert_eq!(texts, 1, "{program}");
        assert_eq!(decoder.end(), []);
    }
}

#[test]
fn pieces_without_an_end_are_told_in_parts() {
    let adapter = preset("gemini").unwrap();
    let mut decoder = StreamDecoder::new(&adapter.stream, &adapter.tools);
    let piece =
        format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{}\",\"delta\":true}}\n", "x".repeat(1024 * 1024));
    let mut told = 0;
    for _ in 0..20 {
        told += decoder.feed(piece.as_bytes()).iter().filter(|seen| matches!(seen, StreamEvent::Text { .. })).count();
        assert!(decoder.held() <= 2 * MAX_LINE);
    }
    told += decoder.end().len();
    assert_eq!(told, 3);
}
