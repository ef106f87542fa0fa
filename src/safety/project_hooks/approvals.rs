//! What a human approved: outside of any repository, in the user's own state folder, a file for each repository, with the
//! approved content itself, so that a change can be shown.
//!
//! An approval counts for one path and one repository id, and for exactly this content.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::project_files::{ProjectFile, ProjectFilePath, ProjectFiles, ProjectFilesDigest};
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

/// The version of what an approval means. With 1, hooks were shown and not run: whoever approved that has not agreed to run them.
const VERSION: u32 = 2;
/// The largest approval that is read, in bytes. Contents are at most 8 MiB; escaped they can be six times as long.
const LIMIT: u64 = 64 * 1024 * 1024;

/// Which repository an approval is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedRepository {
    /// The canonical path of its common git directory.
    pub repository: String,
    /// Its id.
    pub id: String,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    v: u32,
    /// The repository.
    #[serde(flatten)]
    pub of: ApprovedRepository,
    /// When it was given.
    pub at: Timestamp,
    files: Vec<ApprovedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ApprovedFile {
    #[serde(flatten)]
    place: ProjectFilePath,
    #[serde(flatten)]
    file: ProjectFile,
}

impl Approval {
    /// An approval of these files.
    pub fn new(of: ApprovedRepository, at: Timestamp, files: &ProjectFiles) -> Self {
        let listed = |(place, file): (&ProjectFilePath, &ProjectFile)| ApprovedFile { place: place.clone(), file: file.clone() };
        Self { v: VERSION, of, at, files: files.iter().map(listed).collect() }
    }

    /// The approved files.
    pub fn files(&self) -> ProjectFiles {
        self.files.iter().map(|listed| (listed.place.clone(), listed.file.clone())).collect()
    }
}

/// The folder of all approvals of this user.
#[derive(Debug)]
pub struct ApprovalFolder {
    folder: PathBuf,
}

impl ApprovalFolder {
    /// Those of the calling user: `$XDG_STATE_HOME/git-axiom/trust`, or the same below `~/.local/state`.
    pub fn of_user() -> Result<Self> {
        let state = env::user_state_dir().ok_or_else(|| {
            Error::new(Code::NotTrusted, "there is no place for approvals: HOME is not set").hint("set HOME or XDG_STATE_HOME")
        })?;
        Ok(Self { folder: state.join("git-axiom/trust") })
    }

    /// The file for a repository.
    fn file(&self, of: &ApprovedRepository) -> PathBuf {
        let key = ProjectFilesDigest::of(format!("{}\0{}", of.repository, of.id).as_bytes());
        self.folder.join(format!("{}.json", &key.as_str()[..32]))
    }

    /// What was approved for a repository; `None` where nothing was, or its file cannot be parsed: then it is asked again.
    pub fn get(&self, of: &ApprovedRepository) -> Result<Option<Approval>> {
        Ok(read(&self.file(of))?.filter(|approval| approval.of == *of))
    }

    /// All of them that count, ordered by path of the repository.
    pub fn all(&self) -> Result<Vec<Approval>> {
        let mut all = Vec::new();
        for entry in files::list(&self.folder)? {
            if entry.file_name().as_encoded_bytes().ends_with(b".json") {
                match read(&entry.path()) {
                    Ok(approval) => all.extend(approval),
                    Err(error) => tracing::warn!(%error, "an approval does not count"),
                }
            }
        }
        all.sort_by(|one, other| (&one.of.repository, one.at).cmp(&(&other.of.repository, other.at)));
        Ok(all)
    }

    /// Records an approval, in place of the one before. It is on disk when this returns; a crash leaves the old or the new one.
    pub fn put(&self, approval: &Approval) -> Result<()> {
        files::create_dir_all(&self.folder)?;
        only_ours(&self.folder)?;
        let json = serde_json::to_vec(approval)
            .map_err(|e| Error::new(Code::Internal, "an approval cannot be written as JSON").because(e))?;
        files::write_atomic(&self.file(&approval.of), &[&json[..], b"\n"].concat())
    }

