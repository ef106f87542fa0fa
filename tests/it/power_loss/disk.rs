//! What a power loss leaves: the rules, kept simple and pessimistic.
//!
//! The content of a file is certain once that file was synced, a name once its folder was; all of it after a sync of the
//! file system. What is not certain may be there or not, each by itself: a name without its content is an empty file. A
//! rename is there whole or not at all.

use std::collections::BTreeMap;

use crate::power_loss::model::{Content, Disk, Event, Name, Node};

/// Something that a power loss may take.
#[derive(Debug, Clone)]
pub struct Loose {
    /// What it is.
    pub what: What,
    /// The number of the newest event that it is of.
    pub event: usize,
}

/// What may be taken.
#[derive(Debug, Clone)]
pub enum What {
    /// Names that changed together.
    Names(Vec<Name>),
    /// The contents that a file had one after the other since it was certain.
    Contents(Node, Vec<Content>),
}

/// How much of a loose thing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Everything.
    All,
    /// Nothing.
    Nothing,
    /// Of contents: the one before the last.
    Older,
    /// Of contents: the first half of what was added.
    Torn,
}

/// A disk in the course of a recording: what is certain and what is loose.
#[derive(Debug, Clone, Default)]
pub struct Moment {
    certain: Disk,
    /// How many events there were.
    pub events: usize,
    /// Names in the order in which they changed.
    names: Vec<(usize, Vec<Name>)>,
    contents: BTreeMap<Node, (usize, Vec<Content>)>,
}

impl Moment {
    /// At the beginning, when all is certain.
    pub fn of(disk: Disk) -> Self {
        Self { certain: disk, ..Self::default() }
    }

    /// One more thing happened.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Names(names) => self.names.push((self.events, names.clone())),
            Event::Content(node, content) => {
                let (newest, contents) = self.contents.entry(*node).or_default();
                *newest = self.events;
                contents.push(content.clone());
            }
            Event::Sync(node) => self.sync(*node),
            Event::SyncAll => {
                std::mem::take(&mut self.names).iter().flat_map(|(_, names)| names).for_each(|name| self.certain.set(name));
                for (node, (_, mut contents)) in std::mem::take(&mut self.contents) {
                    self.certain.contents.extend(contents.pop().map(|last| (node, last)));
                }
            }
        }
        self.events += 1;
    }

    fn sync(&mut self, node: Node) {
        if let Some(last) = self.contents.remove(&node).and_then(|(_, mut contents)| contents.pop()) {
            self.certain.contents.insert(node, last);
        }
        let mut kept: Vec<(usize, Vec<Name>)> = Vec::new();
        for (number, change) in std::mem::take(&mut self.names) {
            if change.iter().all(|(folder, ..)| *folder != node) {
                kept.push((number, change));
                continue;
            }
            // What was said of these names before has no meaning any more.
            let same = |one: &Name, other: &Name| one.0 == other.0 && one.1 == other.1;
            kept.iter_mut().for_each(|(_, earlier)| earlier.retain(|name| !change.iter().any(|now| same(now, name))));
            change.iter().for_each(|name| self.certain.set(name));
        }
        kept.retain(|(_, change)| !change.is_empty());
        self.names = kept;
    }

    /// What is loose, names first.
    pub fn loose(&self) -> Vec<Loose> {
        let names = self.names.iter().map(|(event, names)| Loose { event: *event, what: What::Names(names.clone()) });
        let contents = self.contents.iter().map(|(node, (event, contents))| {
            let what = What::Contents(*node, contents.clone());
            Loose { event: *event, what }
        });
        names.chain(contents).collect()
    }

    /// The disk after a power loss that left this of what is loose.
    pub fn after(&self, loose: &[Loose], left: &[Left]) -> Disk {
        let mut disk = self.certain.clone();
        for (loose, left) in loose.iter().zip(left) {
            match (&loose.what, left) {
                (_, Left::Nothing) => {}
                (What::Names(names), _) => names.iter().for_each(|name| disk.set(name)),
                (What::Contents(node, contents), left) => {
                    let certain = self.certain.contents.get(node);
                    let content = match left {
                        Left::Older => contents.iter().rev().nth(1).or(certain).cloned(),
                        Left::Torn => contents.last().map(|last| torn(certain, last)),
                        Left::All | Left::Nothing => contents.last().cloned(),
                    };
                    disk.contents.extend(content.map(|content| (*node, content)));
                }
            }
        }
        disk
    }
}

/// Half of what was added since.
fn torn(certain: Option<&Content>, last: &Content) -> Content {
    let kept = certain.map_or(0, |certain| certain.bytes.len()).min(last.bytes.len());
    Content::new(&last.bytes[..kept + (last.bytes.len() - kept) / 2])
}
