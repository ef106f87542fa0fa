// For version 2 of opencode. Made by its documents alone, and not tried yet.
import { GitAxiom } from "./index.js"

const named = ({ tool, sessionID, id, input }) => ({ tool: tool === "shell" ? "bash" : tool, sessionID, callID: id, args: input })

export default {
  id: "git-axiom",
  async setup(ctx) {
    const hooks = await GitAxiom({ directory: ctx.location?.directory ?? process.cwd() })
    await ctx.session.hook("prompt", async (event) => {
      const parts = [{ type: "text", id: "", text: event.prompt?.text ?? "" }]
      await hooks["chat.message"]({ sessionID: event.sessionID }, { parts })
      // What the agent has to know: that a human went back.
      if (parts[1] && event.prompt) event.prompt.text += "\n\n" + parts[1].text
    })
    await ctx.tool.hook("execute.before", (event) => hooks["tool.execute.before"](named(event), { args: event.input }))
    await ctx.tool.hook("execute.after", (event) => hooks["tool.execute.after"](named(event), {}))
  },
}