    /// Takes an approval back. Returns whether there was one.
    pub fn remove(&self, of: &ApprovedRepository) -> Result<bool> {
        let file = self.file(of);
        if files::metadata(&file)?.is_none() {
            return Ok(false);
        }
        files::remove_file(&file).map(|()| true)
    }
}

fn read(path: &Path) -> Result<Option<Approval>> {
    let Some(meta) = files::metadata(path)? else { return Ok(None) };
    if !meta.is_file() {
        return Err(not_ours(path, "is no regular file", "look at it, and remove it"));
    }
    path.parent().map_or(Ok(()), only_ours)?;
    only_ours(path)?;
    let Some(bytes) = files::read_optional(path, LIMIT)? else { return Ok(None) };
    match serde_json::from_slice::<Approval>(&bytes) {
        Ok(approval) if approval.v == VERSION => Ok(Some(approval)),
        Ok(_) => Ok(None),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "an approval cannot be parsed");
            Ok(None)
        }
    }
}

/// Refuses what another user owns or may write.
fn only_ours(path: &Path) -> Result<()> {
    files::foreign(path)?.map_or(Ok(()), |foreign| Err(not_ours(path, foreign.why(), foreign.way_out())))
}

fn not_ours(path: &Path, why: &str, way_out: &str) -> Error {
    Error::new(Code::NotTrusted, format!("'{}' {why}: approvals there do not count", path.display())).hint(way_out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::project_hooks::project_files::ProjectFileOrigin;

    fn of(repository: &str, id: &str) -> ApprovedRepository {
        ApprovedRepository { repository: repository.to_owned(), id: id.to_owned() }
    }

    fn some_files() -> ProjectFiles {
        let place = ProjectFilePath { origin: ProjectFileOrigin::Own, path: "hooks/x".to_owned() };
        [(place, ProjectFile { executable: true, content: vec![0xff, 0].into() })].into_iter().collect()
    }

    #[test]
    fn an_approval_is_for_one_path_and_one_id() {
        let folder = tempfile::tempdir().unwrap();
        let all = ApprovalFolder { folder: folder.path().join("a/trust") };
        assert!(all.all().unwrap().is_empty() && all.get(&of("/r", "1")).unwrap().is_none());
        let approval = Approval::new(of("/r", "1"), Timestamp::UNIX_EPOCH, &some_files());
        all.put(&approval).unwrap();
        assert_eq!(all.get(&of("/r", "1")).unwrap().unwrap().files(), some_files());
        for other in [of("/r", "2"), of("/r2", "1"), of("/r\0", "1")] {
            assert!(all.get(&other).unwrap().is_none());
        }
        // The file of one repository in the place of another's does not count there.
        std::fs::copy(all.file(&of("/r", "1")), all.file(&of("/r", "2"))).unwrap();
        assert!(all.get(&of("/r", "2")).unwrap().is_none());
        assert!(all.remove(&of("/r", "1")).unwrap() && !all.remove(&of("/r", "1")).unwrap());
    }

    #[test]
    fn what_others_could_have_written_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let all = ApprovalFolder { folder: folder.path().join("trust") };
        let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        let of = of("/r", "1");
        all.put(&Approval::new(of.clone(), Timestamp::UNIX_EPOCH, &some_files())).unwrap();
        let file = all.file(&of);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&all.folder).unwrap().permissions().mode() & 0o777, 0o700);
        for (path, open, shut) in [(&file, 0o620, 0o600), (&all.folder, 0o702, 0o700)] {
            mode(path, open);
            assert_eq!(all.get(&of).unwrap_err().code(), Code::NotTrusted, "{}", path.display());
            mode(path, shut);
        }
        let away = folder.path().join("away");
        std::fs::rename(&file, &away).unwrap();
        symlink(&away, &file).unwrap();
        assert_eq!(all.get(&of).unwrap_err().code(), Code::NotTrusted);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "{").unwrap();
        mode(&file, 0o600);
        assert!(all.get(&of).unwrap().is_none(), "damaged");
    }
}
