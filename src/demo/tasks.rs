//! The five tasks of the demo, and the scripts that the agents run for them.

use std::path::Path;

/// One task.
#[derive(Debug)]
pub struct Task {
    /// Its id.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it waits for.
    pub after: &'static [&'static str],
    /// The file that it writes.
    pub file: &'static str,
    /// The commands that write it.
    work: &'static str,
    /// What is in the file then.
    pub content: &'static str,
    /// Whether it goes on only when the demo says so.
    pub waits: bool,
}

/// A diamond: the plan, then two at the same time, then what needs both, then the rest.
pub const TASKS: [Task; 5] = [
    Task {
        id: "plan",
        title: "Write down the plan",
        after: &[],
        file: "PLAN.md",
        work: "echo 'A parser, a printer, tests, docs.' > PLAN.md\n",
        content: "A parser, a printer, tests, docs.\n",
        waits: false,
    },
    Task {
        id: "parser",
        title: "Write the parser",
        after: &["plan"],
        file: "parser.txt",
        // This agent commits its work itself; the others leave that to git axiom.
        work: "echo 'text becomes a tree' > parser.txt\ngit add parser.txt\ngit commit -q -m 'Add the parser'\n",
        content: "text becomes a tree\n",
        waits: true,
    },
    Task {
        id: "printer",
        title: "Write the printer",
        after: &["plan"],
        file: "printer.txt",
        work: "echo 'a tree becomes text' > printer.txt\n",
        content: "a tree becomes text\n",
        waits: true,
    },
    Task {
        id: "tests",
        title: "Test both together",
        after: &["parser", "printer"],
        file: "tests.txt",
        work: "cat parser.txt printer.txt > tests.txt\n",
        content: "text becomes a tree\na tree becomes text\n",
        waits: false,
    },
    Task {
        id: "docs",
        title: "Document it",
        after: &["tests"],
        file: "DOCS.md",
        work: "echo 'How it works: see PLAN.md.' > DOCS.md\n",
        content: "How it works: see PLAN.md.\n",
        waits: false,
    },
];

/// Seconds after which an agent goes on although nobody told it to: so nothing stays behind for long, whatever happens.
const LONGEST_WAIT: u32 = 60;

impl Task {
    /// The file whose appearance lets the agent go on.
    pub fn go(&self) -> String {
        format!("{}-may-go-on", self.id)
    }

    /// The shell script. It notes its start and its end in `agents.log` of `folder`, with its process id.
    pub fn script(&self, folder: &Path) -> String {
        let log = quoted(&folder.join(LOG));
        let mut text = format!("set -e\necho \"started {} $$\" >> {log}\n", self.id);
        if self.waits {
            let go = quoted(&folder.join(self.go()));
            text.push_str(&format!(
                "seconds=0\nwhile [ ! -e {go} ] && [ $seconds -lt {LONGEST_WAIT} ]; do sleep 1; seconds=$((seconds + 1)); done\n"
            ));
        }
        text.push_str(self.work);
        text.push_str(&format!("echo \"ended {} $$\" >> {log}\n", self.id));
        text
    }
}

/// Where the scripts note that they ran.
pub const LOG: &str = "agents.log";

/// The path as one word of the shell.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_odd_characters_is_one_word_of_the_shell() {
        assert_eq!(quoted(Path::new("/a b/it's $x")), "'/a b/it'\\''s $x'");
    }
}
