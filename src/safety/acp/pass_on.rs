//! One direction: bytes in, the same bytes out, line by line. A line that is looked at is held until it is known what to do; one that is
//! too long is passed on in pieces, and only its end is held.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};

use axiom_model::attach::shorten::JsonShortener;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;
/// The longest line that is held as a whole.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;
/// The room that is kept for the next lines.
const KEPT: usize = 256 * 1024;

/// Whoever looks at the lines.
pub(super) trait LineListener {
    /// What a line has to wait for.
    type Wait;
    /// Looks at a line; never waits for anything that takes long.
    fn look(&mut self, line: &[u8]) -> Option<Self::Wait>;
    /// Waits; returns the line that is passed on instead, if any. `whole` is the line where it is held.
    fn wait(&mut self, wait: Self::Wait, whole: Option<&[u8]>) -> Option<Vec<u8>>;
}

/// Which side has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// Nothing more comes.
    NothingComes,
    /// Nobody reads any more.
    NobodyReads,
}

/// A line that has begun.
#[derive(Default)]
struct BegunLine {
    held: Vec<u8>,
    /// Of one that is too long: what it says, shortened. Its bytes are passed on already.
    long: Option<JsonShortener>,
}

/// Passes everything on until one side ends.
pub(super) fn pass_on<L: LineListener>(mut from: impl Read + AsFd, mut to: impl Write + AsFd, listener: &mut L) -> PassEnd {
    let mut piece = vec![0; PIECE];
    let mut begun = BegunLine::default();
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                wait_for(&from, PollFlags::IN);
                continue;
            }
            Err(_) => break,
        };
        if !begun.take(&piece[..length], &mut to, listener) {
            return PassEnd::NobodyReads;
        }
    }
    // The last line may have no end.
    if begun.end(b"", &mut to, listener) { PassEnd::NothingComes } else { PassEnd::NobodyReads }
}

impl BegunLine {
    /// Takes a piece, and says whether it could be passed on.
    fn take<L: LineListener>(&mut self, piece: &[u8], to: &mut (impl Write + AsFd), listener: &mut L) -> bool {
        let (mut rest, mut unsent) = (piece, 0);
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at + 1);
            let start = piece.len() - rest.len();
            rest = after;
            let is_whole = self.held.is_empty() && self.long.is_none();
            if !is_whole {
                if !self.end(line, to, listener) {
                    return false;
                }
                unsent = start + line.len();
                continue;
            }
            if let Some(wait) = listener.look(line) {
                // What came before it waits for nothing.
                if !write_all(to, &piece[unsent..start]) {
                    return false;
                }
                let instead = listener.wait(wait, Some(line));
                if !write_all(to, instead.as_deref().unwrap_or(line)) {
                    return false;
                }
                unsent = start + line.len();
            }
        }
        let start = piece.len() - rest.len();
        write_all(to, &piece[unsent..start]) && self.hold(rest, to)
    }

    /// Holds a part of a line.
    fn hold(&mut self, part: &[u8], to: &mut (impl Write + AsFd)) -> bool {
        if self.long.is_none() && self.held.len() + part.len() > LONGEST {
            let mut long = JsonShortener::default();
            long.add(&self.held);
            self.long = Some(long);
            let held = std::mem::take(&mut self.held);
            if !write_all(to, &held) {
                return false;
            }
        }
        match &mut self.long {
            Some(long) => {
                long.add(part);
                write_all(to, part)
            }
            None => {
                self.held.extend_from_slice(part);
                true
            }
        }
    }

    /// The rest of a line that has begun, with its end.
    fn end<L: LineListener>(&mut self, rest: &[u8], to: &mut (impl Write + AsFd), listener: &mut L) -> bool {
        let (inside, end) = rest.split_at(rest.len() - usize::from(rest.ends_with(b"\n")));
        if !self.hold(inside, to) {
            return false;
        }
        let mut line = std::mem::take(&mut self.held);
        if let Some(long) = self.long.take() {
            // The agent acts on it when its end has come.
            if let Some(wait) = listener.look(&long.end()) {
                listener.wait(wait, None);
            }
            return write_all(to, end);
        }
        line.extend_from_slice(end);
        if line.is_empty() {
            return true;
        }
        let instead = listener.look(&line).and_then(|wait| listener.wait(wait, Some(&line)));
        let is_written = write_all(to, instead.as_deref().unwrap_or(&line));
        if line.capacity() <= KEPT {
            line.clear();
            self.held = line;
        }
        is_written
    }
}

