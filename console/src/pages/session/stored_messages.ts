import type { StoredMessage } from "../../api/sessions";
import { type Chat, EMPTY_CHAT, addUserMessage, applyUpdate } from "./chat";

/** The chat of the stored messages of a session. */
export function chatOf(messages: readonly StoredMessage[], isRunning: boolean): Chat {
  let chat = EMPTY_CHAT;
  for (const message of messages) chat = addMessage(chat, message);
  return { ...applyUpdate(chat, "end", { ending: "answered" }), isRunning };
}

function addMessage(chat: Chat, message: StoredMessage): Chat {
  const text = textOf(message.content);
  if (message.role === "user") return text ? addUserMessage(chat, text) : chat;
  if (message.role === "tool") return applyUpdate(chat, "result", { id: message.tool_call_id, ok: true, content: text });
  if (message.role !== "assistant") return chat;
  let said = text ? applyUpdate(chat, "text", { text }) : chat;
  for (const call of message.tool_calls ?? []) {
    said = applyUpdate(said, "call", { id: call.id, tool: call.function.name, input: inputOf(call.function.arguments ?? "") });
  }
  return said;
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
