//! Listings of all refs below a prefix, without a string for each ref.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use axiom_base::error::Result;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::REFS;

use super::edits::RefValue;
use super::own_refs::REF_LIMIT;
use super::packed_lines::PackedRefs;
use crate::repo::handles::RefLists;
use crate::repo::shortcuts::FastWay;
use axiom_base::files;
use axiom_model::base::names::Oid;

/// The refs below a prefix, ordered by name: packed refs as lines of the file, the others as values.
#[derive(Debug)]
pub struct RefListing {
    prefix: String,
    packed: Arc<PackedRefs>,
    /// The range of the lines in the text of the packed refs.
    lines: std::ops::Range<usize>,
    /// The loose refs, or all refs as git or gix listed them. They hide packed refs of the same name.
    others: Vec<RefValue>,
}

impl RefListing {
    /// Names without the prefix, and values, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut packed = self.packed.values(self.lines.clone()).filter_map(|(name, value)| Some((self.rest(name)?, value)));
        let mut others = self.others.iter().filter_map(|one| Some((self.rest(one.name.as_str())?, one.oid.as_str())));
        let (mut next_packed, mut next_other) = (packed.next(), others.next());
        std::iter::from_fn(move || {
            let order = match (next_packed, next_other) {
                (Some((packed, _)), Some((other, _))) => packed.cmp(other),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            match order {
                Ordering::Less => std::mem::replace(&mut next_packed, packed.next()),
                Ordering::Equal => {
                    next_packed = packed.next();
                    std::mem::replace(&mut next_other, others.next())
                }
                Ordering::Greater => next_other.take().inspect(|_| next_other = others.next()),
            }
        })
    }

    fn rest<'t>(&self, name: &'t str) -> Option<&'t str> {
        name.strip_prefix(self.prefix.as_str())
    }
}

impl RefLists<'_> {
    /// The refs below each of several prefixes that end in `/`. The packed refs are read once for all.
    pub fn ref_listings<const N: usize>(&self, prefixes: [&str; N]) -> Result<[RefListing; N]> {
        if let Some(found) = self.listings_of_files(&prefixes)
            && let Ok(found) = found.try_into()
        {
            return Ok(found);
        }
        let mut all = Vec::with_capacity(N);
        for prefix in prefixes {
            all.push(RefListing {
                prefix: prefix.to_owned(),
                packed: Arc::new(PackedRefs::none()),
                lines: 0..0,
                others: self.repo.refs().refs_below(prefix)?,
            });
        }
        all.try_into()
            .map_err(|_| axiom_base::error::Error::new(axiom_base::error::Code::Internal, "a listing of refs is missing"))
    }

    /// Those of `names` that are in use, each with the ref that has it; where git treats names that differ only in case as
    /// the same, in any case.
    pub fn names_in_use(&self, names: &[RefName]) -> Result<BTreeMap<RefName, RefName>> {
        let mut in_use: BTreeMap<_, _> =
            self.repo.refs().read_refs(names)?.into_keys().map(|name| (name.clone(), name)).collect();
        if in_use.len() == names.len() || !self.repo.settings().ignores_case() {
            return Ok(in_use);
        }
        for name in names {
            let Some((prefix, last)) = name.as_str().rsplit_once('/').filter(|_| !in_use.contains_key(name)) else { continue };
            let prefix = format!("{prefix}/");
            let same = self.ref_names(&prefix)?.into_iter().find(|one| one.eq_ignore_ascii_case(last));
            in_use.extend(same.map(|one| (name.clone(), RefName::new(format!("{prefix}{one}")))));
        }
        Ok(in_use)
    }

    /// The names of the refs below a prefix that ends in `/`, without the prefix and unordered. Their values are not read.
    pub fn ref_names(&self, prefix: &str) -> Result<Vec<String>> {
        if is_shared(prefix)
            && self.repo.shortcuts().allow(FastWay::ReadRefs)
            && let Some(mut names) = loose_names(&self.repo.common_dir().join(prefix))
            && let Some(packed) = self.repo.packed_refs().lines()
            && let Ok(lines) = packed.below(prefix)
        {
            names.extend(packed.values(lines).filter_map(|(name, _)| name.strip_prefix(prefix).map(str::to_owned)));
            return Ok(names);
        }
        let all = self.repo.refs().refs_below(prefix)?.into_iter();
        Ok(all.filter_map(|one| one.name.as_str().strip_prefix(prefix).map(str::to_owned)).collect())
    }

    /// The listings from the ref files; `None` where git or gix has to read them.
    pub(crate) fn listings_of_files(&self, prefixes: &[&str]) -> Option<Vec<RefListing>> {
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) || !prefixes.iter().all(|prefix| is_shared(prefix)) {
            return None;
        }
        // Loose refs first: a ref that is packed meanwhile is then found among the packed ones. A loose value is newer than
        // a packed one.
        let loose: Option<Vec<Vec<RefValue>>> =
            prefixes.iter().map(|prefix| loose_below(self.repo.common_dir(), prefix)).collect();
        let packed = Arc::new(self.repo.packed_refs().lines()?);
        let listing = |(prefix, others): (&&str, Vec<RefValue>)| {
            let (prefix, packed) = ((*prefix).to_owned(), Arc::clone(&packed));
            Some(RefListing { lines: packed.below(&prefix).ok()?, packed, others, prefix })
        };
        prefixes.iter().zip(loose?).map(listing).collect()
    }
}

