//! What a JUnit file says of tests. Only its elements `testcase`, `failure`, `error` and `skipped` are looked at: programs differ in
//! everything else.

use super::test_counts::TestCounts;

/// Counts the tests of a file; `None` where it names none.
pub fn counts(text: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    let mut open = None;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(after) = skipped(rest) {
            rest = after;
            continue;
        }
        let Some(end) = end_of_tag(rest) else { break };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), name) {
            (false, "testcase") => {
                counts.name_last(&attribute(tag, "name").unwrap_or_default());
                if tag.ends_with('/') { counts.passed += 1 } else { open = Some(JunitTestResult::Passed) }
            }
            (true, "testcase") => match open.take() {
                Some(JunitTestResult::Passed) => counts.passed += 1,
                Some(JunitTestResult::Failed) => counts.failed += 1,
                Some(JunitTestResult::Skipped) => counts.skipped += 1,
                None => {}
            },
            (false, "failure" | "error") => open = open.map(|_| JunitTestResult::Failed),
            (false, "skipped") => open = open.map(|_| JunitTestResult::Skipped),
            (_, _) => {}
        }
    }
    let any = counts.passed + counts.failed + counts.skipped > 0;
    any.then_some(counts)
}

#[derive(Debug, Clone, Copy)]
enum JunitTestResult {
    Passed,
    Failed,
    Skipped,
}

/// What follows a comment or a piece of plain text, where one begins here.
fn skipped(text: &str) -> Option<&str> {
    for (begin, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] {
        if let Some(inner) = text.strip_prefix(begin) {
            return Some(inner.find(end).map_or("", |at| &inner[at + end.len()..]));
        }
    }
    None
}

/// Where the tag ends: a `>` in the value of an attribute does not end it.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (_, _) => {}
        }
    }
    None
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let is_whole = rest[..at].ends_with(|c: char| c.is_whitespace());
        rest = &rest[at + name.len()..];
        let Some(value) = rest.trim_start().strip_prefix('=').filter(|_| is_whole) else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let value = &value[1..];
        let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
        let value = value[..value.find(quote)?].to_owned();
        return Some(plain.iter().fold(value, |text, (from, to)| text.replace(from, to)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_cases_are_counted_by_how_they_ended() {
        let text = r#"<?xml version="1.0"?><testsuites tests="9"><testsuite name="s" tests="9">
            <testcase classname="a" name="one"/><testcase name='two &lt;b&gt; > "x"' time="1"></testcase>
            <!-- <testcase name="none"/> -->
            <testcase classname="name=" name="three"><failure message="a > b"><![CDATA[<testcase name="no"/>]]></failure></testcase>
            <testcase name="four"><error/></testcase><testcase name="five"><skipped/></testcase>
            </testsuite></testsuites>"#;
        let found = counts(text).unwrap();
        assert_eq!((found.passed, found.failed, found.skipped, found.last.as_deref()), (2, 2, 1, Some("five")));
        let two = counts(&text[..text.find("<!--").unwrap()]).unwrap();
        assert_eq!(two.last.as_deref(), Some("two <b> > \"x\""));
    }

    #[test]
    fn what_is_none_says_nothing_and_never_breaks() {
        for text in [
            "",
            "<",
            "<testcase",
            "<testcase name=",
            "<testcase name=\"",
            "<!--",
            "<![CDATA[",
            "</testcase>",
            "<a/>",
            "name",
            "é<é>",
        ] {
            assert_eq!(counts(text), None, "{text}");
        }
        let whole = "<testcase name=\"é\"><failure/></testcase>";
        (0..whole.len()).filter(|at| whole.is_char_boundary(*at)).for_each(|at| drop(counts(&whole[..at])));
    }
}
