//! The agent programs that can be attached, as data: which of their events call us, and how their files say that.

/// An agent program.
#[derive(Debug, PartialEq, Eq)]
pub struct HookRecipe {
    /// Its name, as `git axiom hook` takes it.
    pub name: &'static str,
    /// How its makers call it.
    pub title: &'static str,
    /// What its file is like.
    pub format: HookFileFormat,
    /// Whose file it reads in a linked worktree.
    pub reach: SettingsFileReach,
    /// What the file of this user covers where there are several worktrees, in words after its name.
    pub covers: &'static str,
    /// What a human has still to do.
    pub then: Option<&'static str>,
}

/// Whose file of a project a program reads that is started in a linked worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFileReach {
    /// That worktree's own.
    Own,
    /// The main worktree's, which so covers new worktrees too; older versions that worktree's own, so both are written. It calls a handler
    /// that is the same in both once.
    MainAndOwn,
    /// The main worktree's, as soon as that worktree has the folder in which its own would be.
    MainBesideFolder,
}

/// What the file is like.
#[derive(Debug, PartialEq, Eq)]
pub enum HookFileFormat {
    /// JSON with lists of hooks by event.
    Json(JsonHookLayout),
    /// A file of our own: a plugin. `{CALL}` stands for the program and its arguments as JavaScript.
    Plugin(&'static str),
    /// YAML: our lines stand between two comments.
    Yaml,
}

/// How JSON says it.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonHookLayout {
    /// The events.
    pub events: &'static [RecipeEvent],
    /// Whether handlers stand in groups with a matcher, or by themselves.
    pub grouped: bool,
    /// Whether a handler may have arguments, so that no shell is needed.
    pub by_arguments: bool,
    /// The version that a new file needs.
    pub version: Option<u32>,
    /// The key of the name of a handler.
    pub named: bool,
    /// The event of a prompt: once it has fired, the net is there.
    pub prompt: &'static str,
}

/// An event that calls us.
#[derive(Debug, PartialEq, Eq)]
pub struct RecipeEvent {
    /// Its name.
    pub name: &'static str,
    /// For which tools.
    pub matcher: Option<&'static str>,
    /// The time limit, in the program's unit.
    pub timeout: Option<u32>,
    /// Whether the program does not wait.
    pub in_background: bool,
    /// Whether many a good session has none: that it has not fired says nothing.
    pub seldom: bool,
}

const fn on(name: &'static str, matcher: Option<&'static str>, timeout: Option<u32>) -> RecipeEvent {
    RecipeEvent { name, matcher, timeout, in_background: false, seldom: false }
}

const fn beside(name: &'static str, matcher: Option<&'static str>, timeout: Option<u32>) -> RecipeEvent {
    RecipeEvent { in_background: true, ..on(name, matcher, timeout) }
}

const fn seldom(event: RecipeEvent) -> RecipeEvent {
    RecipeEvent { seldom: true, ..event }
}

const CODEX_TOOLS: Option<&str> = Some("^(Bash|apply_patch)$");
const GEMINI_TOOLS: Option<&str> = Some("write_file|replace|run_shell_command");
const CURSOR_TOOLS: Option<&str> = Some("Shell|Write|Delete|StrReplace|ApplyPatch");

/// Of most programs.
const ALONE: &str = "covers this worktree alone; --user covers all, new ones too";

