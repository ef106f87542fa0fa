// git axiom for opencode: each prompt becomes a point to go back to. Made from the source of git axiom; see docs/ATTACH.md there.
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

