import { describe, expect, it } from "vitest";
import { chatOf } from "../src/pages/session/stored_messages";
import { type Chat, type ChatCall, EMPTY_CHAT, type Heard, addUserMessage, applyHeard, applyUpdate, notStored } from "../src/pages/session/chat";

const play = (...updates: [string, Record<string, unknown>][]): Chat =>
  updates.reduce((chat, [type, payload]) => applyUpdate(chat, type, payload), addUserMessage(EMPTY_CHAT, "hello"));

describe("a chat", () => {
  it("joins pieces of a text, and ends it when something else comes", () => {
    const chat = play(["text", { text: "I l" }], ["text", { text: "ook." }], ["call", { id: "1", tool: "bash", input: {}, left: {} }]);
    expect(chat.items.map((item) => item.kind)).toEqual(["user", "agent", "call"]);
    expect(chat.items[1]).toMatchObject({ text: "I look.", isStreaming: false });
    expect(chat.isRunning).toBe(true);
  });

  it("puts a result to its call, also when two run at once", () => {
    const chat = play(
      ["call", { id: "1", tool: "bash", input: { command: "a" }, left: { command: "a" }, verdict: "silent" }],
      ["call", { id: "2", tool: "bash", input: { command: "b" }, left: { command: "c" }, verdict: "allow", by: "pin" }],
      ["result", { id: "1", ok: true, ran: true, content: "A" }],
      ["result", { id: "2", ok: false, ran: false, error: "denied", content: "" }],
      ["result", { id: "9", ok: true, content: "nobody's" }],
    );
    const [first, second] = chat.items.slice(1) as ChatCall[];
    expect(first).toMatchObject({ left: undefined, result: { ok: true, text: "A" } });
    expect(second).toMatchObject({ left: { command: "c" }, decision: { by: "pin" }, result: { ok: false, ran: false, text: "denied" } });
  });

  it("throws away the text of a model call that is tried again", () => {
    const chat = play(["text", { text: "half" }], ["retry", { text: "overloaded" }], ["text", { text: "whole" }]);
    expect(chat.items.map((item) => item.kind)).toEqual(["user", "line", "agent"]);
    expect(chat.items[2]).toMatchObject({ text: "whole" });
  });

  it("shows decisions that say something, and none that are silent", () => {
    const chat = play(["decision", { event: "stop", verdict: "silent" }], ["decision", { event: "stop", verdict: "deny", reason: "Not yet." }]);
    expect(chat.items).toHaveLength(2);
  });

  it("ends quietly with an answer, and says why otherwise", () => {
    expect(play(["text", { text: "done" }], ["end", { ending: "answered", text: "done" }])).toMatchObject({ isRunning: false });
    expect(play(["end", { ending: "cancelled", text: "" }]).items.at(-1)).toMatchObject({ kind: "end", ending: "cancelled" });
  });

  it("ignores what it does not know", () => {
    expect(play(["telemetry", {}]).items).toHaveLength(1);
  });

  it("never uses a key twice", () => {
    const chat = play(["text", { text: "a" }], ["line", { text: "b" }], ["text", { text: "c" }], ["end", { ending: "failed" }]);
    expect(new Set(chat.items.map((item) => item.key)).size).toBe(chat.items.length);
  });
});

it("is built from stored messages", () => {
  const chat = chatOf(
    [
      { role: "system", content: "secret" },
      { role: "user", content: "Look." },
      { role: "assistant", content: "I look.", tool_calls: [{ id: "1", function: { name: "bash", arguments: '{"command": "ls"}' } }] },
      { role: "tool", tool_call_id: "1", content: "a b" },
      { role: "assistant", content: [{ text: "Two " }, { text: "files." }], tool_calls: '[{"id": "2", "function": {"name": "bash", "arguments": "rm"}}]' },
      { role: "tool", tool_call_id: "2", content: "No." },
    ],
    [{ id: "o-1", at: "", event: "tool.before", call: "2", what: "", verdict: "deny", hook: "no-rm", reason: "No." }],
    false,
  );
  expect(chat.items).toMatchObject([
    { kind: "user", text: "Look." },
    { kind: "agent", text: "I look.", isStreaming: false },
    { kind: "call", tool: "bash", input: { command: "ls" }, result: { ok: true, text: "a b" } },
    { kind: "agent", text: "Two files.", isStreaming: false },
    { kind: "call", input: "rm", decision: { verdict: "deny", by: "no-rm" }, result: { ok: false, ran: false } },
  ]);
  expect(chat.isRunning).toBe(false);
});

describe("what is heard while stored messages are read", () => {
  const said: Heard = { said: "Clean up." };
  const piece = (text: string): Heard => ({ type: "text", payload: { text } });
  const call: Heard = { type: "call", payload: { id: "call_1", tool: "bash", input: {} } };
  const result: Heard = { type: "result", payload: { id: "call_1", ok: true, content: "ok" } };
  const texts = (stored: Chat, ...heard: Heard[]): string[] =>
    notStored(stored, heard)
      .reduce(applyHeard, stored)
      .items.map((item) => (item.kind === "call" ? `${item.id} ${item.result?.text ?? ""}` : "text" in item ? item.text : item.kind));
  const userMessage = { role: "user", content: "Clean up." };
  const calling = { role: "assistant", content: "I look.", tool_calls: [{ id: "call_1", function: { name: "bash", arguments: "{}" } }] };

  it("shows a message once to the person who wrote it, and to the others", () => {
    const told: Heard = { type: "user", payload: { text: "Clean up." } };
    expect(texts(EMPTY_CHAT, said, told, piece("I "))).toEqual(["Clean up.", "I "]);
    expect(texts(EMPTY_CHAT, told, piece("I "))).toEqual(["Clean up.", "I "]);
    expect(texts(chatOf([userMessage], [], true), said, told, piece("I "))).toEqual(["Clean up.", "I "]);
  });

  it("is kept if nothing is stored yet", () => {
    expect(texts(EMPTY_CHAT, said, piece("I "), piece("look."))).toEqual(["Clean up.", "I look."]);
  });

  it("is not shown twice once it is stored", () => {
    expect(texts(chatOf([userMessage], [], true), said, piece("I "))).toEqual(["Clean up.", "I "]);
    expect(texts(chatOf([userMessage, calling], [], true), said, piece("I look."), call, result)).toEqual(["Clean up.", "I look.", "call_1 ok"]);
    const all = [userMessage, calling, { role: "tool", tool_call_id: "call_1", content: "ok" }, { role: "assistant", content: "Done." }];
    expect(texts(chatOf(all, [], false), said, piece("I look."), call, result, piece("Done."))).toEqual(["Clean up.", "I look.", "call_1 ok", "Done."]);
  });
});