/// Writes all of it, however slowly it is read; `false` where nobody reads any more.
fn write_all(to: &mut (impl Write + AsFd), mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            Ok(_) => return false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for(to, PollFlags::OUT),
            Err(_) => return false,
        }
    }
    true
}

/// A pipe that whoever made it reads or writes without waiting.
fn wait_for(pipe: &impl AsFd, what: PollFlags) {
    let mut waited = [PollFd::new(pipe, what)];
    // An error is seen by whoever reads or writes next.
    let _ = poll(&mut waited, None);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Seek;

    use super::*;

    /// Waits for lines that say so, and puts others in the place of some.
    #[derive(Default)]
    struct TestListener {
        seen: Vec<Vec<u8>>,
        waited: Vec<bool>,
    }

    impl LineListener for TestListener {
        type Wait = bool;

        fn look(&mut self, line: &[u8]) -> Option<bool> {
            self.seen.push(line.to_vec());
            let has = |what: &str| line.windows(what.len()).any(|part| part == what.as_bytes());
            (has("wait") || has("swap")).then(|| has("swap"))
        }

        fn wait(&mut self, swap: bool, whole: Option<&[u8]>) -> Option<Vec<u8>> {
            self.waited.push(whole.is_some());
            swap.then(|| b"other\n".to_vec())
        }
    }

    fn passed(bytes: &[u8]) -> (Vec<u8>, TestListener) {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let rewound = |mut file: File| {
            file.rewind().unwrap();
            file
        };
        (&from).write_all(bytes).unwrap();
        let mut listener = TestListener::default();
        assert_eq!(pass_on(rewound(from), to.try_clone().unwrap(), &mut listener), PassEnd::NothingComes);
        let mut all = Vec::new();
        rewound(to).read_to_end(&mut all).unwrap();
        (all, listener)
    }

    #[test]
    fn every_byte_is_passed_on_in_order() {
        for bytes in [&b""[..], b"\n\n", b"a\r\nb\xff\n\0wait\nc", b"wait", b"no end"] {
            assert_eq!(passed(bytes).0, bytes);
        }
        let many: Vec<u8> =
            (0..60_000).flat_map(|n| format!("{n} {}\n", if n % 700 == 0 { "wait" } else { "go" }).into_bytes()).collect();
        let (all, listener) = passed(&many);
        assert!(all == many);
        assert_eq!((listener.seen.len(), listener.waited.len()), (60_000, 86));
        let (all, _) = passed(b"a\nswap\nb\n");
        assert_eq!(all, b"a\nother\nb\n");
    }

    #[test]
    fn of_a_line_that_is_too_long_the_end_waits() {
        let long = "x".repeat(3 * LONGEST);
        let text =
            format!("{{\"a\":1}}\n{{\"x\":\"{long}\",\"method\":\"wait\"}}\n{{\"b\":1}}\n{{\"y\":\"{long}\",\"z\":\"swap\"}}");
        let (all, listener) = passed(text.as_bytes());
        assert!(all == text.as_bytes(), "{}", all.len());
        assert_eq!(listener.waited, [false, false], "they are not held, so nothing is put in their place");
        assert_eq!(listener.seen.len(), 4);
        assert!(listener.seen.iter().all(|seen| seen.len() < 100_000));
        let value: serde_json::Value = serde_json::from_slice(&listener.seen[1]).unwrap();
        assert_eq!(value["method"], "wait");
    }
}
