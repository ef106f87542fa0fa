// git axiom for opencode: each prompt becomes a point to go back to. Made from the source of git axiom; see docs/ATTACH.md there.
import { spawn } from "node:child_process"
import { accessSync, constants, lstatSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"

const XDG = process.env.XDG_STATE_HOME ?? ""
const STATE = join(isAbsolute(XDG) ? XDG : join(homedir(), ".local/state"), "git-axiom")
const isThere = (path) => { try { lstatSync(path); return true } catch { return false } }
const runs = (file) => { try { accessSync(file, constants.X_OK); return statSync(file).isFile() } catch { return false } }
// Whether only you or root can write to it. Others may add to a folder above in which they can change nothing, such as /tmp.
const isOurs = (path, above) => {
  const { mode, uid } = statSync(path)
  if (uid !== 0 && uid !== process.getuid()) return false
  return (mode & 0o022) === 0 || (above && (mode & 0o1000) !== 0)
}
// Whether a folder, given without links, is in no worktree, and nobody else can change what is in it.
const isSafe = (folder) => {
  for (let at = folder; ; at = dirname(at)) {
    if (isThere(join(at, ".git")) || !isOurs(at, at !== folder)) return false
    if (at === dirname(at)) return true
  }
}
// The file that git axiom noted when it was set up, else the first one in a safe folder of the PATH.
const find = () => {
  try {
    const noted = readFileSync(join(STATE, "program"), "utf8").split("\n")[0]
    if (isAbsolute(noted) && runs(noted)) return noted
  } catch {}
  for (const entry of (process.env.PATH ?? "").split(":").filter((entry) => isAbsolute(entry))) {
    try {
      const file = join(realpathSync(entry), "git-axiom")
      const real = realpathSync(file)
      if (runs(file) && isSafe(dirname(file)) && isSafe(dirname(real)) && isOurs(real, false)) return file
    } catch {}
  }
}
// Nothing is saved: that is noted for `git axiom sessions`.
const note = (program, folderOfSession) => {
  try {
    const here = folderOfSession || process.cwd()
    const folder = join(STATE, "unstarted")
    const key = createHash("sha256").update(here).digest("hex").slice(0, 16)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, `${program}-${key}`), `${program}\n${Math.floor(Date.now() / 1000)}\n${here}\n`, { mode: 0o600 })
  } catch {}
}
const call = (program) => {
  const file = find()
  if (file) return [file, "hook", program, "--plugin"]
  note(program)
  return []
}

const [BIN, ...ARGS] = call("opencode")
const TOOLS = /^(bash|edit|write|multiedit|patch|apply_patch)$/
const send = (o) => new Promise((done) => {
  let said = ""
  if (!BIN) return done({})
  const p = spawn(BIN, ARGS, { cwd: o.cwd, stdio: ["pipe", "pipe", "ignore"] })
  const t = setTimeout(() => { p.kill(); done({}) }, 20000)
  p.stdout.on("data", (d) => { said += d })
  p.on("error", () => { note("opencode", o.cwd); clearTimeout(t); done({}) })
  p.on("close", (code) => { if (code === 126 || code === 127) note("opencode", o.cwd); clearTimeout(t); done({ code, said }) })
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