/// All of them. `WorktreeCreate` is in none: a hook there takes the place of git's own worktree.
pub static RECIPES: [HookRecipe; 6] = [
    HookRecipe {
        name: "claude",
        title: "Claude Code",
        format: HookFileFormat::Json(JsonHookLayout {
            events: &[
                on("SessionStart", None, Some(20)),
                on("UserPromptSubmit", None, Some(20)),
                on("PreToolUse", Some("Bash|PowerShell|Edit|Write|MultiEdit|NotebookEdit"), Some(20)),
                beside("PostToolUse", Some("Bash|PowerShell"), Some(60)),
                // Of a command that fails it tells in this way.
                seldom(beside("PostToolUseFailure", Some("Bash|PowerShell"), Some(60))),
                on("PostToolBatch", None, Some(20)),
                on("Stop", None, Some(60)),
                seldom(on("StopFailure", None, Some(60))),
                seldom(beside("SubagentStop", None, Some(60))),
                seldom(on("WorktreeRemove", None, Some(60))),
                seldom(on("SessionEnd", None, Some(5))),
            ],
            grouped: true,
            by_arguments: true,
            version: None,
            named: false,
            prompt: "UserPromptSubmit",
        }),
        reach: SettingsFileReach::MainAndOwn,
        covers: "covers all worktrees, new ones too, from Claude Code 2.1.211 on; older ones read each worktree's own file",
        then: None,
    },
    HookRecipe {
        name: "codex",
        title: "Codex",
        format: HookFileFormat::Json(JsonHookLayout {
            events: &[
                on("SessionStart", None, Some(20)),
                on("UserPromptSubmit", None, Some(20)),
                on("PreToolUse", CODEX_TOOLS, Some(20)),
                on("PostToolUse", CODEX_TOOLS, Some(60)),
                on("Stop", None, Some(60)),
                seldom(on("SubagentStop", None, Some(60))),
                seldom(on("Interrupt", None, Some(3))),
                seldom(on("SessionEnd", None, Some(3))),
            ],
            grouped: true,
            by_arguments: false,
            version: None,
            named: false,
            prompt: "UserPromptSubmit",
        }),
        reach: SettingsFileReach::MainBesideFolder,
        covers: "covers this worktree and the main one, and any other that has a folder .codex; --user covers all",
        then: Some("start codex once and trust the hooks: until then it skips them without a word"),
    },
    HookRecipe {
        name: "gemini",
        title: "Gemini CLI",
        format: HookFileFormat::Json(JsonHookLayout {
            events: &[
                on("SessionStart", None, Some(20_000)),
                on("BeforeAgent", None, Some(20_000)),
                on("BeforeTool", GEMINI_TOOLS, Some(20_000)),
                on("AfterTool", GEMINI_TOOLS, Some(60_000)),
                on("AfterAgent", None, Some(60_000)),
            ],
            grouped: true,
            by_arguments: false,
            version: None,
            named: true,
            prompt: "BeforeAgent",
        }),
        reach: SettingsFileReach::Own,
        covers: "covers only sessions started in this worktree's top folder; --user covers all",
        then: Some("start gemini in a folder that it trusts: elsewhere it runs no hooks"),
    },
    HookRecipe {
        name: "opencode",
        title: "opencode",
        format: HookFileFormat::Plugin(PLUGIN),
        reach: SettingsFileReach::Own,
        covers: ALONE,
        then: Some("restart opencode"),
    },
    HookRecipe {
        name: "cursor",
        title: "Cursor",
        format: HookFileFormat::Json(JsonHookLayout {
            events: &[
                on("beforeSubmitPrompt", None, None),
                on("preToolUse", CURSOR_TOOLS, None),
                on("postToolUse", CURSOR_TOOLS, None),
                on("stop", None, None),
            ],
            grouped: false,
            by_arguments: false,
            version: Some(1),
            named: false,
            prompt: "beforeSubmitPrompt",
        }),
        reach: SettingsFileReach::Own,
        covers: ALONE,
        then: None,
    },
    HookRecipe {
        name: "aider",
        title: "aider",
        format: HookFileFormat::Yaml,
        reach: SettingsFileReach::Own,
        covers: ALONE,
        then: Some("restart it; it tells of the ends of answers only: each is saved as the moment before your next prompt"),
    },
];

impl HookRecipe {
    /// The event whose hook makes the checkpoint that people go back to; `None`: any, since the program tells of no other.
    pub fn prompt(&self) -> Option<&'static str> {
        match &self.format {
            HookFileFormat::Json(json) => Some(json.prompt),
            HookFileFormat::Plugin(_) | HookFileFormat::Yaml => None,
        }
    }

    /// The names of its events; of a program without events in its file, what calls us there.
    pub fn events(&self) -> Vec<&'static str> {
        match &self.format {
            HookFileFormat::Json(json) => json.events.iter().map(|event| event.name).collect(),
            HookFileFormat::Plugin(_) => vec!["plugin"],
            HookFileFormat::Yaml => vec!["notifications"],
        }
    }

    /// Whether it calls us before each prompt.
    pub fn tells_of_prompts(&self) -> bool {
        !matches!(self.format, HookFileFormat::Yaml)
    }

    /// Whether that an event has not fired says nothing.
    pub fn is_seldom(&self, event: &str) -> bool {
        match &self.format {
            HookFileFormat::Json(json) => json.events.iter().any(|one| one.name == event && one.seldom),
            HookFileFormat::Plugin(_) | HookFileFormat::Yaml => false,
        }
    }
}

