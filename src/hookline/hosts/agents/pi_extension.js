
const FAIL_CLOSED = new Set(["tool_call", "input"])
const MAX_PENDING = 1000

export default function (pi) {
  const pending = new Map() // call id → context for the result

  const showMessage = (ctx, message) => {
    if (message && ctx.hasUI) ctx.ui.notify(message, "warning")
    else if (message) console.error(message)
  }

  // If hookline does not answer, no tool runs and no prompt is sent. Everything else continues, with a message.
  const ask = async (event, ctx) => {
    if (!EVENTS.has(event.type)) return {}
    const session = ctx.sessionManager?.getSessionId?.()
    const payload = { event: event.type, directory: ctx.cwd, session, hasUI: ctx.hasUI, input: plain(event) }
    try {
      const answer = await callLauncher(event.type, payload, ctx.cwd)
      showMessage(ctx, answer.message)
      return answer
    } catch (error) {
      if (FAIL_CLOSED.has(event.type) && !isOpen(error)) return { deny: explain(error) }
      showMessage(ctx, explain(error))
      return {}
    }
  }

  // Without the conversation, which hooks do not need.
  const plain = ({ type, reason, text, source, toolName, toolCallId, input, content, isError, outcome }) => ({
    type, reason, text, source, toolName, toolCallId, input, content, isError, outcome,
  })

  for (const name of ["session_start", "session_shutdown"]) {
    pi.on(name, async (event, ctx) => {
      await ask(event, ctx)
    })
  }
  pi.on("input", async (event, ctx) => {
    const answer = await ask(event, ctx)
    if (answer.deny) {
      showMessage(ctx, answer.deny)
      return { action: "handled" }
    }
    const text = answer.prompt ?? event.text
    if (answer.context) return { action: "transform", text: `${text}\n\n${answer.context}`, images: event.images }
    if (answer.prompt !== undefined) return { action: "transform", text, images: event.images }
  })
  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask(event, ctx)
    if (answer.deny) return { block: true, reason: answer.deny }
    if (answer.input !== undefined) {
      for (const key of Object.keys(event.input)) delete event.input[key]
      Object.assign(event.input, answer.input)
    }
    if (answer.ask) {
      const allowed = ctx.hasUI && (await ctx.ui.confirm("hookline", `${answer.ask}\n\n${JSON.stringify(event.input)}`))
      if (!allowed) return { block: true, reason: answer.ask }
    }
    if (answer.context) {
      if (pending.size >= MAX_PENDING) pending.clear()
      pending.set(event.toolCallId, answer.context)
    }
  })
  pi.on("tool_result", async (event, ctx) => {
    const before = pending.get(event.toolCallId)
    pending.delete(event.toolCallId)
    const answer = await ask(event, ctx)
    const result = answer.result === undefined ? event.content : [{ type: "text", text: answer.result }]
    const added = [before, answer.context].filter(Boolean).map((text) => ({ type: "text", text }))
    if (answer.result !== undefined || added.length) return { content: [...result, ...added] }
  })
  pi.on("agent_before_settle", async (event, ctx) => {
    const answer = await ask(event, ctx)
    if (!answer.deny) return
    const entry = { type: "custom_message", customType: "hookline", content: answer.deny, display: true }
    return { continue: true, entries: [entry] }
  })
  pi.on("session_before_compact", async (event, ctx) => {
    const answer = await ask(event, ctx)
    if (answer.deny) {
      showMessage(ctx, answer.deny)
      return { cancel: true }
    }
  })
}
