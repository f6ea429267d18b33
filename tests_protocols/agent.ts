import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

import { guard } from "./hookline_client.js";

const ran: string[] = [];
const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const commands = ["rm -rf build", "git push", "cat key", "fail", "ls"];
let turn = 0;

const model = new MockLanguageModelV3({
  doGenerate: async () => {
    const command = commands[turn++];
    const content = command === undefined
      ? [{ type: "text" as const, text: "done" }]
      : [{ type: "tool-call" as const, toolCallId: `c${turn}`, toolName: "bash", input: JSON.stringify({ command }) }];
    const finishReason = { unified: command === undefined ? ("stop" as const) : ("tool-calls" as const), raw: undefined };
    return { content, finishReason, usage, warnings: [] };
  },
});

const bash = tool({
  description: "Run a command.",
  inputSchema: z.object({ command: z.string() }),
  execute: guard("bash", async ({ command }: { command: string }) => {
    ran.push(command);
    if (command === "fail") throw new Error("exit code 1");
    return command === "cat key" ? "the key is KEY-1" : `ran ${command}`;
  }),
});

const result = await generateText({ model, tools: { bash }, prompt: "go", stopWhen: stepCountIs(10) });
const outputs = result.steps.flatMap((step) => step.content).filter((part) => part.type === "tool-result" || part.type === "tool-error");
console.log(JSON.stringify({ ran, outputs: outputs.map((part) => (part.type === "tool-result" ? part.output : String(part.error))), text: result.text }));
