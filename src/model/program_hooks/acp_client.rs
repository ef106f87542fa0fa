//! What an editor's configuration says so that it starts its agent through us: a text to put there.

use serde_json::{Value, json};

/// The clients whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // they are names
pub enum AcpClientProgram {
    Zed,
    Jetbrains,
    Codecompanion,
    AgentShell,
    Acpx,
}

/// An agent that clients know by a name of their own.
struct KnownAcpAgent {
    program: &'static str,
    arguments: &'static [&'static str],
    title: &'static str,
    codecompanion: &'static str,
    agent_shell: &'static str,
    acpx: &'static str,
}

const KNOWN: [KnownAcpAgent; 4] = [
    KnownAcpAgent {
        program: "claude-agent-acp",
        arguments: &[],
        title: "Claude Code",
        codecompanion: "claude_code",
        agent_shell: "agent-shell-anthropic-claude-acp-command",
        acpx: "claude",
    },
    KnownAcpAgent {
        program: "codex-acp",
        arguments: &[],
        title: "Codex",
        codecompanion: "codex",
        agent_shell: "agent-shell-openai-codex-acp-command",
        acpx: "codex",
    },
    KnownAcpAgent {
        program: "gemini",
        arguments: &["--acp"],
        title: "Gemini CLI",
        codecompanion: "gemini_cli",
        agent_shell: "agent-shell-google-gemini-acp-command",
        acpx: "gemini",
    },
    KnownAcpAgent {
        program: "opencode",
        arguments: &["acp"],
        title: "opencode",
        codecompanion: "opencode",
        agent_shell: "agent-shell-opencode-acp-command",
        acpx: "opencode",
    },
];

impl AcpClientProgram {
    /// All, with the words of the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("zed", Self::Zed),
        ("jetbrains", Self::Jetbrains),
        ("codecompanion", Self::Codecompanion),
        ("agent-shell", Self::AgentShell),
        ("acpx", Self::Acpx),
    ];

    /// The one with this word on the command line.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, client)| client)
    }

    /// Where its configuration is.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Zed => "settings.json of Zed (zed: open settings file)",
            Self::Jetbrains => "~/.jetbrains/acp.json",
            Self::Codecompanion => "the configuration of Neovim",
            Self::AgentShell => "the configuration of Emacs",
            Self::Acpx => "~/.acpx/config.json, or .acpxrc.json in the project",
        }
    }

    /// Its word on the command line.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    /// The clients whose configuration is a file of JSON, with the key below which agents are.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Zed | Self::Jetbrains => Some("agent_servers"),
            Self::Acpx => Some("agents"),
            Self::Codecompanion | Self::AgentShell => None,
        }
    }

    /// The name and the value of an agent below that key.
    pub fn entry(self, call: &[String], agent: &[String]) -> (String, Value) {
        let (name, known) = named(agent);
        let (command, arguments) = call.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut value = json!({"command": command, "args": arguments});
        let more = match self {
            Self::Zed => json!({"type": "custom", "env": {}}),
            Self::Jetbrains => json!({"env": {}}),
            Self::Acpx | Self::Codecompanion | Self::AgentShell => json!({}),
        };
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more);
        }
        let name = if self == Self::Acpx {
            known.map_or(name, |known| known.acpx.to_owned())
        } else {
            format!("{name}, with git axiom")
        };
        (name, value)
    }

    /// Its configuration for this call of ours, which starts `agent`; why not, where it has no place for that.
    pub fn config(self, call: &[String], agent: &[String]) -> Result<String, String> {
        if let Some(key) = self.key() {
            let (name, value) = self.entry(call, agent);
            return Ok(format!("{:#}\n", json!({key: {name: value}})));
        }
        let (name, known) = named(agent);
        let known =
            known.ok_or(format!("it has no setting for '{name}': set the command of its own configuration of that agent"))?;
        let adapter = known.codecompanion;
        Ok(match self {
            Self::AgentShell => format!("(setq {}\n      '({}))\n", known.agent_shell, quoted(call).join(" ")),
            Self::Zed | Self::Jetbrains | Self::Acpx | Self::Codecompanion => format!(
                "require(\"codecompanion\").setup({{\n  adapters = {{\n    acp = {{\n      {adapter} = function()\n        \
                 return require(\"codecompanion.adapters\").extend(\"{adapter}\", {{\n          commands = {{ default = {{ {} }} }},\n        \
                 }})\n      end,\n    }},\n  }},\n}})\n",
                quoted(call).join(", ")
            ),
        })
    }
}

/// How an agent is called, and what is known of it.
fn named(agent: &[String]) -> (String, Option<&'static KnownAcpAgent>) {
    let programs = || agent.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    let known = programs().find_map(|name| KNOWN.iter().find(|known| known.program == name));
    let name = known.map_or_else(|| programs().next().unwrap_or("agent"), |known| known.title);
    (name.to_owned(), known)
}

/// The agents that are known, each with its arguments.
pub fn known_agents() -> Vec<Vec<String>> {
    let words =
        |known: &KnownAcpAgent| std::iter::once(&known.program).chain(known.arguments).map(|word| (*word).to_owned()).collect();
    KNOWN.iter().map(words).collect()
}

/// The agent that is meant where none is named.
pub fn usual_agent() -> Vec<String> {
    vec![KNOWN[0].program.to_owned()]
}

/// Words in double quotes, with the escapes that Lua and Emacs Lisp share.
fn quoted(words: &[String]) -> Vec<String> {
    words.iter().map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn each_client_has_its_form() {
        let agent = words(&["npx", "@agentclientprotocol/claude-agent-acp"]);
        let call = words(&["/bin/git-axiom", "acp", "--", "a \"b\""]);
        let of = |client: AcpClientProgram| client.config(&call, &agent).unwrap();
        for client in [AcpClientProgram::Zed, AcpClientProgram::Jetbrains] {
            let value: Value = serde_json::from_str(&of(client)).unwrap();
            let server = &value["agent_servers"]["Claude Code, with git axiom"];
            assert_eq!((&server["command"], &server["args"][2]), (&json!("/bin/git-axiom"), &json!("a \"b\"")));
        }
        let value: Value = serde_json::from_str(&of(AcpClientProgram::Acpx)).unwrap();
        assert_eq!(value["agents"]["claude"]["args"][0], "acp");
        let lua = of(AcpClientProgram::Codecompanion);
        assert!(lua.contains("extend(\"claude_code\"") && lua.contains("\"--\", \"a \\\"b\\\"\" } }"), "{lua}");
        assert!(
            of(AcpClientProgram::AgentShell)
                .starts_with("(setq agent-shell-anthropic-claude-acp-command\n      '(\"/bin/git-axiom\" \"acp\"")
        );
    }

    #[test]
    fn an_agent_that_nobody_knows_has_its_own_name() {
        let agent = words(&["/opt/goose", "acp"]);
        let value: Value = serde_json::from_str(&AcpClientProgram::Zed.config(&agent, &agent).unwrap()).unwrap();
        assert!(value["agent_servers"]["goose, with git axiom"].is_object());
        assert!(AcpClientProgram::AgentShell.config(&agent, &agent).unwrap_err().contains("'goose'"));
        assert_eq!(AcpClientProgram::ALL.len(), 5);
    }
}
