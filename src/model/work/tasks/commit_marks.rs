//! Marks in a commit's message: the tasks it names in trailers and subject tags, and the commits it reverts. Pure.

use memchr::memmem;

use crate::base::names::Oid;

/// The marks of one message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitMarks {
    /// The tasks that its `Axiom-Task` trailers and its `#<task> @<agent>` subject tags name.
    pub tasks: Vec<String>,
    /// The commits that it reverts, named by `Axiom-Reverts` trailers or by the line that `git revert` writes.
    pub reverts: Vec<Oid>,
}

/// Reads the marks of a message. Allocates nothing for messages without marks, which most of a long history has.
pub fn read(message: &str) -> CommitMarks {
    let mut marks = CommitMarks::default();
    let bytes = message.as_bytes();
    let subject = message.lines().next().unwrap_or_default();
    if subject.contains('#') && subject.contains('@') {
        subject_tags(subject, &mut marks.tasks);
    }
    if memmem::find(bytes, b"xiom-").is_some() {
        trailers(message, &mut marks);
    }
    if let Some(start) = memmem::find(bytes, REVERTS.as_bytes()) {
        gits_words(&message[start..], &mut marks.reverts);
    }
    marks
}

const REVERTS: &str = "This reverts commit ";

/// Adds the tasks of `#<task> @<agent>`, two adjacent words of the subject.
fn subject_tags(subject: &str, tasks: &mut Vec<String>) {
    let words: Vec<&str> = subject.split_whitespace().collect();
    for pair in words.windows(2) {
        let [task, agent] = pair else { continue };
        let task = task.trim_start_matches('"').strip_prefix('#');
        if let Some(task) = task.filter(|task| is_id(task))
            && agent.strip_prefix('@').is_some_and(|agent| is_id(agent.trim_end_matches('"')))
        {
            add(tasks, task);
        }
    }
}

fn is_id(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// Reads the trailers, which are lines of the last paragraph.
fn trailers(message: &str, marks: &mut CommitMarks) {
    let end = message.trim_end();
    let last = end.rfind("\n\n").map_or("", |at| &end[at + 2..]);
    for line in last.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if key.trim_end().eq_ignore_ascii_case("Axiom-Task") && is_id(value) {
            add(&mut marks.tasks, value);
        }
        if key.trim_end().eq_ignore_ascii_case("Axiom-Reverts")
            && let Ok(oid) = Oid::new(value)
            && !marks.reverts.contains(&oid)
        {
            marks.reverts.push(oid);
        }
    }
}

/// Reads the lines that `git revert` writes.
fn gits_words(message: &str, reverts: &mut Vec<Oid>) {
    for line in message.lines() {
        let Some(rest) = line.strip_prefix(REVERTS) else { continue };
        let hex = rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
        if let Ok(oid) = Oid::new(hex)
            && !reverts.contains(&oid)
        {
            reverts.push(oid);
        }
    }
}

fn add(tasks: &mut Vec<String>, task: &str) {
    if !tasks.iter().any(|known| known == task) {
        tasks.push(task.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(message: &str) -> Vec<String> {
        read(message).tasks
    }

    #[test]
    fn tasks_are_read_from_tags_and_trailers_and_from_nothing_else() {
        assert_eq!(tasks("WIP: parser #auth-2 @ed-001\n"), ["auth-2"]);
        assert_eq!(tasks("x\n\nbody\n\nAxiom-Task: t1\nAxiom-Agent: ed-001\n"), ["t1"]);
        assert_eq!(tasks("Merge task t1: y #t1 @ed-001\n\nAxiom-Task: t1\n"), ["t1"]);
        assert_eq!(tasks("x #t1 @ed-001 #t2 @mo-002"), ["t1", "t2"]);
        assert_eq!(tasks("x\n\naxiom-task:t9\n"), ["t9"]);
        for nothing in ["fix #12", "mail @me #t1", "x\n\nAxiom-Task: t1\n\nmore", "Axiom-Task: t1", "x\n\nsee #t1 @ed-001", ""] {
            assert!(tasks(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn reverted_commits_are_read_from_trailers_and_gits_words() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let message = format!("Revert \"x #t1 @ed-001\"\n\nThis reverts commit {a}, reversing\nchanges made to {b}.\n");
        assert_eq!(read(&message).reverts, [Oid::new(a.clone()).unwrap()]);
        assert_eq!(read(&message).tasks, ["t1"]);
        let message = format!("Revert \"x\"\n\nThis reverts commit {a}.\n\nAxiom-Reverts: {a}\nAxiom-Reverts: {b}\n");
        assert_eq!(read(&message).reverts.len(), 2, "each once");
        assert!(read("x\n\nThis reverts commit abc.\n").reverts.is_empty());
    }
}
