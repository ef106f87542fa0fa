//! What the output of a test program says of its tests: cargo, nextest, pytest, jest, vitest, go test, TAP. Line by line, so that an
//! output of any length can be read.

use super::test_counts::TestCounts;

/// Reads the output of one step.
#[derive(Debug, Default)]
pub struct TestOutputReader {
    /// The sum of lines that sum up a run: there may be several runs.
    summed: Option<TestCounts>,
    /// Tests that were counted one by one.
    counted: TestCounts,
    /// Whether the output is one of which tests are counted.
    counts: bool,
    /// How many tests a plan names.
    planned: Option<u64>,
    last: TestCounts,
}

impl TestOutputReader {
    /// Reads the next line.
    pub fn line(&mut self, line: &str) {
        let line = without_colours(line);
        let line = line.trim_end();
        let found = cargo(line).or_else(|| nextest(line)).or_else(|| pytest(line)).or_else(|| jest(line));
        if let Some(found) = found {
            let sum = self.summed.get_or_insert_default();
            sum.passed = sum.passed.saturating_add(found.passed);
            sum.failed = sum.failed.saturating_add(found.failed);
            sum.skipped = sum.skipped.saturating_add(found.skipped);
            return;
        }
        if let Some(name) = named(line) {
            self.last.name_last(name);
        }
        self.go(line);
        self.tap(line);
    }

    /// What was found; `None` where the output is of no test program that is known.
    pub fn end(self) -> Option<TestCounts> {
        let counted = self.counts.then_some(TestCounts { planned: self.planned, ..self.counted });
        let last = self.last.last;
        self.summed.or(counted).map(|counts| TestCounts { last, ..counts })
    }

    /// Only the tests themselves, not the parts of one, which are set in.
    fn go(&mut self, line: &str) {
        if line.starts_with("=== RUN ") {
            self.counts = true;
        }
        for (mark, count) in [
            ("--- PASS: ", &mut self.counted.passed),
            ("--- FAIL: ", &mut self.counted.failed),
            ("--- SKIP: ", &mut self.counted.skipped),
        ] {
            if let Some(rest) = line.strip_prefix(mark) {
                *count += 1;
                self.last.name_last(rest.rsplit_once(" (").map_or(rest, |(name, _)| name));
            }
        }
    }

    fn tap(&mut self, line: &str) {
        if let Some(plan) = line.strip_prefix("1..").and_then(|rest| number(rest.split_whitespace().next()?)) {
            self.counts = true;
            self.planned = Some(plan);
            return;
        }
        if line.starts_with("TAP version ") {
            self.counts = true;
            return;
        }
        let (passed, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return,
        };
        // Without a number it is no result of TAP: `go test` names packages like this.
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || !rest[digits..].starts_with([' ']) && rest.len() != digits {
            return;
        }
        let (name, directive) = rest[digits..].split_once(" # ").unwrap_or((&rest[digits..], ""));
        let directive = directive.to_ascii_lowercase();
        match (directive.starts_with("skip"), directive.starts_with("todo"), passed) {
            (true, _, _) | (false, true, false) => self.counted.skipped += 1,
            (false, _, true) => self.counted.passed += 1,
            (false, false, false) => self.counted.failed += 1,
        }
        self.last.name_last(name.trim_start_matches([' ', '-']));
    }
}

/// `test result: ok. 15 passed; 5 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn cargo(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let of = |word| amounts(rest, ';').find(|(_, what)| *what == word).map(|(count, _)| count);
    Some(TestCounts { passed: of("passed")?, failed: of("failed")?, skipped: of("ignored")?, ..TestCounts::default() })
}

/// `Summary [   0.5s] 20 tests run: 15 passed, 5 failed, 1 skipped`
fn nextest(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    let (_, rest) = rest.split_once(" run: ")?;
    sum(rest)
}

/// `==== 5 failed, 15 passed, 2 skipped in 1.23s ====`, with `-q` without the signs.
fn pytest(line: &str) -> Option<TestCounts> {
    let (counts, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let seconds = time.split_whitespace().next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    let known = ["passed", "failed", "skipped", "error", "errors", "xfailed", "xpassed", "warning", "warnings", "deselected"];
    let known = |what: &str| known.contains(&what) || what.starts_with("subtests");
    amounts(counts, ',').all(|(_, what)| known(what)).then(|| sum(counts)).flatten()
}

/// `Tests:       5 failed, 1 skipped, 15 passed, 21 total`, and as vitest writes it: `Tests  5 failed | 15 passed (20)`
fn jest(line: &str) -> Option<TestCounts> {
    let rest = line.trim_start().strip_prefix("Tests")?;
    match rest.strip_prefix(':') {
        Some(rest) if rest.trim_end().ends_with(" total") => sum(rest),
        Some(_) => None,
        None if rest.starts_with("  ") && rest.ends_with(')') => sum(&rest.rsplit_once(" (")?.0.replace('|', ",")),
        None => None,
    }
}

/// Sums up what a list with commas says; `None` where it says nothing of tests.
fn sum(list: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    let mut any = false;
    for (count, what) in amounts(list, ',') {
        let place = match what {
            "passed" | "xpassed" => &mut counts.passed,
            "failed" | "error" | "errors" | "timed out" => &mut counts.failed,
            "skipped" | "xfailed" | "todo" | "pending" => &mut counts.skipped,
            _ => continue,
        };
        *place = place.saturating_add(count);
        any = true;
    }
    any.then_some(counts)
}

/// `15 passed`, `5 failed` and so on.
fn amounts(list: &str, between: char) -> impl Iterator<Item = (u64, &str)> {
    list.split(between).filter_map(|part| {
        let (count, what) = part.trim().split_once(' ')?;
        // nextest: 15 passed (1 slow)
        let what = what.split(" (").next().unwrap_or(what);
        Some((number(count)?, what.trim()))
    })
}

/// The test that a line says to have ended.
fn named(line: &str) -> Option<&str> {
    if let Some((name, _)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) {
        return Some(name);
    }
    let trimmed = line.trim_start();
    for mark in ["✓ ", "✕ ", "✗ ", "× "] {
        if let Some(rest) = trimmed.strip_prefix(mark) {
            return Some(rest.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map_or(rest, |(name, _)| name));
        }
    }
    // pytest -v, and its short summary.
    if let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")).filter(|rest| rest.contains("::")) {
        return Some(rest.split(" - ").next().unwrap_or(rest));
    }
    let (name, rest) = line.split_once(' ').filter(|(name, _)| name.contains("::"))?;
    let ended = ["PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS"];
    ended.iter().any(|word| rest.starts_with(word)).then_some(name)
}

