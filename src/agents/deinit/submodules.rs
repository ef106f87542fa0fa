//! Taking our refs out of the repositories of submodules. What they keep goes into a bundle for each submodule first, beside the other.
//! Commits that merges of this repository name stay there, kept by the refs of `own_names::BROUGHT`.

use std::path::Path;

use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit, RefValue, Repository};
use axiom_model::base::own_names::{BROUGHT_CAPTURES, SUPERPROJECT_CAPTURES, SUPERPROJECT_KEPT};

/// Takes them out; `folder` is where the bundles go. It is safe to repeat.
pub(super) fn take_out(repo: &Repository, folder: &Path) -> Result<()> {
    for (number, (place, git_dir)) in repo.worktrees().submodule_git_dirs().into_iter().enumerate() {
        let submodule = match repo.submodule(&place, &git_dir) {
            Ok(submodule) => submodule,
            Err(error) => {
                tracing::warn!(%error, "the repository of a submodule is left as it is");
                continue;
            }
        };
        let mut refs: Vec<RefValue> = Vec::new();
        for below in [SUPERPROJECT_CAPTURES, BROUGHT_CAPTURES, SUPERPROJECT_KEPT] {
            refs.extend(submodule.refs().refs_below(below)?);
        }
        if !refs.is_empty() {
            // One that an interrupted call wrote has the same refs.
            let bundle = folder.join(format!("submodule-{}.bundle", number + 1));
            if bundle.symlink_metadata().is_err() {
                submodule.refs().write_bundle(&refs, &bundle)?;
            }
            let gone =
                refs.into_iter().map(|one| RefEdit { name: one.name, expected: ExpectedRefValue::Value(one.oid), new: None });
            submodule.refs().update_refs(&gone.collect::<Vec<_>>(), "git axiom: taken out")?;
        }
        submodule.durability().put_stage_away();
    }
    Ok(())
}
