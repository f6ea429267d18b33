import type { StoredMessage } from "../../api/sessions";
import { type Chat, EMPTY_CHAT, addUserMessage, applyUpdate } from "./chat";

/** The chat of the stored messages of a session. */
export function chatOf(messages: readonly StoredMessage[], isRunning: boolean): Chat {
  let chat = EMPTY_CHAT;
  for (const message of messages) chat = addMessage(chat, message);
  return { ...applyUpdate(chat, "end", { ending: "answered" }), isRunning };
}

function addMessage(chat: Chat, message: StoredMessage): Chat {
  if (message.type) return applyUpdate(chat, message.type, message);
  const text = message.text ?? (typeof message.content === "string" ? message.content : "");
  if (!text) return chat;
  if (message.role === "user") return addUserMessage(chat, text);
  return applyUpdate(chat, message.role === "assistant" ? "text" : "line", { text, level: "info" });
}
