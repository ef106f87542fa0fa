//! Where the files are that a command names.

use std::path::{Path, PathBuf};

use axiom_base::env;
use axiom_git::NamedPaths;
use axiom_model::attach::shell::NamedFiles;
use axiom_model::base::names::without_dots;

/// The places that the words of a command may mean, where it runs in `folder`. A shell's patterns stay.
pub(super) fn places(named: &NamedFiles, folder: &Path) -> NamedPaths {
    let mut places = Vec::new();
    for word in &named.words {
        let Some(word) = known(word, folder) else { continue };
        for within in named.folders.iter().filter_map(|within| known(within, folder)) {
            let place = without_dots(&folder.join(within).join(&word));
            // A link on the way there may lead back into the worktree.
            let real = place.parent().and_then(|above| above.canonicalize().ok()).zip(place.file_name());
            let real = real.map(|(above, name)| above.join(name)).filter(|real| *real != place);
            places.extend(real);
            places.push(place);
        }
    }
    places.sort();
    places.dedup();
    NamedPaths::new(places)
}

/// A word without what of a shell is known here; `None` where it has more of that.
fn known(word: &str, folder: &Path) -> Option<PathBuf> {
    let home = || env::home_dir();
    let (base, rest) = match word.split_once('/').unwrap_or((word, "")) {
        ("~" | "$HOME" | "${HOME}", rest) => (home()?, rest),
        ("$PWD" | "${PWD}", rest) => (folder.to_owned(), rest),
        (_, _) => (PathBuf::new(), word),
    };
    // What a variable holds is not known: anything may be there.
    let rest: String = rest.split('/').map(|part| if part.contains('$') { "*" } else { part }).collect::<Vec<_>>().join("/");
    (rest != "*" || word == "*").then(|| base.join(rest))
}
