
const FAIL_CLOSED = new Set(["tool.execute.before", "chat.message"])
const MAX_PENDING = 1000

const textParts = (output) => (output.parts || []).filter((part) => part.type === "text")

export const Hookline = async ({ client, directory, worktree }) => {
  const pending = new Map() // call id → context for the result

  const showMessage = (message) => {
    if (!message) return
    Promise.resolve(client?.tui?.showToast?.({ body: { message, variant: "warning" } })).catch(() => {})
  }

  // If hookline does not answer, no tool runs and no prompt is sent. Everything else continues, with a message.
  const ask = async (event, input, output) => {
    if (!EVENTS.has(event)) return {}
    let answer
    try {
      answer = await callLauncher(event, { event, directory, worktree, input, output }, directory)
    } catch (error) {
      if (FAIL_CLOSED.has(event) && !isOpen(error)) throw new Error(explain(error))
      showMessage(explain(error))
      return {}
    }
    showMessage(answer.message)
    return answer
  }

  return {
    event: async ({ event }) => {
      await ask(event.type, event.properties, {})
    },
    "chat.message": async (input, output) => {
      const answer = await ask("chat.message", input, output)
      if (answer.deny) throw new Error(answer.deny)
      const texts = textParts(output)
      if (answer.prompt !== undefined) texts.forEach((part, index) => (part.text = index ? "" : answer.prompt))
      if (answer.context && texts.length) texts[texts.length - 1].text += `\n\n${answer.context}`
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", input, output)
      if (answer.deny) throw new Error(answer.deny)
      if (answer.args !== undefined) {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
      if (answer.context) {
        if (pending.size >= MAX_PENDING) pending.clear()
        pending.set(input.callID, answer.context)
      }
    },
    "tool.execute.after": async (input, output) => {
      const before = pending.get(input.callID)
      pending.delete(input.callID)
      const answer = await ask("tool.execute.after", input, output)
      if (answer.result !== undefined) output.output = answer.result
      for (const context of [before, answer.context]) if (context) output.output = `${output.output}\n\n${context}`
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await ask("experimental.session.compacting", input, output)
      if (answer.deny) throw new Error(answer.deny)
      if (answer.context) output.context.push(answer.context)
    },
  }
}
