//! What a report of a fault has to say of this machine and this repository, and nothing private: no path, no name, no value of a
//! setting.

use std::path::Path;
use std::time::Duration;

use axiom_base::platform;
use axiom_git::{Repository, RepositoryAbout};
use axiom_model::base::log_version;
use axiom_process::client::ask;

/// How long git may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// What this program runs on.
#[derive(Debug)]
pub struct RunningOn {
    /// What git says of itself; `None` where there is none.
    pub git: Option<String>,
    /// The kernel with its release, and the processor.
    pub system: String,
    /// The modules for this system that were built in.
    pub modules: &'static str,
    /// The processor and C library that it was built for.
    pub built_for: String,
    /// The file system of the repository's files; of the folder, where there is no repository.
    pub file_system: Option<String>,
    /// The version of the log that this program writes.
    pub log: u32,
    /// The repository; `None` where there is none, or it cannot be read.
    pub repository: Option<RepositoryAbout>,
}

impl RunningOn {
    /// Looks at the machine, and at the repository that a folder is in.
    pub fn at(here: &Path) -> Self {
        let repository = Repository::discover(here).ok();
        let place = repository.as_ref().map_or(here, |repository| repository.common_dir());
        Self {
            git: ask::first_line(&["git".to_owned(), "version".to_owned()], PATIENCE),
            system: platform::system_release(),
            modules: platform::SYSTEM,
            built_for: platform::built_for(),
            file_system: platform::file_system_name(place),
            log: log_version::VERSION,
            repository: repository.as_ref().map(RepositoryAbout::of),
        }
    }
}
