//! Reads a whole history in this process: git would print every message, and half of its time goes into printing.
//!
//! Only where the raw commits say the same as `git log`: no replacements, no cut history, no message in another encoding. In
//! all other cases the result is `None`, and git is called.

use std::collections::{BinaryHeap, HashSet};
use std::sync::mpsc::{Receiver, sync_channel};

use gix::ObjectId;
use gix::objs::{Find, Kind};

use axiom_model::base::names::Oid;
use axiom_model::operation::task_rollback::HistoryCommit;
use axiom_model::work::tasks::commit_marks;

use crate::objects::database::gix_id;
use crate::repo::handles::History;
use crate::repo::shortcuts::FastWay;

/// How many commits are passed to the parsing thread at once, and how many such parts may wait.
const PART: usize = 512;
const WAITING: usize = 8;
/// A larger commit is left to git.
const LARGE: usize = 1024 * 1024;

/// A raw commit.
struct RawCommit {
    id: ObjectId,
    bytes: Vec<u8>,
    parents: Vec<ObjectId>,
    /// The offset of its message.
    message: usize,
}

/// A commit that waits in the queue: the newest comes first, and of two with the same second the one that was found first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct QueuedCommit {
    seconds: i64,
    order: std::cmp::Reverse<u64>,
    place: usize,
}

impl History<'_> {
    /// All commits in the history of `to`, newest first by date; `None` where git has to read them.
    pub(crate) fn walk_history(&self, to: &Oid) -> Option<Vec<HistoryCommit>> {
        if !self.repo.shortcuts().allow(FastWay::ReadHistory) {
            return None;
        }
        let (gix, start) = (self.repo.gix().ok()?, gix_id(to).ok()?);
        let (send, receive) = sync_channel(WAITING);
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().spawn_scoped(scope, move || read_all(&receive)).ok()?;
            let mut part = Vec::with_capacity(PART);
            let walked = walk(&gix, start, |raw| {
                part.push(raw);
                part.len() < PART || send.send(std::mem::replace(&mut part, Vec::with_capacity(PART))).is_ok()
            });
            let sent = walked.and_then(|()| send.send(part).ok());
            drop(send);
            let read = reader.join().ok()?;
            sent.and(read)
        })
    }
}

