// Created by `hookline install THE_NAME`, removed by `hookline uninstall THE_NAME`.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const LAUNCHER = "THE LAUNCHER"
const EVENTS = new Set("THE EVENTS")
const TIMEOUT = "THE TIMEOUT"
const MISSING = "THE MISSING" // what to do if hookline is not installed
const ENVIRONMENT = { ...process.env, HOOKLINE_ENTRY: "THE ENTRY" }

const isOpen = (error) => error.code === "ENOENT" && MISSING === "open"

const explain = (error) =>
  error.code === "ENOENT" ? "THE MISSING MESSAGE" : `hookline did not answer: ${error.message}. Run: hookline doctor THE_NAME`

function parseAnswer(text) {
  const answer = JSON.parse(text)
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error(`${text.trim()} is no answer`)
  return answer
}

function callLauncher(event, payload, directory) {
  return new Promise((resolve, reject) => {
    const input = JSON.stringify(payload)
    const cwd = existsSync(directory) ? directory : undefined // an agent can remove its own directory
    const child = spawn(LAUNCHER, ["THE_NAME", event], { cwd, env: ENVIRONMENT, stdio: ["pipe", "pipe", "pipe"] })
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
        resolve(parseAnswer(Buffer.concat(out).toString()))
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(input)
  })
}
