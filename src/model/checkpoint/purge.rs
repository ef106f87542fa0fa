//! Taking something out of what was saved: which entries of captures go, and which words are masked in texts. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::record::CheckpointRecord;
use super::word_finder::{PREFIX, WordFinder};
use crate::base::ids::{CheckpointName, TaskId};
use crate::base::names::{Oid, RepoPath};

/// The shortest text that is masked: shorter ones are in too many texts that have nothing to do with it.
pub const SHORTEST: usize = PREFIX;

/// Whole lines are masked from this length on.
const LINE: usize = 16;

/// From so many lines on, only the whole text counts: it is a source file, and its lines are in others too.
const MOST_LINES: usize = 200;

/// What each byte of a masked word becomes. No shell, pattern or parser does anything with a word of it, and no one takes it for a value.
const MASK: u8 = b'x';

/// Contents of a path that a purge could not delete: something else held them, or they were left to git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeLeftover {
    /// The path.
    pub path: RepoPath,
    /// The contents.
    pub contents: BTreeSet<Oid>,
}

/// What a human took out of all that was saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgeRecord {
    /// What, as it was named: a path or the id of a content.
    pub what: String,
    /// The checkpoints that had it, as they are without it.
    pub made_anew: Vec<CheckpointRecord>,
    /// The checkpoints that went with it.
    pub gone: Vec<CheckpointName>,
    /// The captures of deleted checkpoints that can no longer be brought back.
    pub forgotten: Vec<Oid>,
    /// The tasks whose text or verify steps were masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<TaskId>,
    /// Where a path was named: its contents that could not be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<PurgeLeftover>,
}

/// What is taken out of captures.
#[derive(Debug, Clone, Default)]
pub struct CaptureRemovals {
    /// Files at this path, or below it. What other paths hold stays, be it the same: an empty file is no secret.
    pub path: Option<RepoPath>,
    /// Files with these contents, wherever they are: where a content was named, and no path.
    pub blobs: BTreeSet<Oid>,
}

impl CaptureRemovals {
    /// Whether a path is the one that is taken out, or below it.
    pub fn names(&self, path: &RepoPath) -> bool {
        self.path.as_ref().is_some_and(|root| path.within(root).is_some())
    }

    /// Whether a file is taken out.
    pub fn takes(&self, path: &RepoPath, oid: &Oid) -> bool {
        self.names(path) || self.blobs.contains(oid)
    }
}

/// Texts that are replaced by others of the same length: so no offset changes, and JSON stays JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextMasks(Vec<(Vec<u8>, Vec<u8>)>);

impl TextMasks {
    /// What gives away these contents: each as a whole, its longer lines, and in lines `NAME=VALUE` or `NAME: VALUE` the value; as
    /// they are, and as JSON writes them.
    pub fn of<'c>(contents: impl IntoIterator<Item = &'c [u8]>) -> Self {
        let mut words: BTreeSet<Vec<u8>> = BTreeSet::new();
        for content in contents {
            let whole = content.trim_ascii();
            words.insert(whole.to_vec());
            let lines: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
            if lines.len() > MOST_LINES {
                continue;
            }
            for line in lines {
                if line.len() >= LINE {
                    words.insert(line.to_vec());
                }
                words.extend(value(line).map(<[u8]>::to_vec));
            }
        }
        let as_json = |word: &[u8]| serde_json::to_vec(&String::from_utf8_lossy(word)).ok();
        let escaped: Vec<Vec<u8>> =
            words.iter().filter_map(|word| Some(as_json(word)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?.to_vec())).collect();
        words.extend(escaped);
        words.retain(|word| word.len() >= SHORTEST);
        let mut pairs: Vec<_> = words.into_iter().map(|word| (word.clone(), vec![MASK; word.len()])).collect();
        // The longest first: a part of it is masked with it.
        pairs.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self(pairs)
    }

    /// From now on this id is replaced by that one too.
    pub fn rename(&mut self, old: &Oid, new: &Oid) {
        if old != new && old.as_str().len() == new.as_str().len() {
            self.0.push((old.as_str().as_bytes().to_vec(), new.as_str().as_bytes().to_vec()));
        }
    }

    /// Leaves words alone that are a part of one of these names: paths, branches and ids of ours, which would lead nowhere once masked.
    pub fn spare<'n>(&mut self, names: impl IntoIterator<Item = &'n [u8]>) {
        for name in names {
            self.0.retain(|(word, _)| memchr::memmem::find(name, word).is_none());
        }
    }

    /// Only what can hardly be in a file by chance: contents of several lines as a whole, and long words of letters and digits. A file that
    /// somebody put aside goes for no less: words such as `production` are in files that have nothing to do with a secret.
    #[must_use]
    pub fn sure(&self) -> Self {
        let is_sure = |word: &[u8]| {
            let has = |kind: fn(&u8) -> bool| word.iter().any(kind);
            has(|byte| *byte == b'\n')
                || word.len() >= LINE && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !has(u8::is_ascii_whitespace)
        };
        Self(self.0.iter().filter(|(word, _)| is_sure(word)).cloned().collect())
    }

    /// Only what tells of the contents wherever it is: words of letters alone, such as `production`, only if they are long.
    #[must_use]
    pub fn telling(&self) -> Self {
        let is_telling = |word: &[u8]| word.len() >= LINE || !word.iter().all(u8::is_ascii_alphabetic);
        Self(self.0.iter().filter(|(word, _)| is_telling(word)).cloned().collect())
    }

    /// The text with everything replaced that leaves it `readable`, one word after the other; `None` where nothing is replaced.
    pub fn applied_where(&self, text: &[u8], readable: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        let whole = self.applied(text)?;
        if readable(&whole) {
            return Some(whole);
        }
        let mut new: Option<Vec<u8>> = None;
        for pair in &self.0 {
            let now = new.as_deref().unwrap_or(text);
            new = Self(vec![pair.clone()]).applied(now).filter(|masked| readable(masked)).or(new);
        }
        new
    }

    /// The text with everything replaced; `None` where there is nothing to replace.
    pub fn applied(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut new: Option<Vec<u8>> = None;
        for (word, mask) in &self.0 {
            let found: Vec<usize> = memchr::memmem::find_iter(new.as_deref().unwrap_or(text), word).collect();
            for at in found {
                let text = new.get_or_insert_with(|| text.to_vec());
                if let Some(place) = text.get_mut(at..at + mask.len()) {
                    place.copy_from_slice(mask);
                }
            }
        }
        new
    }

    /// A finder of all that is replaced.
    pub fn finder(&self) -> WordFinder {
        WordFinder::of(self.0.iter().map(|(word, _)| word.as_slice()))
    }

    /// Whether a text has anything to replace.
    pub fn find_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|(word, _)| memchr::memmem::find(text, word).is_some())
    }
}