fn number(text: &str) -> Option<u64> {
    // More is no count of tests.
    text.parse().ok().filter(|count| *count <= 1_000_000_000)
}

fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.peek() == Some(&'[') {
            chars.next();
            while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> Option<(u64, u64, u64, u64, String)> {
        let mut reader = TestOutputReader::default();
        output.lines().for_each(|line| reader.line(line));
        let counts = reader.end()?;
        Some((counts.passed, counts.failed, counts.skipped, counts.total(), counts.last.unwrap_or_default()))
    }

    #[test]
    fn cargo_sums_its_runs() {
        let output = "running 2 tests\ntest a::works ... ok\ntest a::breaks ... FAILED\n\n\
            test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.01s\n\
            test result: ok. 14 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(read(output), Some((15, 5, 2, 20, "a::breaks".into())));
        let nextest =
            "        PASS [   0.004s] x y\n     Summary [   0.5s] 20 tests run: 15 passed (1 slow), 5 failed, 1 skipped\n";
        assert_eq!(read(nextest), Some((15, 5, 1, 20, String::new())));
    }

    #[test]
    fn pytest_in_its_forms() {
        let output = "tests/test_a.py::test_one PASSED   [ 50%]\ntests/test_a.py::test_two FAILED [100%]\n\
            FAILED tests/test_a.py::test_two - assert 1 == 2\n\
            ======= 1 failed, 14 passed, 2 skipped, 1 error, 3 warnings in 1.23s (0:00:01) =======\n";
        assert_eq!(read(output), Some((14, 2, 2, 16, "tests/test_a.py::test_two".into())));
        assert_eq!(read("..\n2 passed in 0.01s\n"), Some((2, 0, 0, 2, String::new())));
        assert_eq!(read("3 files changed in 2s\nwe are done in 3s\nno tests ran in 0.00s\n"), None);
    }

    #[test]
    fn jest_and_vitest_with_colours() {
        let output = "  \u{1b}[32m✓\u{1b}[39m adds (5 ms)\n  ✕ subtracts (a lot) (7 ms)\n\
            \u{1b}[1mTests:       \u{1b}[22m5 failed, 1 skipped, 15 passed, 21 total\nTime: 3 s\n";
        assert_eq!(read(output), Some((15, 5, 1, 20, "subtracts (a lot)".into())));
        assert_eq!(
            read(" Test Files  1 passed (1)\n      Tests  5 failed | 15 passed (20)\n"),
            Some((15, 5, 0, 20, String::new()))
        );
    }

    #[test]
    fn go_counts_tests_and_not_their_parts() {
        let output = "=== RUN   TestA\n=== RUN   TestA/part\n    --- PASS: TestA/part (0.00s)\n--- PASS: TestA (0.00s)\n\
            === RUN   TestB\n--- FAIL: TestB (0.10s)\n--- SKIP: TestC (0.00s)\nFAIL\nok  \texample.com/x\t0.1s\n";
        assert_eq!(read(output), Some((1, 1, 1, 2, "TestC".into())));
        // Without -v only failures are told: that counts nothing.
        assert_eq!(read("--- FAIL: TestB (0.10s)\nFAIL\nok  \texample.com/x\t0.1s\n"), None);
    }

    #[test]
    fn tap_knows_how_many_there_should_be() {
        let output =
            "TAP version 13\n1..20\nok 1 - starts\nnot ok 2 - runs\nok 3 # SKIP no network\nnot ok 4 - later # TODO\nok 5\n";
        assert_eq!(read(output), Some((2, 1, 2, 18, "later".into())));
        assert_eq!(read("ok 1 - a\nok then\n"), None);
    }

    #[test]
    fn other_output_says_nothing_of_tests() {
        for output in [
            "",
            "all is well\n",
            "Tests: none\n",
            "1..\n",
            "test x\n",
            "test result: what\n",
            "Tests\n",
            "\u{1b}[",
            "1..99999999999999999999\n",
        ] {
            assert_eq!(read(output), None, "{output:?}");
        }
    }
}
