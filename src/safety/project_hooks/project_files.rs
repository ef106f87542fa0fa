//! The files that a project brings with it, as content: what is shown, approved and run is the same bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{ScanLimits, ScannedContent};
use axiom_model::base::forms::hex;

/// The folder of the project's files in the main worktree.
pub const SHARED: &str = ".axiom";
/// The folder of hooks: below [`SHARED`] the project's, below this clone's own files its own.
pub const HOOKS: &str = "hooks";
/// The configuration below [`SHARED`].
pub const CONFIG: &str = "config.toml";

/// The largest file, in bytes.
pub const LARGEST: u64 = 1024 * 1024;
/// More is refused: these are scripts and a configuration, and a human reads them.
const LIMITS: ScanLimits = ScanLimits { entries: 1000, file: LARGEST, all: 8 * 1024 * 1024, depth: 16 };

/// Where a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectFileOrigin {
    /// The project: `.axiom/` in the main worktree.
    Shared,
    /// This clone: `axiom/hooks/` in the common git directory.
    Own,
}

/// The place of a file: where it comes from, and its path there (`hooks/pre-merge.sh` in both cases).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectFilePath {
    /// Where it comes from.
    pub origin: ProjectFileOrigin,
    /// Its path, with `/`.
    pub path: String,
}

impl fmt::Display for ProjectFilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            ProjectFileOrigin::Shared => write!(f, "{SHARED}/{}", self.path),
            ProjectFileOrigin::Own => write!(f, "this clone's {}", self.path),
        }
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectFile {
    /// Not for a deleted one.
    pub executable: bool,
    /// Its content.
    #[serde(flatten)]
    pub content: ProjectFileContent,
}

/// Bytes, in JSON as text where they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FileContentJson {
    Text(String),
    Hex(String),
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "FileContentJson", try_from = "FileContentJson")]
pub struct ProjectFileContent(Vec<u8>);

impl ProjectFileContent {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for ProjectFileContent {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<ProjectFileContent> for FileContentJson {
    fn from(content: ProjectFileContent) -> Self {
        String::from_utf8(content.0).map_or_else(|e| Self::Hex(hex::to_hex(e.as_bytes())), Self::Text)
    }
}

impl TryFrom<FileContentJson> for ProjectFileContent {
    type Error = &'static str;
    fn try_from(json: FileContentJson) -> std::result::Result<Self, Self::Error> {
        match json {
            FileContentJson::Text(text) => Ok(Self(text.into_bytes())),
            FileContentJson::Hex(text) => hex::from_hex(&text).map(Self).ok_or("this is not hexadecimal"),
        }
    }
}

/// The SHA-256 of a set of files, in hexadecimal digits: places, modes and contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectFilesDigest(String);

impl ProjectFilesDigest {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex::to_hex(&Sha256::digest(bytes)))
    }
}

/// All files that a project brings with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles(BTreeMap<ProjectFilePath, ProjectFile>);

impl ProjectFiles {
    /// Reads them from the main worktree and from the folder of this clone's own files. `is_executable` says for a path below
    /// `.axiom` whether it is executable where the file system does not know.
    pub fn read(worktree: &Path, own: &Path, is_executable: Option<&dyn Fn(&str) -> bool>) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (origin, anchor, name) in [(ProjectFileOrigin::Shared, worktree, SHARED), (ProjectFileOrigin::Own, own, HOOKS)] {
            for found in files::read_below(anchor, name, &LIMITS)? {
                let at = |path: &str| anchor.join(name).join(path);
                let Ok(path) = String::from_utf8(found.path) else {
                    return Err(unusable(&anchor.join(name), "holds a name that is not UTF-8"));
                };
                if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
                    return Err(unusable(&at(&path), "is of another repository"));
                }
                let ScannedContent::File { bytes, executable } = found.what else {
                    let what = if let ScannedContent::Odd(what) = found.what { what } else { "no file" };
                    return Err(unusable(&at(&path), &format!("is {what}")));
                };
                let executable = match (origin, is_executable) {
                    (ProjectFileOrigin::Shared, Some(is)) => is(&path),
                    (ProjectFileOrigin::Shared | ProjectFileOrigin::Own, _) => executable,
                };
                let path = if origin == ProjectFileOrigin::Own { format!("{HOOKS}/{path}") } else { path };
                all.insert(ProjectFilePath { origin, path }, ProjectFile { executable, content: bytes.into() });
            }
        }
        Ok(Self(all))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, ordered by place.
    pub fn iter(&self) -> impl Iterator<Item = (&ProjectFilePath, &ProjectFile)> {
        self.0.iter()
    }

    /// The file at a place.
    pub fn get(&self, place: &ProjectFilePath) -> Option<&ProjectFile> {
        self.0.get(place)
    }

    /// The project's configuration.
    pub fn config(&self) -> Option<&[u8]> {
        let place = ProjectFilePath { origin: ProjectFileOrigin::Shared, path: CONFIG.to_owned() };
        self.get(&place).map(|file| file.content.bytes())
    }

    /// Their digest. Lengths are part of it, so that no other files have the same bytes.
    pub fn digest(&self) -> ProjectFilesDigest {
        let mut hasher = Sha256::new();
        for (place, file) in &self.0 {
            let bytes = file.content.bytes();
            let origin = match place.origin {
                ProjectFileOrigin::Shared => "shared",
                ProjectFileOrigin::Own => "own",
            };
            let mode = if file.executable { 'x' } else { '-' };
            hasher.update(format!("{origin} {mode} {} {}\n", place.path.len(), bytes.len()));
            hasher.update(place.path.as_bytes());
            hasher.update(bytes);
        }
        ProjectFilesDigest(hex::to_hex(&hasher.finalize()))
    }
}

