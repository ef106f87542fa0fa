//! The checkpoints that exist: the newest ones in memory, the older ones read when somebody asks for them.
//!
//! What is asked at every start and for each new checkpoint (is a name taken, which are the newest, may one have expired) is
//! answered without reading the older ones. The value is the same whether they were read or not.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::older_checkpoints::OlderCheckpointSummary;
use crate::base::ids::CheckpointName;
use crate::checkpoint::known_scope::KnownPathsCount;
use crate::checkpoint::record::CheckpointRecord;
use axiom_base::error::{Code, Error, Result};

/// Reads the older checkpoints.
pub type OlderCheckpointReader = Arc<dyn Fn() -> Result<Vec<CheckpointRecord>> + Send + Sync>;

/// The checkpoints that exist. See the module.
#[derive(Clone, Default)]
pub struct CheckpointCatalog {
    recent: BTreeMap<CheckpointName, CheckpointRecord>,
    /// The names of `recent` in lower case, and how many have each: one, but for what others did to our refs.
    folded: HashMap<String, u32>,
    older: Option<OlderCheckpoints>,
}

/// The checkpoints that are not in memory until somebody asks for them.
#[derive(Clone)]
pub struct OlderCheckpoints {
    summary: Arc<OlderCheckpointSummary>,
    read: OlderCheckpointReader,
    all: OnceLock<Arc<BTreeMap<CheckpointName, CheckpointRecord>>>,
}

impl OlderCheckpoints {
    /// Those that `read` returns and `summary` sums up.
    pub fn new(summary: OlderCheckpointSummary, read: OlderCheckpointReader) -> Self {
        Self { summary: Arc::new(summary), read, all: OnceLock::new() }
    }

    /// What is known without reading them.
    pub fn summary(&self) -> &OlderCheckpointSummary {
        &self.summary
    }

    fn all(&self) -> Result<&BTreeMap<CheckpointName, CheckpointRecord>> {
        if self.all.get().is_none() {
            let read: BTreeMap<_, _> = (self.read)()?.into_iter().map(|record| (record.name.clone(), record)).collect();
            if read.len() != self.summary.count {
                let what = format!("{} older checkpoints were recorded, and {} were read", self.summary.count, read.len());
                return Err(Error::new(Code::EventLogTruncated, what).hint("see 'git axiom recover'"));
            }
            // Whoever was first has read the same.
            let _ = self.all.set(Arc::new(read));
        }
        self.all.get().map(|all| &**all).ok_or_else(|| Error::new(Code::Internal, "the older checkpoints were not kept"))
    }
}

impl CheckpointCatalog {
    /// What a checkpoint of known paths is built on, for display: with `all_else_gone` set.
    pub fn shown(&self, only: &KnownPathsCount) -> Result<KnownPathsCount> {
        let is_there = self.get(&only.all_else_as_of)?.is_some_and(|record| only.is_on(record));
        Ok(KnownPathsCount { all_else_gone: !is_there, ..only.clone() })
    }

    /// The recent ones that `records` has, and the older ones.
    pub fn new(records: impl IntoIterator<Item = CheckpointRecord>, older: Option<OlderCheckpoints>) -> Self {
        let recent: BTreeMap<_, _> = records.into_iter().map(|record| (record.name.clone(), record)).collect();
        let mut all = Self { recent, folded: HashMap::new(), older };
        all.count_names();
        all
    }

    /// From now on there are also these older ones.
    pub fn followed_by(&mut self, older: OlderCheckpoints) {
        self.older = Some(older);
    }

