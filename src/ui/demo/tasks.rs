//! The five tasks of the demo, and the scripts that the agents run for them.

use std::path::Path;

use axiom_base::shell_word::quoted_word;

/// A task of the demo.
#[derive(Debug)]
pub struct DemoTask {
    /// Its id.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The ids of the tasks it depends on.
    pub after: &'static [&'static str],
    /// The file that it writes.
    pub file: &'static str,
    /// The commands that write the file.
    work: &'static str,
    /// The content of the file afterwards.
    pub content: &'static str,
    /// Whether its agent waits until the demo lets it go on.
    pub waits: bool,
}

/// A diamond: the plan, then two tasks at the same time, then one that needs both, then the last one.
pub const TASKS: [DemoTask; 5] = [
    DemoTask {
        id: "plan",
        title: "Write down the plan",
        after: &[],
        file: "PLAN.md",
        work: "echo 'A parser, a printer, tests, docs.' > PLAN.md\n",
        content: "A parser, a printer, tests, docs.\n",
        waits: false,
    },
    DemoTask {
        id: "parser",
        title: "Write the parser",
        after: &["plan"],
        file: "parser.txt",
        // This agent commits its work itself; the others leave that to git axiom.
        work: "echo 'text becomes a tree' > parser.txt\ngit add parser.txt\ngit commit -q -m 'Add the parser'\n",
        content: "text becomes a tree\n",
        waits: true,
    },
    DemoTask {
        id: "printer",
        title: "Write the printer",
        after: &["plan"],
        file: "printer.txt",
        work: "echo 'a tree becomes text' > printer.txt\n",
        content: "a tree becomes text\n",
        waits: true,
    },
    DemoTask {
        id: "tests",
        title: "Test both together",
        after: &["parser", "printer"],
        file: "tests.txt",
        work: "cat parser.txt printer.txt > tests.txt\n",
        content: "text becomes a tree\na tree becomes text\n",
        waits: false,
    },
    DemoTask {
        id: "docs",
        title: "Document it",
        after: &["tests"],
        file: "DOCS.md",
        work: "echo 'How it works: see PLAN.md.' > DOCS.md\n",
        content: "How it works: see PLAN.md.\n",
        waits: false,
    },
];

/// After how many seconds a waiting agent goes on by itself, so that no process is left for long in any case.
const LONGEST_WAIT: u32 = 60;

impl DemoTask {
    /// The file that lets the agent go on.
    pub fn go(&self) -> String {
        format!("{}-may-go-on", self.id)
    }

    /// The shell script. It writes its start and end to `agents.log` in `folder`, with its process id.
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

/// The file to which the scripts write their start and end.
pub const LOG: &str = "agents.log";

/// The path, quoted for a shell.
pub fn quoted(path: &Path) -> String {
    quoted_word(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_odd_characters_is_one_word_of_the_shell() {
        assert_eq!(quoted(Path::new("/a b/it's $x")), "'/a b/it'\\''s $x'");
    }
}
