
const LAST = { priority: -1000 } // OpenClaw uses the input of the handler that answers last
const MAX_REMEMBERED = 1000

const expand = (path) => (typeof path === "string" && path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)

export default {
  id: "hookline",
  name: "hookline",
  description: "Asks hookline about tools, prompts and stops.",
  register(api) {
    const workspaces = new Map() // session → its directory, which tool events do not say
    const denials = new Map() // run → why its prompt was denied

    const remember = (map, key, value) => {
      if (map.size >= MAX_REMEMBERED) map.clear()
      map.set(key, value)
    }

    // An error blocks the tool or the run: OpenClaw fails closed.
    const ask = async (name, event, ctx) => {
      if (!EVENTS.has(name)) return {}
      if (ctx?.workspaceDir) remember(workspaces, ctx.sessionKey, ctx.workspaceDir)
      const known = workspaces.get(ctx?.sessionKey) ?? expand(api.config?.agents?.defaults?.workspace) ?? process.cwd()
      const { messages, systemPrompt, ...input } = event ?? {}
      const { agentId, sessionId, sessionKey, runId } = ctx ?? {}
      const payload = { event: name, directory: known, input, context: { agentId, sessionId, sessionKey, runId } }
      try {
        const answer = await callLauncher(name, payload, undefined)
        if (answer.message) api.logger?.warn?.(answer.message)
        return answer
      } catch (error) {
        if (isOpen(error)) return {}
        throw new Error(explain(error))
      }
    }

    api.on("before_tool_call", async (event, ctx) => {
      const answer = await ask("before_tool_call", event, ctx)
      if (answer.deny) return { block: true, blockReason: answer.deny }
      const params = answer.input === undefined ? {} : { params: answer.input }
      if (!answer.ask) return params
      const approval = { title: "hookline", description: answer.ask, severity: "warning", allowedDecisions: ["allow-once", "deny"] }
      return { ...params, requireApproval: approval }
    }, LAST)
    api.on("after_tool_call", async (event, ctx) => {
      await ask("after_tool_call", event, ctx)
    })
    for (const name of ["session_start", "session_end"]) {
      api.on(name, async (event, ctx) => {
        await ask(name, event, ctx)
      })
    }
    // Those below need plugins.entries.hookline.hooks.allowConversationAccess.
    api.on("before_prompt_build", async (event, ctx) => {
      const answer = await ask("before_prompt_build", event, ctx).catch((error) => ({ deny: error.message }))
      if (answer.deny) remember(denials, ctx?.runId, answer.deny)
      if (answer.context) return { prependContext: answer.context }
    })
    api.on("before_agent_run", async (event, ctx) => {
      const reason = denials.get(ctx?.runId)
      denials.delete(ctx?.runId)
      if (reason) return { outcome: "block", block: true, reason }
    })
    api.on("before_agent_finalize", async (event, ctx) => {
      const answer = await ask("before_agent_finalize", event, ctx)
      if (answer.deny) return { action: "revise", reason: answer.deny }
    })
  },
}