/// Whether the refs below a prefix are shared by all worktrees, so that their files are in the common git directory.
fn is_shared(prefix: &str) -> bool {
    [REFS, "refs/tags/", "refs/heads/"].iter().any(|known| prefix.starts_with(known)) && prefix.ends_with('/')
}

/// The names of the loose refs below a folder, unordered; `None` where there is anything other than files and folders.
pub(crate) fn loose_names(folder: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    add_loose_names(folder, "", &mut names)?;
    Some(names)
}

fn add_loose_names(folder: &Path, above: &str, names: &mut Vec<String>) -> Option<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let (kind, name) = (entry.file_type().ok()?, format!("{above}{}", entry.file_name().to_str()?));
        if kind.is_dir() {
            add_loose_names(&entry.path(), &format!("{name}/"), names)?;
        } else if !kind.is_file() {
            return None;
        } else if !name.ends_with(".lock") {
            names.push(name);
        }
    }
    Some(())
}

/// The loose refs below `prefix`, ordered by name; `None` where a file is not a plain ref.
pub(crate) fn loose_below(common_dir: &Path, prefix: &str) -> Option<Vec<RefValue>> {
    let mut loose = BTreeMap::new();
    add_loose(common_dir, prefix, &mut loose)?;
    Some(loose.into_iter().map(|(name, oid)| RefValue { name, oid }).collect())
}

pub(super) fn add_loose(common_dir: &Path, prefix: &str, loose: &mut BTreeMap<RefName, Oid>) -> Option<()> {
    let folder = common_dir.join(prefix);
    for name in loose_names(&folder)? {
        // The ref was deleted or packed just now.
        if let Some(content) = files::read_optional(&folder.join(&name), REF_LIMIT).ok()? {
            let oid = Oid::new(std::str::from_utf8(&content).ok()?.trim_end()).ok()?;
            loose.insert(RefName::new(format!("{prefix}{name}")), oid);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn names_are_those_of_the_refs_loose_packed_or_both() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            let same = |expected: usize| {
                for prefix in ["refs/tags/axiom/", "refs/tags/", "refs/heads/", "refs/axiom/captures/"] {
                    let mut names = repo.ref_lists().ref_names(prefix).unwrap();
                    names.sort();
                    names.dedup();
                    let by_git = repo.refs().list_refs(&[prefix]).unwrap();
                    let by_git: Vec<&str> = by_git.iter().filter_map(|one| one.name.as_str().strip_prefix(prefix)).collect();
                    assert_eq!(names, by_git, "{prefix}");
                }
                assert_eq!(repo.ref_lists().ref_names("refs/tags/").unwrap().len(), expected);
            };
            scratch.git(&["tag", "-a", "-m", "x", "axiom/annotated"]);
            scratch.git(&["tag", "axiom/deep/er"]);
            scratch.git(&["tag", "b"]);
            same(3);
            scratch.git(&["pack-refs", "--all"]);
            same(3);
            scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
            scratch.git(&["tag", "-f", "b"]);
            same(if scratch.path().join(".git/reftable").exists() { 3 } else { 4 });
            scratch.git(&["symbolic-ref", "refs/tags/axiom/link", "refs/heads/main"]);
            assert!(repo.ref_lists().ref_names("refs/tags/axiom/").unwrap().contains(&"link".to_owned()));
        }
    }
}
