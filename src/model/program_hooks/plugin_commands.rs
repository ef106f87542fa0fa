//! The commands that plugins bring to a program: `/axiom:prompts` and `/axiom:undo`. They are no prompts of their own.

/// With what the text of a command begins where a program sends that in its place.
pub const COMMAND_MARK: &str = "<git-axiom-command>";
const LISTS: &str = "List the prompts of this repository, what each changed, and how to go back";
const GOES_BACK: &str = "Go back to before the last prompt, or before the one with this number";
const SHOW: &str = "Show this list to the user as it is, in a code block, and add nothing. Call no tool.";
const PLAN: &str = "The user wants to go back to before a prompt. This is the plan of git axiom; nothing is changed yet:";

/// Of Claude Code, which asks the user before it runs what is kept for humans.
pub(super) fn claude_commands() -> [(&'static str, String); 2] {
    let head = |description: &str, tools: &str| {
        format!(
            "---\ndescription: {description}\nargument-hint: \"[NUMBER]\"\nallowed-tools: Bash({tools}:*)\n\
             disable-model-invocation: true\n---\n\n"
        )
    };
    let prompts = format!("{}!`git axiom prompts $ARGUMENTS`\n\n{SHOW}\n", head(LISTS, "git axiom prompts"));
    let undo = format!(
        "{}{PLAN}\n\n!`git axiom rollback --dry-run --prompt $ARGUMENTS`\n\n\
         Show this plan to the user as it is, in a code block. If there is something to change, call this once, with the number of\n\
         the prompt that the plan names, and nothing else:\n\n    git axiom rollback --yes --prompt NUMBER\n\n\
         Claude Code asks the user before it runs. If it is refused, try nothing else: print that command, for the user to type in a\n\
         terminal of their own. Once it is done, say so, and that `git axiom undo` takes it back. Files that you read before are out\n\
         of date then: read them again.\n",
        head(GOES_BACK, "git axiom rollback --dry-run")
    );
    [("prompts.md", prompts), ("undo.md", undo)]
}

/// Of Gemini CLI, whose hooks cannot ask: the user types the command.
pub(super) fn gemini_commands() -> [(&'static str, String); 2] {
    let command = |description: &str, text: &str| {
        format!("description = \"{description}\"\nprompt = \"\"\"\n{COMMAND_MARK}\n{text}\n\"\"\"\n")
    };
    let undo = format!(
        "{PLAN}\n\n!{{git axiom rollback --dry-run --prompt {{{{args}}}}}}\n\n\
         Show this plan to the user as it is, in a code block. Call no tool. If there is something to change, print this command,\n\
         with the number of the prompt that the plan names, for the user to type in a terminal of their own:\n\n    \
         git axiom rollback --prompt NUMBER\n\nSay that 'git axiom undo' takes it back."
    );
    [
        ("prompts.toml", command(LISTS, &format!("!{{git axiom prompts {{{{args}}}}}}\n\n{SHOW}"))),
        ("undo.toml", command(GOES_BACK, &undo)),
    ]
}
