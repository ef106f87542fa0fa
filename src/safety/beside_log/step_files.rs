//! The files of one verify step: the log of all that it prints, what it reports of itself, its JUnit file. A folder of the step's own
//! holds them until it runs the next time.
//!
//! A step that was cut off and runs again on the same work finds there what it had reported. Nothing else depends on these files: where
//! they cannot be read, nothing is known of tests and reports.

use std::ffi::OsString;
use std::path::PathBuf;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_model::work::verifying::checks::junit;
use axiom_model::work::verifying::checks::step_report;
use axiom_model::work::verifying::checks::step_report::{MOST_BYTES, VerifyStepReport};
use axiom_model::work::verifying::checks::test_counts::TestCounts;
use axiom_model::work::verifying::checks::tests_in_output::TestOutputReader;
use axiom_process::client::leftovers::RUN;
use axiom_process::client::step::LOG_LIMIT;

/// The variable with the file to which a step appends lines of JSON about itself.
const REPORT: &str = "AXIOM_VERIFY_REPORT";
/// The variable with the file to which a step may write its results in the form of JUnit.
const JUNIT: &str = "AXIOM_VERIFY_JUNIT";
/// The largest JUnit file that is read, in bytes.
const MOST_JUNIT: u64 = 16 * 1024 * 1024;
/// The longest note of what a step runs on, in bytes.
const MOST_NOTE: u64 = 1024 * 1024;

/// The name of the log of a command.
pub const LOG: &str = "log";
/// The name of the log of a persona's program.
pub const LOG_OF_LINES: &str = "log.jsonl";
/// The name of the folder with the files of a planner's runs, below that of the checks of what the plan becomes.
pub const RUNS_OF_PLANNER: &str = "plan";

/// Where the files of a step are, and what it runs on.
#[derive(Debug, Clone)]
pub struct StepFiles {
    /// The folder.
    pub folder: PathBuf,
    /// The step and what it runs on: only what was reported for the same is handed back.
    pub about: String,
}

impl StepFiles {
    /// The log.
    pub fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The log of a persona's program, whose lines say which stream they are of.
    pub fn log_of_lines(&self) -> PathBuf {
        self.folder.join(LOG_OF_LINES)
    }

    /// The folder of the keeper of a persona's program.
    pub fn run(&self) -> PathBuf {
        self.folder.join(RUN)
    }

    fn report(&self) -> PathBuf {
        self.folder.join("report.jsonl")
    }

    fn junit(&self) -> PathBuf {
        self.folder.join("junit.xml")
    }

    /// The note of what runs, as long as it has not ended by itself.
    fn note(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The variables that tell the step.
    pub fn variables(&self) -> [(OsString, OsString); 2] {
        [(REPORT.into(), self.report().into()), (JUNIT.into(), self.junit().into())]
    }

    /// Makes the folder ready before the step begins. A crash leaves files that the next call removes.
    pub fn make_ready(&self) -> Result<()> {
        files::create_dirs_unsynced(&self.folder)?;
        files::remove_file(&self.log())?;
        files::remove_file(&self.log_of_lines())?;
        files::remove_file(&self.junit())?;
        let noted = files::read_small(&self.note(), MOST_NOTE)?.content();
        if noted.as_deref() != Some(self.about.as_bytes()) {
            files::remove_file(&self.note())?;
            files::remove_file(&self.report())?;
            files::write_read_only(&self.note(), self.about.as_bytes())?;
        }
        Ok(())
    }

    /// The step has ended by itself: what it reported is not handed back to the next run.
    pub fn ended_by_itself(&self) {
        if let Err(error) = files::remove_file(&self.note()) {
            tracing::warn!(%error, "what a verify step reported will be there when it runs again");
        }
    }

    /// What the step reported of itself.
    pub fn reported(&self) -> Vec<VerifyStepReport> {
        match files::read_end_of_regular(&self.report(), MOST_BYTES) {
            Ok(Some((bytes, is_whole))) => step_report::read(&bytes, is_whole),
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "what a verify step reported cannot be read");
                Vec::new()
            }
        }
    }

    /// What is known of its tests: from its JUnit file, or else from what it printed. `output` is the end of that.
    pub fn tests(&self, output: &str) -> Option<TestCounts> {
        let junit = match files::read_small(&self.junit(), MOST_JUNIT) {
            Ok(SmallFile::Content(bytes)) => junit::counts(&String::from_utf8_lossy(&bytes)),
            Ok(SmallFile::Nothing | SmallFile::Odd(_)) | Err(_) => None,
        };
        junit.or_else(|| self.tests_printed(output))
    }

    fn tests_printed(&self, output: &str) -> Option<TestCounts> {
        let log = files::read_end_of_regular(&self.log(), LOG_LIMIT).ok().flatten();
        let mut reader = TestOutputReader::default();
        let bytes = log.map(|(bytes, _)| bytes).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().for_each(|line| reader.line(line));
        // The log ends at its limit, and sums are printed last.
        if bytes.is_empty() || bytes.len() as u64 >= LOG_LIMIT {
            output.lines().for_each(|line| reader.line(line));
        }
        reader.end()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    #[test]
    fn what_was_reported_is_handed_back_for_the_same_work_alone() {
        let dir = tempfile::tempdir().unwrap();
        let files = |about: &str| StepFiles { folder: dir.path().join("a/b"), about: about.to_owned() };
        let one = files("one");
        one.make_ready().unwrap();
        std::fs::write(one.report(), "{\"percent\":60}\n").unwrap();
        std::fs::write(one.log(), "2 passed in 0.01s\n").unwrap();
        assert_eq!((one.tests("").unwrap().passed, one.reported().len()), (2, 1));
        // It was cut off.
        one.make_ready().unwrap();
        assert_eq!((one.tests("").is_some(), one.reported().len()), (false, 1));
        files("another").make_ready().unwrap();
        assert_eq!(one.reported().len(), 0);
        // It ended by itself.
        one.make_ready().unwrap();
        std::fs::write(one.report(), "{\"percent\":60}\n").unwrap();
        one.ended_by_itself();
        assert_eq!(one.reported().len(), 1, "for whoever records it");
        one.make_ready().unwrap();
        assert_eq!(one.reported().len(), 0);
    }

    #[test]
    fn a_junit_file_says_more_than_output_and_a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let files = StepFiles { folder: dir.path().to_owned(), about: "x".to_owned() };
        files.make_ready().unwrap();
        assert_eq!(files.tests("5 passed in 1s").unwrap().passed, 5);
        std::fs::write(files.junit(), "<testcase name='a'/>").unwrap();
        assert_eq!(files.tests("5 passed in 1s").unwrap().passed, 1);
        for file in [files.junit(), files.report(), files.log()] {
            let _ = std::fs::remove_file(&file);
            rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        }
        assert_eq!((files.tests("").is_some(), files.reported().len()), (false, 0));
        files.make_ready().unwrap();
    }
}
