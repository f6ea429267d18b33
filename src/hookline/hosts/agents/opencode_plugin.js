// Written by `hookline install opencode`, and taken away by `hookline uninstall opencode`.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const LAUNCHER = "THE LAUNCHER"
const EVENTS = new Set("THE EVENTS")
const TIMEOUT = "THE TIMEOUT"
const MISSING = "THE MISSING" // what happens where hookline is not installed
const ENVIRONMENT = { ...process.env, HOOKLINE_ENTRY: "THE ENTRY" }
const HELD = new Set(["tool.execute.before", "chat.message"])
const MOST_KEPT = 1000

function asked(event, payload, directory) {
  return new Promise((resolve, reject) => {
    const child = spawn(LAUNCHER, ["opencode", event], { cwd: directory, env: ENVIRONMENT, stdio: ["pipe", "pipe", "pipe"] })
    const out = []
    const err = []
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT)
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.stdout.on("data", (data) => out.push(data))
    child.stderr.on("data", (data) => err.push(data))
    child.stdin.on("error", () => {})
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) {
        reject(new Error(Buffer.concat(err).toString().trim() || `exit code ${code}`))
        return
      }
      try {
        resolve(JSON.parse(Buffer.concat(out).toString()) || {})
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

const textsIn = (output) => (output.parts || []).filter((part) => part.type === "text")

export const Hookline = async ({ client, directory, worktree }) => {
  const kept = new Map()

  const tell = (message) => {
    if (!message) return
    Promise.resolve(client?.tui?.showToast?.({ body: { message, variant: "warning" } })).catch(() => {})
  }

  // Where nobody could be asked, no tool runs and no prompt is sent; anything else goes on, and the user is told.
  const ask = async (event, input, output) => {
    if (!EVENTS.has(event)) return {}
    let answer
    try {
      answer = await asked(event, { event, directory, worktree, input, output }, directory)
    } catch (error) {
      const text = `hookline could not be asked: ${error.message}. Try: hookline doctor opencode`
      const open = error.code === "ENOENT" && MISSING === "open"
      if (HELD.has(event) && !open) throw new Error(text)
      tell(text)
      return {}
    }
    tell(answer.message)
    return answer
  }

  return {
    event: async ({ event }) => {
      await ask(event.type, event.properties, {})
    },
    "chat.message": async (input, output) => {
      const answer = await ask("chat.message", input, output)
      if (answer.deny) throw new Error(answer.deny)
      const texts = textsIn(output)
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
        if (kept.size >= MOST_KEPT) kept.clear()
        kept.set(input.callID, answer.context)
      }
    },
    "tool.execute.after": async (input, output) => {
      const before = kept.get(input.callID)
      kept.delete(input.callID)
      const answer = await ask("tool.execute.after", input, output)
      if (answer.result !== undefined) output.output = answer.result
      for (const context of [before, answer.context]) if (context) output.output = `${output.output}\n\n${context}`
    },
    "permission.ask": async (input, output) => {
      const answer = await ask("permission.ask", input, output)
      if (answer.status) output.status = answer.status
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await ask("experimental.session.compacting", input, output)
      if (answer.deny) throw new Error(answer.deny)
      if (answer.context) output.context.push(answer.context)
    },
  }
}
