//! How much space is left on a file system, and what that means. Pure.
//!
//! Not here: asking a file system, which is in `files`; which file systems count, and what follows, which is in `safety` and `agents`.

use serde::Serialize;

use axiom_base::error::Code;

/// Bytes of a MB, as in `checkpoints.maxFileSize`.
pub const MB: u64 = 1024 * 1024;

/// With fewer files to make than this, spawning pauses: a workspace would not fit.
const FEW_FILES: u64 = 1000;
/// With fewer files to make than this, programs are stopped.
const HARDLY_ANY_FILE: u64 = 100;

/// What a file system has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeDiskSpace {
    /// Bytes that this user may still write.
    pub free: u64,
    /// All its bytes.
    pub total: u64,
    /// How many files can still be made; `None` where it has no such limit.
    pub free_files: Option<u64>,
}

/// How little that is, least serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DiskSpaceLevel {
    /// Enough.
    #[default]
    Enough,
    /// Little: it is said.
    Warning,
    /// So little that no further program is started.
    Critical,
    /// So little that running programs are stopped, and nothing is saved or merged.
    Emergency,
}

impl DiskSpaceLevel {
    /// The code of the level; `None` where there is enough.
    pub const fn code(self) -> Option<Code> {
        match self {
            Self::Enough => None,
            Self::Warning => Some(Code::DiskWarning),
            Self::Critical => Some(Code::DiskCritical),
            Self::Emergency => Some(Code::DiskEmergency),
        }
    }

    /// The key of its threshold.
    const fn key(self) -> &'static str {
        match self {
            Self::Enough | Self::Warning => "system.diskWarningThreshold",
            Self::Critical => "system.diskCriticalThreshold",
            Self::Emergency => "system.diskEmergencyThreshold",
        }
    }
}

/// From when on a level applies, in MB. 0 is never; neither is one that a file system could not be above if it were empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpaceThresholds {
    /// For [`DiskSpaceLevel::Warning`].
    pub warning: u64,
    /// For [`DiskSpaceLevel::Critical`].
    pub critical: u64,
    /// For [`DiskSpaceLevel::Emergency`].
    pub emergency: u64,
}

impl DiskSpaceThresholds {
    /// Whether each level is more serious than the one before.
    pub const fn are_in_order(&self) -> bool {
        self.emergency <= self.critical && self.critical <= self.warning
    }

    /// The level of a file system.
    pub fn level(&self, space: &FreeDiskSpace) -> DiskSpaceLevel {
        let below = |threshold: u64| is_below(space, threshold);
        let few_files = |threshold: u64, few: u64| threshold > 0 && space.free_files.is_some_and(|free| free < few);
        if below(self.emergency) || few_files(self.emergency, HARDLY_ANY_FILE) {
            DiskSpaceLevel::Emergency
        } else if below(self.critical) || few_files(self.critical, FEW_FILES) {
            DiskSpaceLevel::Critical
        } else if below(self.warning) {
            DiskSpaceLevel::Warning
        } else {
            DiskSpaceLevel::Enough
        }
    }

    /// What has to be free on a file system so that work goes on there, in words: never more than it could have.
    pub fn to_go_on(&self, space: &FreeDiskSpace) -> String {
        let of = [self.critical, self.emergency].into_iter().find(|threshold| is_below_total(space, *threshold));
        match of {
            Some(threshold) if is_below(space, threshold) => format!("{threshold} MB have to be free"),
            Some(_) | None => format!("it must be possible to make {FEW_FILES} more files"),
        }
    }

    /// What is short on a file system, in words, with the threshold that it is under; `None` where there is enough.
    pub fn words(&self, space: &FreeDiskSpace, place: &str) -> Option<String> {
        let level = self.level(space);
        let threshold = match level {
            DiskSpaceLevel::Enough => return None,
            DiskSpaceLevel::Warning => self.warning,
            DiskSpaceLevel::Critical => self.critical,
            DiskSpaceLevel::Emergency => self.emergency,
        };
        let key = level.key();
        Some(if is_below(space, threshold) {
            format!("{} MB are free where '{place}' is, and {key} is {threshold} MB", space.free / MB)
        } else {
            format!("only {} more files can be made where '{place}' is", space.free_files.unwrap_or_default())
        })
    }
}

fn is_below(space: &FreeDiskSpace, threshold: u64) -> bool {
    is_below_total(space, threshold) && space.free < threshold.saturating_mul(MB)
}