/// Passes each commit to `each` once, newest first by date; `None` where a commit cannot be read, or where `each` returns
/// `false`.
fn walk(gix: &gix::Repository, start: ObjectId, mut each: impl FnMut(RawCommit) -> bool) -> Option<()> {
    let mut seen = HashSet::from([start]);
    let mut waiting: BinaryHeap<QueuedCommit> = BinaryHeap::new();
    // The commits in the queue, by their index; free indexes are used again.
    let (mut raws, mut free): (Vec<Option<RawCommit>>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut order = 0;
    let mut met =
        |id: ObjectId, waiting: &mut BinaryHeap<QueuedCommit>, raws: &mut Vec<Option<RawCommit>>, free: &mut Vec<usize>| {
            let (seconds, raw) = read(gix, id)?;
            let place = free.pop().unwrap_or_else(|| {
                raws.push(None);
                raws.len() - 1
            });
            *raws.get_mut(place)? = Some(raw);
            order += 1;
            waiting.push(QueuedCommit { seconds, order: std::cmp::Reverse(order), place });
            Some(())
        };
    met(start, &mut waiting, &mut raws, &mut free)?;
    while let Some(next) = waiting.pop() {
        let raw = raws.get_mut(next.place)?.take()?;
        free.push(next.place);
        for parent in raw.parents.iter().copied() {
            if seen.insert(parent) {
                met(parent, &mut waiting, &mut raws, &mut free)?;
            }
        }
        if !each(raw) {
            return None;
        }
    }
    Some(())
}

/// One commit, and its committer time.
fn read(gix: &gix::Repository, id: ObjectId) -> Option<(i64, RawCommit)> {
    let mut bytes = Vec::new();
    let found = gix.objects.try_find(&id, &mut bytes).ok()??;
    let (kind, length) = (found.kind, found.data.len());
    bytes.truncate(length);
    if kind != Kind::Commit || length > LARGE {
        return None;
    }
    // Continuation lines of a header begin with a space, so the first empty line ends the header.
    let end = memchr::memmem::find(&bytes, b"\n\n")?;
    let (mut parents, mut seconds) = (Vec::new(), None);
    for line in bytes[..end].split(|byte| *byte == b'\n') {
        if let Some(parent) = line.strip_prefix(b"parent ") {
            parents.push(ObjectId::from_hex(parent).ok()?);
        } else if line.starts_with(b"committer ") {
            let mut words = line.rsplit(|byte| *byte == b' ');
            seconds = words.nth(1).and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        } else if line.starts_with(b"encoding ") {
            return None;
        }
    }
    Some((seconds?, RawCommit { id, bytes, parents, message: end + 2 }))
}

fn read_all(parts: &Receiver<Vec<RawCommit>>) -> Option<Vec<HistoryCommit>> {
    let mut all = Vec::new();
    for RawCommit { id, bytes, parents, message } in parts.iter().flatten() {
        let message = String::from_utf8_lossy(bytes.get(message..)?);
        let subject = message.lines().next().unwrap_or_default().to_owned();
        let oid = |id: &ObjectId| Oid::from_bytes(id.as_bytes()).ok();
        let parents = parents.iter().map(oid).collect::<Option<Vec<Oid>>>()?;
        all.push(HistoryCommit { oid: oid(&id)?, parents, subject, marks: commit_marks::read(&message) });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    /// A history of commits with up to three parents, with only a few different times, some of them before those of their
    /// parents.
    fn tangled(scratch: &ScratchRepository) -> Oid {
        let mut stream = String::new();
        let mut dice = 7_u64;
        let mut roll = |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        for number in 1..=400_u64 {
            let seconds = 1_700_000_000 + number / 7 + roll(5);
            let message = format!("work {number} #t{} @ed-001\n\nbody\n\nAxiom-Task: t{}\n", roll(9), roll(9));
            stream.push_str(&format!("commit refs/heads/tangled\nmark :{number}\n"));
            stream.push_str(&format!("committer C <c@example.org> {seconds} +0100\ndata {}\n{message}\n", message.len()));
            let parents: Vec<u64> =
                if number == 1 { vec![] } else { (0..=roll(3)).map(|_| number - 1 - roll(number.min(20) - 1)).collect() };
            for (place, parent) in parents.iter().enumerate().filter(|(place, parent)| !parents[..*place].contains(parent)) {
                stream.push_str(&format!("{} :{parent}\n", if place == 0 { "from" } else { "merge" }));
            }
            stream.push('\n');
        }
        let repo = scratch.repo();
        repo.git().args(["fast-import", "--quiet", "--force"]).stdin(stream).run_ok().unwrap();
        Oid::new(scratch.git(&["rev-parse", "tangled"])).unwrap()
    }

    #[test]
    fn a_tangled_history_is_what_git_says_it_is() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let tip = tangled(&scratch);
            let repo = scratch.repo();
            let log = repo.history().walk_history(&tip).unwrap();
            assert!(log.len() > 200, "{}", log.len());
            assert_eq!(log, repo.task_commits().task_commits_in_order(&tip, None, None).unwrap());
        }
    }

    #[test]
    fn what_commits_do_not_say_themselves_is_gits_to_say() {
        let scratch = ScratchRepository::new(&[]);
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let walked = || scratch.repo().history().walk_history(&head());
        assert_eq!(walked().unwrap().len(), 1);
        scratch.git(&["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "caf\u{e9}"]);
        assert!(walked().is_none());
        scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
        scratch.write(".git/info/grafts", b"");
        assert!(walked().is_none());
        std::fs::remove_file(scratch.path().join(".git/info/grafts")).unwrap();
        let gone = Oid::new("1".repeat(40)).unwrap();
        assert!(scratch.repo().history().walk_history(&gone).is_none());
        let tree = Oid::new(scratch.git(&["rev-parse", "HEAD^{tree}"])).unwrap();
        assert!(scratch.repo().history().walk_history(&tree).is_none());
    }
}
