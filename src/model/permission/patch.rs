//! The files that a patch names, in the forms of `diff`, of git and of `apply_patch`.

/// The most paths of one call that are looked at; with more of them it is not understood.
pub(super) const MOST_PATHS: usize = 200;

/// A path as an input names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// The path.
    pub said: String,
    /// Whether what is there goes away, or elsewhere.
    pub goes: bool,
}

/// What stands before a path.
const HEADS: [&str; 10] = [
    "--- ",
    "+++ ",
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
];

/// Each file once; of more than [`MOST_PATHS`] only so many that it is seen that they are too many. `None` where a path is not written as
/// it is.
pub(super) fn named(patch: &str) -> Option<Vec<NamedPath>> {
    let mut named: Vec<NamedPath> = Vec::new();
    // The file that the lines are about.
    let mut begun: Option<String> = None;
    for line in patch.lines() {
        if named.len() > MOST_PATHS {
            break;
        }
        if let Some(both) = line.strip_prefix("diff --git ") {
            begun = same_twice(both);
            named.extend(begun.iter().map(|said| NamedPath { said: said.clone(), goes: false }));
            continue;
        }
        if line.starts_with("deleted file mode ") {
            named.extend(begun.iter().map(|said| NamedPath { said: said.clone(), goes: true }));
            continue;
        }
        let Some((head, path)) = HEADS.iter().find_map(|head| Some((*head, line.strip_prefix(head)?))) else { continue };
        let path = path.split('\t').next().unwrap_or_default().trim_end();
        if path.starts_with('"') {
            return None;
        }
        let is_diff = matches!(head, "--- " | "+++ ");
        let below = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        let path = below.filter(|_| is_diff).unwrap_or(path);
        let is_gone = path == "/dev/null";
        if (head == "+++ " && is_gone) || head == "*** Move to: " {
            named.extend(begun.iter().map(|said| NamedPath { said: said.clone(), goes: true }));
        }
        if !path.is_empty() && !is_gone {
            let goes = matches!(head, "*** Delete File: " | "rename from ");
            named.push(NamedPath { said: path.to_owned(), goes });
            begun = Some(path.to_owned());
        }
    }
    // Of a file that is named twice, what says that it goes counts.
    named.sort_by(|one, other| (&one.said, !one.goes).cmp(&(&other.said, !other.goes)));
    named.dedup_by(|one, other| one.said == other.said);
    Some(named)
}

/// The path of `a/PATH b/PATH`. Two that differ are told by lines of their own.
fn same_twice(both: &str) -> Option<String> {
    let (old, new) = both.split_at_checked(both.len() / 2)?;
    let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix(" b/")?);
    (old == new).then(|| old.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_told_from_what_changes() {
        for (patch, expected) in [
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", &["x"][..]),
            ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &["x goes"]),
            ("--- /dev/null\n+++ b/x\n", &["x"]),
            ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", &["x goes"]),
            ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", &["x"]),
            ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", &["x goes", "y"]),
            (
                "*** Begin Patch\n*** Delete File: x\n*** Update File: y\n*** Move to: z\n*** Add File: n\n",
                &["n", "x goes", "y goes", "z"],
            ),
        ] {
            let said = |path: NamedPath| if path.goes { format!("{} goes", path.said) } else { path.said };
            let found: Vec<String> = named(patch).unwrap().into_iter().map(said).collect();
            assert_eq!(found, expected, "{patch}");
        }
        assert_eq!(named("--- \"a/\\303\"\n"), None, "what is written with escapes is not read");
    }
}