/// Whether a file system is measured by a threshold at all.
fn is_below_total(space: &FreeDiskSpace, threshold: u64) -> bool {
    threshold > 0 && threshold.saturating_mul(MB) < space.total
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTED: DiskSpaceThresholds = DiskSpaceThresholds { warning: 1000, critical: 500, emergency: 100 };
    const OFF: DiskSpaceThresholds = DiskSpaceThresholds { warning: 0, critical: 0, emergency: 0 };

    fn space(mb: u64) -> FreeDiskSpace {
        FreeDiskSpace { free: mb * MB, total: 10_000 * MB, free_files: None }
    }

    #[test]
    fn each_level_begins_below_its_threshold() {
        let levels = [1000, 999, 500, 499, 100, 99, 0].map(|mb| DOCUMENTED.level(&space(mb)));
        let expected = [
            DiskSpaceLevel::Enough,
            DiskSpaceLevel::Warning,
            DiskSpaceLevel::Warning,
            DiskSpaceLevel::Critical,
            DiskSpaceLevel::Critical,
            DiskSpaceLevel::Emergency,
            DiskSpaceLevel::Emergency,
        ];
        assert_eq!(levels, expected);
        assert!(levels.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(OFF.level(&space(0)), DiskSpaceLevel::Enough);
    }

    /// Otherwise nothing could be saved there, ever.
    #[test]
    fn a_file_system_that_is_smaller_than_a_threshold_is_not_measured_by_it() {
        let of = |total: u64| FreeDiskSpace { free: 5 * MB, total: total * MB, free_files: None };
        let levels = [64, 100, 101, 501].map(|total| DOCUMENTED.level(&of(total)));
        assert_eq!(
            levels,
            [DiskSpaceLevel::Enough, DiskSpaceLevel::Enough, DiskSpaceLevel::Emergency, DiskSpaceLevel::Emergency]
        );
        assert_eq!(DiskSpaceThresholds { emergency: 0, ..DOCUMENTED }.level(&of(600)), DiskSpaceLevel::Critical);
    }

    #[test]
    fn a_file_system_without_room_for_more_files_is_full_too() {
        let with = |files| FreeDiskSpace { free_files: Some(files), ..space(5000) };
        let levels = [1000, 999, 99].map(|files| DOCUMENTED.level(&with(files)));
        assert_eq!(levels, [DiskSpaceLevel::Enough, DiskSpaceLevel::Critical, DiskSpaceLevel::Emergency]);
        assert_eq!(OFF.level(&with(0)), DiskSpaceLevel::Enough);
        assert_eq!(DOCUMENTED.words(&with(7), "/r").unwrap(), "only 7 more files can be made where '/r' is");
    }

    #[test]
    fn words_name_place_and_threshold() {
        let said = DOCUMENTED.words(&space(234), "/r").unwrap();
        assert_eq!(said, "234 MB are free where '/r' is, and system.diskCriticalThreshold is 500 MB");
        assert_eq!(DOCUMENTED.words(&space(5000), "/r"), None);
    }

    #[test]
    fn what_has_to_be_free_is_possible_and_enough() {
        for total in [90, 300, 400, 501, 10_000] {
            for free in [5, 99] {
                let space = FreeDiskSpace { free: free * MB, total: total * MB, free_files: None };
                let said = DOCUMENTED.to_go_on(&space);
                let Some(needed) = said.split(' ').next().and_then(|number| number.parse::<u64>().ok()) else { continue };
                assert!(needed < total, "{total} {said}");
                let then = FreeDiskSpace { free: needed * MB, ..space };
                assert!(DOCUMENTED.level(&then) < DiskSpaceLevel::Critical, "{total} {said}");
            }
        }
        let small = FreeDiskSpace { free: 50 * MB, total: 400 * MB, free_files: None };
        assert_eq!(DOCUMENTED.to_go_on(&small), "100 MB have to be free");
        let few = FreeDiskSpace { free: 5000 * MB, total: 10_000 * MB, free_files: Some(3) };
        assert_eq!(DOCUMENTED.to_go_on(&few), "it must be possible to make 1000 more files");
    }

    #[test]
    fn thresholds_go_from_warning_to_emergency() {
        assert!(DOCUMENTED.are_in_order() && OFF.are_in_order());
        assert!(!DiskSpaceThresholds { warning: 400, ..DOCUMENTED }.are_in_order());
        assert!(!DiskSpaceThresholds { emergency: 600, ..DOCUMENTED }.are_in_order());
    }

    #[test]
    fn codes_are_those_of_the_documents() {
        let codes = [DiskSpaceLevel::Warning, DiskSpaceLevel::Critical, DiskSpaceLevel::Emergency]
            .map(|level| level.code().unwrap().as_str());
        assert_eq!(codes, ["DISK_WARNING", "DISK_CRITICAL", "DISK_EMERGENCY"]);
        assert_eq!(DiskSpaceLevel::Enough.code(), None);
    }
}
