//! Guarded names that are links within the repository: what they lead to is guarded as they are. Pure; who reads the trees is
//! `agents::merge::guarded_links`.
//!
//! Only links on the way from the top of the repository are followed: programs look for these names there, and looking for all links
//! would mean reading all trees.

use super::{GuardedName, GuardedNameScope, GuardedNames, folded};

/// How many places links may add.
const MOST: usize = 100;
/// The longest link that is followed, in bytes, as on Linux.
pub const LONGEST: u64 = 4096;

/// A guarded path below the top that is still to be followed.
#[derive(Debug, Clone)]
pub struct GuardedLinkPath {
    name: String,
    parts: Vec<String>,
}

impl GuardedLinkPath {
    /// The part at this depth.
    pub fn part(&self, depth: usize) -> Option<&str> {
        self.parts.get(depth).map(String::as_str)
    }
}

/// Whether a name in a tree is this part of a guarded path.
pub fn is_part(name: &[u8], part: &str) -> bool {
    folded(name) == part
}

impl GuardedNames {
    /// The guarded paths below the top.
    pub fn paths(&self) -> Vec<GuardedLinkPath> {
        self.0.iter().map(|name| GuardedLinkPath { name: name.text.clone(), parts: name.parts.clone() }).collect()
    }

    /// A link was found on the way along a path, in this folder: what it leads to is guarded from now on. Returns the path to follow
    /// next; `None` where it leads out of the repository or is known.
    pub fn follow(&mut self, path: &GuardedLinkPath, folder: &[Vec<u8>], link: &[u8]) -> Option<GuardedLinkPath> {
        let behind = path.parts.get(folder.len() + 1..)?;
        let parts: Vec<String> =
            destination(folder, link)?.iter().map(|part| folded(part)).chain(behind.iter().cloned()).collect();
        let links = self.0.iter().filter(|name| name.place == GuardedNameScope::Top).count();
        if links >= MOST || self.0.iter().any(|name| name.place == GuardedNameScope::Top && name.parts == parts) {
            return None;
        }
        self.0.push(GuardedName { text: path.name.clone(), parts: parts.clone(), place: GuardedNameScope::Top });
        Some(GuardedLinkPath { name: path.name.clone(), parts })
    }
}

/// Where a link in a folder leads, below the top of the repository; `None` where it leads out of it.
fn destination(folder: &[Vec<u8>], link: &[u8]) -> Option<Vec<Vec<u8>>> {
    if link.starts_with(b"/") {
        return None;
    }
    let mut parts = folder.to_vec();
    for part in link.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            part => parts.push(part.to_vec()),
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::names::RepoPath;
    use crate::work::guarded::GuardedPathKind;

    #[test]
    fn links_lead_somewhere_or_out() {
        let folder = [b"a".to_vec(), b"b".to_vec()];
        let to = |link: &str| destination(&folder, link.as_bytes()).map(|parts| String::from_utf8(parts.join(&b'/')).unwrap());
        for (link, place) in [
            ("x", Some("a/b/x")),
            ("./x//y/", Some("a/b/x/y")),
            ("../x", Some("a/x")),
            ("../..", Some("")),
            ("../../../x", None),
            ("/x", None),
        ] {
            assert_eq!(to(link).as_deref(), place, "{link}");
        }
    }

    #[test]
    fn what_a_guarded_link_leads_to_is_guarded_below_the_top_only() {
        let mut names = GuardedNames::new(&[".vscode/tasks.json".to_owned()]);
        let path = names.paths().into_iter().find(|path| path.part(0) == Some(".vscode")).unwrap();
        let next = names.follow(&path, &[], b"conf/Code").unwrap();
        assert_eq!((next.part(0), next.part(2)), (Some("conf"), Some("tasks.json")));
        // A circle ends.
        assert!(names.follow(&path, &[], b"conf/code").is_none());
        let concerned = |path: &str| names.concerned(&RepoPath::new(path), GuardedPathKind::File).is_some();
        assert!(concerned("conf/code/tasks.json") && concerned(".vscode/tasks.json"));
        assert!(!concerned("conf/code/other") && !concerned("x/conf/code/tasks.json"));
    }
}
