//! Refs and all that they reach in one file, which git reads without this repository.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::refs::edits::RefValue;
use crate::repo::handles::Refs;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};

impl Refs<'_> {
    /// Writes a bundle of these refs with all their history to `place`, whose folder only the user can enter, and checks it: that git
    /// finds it whole, and that it has each ref with its value. Returns its size. It is on disk when this returns. Nothing at `place` is
    /// replaced. A crash leaves nothing at `place`, or all of it, and perhaps temporary files `.tmp-…` in its folder.
    pub fn write_bundle(&self, refs: &[RefValue], place: &Path) -> Result<u64> {
        let folder = place.parent().ok_or_else(|| Error::new(Code::Internal, "a bundle is in no folder"))?;
        let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
        let written = self.checked_bundle(refs, &temporary).and_then(|size| {
            env::fault_point("git.bundle-checked");
            put_in_place(&temporary, place)?;
            Ok(size)
        });
        // Its second name, or what is left of it.
        let removed = files::remove_file(&temporary);
        let size = written?;
        removed?;
        files::sync_dir(folder)?;
        Ok(size)
    }

    fn checked_bundle(&self, refs: &[RefValue], file: &Path) -> Result<u64> {
        let names: Vec<u8> = refs.iter().flat_map(|one| [one.name.in_git().as_bytes(), b"\n"].concat()).collect();
        self.repo.git().writing().args(["bundle", "create", "--quiet"]).arg(file).arg("--stdin").stdin(names).run_ok()?;
        files::set_mode(file, 0o600)?;
        self.repo.git().args(["bundle", "verify", "--quiet"]).arg(file).run_ok()?;
        let listed = self.repo.git().args(["bundle", "list-heads"]).arg(file).run_ok()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let lines = listed.lines().filter_map(|line| line.split_once(' '));
        let held: BTreeMap<RefName, Option<Oid>> =
            lines.map(|(oid, name)| (RefName::of_git(name.as_bytes()), Oid::new(oid).ok())).collect();
        if let Some(lost) = refs.iter().find(|one| held.get(&one.name) != Some(&Some(one.oid.clone()))) {
            let what = format!("the bundle does not have {} as it is now", lost.name);
            return Err(Error::new(Code::GitFailed, what).hint("another process may have changed it; run the command again"));
        }
        files::sync_file(file)?;
        Ok(files::metadata(file)?.map_or(0, |meta| meta.len()))
    }
}

fn put_in_place(temporary: &Path, place: &Path) -> Result<()> {
    let is_there = match files::hard_link(temporary, place)? {
        Some(linked) => linked,
        None => files::rename_no_replace(temporary, place)?,
    };
    if is_there {
        return Ok(());
    }
    Err(Error::new(Code::InTheWay, format!("'{}' exists already", place.display())).hint("name another folder"))
}
