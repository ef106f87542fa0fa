//! Reading refs, by name or all below a prefix: from their files in ordinary cases, else by gix, and by git in all others.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use gix::bstr::ByteSlice;

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::{LINKED, Oid, RefName, spelled};

use super::edits::RefValue;
use super::own_refs::REF_LIMIT;
use crate::repo::handles::Refs;
use crate::repo::shortcuts::FastWay;

impl Refs<'_> {
    /// The value of one ref (`refs/…`); `None` if it does not exist.
    pub fn read_ref(&self, name: &RefName) -> Result<Option<Oid>> {
        Ok(self.read_refs(std::slice::from_ref(name))?.remove(name))
    }

    /// The values of those of `names` that exist, with one call of git at most, apart from refs of linked worktrees.
    pub fn read_refs(&self, names: &[RefName]) -> Result<BTreeMap<RefName, Oid>> {
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        if let Some(found) = self.read_files(names).or_else(|| self.read_by_gix(names)) {
            return Ok(found);
        }
        if names.iter().any(RefName::is_of_a_linked_worktree) {
            return self.read_one_by_one(names);
        }
        let wanted: BTreeSet<&RefName> = names.iter().collect();
        // A command line has a maximum length.
        let patterns: Vec<_> = if names.len() > 500 { Vec::new() } else { names.iter().map(RefName::in_git).collect() };
        let found = self.list_refs(&patterns)?;
        Ok(found.into_iter().filter(|r| wanted.contains(&r.name)).map(|r| (r.name, r.oid)).collect())
    }

    /// All refs below `prefix`, such as `refs/axiom/captures/` or `refs/heads/axiom/`, ordered by name.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<RefValue>> {
        match self.repo.packed_refs().list_files(prefix).or_else(|| self.list_by_gix(prefix)) {
            Some(found) => Ok(found),
            None => self.list_refs(&[prefix]),
        }
    }

    /// For refs of a linked worktree, which `git for-each-ref` does not list from outside.
    fn read_one_by_one(&self, names: &[RefName]) -> Result<BTreeMap<RefName, Oid>> {
        let (linked, others): (Vec<RefName>, Vec<RefName>) = names.iter().cloned().partition(RefName::is_of_a_linked_worktree);
        let mut found = self.read_refs(&others)?;
        for name in linked {
            let output = self.repo.git().args(["rev-parse", "--verify", "-q"]).arg(name.in_git()).run()?;
            if output.ok() {
                found.insert(name, Oid::new(output.text()?)?);
            }
        }
        Ok(found)
    }

    /// Whether a ref of this name can exist: a ref of a linked worktree only while git knows that worktree.
    pub fn is_place_of_ref(&self, name: &RefName) -> bool {
        let Some(rest) = name.as_str().strip_prefix(LINKED) else { return true };
        rest.split_once('/').is_some_and(|(worktree, _)| self.repo.common_dir().join("worktrees").join(worktree).is_dir())
    }

    /// The refs that all worktrees share, from their files; `None` where gix or git has to read them. gix asks for the size of each
    /// file, and looks at the packed refs each time.
    fn read_files(&self, names: &[RefName]) -> Option<BTreeMap<RefName, Oid>> {
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) || !names.iter().all(is_plain) {
            return None;
        }
        let digits = 2 * self.repo.hash().bytes();
        let value = |content: &[u8]| {
            let oid = Oid::new(std::str::from_utf8(content).ok()?).ok()?;
            (oid.as_str().len() == digits).then_some(oid)
        };
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        for name in names {
            let file = self.repo.common_dir().join(name.as_str());
            match files::read_optional(&file, REF_LIMIT).ok()? {
                Some(content) => drop(found.insert(name.clone(), value(content.trim_ascii_end())?)),
                None => missing.push(name),
            }
        }
        env::fault_point("git.loose-refs-read");
        if missing.is_empty() {
            return Some(found);
        }
        // After all files: a ref that was packed meanwhile, and whose file is gone since, is in them.
        let packed = self.repo.packed_refs().lines()?;
        for name in missing {
            if let Some(content) = packed.value(name.as_str()).ok()? {
                found.insert(name.clone(), value(content)?);
            }
        }
        Some(found)
    }

    /// The refs as gix reads them, without starting a process; `None` where git has to read them: with reftable, and where
    /// anything is unusual (a symbolic ref, a damaged one).
    fn read_by_gix(&self, names: &[RefName]) -> Option<BTreeMap<RefName, Oid>> {
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) {
            return None;
        }
        let gix = self.repo.gix().ok()?;
        let mut found = BTreeMap::new();
        for name in names {
            let in_git = name.in_git();
            let full: &gix::refs::FullNameRef = in_git.as_bytes().as_bstr().try_into().ok()?;
            if let Some(reference) = gix.try_find_reference(full).ok()? {
                found.insert(name.clone(), Oid::from_bytes(reference.target().try_id()?.as_bytes()).ok()?);
            }
        }
        Some(found)
    }

    fn list_by_gix(&self, prefix: &str) -> Option<Vec<RefValue>> {
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) {
            return None;
        }
        let gix = self.repo.gix().ok()?;
        let platform = gix.references().ok()?;
        let mut found = Vec::new();
        for reference in platform.prefixed(prefix).ok()? {
            let reference = reference.ok()?;
            let name = RefName::of_git(reference.name().as_bstr());
            found.push(RefValue { name, oid: Oid::from_bytes(reference.target().try_id()?.as_bytes()).ok()? });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Some(found)
    }

    pub(crate) fn list_refs<P: AsRef<OsStr>>(&self, patterns: &[P]) -> Result<Vec<RefValue>> {
        let git = self.repo.git().args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let output = git.args(patterns).run_ok()?;
        let text = spelled(&output.stdout);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.map(|(oid, name)| Ok(RefValue { name: RefName::new(name), oid: Oid::new(oid)? })).collect()
    }
}

/// Whether the ref is in the common git directory, in a file with its name.
fn is_plain(name: &RefName) -> bool {
    let name = name.as_str();
    let of_one_worktree = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
    name.starts_with("refs/")
        && !of_one_worktree.iter().any(|folder| name.starts_with(folder))
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !name.split('/').any(|part| matches!(part, "" | "." | ".."))
}
