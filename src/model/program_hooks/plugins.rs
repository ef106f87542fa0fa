//! The plugins of agent programs: what stands in `hooks/plugins` of this project, made from the same table of events that `git axiom attach`
//! writes. A test compares them.

use serde_json::{Map, Value, json};

use super::command::{HookInvocation, LAUNCHER};
use super::edit::entry;
use super::plugin_commands::{claude_commands, gemini_commands};
use super::recipe::{HookFileFormat, HookRecipe, PLUGIN, PLUGIN_CALL, recipe};
use super::skill::plugin_skill;

/// A file of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFile {
    /// Its path in this project.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What programs call the plugin.
pub const PLUGIN_NAME: &str = "axiom";
/// What they call the list of our plugins.
pub const MARKETPLACE: &str = "git-axiom";
/// What Gemini CLI calls its extension, and npm the package for opencode.
pub const EXTENSION: &str = "git-axiom";
/// Where that package is in this project.
pub const PACKAGE: &str = "hooks/plugins/opencode";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const SAYS: &str = "The safety net for coding agents: each prompt becomes a point to go back to, in every repository";
const LAUNCH_SH: &str = include_str!("launchers/launch.sh");
const LAUNCH_JS: &str = include_str!("launchers/launch.js");
const V2_JS: &str = include_str!("launchers/v2.js");

/// Where the plugin of opencode learns that what it calls cannot be started: from node, and from a shell that takes it for a script.
const ON_ERROR: &str = "p.on(\"error\", () => { ";
const ON_CLOSE: &str = "p.on(\"close\", (code) => { ";

/// All of them.
pub fn plugin_files() -> Vec<PluginFile> {
    let mut all = vec![
        file(".claude-plugin/marketplace.json", &claude_marketplace()),
        file(".agents/plugins/marketplace.json", &codex_marketplace()),
        file("hooks/plugins/claude/.claude-plugin/plugin.json", &manifest()),
        file("hooks/plugins/codex/.codex-plugin/plugin.json", &codex_manifest()),
        file("hooks/plugins/gemini/gemini-extension.json", &extension()),
        file("hooks/plugins/opencode/package.json", &package()),
        text("hooks/plugins/opencode/index.js", opencode()),
        text("hooks/plugins/opencode/v2.js", V2_JS.to_owned()),
    ];
    for (name, folder) in [("claude", "${CLAUDE_PLUGIN_ROOT}"), ("codex", "${PLUGIN_ROOT}"), ("gemini", "${extensionPath}")] {
        let Some((recipe, hooks)) = recipe(name).and_then(|recipe| Some((recipe, hooks(recipe, folder)?))) else { continue };
        let name = recipe.name;
        all.push(file(&format!("hooks/plugins/{name}/hooks/hooks.json"), &hooks));
        all.push(text(&format!("hooks/plugins/{name}/{LAUNCHER}"), LAUNCH_SH.to_owned()));
        all.push(text(&format!("hooks/plugins/{name}/skills/git-axiom/SKILL.md"), plugin_skill()));
    }
    let of = |folder: &str, commands: [(&str, String); 2]| {
        commands.map(|(name, command)| text(&format!("hooks/plugins/{folder}/{name}"), command))
    };
    all.extend(of("claude/commands", claude_commands()));
    all.extend(of("gemini/commands/axiom", gemini_commands()));
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

fn file(path: &str, value: &Value) -> PluginFile {
    text(path, format!("{value:#}\n"))
}

fn text(path: &str, text: String) -> PluginFile {
    PluginFile { path: path.to_owned(), text }
}

/// The hooks of a program, which call the launcher in the folder that the program calls so.
fn hooks(recipe: &HookRecipe, folder: &'static str) -> Option<Value> {
    let HookFileFormat::Json(layout) = &recipe.format else { return None };
    let caller = HookInvocation::Launcher(folder);
    let of = |event| vec![entry(recipe, layout, event, &caller)].into();
    let hooks: Map<String, Value> = layout.events.iter().map(|event| (event.name.to_owned(), of(event))).collect();
    Some(json!({ "hooks": hooks }))
}

fn manifest() -> Value {
    json!({"name": PLUGIN_NAME, "version": VERSION, "description": SAYS, "author": {"name": "git axiom"},
        "license": "MIT OR Apache-2.0", "keywords": ["git", "checkpoint", "undo", "rollback"]})
}

fn claude_marketplace() -> Value {
    json!({"name": MARKETPLACE, "owner": {"name": "git axiom"}, "metadata": {"description": SAYS},
        "plugins": [{"name": PLUGIN_NAME, "source": "./hooks/plugins/claude", "description": SAYS}]})
}

fn codex_marketplace() -> Value {
    json!({"name": MARKETPLACE, "interface": {"displayName": "git axiom"}, "plugins": [{"name": PLUGIN_NAME,
        "source": {"source": "local", "path": "./hooks/plugins/codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}, "category": "Productivity"}]})
}

fn codex_manifest() -> Value {
    let mut manifest = manifest();
    manifest["skills"] = "./skills/".into();
    manifest["hooks"] = "./hooks/hooks.json".into();
    manifest["interface"] = json!({"displayName": "git axiom", "shortDescription": SAYS, "developerName": "git axiom",
        "category": "Productivity"});
    manifest
}

fn extension() -> Value {
    json!({"name": EXTENSION, "version": VERSION, "description": SAYS})
}

/// Version 1 of opencode takes `./server`; version 2, by its documents, the package itself.
fn package() -> Value {
    json!({"name": EXTENSION, "version": VERSION, "description": SAYS, "license": "MIT OR Apache-2.0", "type": "module",
        "main": "index.js", "exports": {".": "./v2.js", "./server": "./index.js"}, "files": ["index.js", "v2.js"]})
}

/// What `attach` writes, with what finds git axiom in place of its path.
fn opencode() -> String {
    let body = PLUGIN.split_once('\n').map_or(PLUGIN, |(_, body)| body);
    let (import, body) = body.split_once('\n').unwrap_or(("", body));
    format!(
        "{}{}",
        LAUNCH_JS.replacen("\nimport", &format!("\n{import}\nimport"), 1),
        body.replace(PLUGIN_CALL, "call(\"opencode\")")
            .replace(ON_ERROR, &format!("{ON_ERROR}note(\"opencode\", o.cwd); "))
            .replace(ON_CLOSE, &format!("{ON_CLOSE}if (code === 126 || code === 127) note(\"opencode\", o.cwd); "))
    )
}
