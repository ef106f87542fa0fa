//! The settings of a repository's own configuration that do not matter for finding it.
//!
//! All sections but `core` and `extensions` do not matter. In these two, git is asked about every key that is not listed
//! here, and about every value that is not: git may refuse the repository.

/// The values of a setting that do not matter.
#[derive(Debug, Clone, Copy)]
enum HarmlessValues {
    /// Any of these.
    Of(&'static [&'static str]),
    /// All but paths in the home folder of a user who may not exist.
    Texts,
    /// All.
    All,
}

const BOOLEAN: HarmlessValues = HarmlessValues::Of(&["true", "false"]);

/// Keys of the section `core`, in lower case. Many are written by `scalar`, or go with `feature.manyFiles`.
const CORE: &[(&str, HarmlessValues)] = &[
    ("bare", HarmlessValues::Of(&["false"])),
    ("filemode", BOOLEAN),
    ("logallrefupdates", HarmlessValues::Of(&["true", "false", "always"])),
    ("ignorecase", BOOLEAN),
    ("precomposeunicode", BOOLEAN),
    ("symlinks", BOOLEAN),
    ("autocrlf", HarmlessValues::Of(&["true", "false", "input"])),
    ("safecrlf", HarmlessValues::Of(&["true", "false", "warn"])),
    ("eol", HarmlessValues::Of(&["lf", "crlf", "native"])),
    ("protecthfs", BOOLEAN),
    ("protectntfs", BOOLEAN),
    ("sparsecheckout", BOOLEAN),
    ("sparsecheckoutcone", BOOLEAN),
    ("splitindex", BOOLEAN),
    ("untrackedcache", HarmlessValues::Of(&["true", "false", "keep"])),
    ("checkstat", HarmlessValues::Of(&["default", "minimal"])),
    ("trustctime", BOOLEAN),
    ("ignorestat", BOOLEAN),
    ("preloadindex", BOOLEAN),
    ("multipackindex", BOOLEAN),
    ("commitgraph", BOOLEAN),
    ("fscache", BOOLEAN),
    ("quotepath", BOOLEAN),
    ("fsmonitor", HarmlessValues::Texts),
    ("hookspath", HarmlessValues::Texts),
    ("excludesfile", HarmlessValues::Texts),
    ("attributesfile", HarmlessValues::Texts),
    ("editor", HarmlessValues::Texts),
    ("sshcommand", HarmlessValues::Texts),
];

/// Keys of the section `extensions`, in lower case.
const EXTENSIONS: &[(&str, HarmlessValues)] = &[("partialclone", HarmlessValues::All), ("preciousobjects", BOOLEAN)];

/// Whether a setting of `core` does not matter. The key is in lower case.
pub(crate) fn is_plain_core(key: &str, value: &str) -> bool {
    is_listed(CORE, key, value)
}

/// Whether a setting of `extensions` does not matter. The key is in lower case.
pub(crate) fn is_plain_extension(key: &str, value: &str) -> bool {
    is_listed(EXTENSIONS, key, value)
}

fn is_listed(list: &[(&str, HarmlessValues)], key: &str, value: &str) -> bool {
    list.iter().find(|(listed, _)| *listed == key).is_some_and(|(_, values)| match values {
        HarmlessValues::Of(values) => values.contains(&value),
        HarmlessValues::Texts => !value.starts_with('~'),
        HarmlessValues::All => true,
    })
}
