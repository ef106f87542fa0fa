//! Remembers for some minutes which filters did not answer, so that the next capture does not wait for them again. A file that may
//! go at any time: then they are asked again.

use std::time::Duration;

use jiff::Timestamp;

use axiom_base::{env, files};

use super::filters::FilterDriver;
use crate::base::long_hash::long_hash;
use crate::repo::repository::Repository;

/// How long a filter that did not answer is not asked.
const SILENCE: Duration = Duration::from_secs(600);

/// The largest such file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The name of the file in our scratch folder.
const NAME: &str = "filters-that-hang";

/// Whether a filter did not answer a while ago.
pub(crate) fn hung_lately(r: &Repository, name: &str, filter: &FilterDriver) -> bool {
    is_named(&read(r), &key(name, filter), env::now())
}

/// Remembers that a filter did not answer. A failure does no harm.
pub(crate) fn note_hung(r: &Repository, name: &str, filter: &FilterDriver) {
    tracing::warn!(filter = name, "a filter does not answer: its files are held as they are");
    let (now, key) = (env::now(), key(name, filter));
    let all = read(r);
    let kept = all.lines().filter(|line| line.split(' ').next().is_some_and(|of| of != key && is_named(line, of, now)));
    let mut text: String = kept.map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("{key} {}\n", now.as_second()));
    let written = r.scratch_folders().make().and_then(|folder| {
        let new = folder.path().join(NAME);
        files::write_scratch(&new, text.as_bytes())?;
        files::replace_unsynced(&new, &r.scratch_folders().own().join(NAME))
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the next capture waits for this filter again");
    }
}

fn read(r: &Repository) -> String {
    let bytes = files::read_optional(&r.scratch_folders().own().join(NAME), LARGEST).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Another command is another filter.
fn key(name: &str, filter: &FilterDriver) -> String {
    format!("{:032x}", long_hash((name, &filter.stores_by)))
}

/// Whether a text with lines of key and second names this key, not long ago. A time that is yet to come says nothing.
fn is_named(text: &str, key: &str, now: Timestamp) -> bool {
    text.lines().filter_map(|line| line.split_once(' ')).any(|(of, second)| {
        let ago = second.parse::<i64>().map(|second| now.as_second().saturating_sub(second));
        of == key && ago.is_ok_and(|ago| (0..SILENCE.as_secs() as i64).contains(&ago))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_filter_is_asked_again_after_a_while_or_when_it_is_another_one() {
        let now = Timestamp::from_second(10_000).unwrap();
        assert!(is_named("a 9500\n", "a", now));
        assert!(!is_named("a 9400\n", "a", now) && !is_named("a 10001\n", "a", now) && !is_named("b 9500\na x\n", "a", now));
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let [one, other] = ["x", "y"].map(|command| FilterDriver { stores_by: command.to_owned(), is_required: false });
        assert!(!hung_lately(&repo, "f", &one));
        note_hung(&repo, "f", &one);
        note_hung(&repo, "g", &one);
        assert!(hung_lately(&repo, "f", &one) && hung_lately(&repo, "g", &one));
        assert!(!hung_lately(&repo, "f", &other));
    }
}
