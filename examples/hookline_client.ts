// Asks hookline before and after each tool call. Needs `hookline` on the PATH and nothing but Node's own modules.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { request } from "node:http";

export interface Decision {
  verdict: "silent" | "allow" | "ask" | "deny";
  reason: string;
  halt: boolean;
  facts: { tool?: { input?: unknown; result?: unknown; error?: string } };
  notes: { for: "agent" | "user"; text: string }[];
}

const session = randomUUID();
let socketPath = "";

function post(body: string): Promise<Decision> {
  socketPath ||= execFileSync("hookline", ["serve", "--background"], { encoding: "utf8" }).trim();
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request({ socketPath, path: "/decide", method: "POST", headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () =>
        answer.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(`hookline: ${text}`)));
    });
    call.on("error", reject).end(body);
  });
}

/** Rejects if there is no decision. Then nothing may proceed. */
export async function decide(event: string, facts: object): Promise<Decision> {
  const body = JSON.stringify({ version: 1, event, facts, host: "typescript", session, cwd: process.cwd() });
  return post(body).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ECONNREFUSED" && error.code !== "ENOENT") throw error;
    socketPath = ""; // the engine ends after half an hour without calls
    return post(body);
  });
}

/** A tool's `execute` under your hooks. `ask` asks the person if a hook wants that; without it, the answer is no. */
export function guard<Input, Output, Options>(
  name: string, execute: (input: Input, options: Options) => PromiseLike<Output> | Output,
  ask: (reason: string) => Promise<boolean> = async () => false,
): (input: Input, options: Options) => Promise<Output | string> {
  return async (input, options) => {
    const id = randomUUID();
    const before = await decide("tool.before", { tool: { id, name, input } });
    if (before.halt) throw new Error(before.reason);
    if (before.verdict === "deny" || (before.verdict === "ask" && !(await ask(before.reason)))) return before.reason;
    const tool = { id, name, input: before.facts.tool?.input };
    const ran = await Promise.resolve(tool.input as Input).then((given) => execute(given, options))
      .then((result) => ({ ok: true, result }), (error: unknown) => ({ ok: false, error: String(error) }));
    const after = await decide("tool.after", { tool: { ...tool, ...ran } });
    if (after.halt) throw new Error(after.reason);
    if (!ran.ok) throw new Error(after.facts.tool?.error ?? "the tool failed");
    return after.facts.tool?.result as Output;
  };
}