impl FromIterator<(ProjectFilePath, ProjectFile)> for ProjectFiles {
    fn from_iter<I: IntoIterator<Item = (ProjectFilePath, ProjectFile)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

fn unusable(path: &Path, what: &str) -> Error {
    let path = path.to_string_lossy();
    let path = path.trim_end_matches('/');
    Error::new(Code::NotTrusted, format!("'{path}' {what}, so the project's files cannot be approved"))
        .why("only regular files can: what is approved is what runs")
        .hint("look at it, and remove it or make it a regular file")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn file(executable: bool, text: &str) -> ProjectFile {
        ProjectFile { executable, content: text.as_bytes().to_vec().into() }
    }

    fn at(origin: ProjectFileOrigin, path: &str) -> ProjectFilePath {
        ProjectFilePath { origin, path: path.to_owned() }
    }

    #[test]
    fn a_digest_tells_apart_whatever_differs() {
        use ProjectFileOrigin::{Own, Shared};
        let sets: [&[(ProjectFilePath, ProjectFile)]; 8] = [
            &[],
            &[(at(Shared, "a"), file(false, ""))],
            &[(at(Shared, "a"), file(true, ""))],
            &[(at(Own, "a"), file(false, ""))],
            &[(at(Shared, "a"), file(false, "b"))],
            &[(at(Shared, "ab"), file(false, ""))],
            &[(at(Shared, "a"), file(false, "")), (at(Shared, "b"), file(false, ""))],
            &[(at(Shared, "a"), file(false, "shared - 1 0\nb"))],
        ];
        let digests: Vec<ProjectFilesDigest> =
            sets.iter().map(|set| set.iter().cloned().collect::<ProjectFiles>().digest()).collect();
        for (one, digest) in digests.iter().enumerate() {
            assert_eq!(digests.iter().position(|other| other == digest), Some(one));
        }
    }

    #[test]
    fn contents_go_through_json_whole() {
        for bytes in [&b""[..], b"text\n", b"\xff\x00"] {
            let file = ProjectFile { executable: true, content: bytes.to_vec().into() };
            let json = serde_json::to_string(&file).unwrap();
            assert_eq!(serde_json::from_str::<ProjectFile>(&json).unwrap(), file, "{json}");
        }
        assert!(serde_json::from_str::<ProjectFile>(r#"{"executable":true,"hex":"0"}"#).is_err());
    }

    #[test]
    fn files_are_read_from_both_places_and_oddities_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, own) = (folder.path().join("tree"), folder.path().join("own"));
        let write = |path: &Path, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let read = || ProjectFiles::read(&tree, &own, None);
        assert!(read().unwrap().is_empty());
        write(&tree.join(".axiom/config.toml"), "[agents]\n");
        write(&own.join("hooks/pre-merge"), "#!/bin/sh\n");
        std::fs::set_permissions(own.join("hooks/pre-merge"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let files = read().unwrap();
        assert_eq!(files.config(), Some(&b"[agents]\n"[..]));
        let names: Vec<String> = files.iter().map(|(place, file)| format!("{place} {}", file.executable)).collect();
        assert_eq!(names, [".axiom/config.toml false", "this clone's hooks/pre-merge true"]);
        let by_index = ProjectFiles::read(&tree, &own, Some(&|path| path == "config.toml")).unwrap();
        assert!(by_index.iter().all(|(_, file)| file.executable));
        for (make, words) in [
            ((|tree| symlink("config.toml", tree.join(".axiom/x")).unwrap()) as fn(&Path), ".axiom/x' is a symbolic link"),
            (|tree| write_all(&tree.join(".axiom/x/.git/config")), "is of another repository"),
            (|tree| write_all(&tree.join(".axiom/x/.GIT")), "is of another repository"),
        ] {
            make(&tree);
            let error = read().unwrap_err();
            assert!(error.code() == Code::NotTrusted && error.to_string().contains(words), "{error}");
            std::fs::remove_dir_all(tree.join(".axiom")).unwrap();
        }
        symlink("/etc", tree.join(".axiom")).unwrap();
        assert!(read().unwrap_err().to_string().contains(".axiom' is a symbolic link"));
    }

    fn write_all(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
}