/// The value of a line `NAME=VALUE` or `NAME: VALUE`, without quotes.
fn value(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|byte| matches!(byte, b'=' | b':'))?;
    let value = line.get(at + 1..)?.trim_ascii().strip_suffix(b",").unwrap_or(line.get(at + 1..)?.trim_ascii());
    let bare = |quote: u8| value.strip_prefix(&[quote]).and_then(|rest| rest.strip_suffix(&[quote]));
    Some(bare(b'"').or_else(|| bare(b'\'')).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secret: &str, text: &str) -> String {
        let masks = TextMasks::of([secret.as_bytes()]);
        String::from_utf8(masks.applied(text.as_bytes()).unwrap_or_else(|| text.into())).unwrap()
    }

    #[test]
    fn lines_and_values_are_masked_and_short_words_are_not() {
        let secret = "API_KEY=sk-12345678\nDEBUG=1\npassword: \"hunter2-hunter2\",\n";
        assert_eq!(masked(secret, "{\"text\":\"it is sk-12345678.\"}"), "{\"text\":\"it is xxxxxxxxxxx.\"}");
        assert_eq!(masked(secret, "hunter2-hunter2"), "xxxxxxxxxxxxxxx");
        assert_eq!(masked(secret, "DEBUG=1 and 1"), "DEBUG=1 and 1");
        assert_eq!(masked(secret, &secret.replace('\n', "\\n")).matches("sk-").count(), 0);
        let json = serde_json::to_string("say \"hello\" twice\tx").unwrap();
        assert_eq!(masked("say \"hello\" twice\tx", &json), format!("\"{}\"", "x".repeat(json.len() - 2)));
    }

    #[test]
    fn what_is_replaced_keeps_its_length_and_ids_are_renamed() {
        let (old, new) = (Oid::new("1".repeat(40)).unwrap(), Oid::new("2".repeat(40)).unwrap());
        let mut masks = TextMasks::default();
        masks.rename(&old, &new);
        let text = format!("{{\"body\":\"{old}\"}}");
        assert_eq!(masks.applied(text.as_bytes()).unwrap(), format!("{{\"body\":\"{new}\"}}").into_bytes());
        assert_eq!(masks.applied(b"nothing"), None);
    }

    #[test]
    fn a_file_is_not_taken_for_a_secret_because_of_a_common_word() {
        let masks = TextMasks::of([b"#!/usr/bin/env python3\nENV=production\nKEY=sk-secret-12345678\n".as_slice()]).sure();
        assert!(!masks.find_in(b"#!/usr/bin/env python3\nprint(\"production\")\n"));
        assert!(masks.find_in(b"old: sk-secret-12345678"));
        assert!(TextMasks::of([b"one line of words\nand two\n".as_slice()]).sure().find_in(b"x one line of words\nand two"));
    }

    #[test]
    fn words_that_the_state_is_made_of_stay() {
        let mut masks = TextMasks::of([b"ENV=production\nMODE=autopilot\nKEY=sk-12345678\n".as_slice()]);
        masks.spare([b"/srv/production/repo".as_slice()]);
        assert_eq!(masks.applied(b"production"), None);
        let line = b"{\"mode\":\"autopilot\",\"text\":\"sk-12345678\"}";
        let reads = |text: &[u8]| text.starts_with(b"{\"mode\":\"autopilot\"");
        assert_eq!(masks.applied_where(line, reads).unwrap(), b"{\"mode\":\"autopilot\",\"text\":\"xxxxxxxxxxx\"}");
        assert_eq!(masks.applied_where(b"{\"mode\":\"autopilot\"}", reads), None);
    }

    #[test]
    fn a_source_file_is_masked_only_as_a_whole() {
        let source: String = (0..300).map(|n| format!("let variable_{n} = {n};\n")).collect();
        assert_eq!(masked(&source, "let variable_7 = 7;"), "let variable_7 = 7;");
        assert_eq!(masked(&source, source.trim()), "x".repeat(source.trim().len()));
    }

    #[test]
    fn a_path_takes_what_is_below_it_and_a_blob_is_taken_anywhere() {
        let oid = Oid::new("1".repeat(40)).unwrap();
        let other = Oid::new("2".repeat(40)).unwrap();
        let cut = CaptureRemovals { path: Some(RepoPath::new(b"a/b".as_slice())), blobs: BTreeSet::from([oid.clone()]) };
        let takes = |path: &str, oid: &Oid| cut.takes(&RepoPath::new(path.as_bytes()), oid);
        assert!(takes("a/b", &other) && takes("a/b/c", &other) && takes("x", &oid));
        assert!(!takes("a/bc", &other) && !takes("a", &other));
    }
}
