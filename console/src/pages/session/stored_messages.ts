import { type DecisionRow, verdictWord } from "../../api/decisions";
import type { StoredCall, StoredMessage } from "../../api/sessions";
import { type Chat, EMPTY_CHAT, addUserMessage, applyUpdate } from "./chat";

/** The chat of the stored messages of a session, with what was decided about its calls. */
export function chatOf(messages: readonly StoredMessage[], decisions: readonly DecisionRow[], isRunning: boolean): Chat {
  const decided = new Map(decisions.map((row) => [row.call ?? "", row]));
  let chat = EMPTY_CHAT;
  for (const message of messages) chat = addMessage(chat, message, decided);
  return { ...applyUpdate(chat, "end", { ending: "answered" }), isRunning };
}

function addMessage(chat: Chat, message: StoredMessage, decided: ReadonlyMap<string, DecisionRow>): Chat {
  const text = textOf(message.content);
  if (message.role === "user") return text ? addUserMessage(chat, text) : chat;
  if (message.role === "tool") {
    const about = decided.get(message.tool_call_id ?? "");
    const ran = about?.verdict !== "deny" && about?.outcome !== "refused";
    const ok = ran && about?.outcome !== "failed";
    return applyUpdate(chat, "result", { id: message.tool_call_id, ok, ran, content: text });
  }
  if (message.role !== "assistant") return chat;
  let said = text ? applyUpdate(chat, "text", { text }) : chat;
  for (const call of callsOf(message.tool_calls)) {
    const about = decided.get(call.id);
    const decision = about ? { verdict: verdictWord(about), reason: about.reason, by: about.hook } : {};
    said = applyUpdate(said, "call", { id: call.id, tool: call.function.name, input: inputOf(call.function.arguments ?? ""), ...decision });
  }
  return said;
}

function callsOf(given: StoredMessage["tool_calls"]): readonly StoredCall[] {
  const calls: unknown = typeof given === "string" ? inputOf(given) : given;
  return Array.isArray(calls) ? (calls as StoredCall[]).filter((call) => call?.function) : [];
}

function inputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : "")).join("");
}