/// The program of this name.
pub fn recipe(name: &str) -> Option<&'static HookRecipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

/// With what our plugin begins.
pub const PLUGIN_MARK: &str = "// written by `git axiom attach opencode`";

/// What stands in a plugin for the program and its arguments.
pub const PLUGIN_CALL: &str = "{CALL}";

pub(super) const PLUGIN: &str = r#"// written by `git axiom attach opencode`; remove with `git axiom detach opencode`
import { spawn } from "node:child_process"
const [BIN, ...ARGS] = {CALL}
const TOOLS = /^(bash|edit|write|multiedit|patch|apply_patch)$/
const send = (o) => new Promise((done) => {
  let said = ""
  if (!BIN) return done({})
  const p = spawn(BIN, ARGS, { cwd: o.cwd, stdio: ["pipe", "pipe", "ignore"] })
  const t = setTimeout(() => { p.kill(); done({}) }, 20000)
  p.stdout.on("data", (d) => { said += d })
  p.on("error", () => { clearTimeout(t); done({}) })
  p.on("close", (code) => { clearTimeout(t); done({ code, said }) })
  p.stdin.on("error", () => {})
  p.stdin.end(JSON.stringify(o))
})
// What the agent has to know: that a human went back.
const told = (said) => { try { return JSON.parse(said).additionalContext } catch {} }
export const GitAxiom = async ({ client, directory, worktree }) => {
  const cwd = directory || worktree
  const o = (e, i, x) => ({ hook_event_name: e, session_id: i.sessionID, cwd, ...x })
  // A session that the program begins itself, for a part of the work, belongs to the one that began it.
  const parents = new Map()
  const asked = async (id) => {
    const late = new Promise((done) => setTimeout(done, 1000).unref?.())
    try { return (await Promise.race([client.session.get({ path: { id } }), late]))?.data?.parentID } catch {}
  }
  const first = async (id, depth = 0) => {
    if (!id || depth > 20) return id
    if (!parents.has(id)) parents.set(id, await asked(id))
    return parents.get(id) ? first(parents.get(id), depth + 1) : id
  }
  const whole = async (i) => ({ ...i, sessionID: await first(i.sessionID) })
  const tool = (i, args) => ({ tool_name: i.tool, tool_use_id: i.callID, tool_input: args })
  return {
    "chat.message": async (i, out) => {
      if (await first(i.sessionID) !== i.sessionID) return
      const texts = (out?.parts ?? []).filter((p) => p.type === "text" && !p.synthetic)
      const { said } = await send(o("UserPromptSubmit", i, { prompt: texts.map((p) => p.text).join("\n") }))
      const fact = told(said)
      if (fact && texts[0]) out.parts.push({ ...texts[0], id: texts[0].id + "0", text: fact, synthetic: true })
    },
    "tool.execute.before": async (i, out) => {
      if (!TOOLS.test(i.tool)) return
      const { code, said } = await send(o("PreToolUse", await whole(i), tool(i, out.args)))
      if (code === 2) throw new Error((said || "").trim() || "refused by git axiom")
    },
    "tool.execute.after": async (i, out) => {
      if (!TOOLS.test(i.tool)) return
      const fact = told((await send(o("PostToolUse", await whole(i), tool(i, i.args)))).said)
      if (fact && typeof out?.output === "string") out.output += "\n" + fact
    },
    event: async ({ event }) => {
      const about = event.properties
      if (about?.info?.id && /^session\.(created|updated)$/.test(event.type)) parents.set(about.info.id, about.info.parentID)
      const sessionID = about?.sessionID
      if (event.type === "session.idle" && await first(sessionID) === sessionID) await send(o("Stop", { sessionID }, {}))
    },
  }
}
"#;