    fn count_names(&mut self) {
        self.folded.clear();
        for name in self.recent.keys() {
            *self.folded.entry(name.folded()).or_default() += 1;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.recent.len() + self.older.as_ref().map_or(0, |older| older.summary.count)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether one has this name, given in lower case, in whatever case.
    pub fn is_taken(&self, folded: &str) -> bool {
        self.folded.contains_key(folded) || self.older.as_ref().is_some_and(|older| older.summary.has(folded))
    }

    /// All names in lower case, in no order.
    pub fn folded_names(&self) -> impl Iterator<Item = &str> {
        let older = self.older.iter().flat_map(|older| older.summary.names());
        self.folded.keys().map(String::as_str).chain(older)
    }

    /// Those in memory, by name: all but [`CheckpointCatalog::older`]. The newest ones are among them: see [`super::older_checkpoints::divide`].
    pub fn recent(&self) -> impl ExactSizeIterator<Item = &CheckpointRecord> {
        self.recent.values()
    }

    /// The older ones, where not all are in memory.
    pub fn older(&self) -> Option<&OlderCheckpoints> {
        self.older.as_ref()
    }

    /// All of them, by name.
    pub fn all(&self) -> Result<Vec<&CheckpointRecord>> {
        let mut all: Vec<&CheckpointRecord> = self.recent.values().collect();
        if let Some(older) = &self.older {
            all.extend(older.all()?.values());
            all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(all)
    }

    /// All of them, oldest first.
    pub fn by_age(&self) -> Result<Vec<&CheckpointRecord>> {
        let mut all = self.all()?;
        all.sort_by_key(|record| record.age());
        Ok(all)
    }

    /// Those that are newer than this one, oldest first.
    pub fn after(&self, name: &CheckpointName) -> Result<Vec<&CheckpointRecord>> {
        Ok(self.by_age()?.into_iter().skip_while(|one| one.name != *name).skip(1).collect())
    }

    /// The newest ones, at most `count`, oldest first.
    pub fn newest(&self, count: usize) -> Result<Vec<&CheckpointRecord>> {
        let newer = |older: &OlderCheckpoints| self.recent.values().filter(|record| record.seq > older.summary.newest).count();
        let are_here = self.older.as_ref().is_none_or(|older| count <= newer(older));
        let mut newest = if are_here { self.recent.values().collect() } else { self.all()? };
        let first = newest.len().saturating_sub(count);
        if 0 < first && first < newest.len() {
            newest.select_nth_unstable_by_key(first, |record| record.age());
        }
        let mut newest = newest.split_off(first);
        newest.sort_unstable_by_key(|record| record.age());
        Ok(newest)
    }

    /// The one with exactly this name.
    pub fn get(&self, name: &CheckpointName) -> Result<Option<&CheckpointRecord>> {
        match (self.recent.get(name), &self.older) {
            (Some(record), _) => Ok(Some(record)),
            (None, Some(older)) if older.summary.has(&name.folded()) => Ok(older.all()?.get(name)),
            (None, Some(_) | None) => Ok(None),
        }
    }

    /// Takes all into memory.
    pub fn read_all(&mut self) -> Result<()> {
        if let Some(older) = &self.older {
            let all = BTreeMap::clone(older.all()?);
            self.recent.extend(all);
            self.older = None;
            self.count_names();
        }
        Ok(())
    }

    /// Adds one, or replaces the one of its name.
    pub fn insert(&mut self, record: CheckpointRecord) -> Result<()> {
        let folded = record.name.folded();
        self.read_if_older(&folded)?;
        if self.recent.insert(record.name.clone(), record).is_none() {
            *self.folded.entry(folded).or_default() += 1;
        }
        Ok(())
    }

    /// Forgets the one with exactly this name, and returns it.
    pub fn remove(&mut self, name: &CheckpointName) -> Result<Option<CheckpointRecord>> {
        let folded = name.folded();
        self.read_if_older(&folded)?;
        let Some(gone) = self.recent.remove(name) else { return Ok(None) };
        match self.folded.get_mut(&folded) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(self.folded.remove(&folded)),
        }
        Ok(Some(gone))
    }

    /// Takes all into memory if an older one has this name, given in lower case.
    fn read_if_older(&mut self, folded: &str) -> Result<()> {
        let is_older = self.older.as_ref().is_some_and(|older| older.summary.has(folded));
        if is_older { self.read_all() } else { Ok(()) }
    }
}

impl PartialEq for CheckpointCatalog {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.all(), other.all()), (Ok(one), Ok(other)) if one == other)
    }
}

impl fmt::Debug for CheckpointCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").field("recent", &self.recent).field("older", &self.older).finish()
    }
}

impl fmt::Debug for OlderCheckpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Older").field(&self.summary).finish()
    }
}

/// A map by name of all of them.
impl Serialize for CheckpointCatalog {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let all = self.all().map_err(S::Error::custom)?;
        serializer.collect_map(all.into_iter().map(|record| (&record.name, record)))
    }
}

/// A map by name; all are in memory.
impl<'de> Deserialize<'de> for CheckpointCatalog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(CheckpointMapVisitor)
    }
}

/// Builds the map at once, not entry by entry: its entries are sorted and may be many.
struct CheckpointMapVisitor;

impl<'de> Visitor<'de> for CheckpointMapVisitor {
    type Value = CheckpointCatalog;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<CheckpointCatalog, A::Error> {
        let mut records = Vec::new();
        while let Some((_, record)) = map.next_entry::<CheckpointName, CheckpointRecord>()? {
            records.push(record);
        }
        Ok(CheckpointCatalog::new(records, None))
    }
}
