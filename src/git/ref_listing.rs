//! The refs below a place, many of them, looked through without a string for each.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::Result;

use super::packed_refs::{Packed, loose_below};
use super::refs::RefValue;
use super::repository::{RefFormat, Repository};

/// The refs below a prefix, ordered by name: packed ones as lines of their file, the others as values.
#[derive(Debug)]
pub struct RefListing {
    prefix: String,
    packed: Arc<Packed>,
    /// Where the lines are in the text of the packed refs.
    lines: std::ops::Range<usize>,
    /// What is loose, or what git or gix said of all; it hides what is packed under the same name.
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

impl Repository {
    /// The refs below each of some prefixes that end in `/`; the packed ones are read once for all.
    ///
    /// # Errors
    /// `GIT_FAILED`.
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
                packed: Arc::default(),
                lines: 0..0,
                others: self.refs_below(prefix)?,
            });
        }
        all.try_into().map_err(|_| crate::error::Error::new(crate::error::Code::Internal, "a listing of refs is missing"))
    }

    /// What the files say; `None` where git or gix has to read them.
    pub(super) fn listings_of_files(&self, prefixes: &[&str]) -> Option<Vec<RefListing>> {
        let shared = |prefix: &&str| ["refs/axiom/", "refs/tags/", "refs/heads/"].iter().any(|known| prefix.starts_with(known));
        if self.ref_format() == RefFormat::Reftable || !prefixes.iter().all(|prefix| shared(prefix) && prefix.ends_with('/')) {
            return None;
        }
        // Loose ones first: what is packed meanwhile is found among the packed ones, and a loose one is the newer.
        let loose: Option<Vec<Vec<RefValue>>> = prefixes.iter().map(|prefix| loose_below(self.common_dir(), prefix)).collect();
        let packed = Arc::new(Packed::read(&self.common_dir().join("packed-refs"), self.hash())?);
        let listing = |(prefix, others): (&&str, Vec<RefValue>)| {
            let (prefix, packed) = ((*prefix).to_owned(), Arc::clone(&packed));
            Some(RefListing { lines: packed.below(&prefix)?, packed, others, prefix })
        };
        prefixes.iter().zip(loose?).map(listing).collect()
    }
}
