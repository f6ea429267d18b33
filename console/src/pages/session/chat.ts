/** A session as a list of things to show, built from stored messages and from what comes over the bus. */

export interface ChatDecision {
  verdict: string;
  reason: string;
  by: string | null;
  halt?: boolean;
}

export type ChatItem =
  | { kind: "user"; key: string; text: string }
  | { kind: "agent"; key: string; agent: string; text: string; isStreaming: boolean }
  | ChatCall
  | ({ kind: "decision"; key: string; event: string } & ChatDecision)
  | { kind: "line"; key: string; level: string; text: string; hook: string }
  | { kind: "end"; key: string; ending: string; text: string };

export interface ChatCall {
  kind: "call";
  key: string;
  id: string;
  tool: string;
  caller: string;
  input: unknown;
  /** The input as the hooks left it, if they changed it. */
  left: unknown;
  decision: ChatDecision | null;
  result: { ok: boolean; ran: boolean; text: string } | null;
}

export interface Chat {
  items: readonly ChatItem[];
  isRunning: boolean;
  lastKey: number;
}

export const EMPTY_CHAT: Chat = { items: [], isRunning: false, lastKey: 0 };

type Payload = Record<string, unknown>;
const text = (payload: Payload, name: string): string => (typeof payload[name] === "string" ? (payload[name] as string) : "");

function decisionOf(payload: Payload): ChatDecision {
  const by = payload["by"];
  return {
    verdict: text(payload, "verdict") || "silent",
    reason: text(payload, "reason"),
    by: typeof by === "string" ? by : null,
    halt: payload["halt"] === true,
  };
}

function add(chat: Chat, make: (key: string) => ChatItem, isRunning = chat.isRunning): Chat {
  const lastKey = chat.lastKey + 1;
  return { items: [...settled(chat.items), make(`c${lastKey}`)], isRunning, lastKey };
}

/** The last text is complete once something else comes. */
function settled(items: readonly ChatItem[]): readonly ChatItem[] {
  const last = items.at(-1);
  return last?.kind === "agent" && last.isStreaming ? [...items.slice(0, -1), { ...last, isStreaming: false }] : items;
}

export function addUserMessage(chat: Chat, message: string): Chat {
  return add(chat, (key) => ({ kind: "user", key, text: message }), true);
}

/** Without the last message of the person that says this: it could not be sent. */
export function withoutMessage(chat: Chat, message: string): Chat {
  const index = chat.items.findLastIndex((item) => item.kind === "user" && item.text === message);
  return index < 0 ? chat : { ...chat, items: chat.items.toSpliced(index, 1), isRunning: false };
}

/** The chat after an update of the session; unknown types change nothing. */
export function applyUpdate(chat: Chat, type: string, payload: Payload): Chat {
  switch (type) {
    case "text":
      return applyText(chat, payload);
    case "call":
      return applyCall(chat, payload);
    case "result":
      return applyResult(chat, payload);
    case "decision":
      return applyDecision(chat, payload);
    case "line":
      return add(chat, (key) => ({ kind: "line", key, level: text(payload, "level"), text: text(payload, "text"), hook: text(payload, "hook") }));
    case "retry": {
      const { items } = chat;
      const last = items.at(-1);
      const kept = last?.kind === "agent" && last.isStreaming ? items.slice(0, -1) : items; // its text is sent anew
      const told = `The model failed and is asked again: ${text(payload, "text")}`;
      return add({ ...chat, items: kept }, (key) => ({ kind: "line", key, level: "warning", text: told, hook: "" }));
    }
    case "compacted":
      return add(chat, (key) => ({ kind: "line", key, level: "info", text: "Older messages were summarised.", hook: "" }));
    case "subagent":
      return add(chat, (key) => ({ kind: "line", key, level: "info", text: `${text(payload, "child_agent")} was started: ${text(payload, "task")}`, hook: "" }));
    case "user":
      return applyMessage(chat, text(payload, "text"));
    case "end":
      return applyEnd(chat, payload);
    default:
      return chat;
  }
}

/** What was heard of a session: an update, or what the person wrote here. */
export type Heard = { type: string; payload: Payload } | { said: string };

export function applyHeard(chat: Chat, heard: Heard): Chat {
  return "said" in heard ? addUserMessage(chat, heard.said) : applyUpdate(chat, heard.type, heard.payload);
}

/** What of it is not in the stored messages yet: a text is stored when it is complete, with its calls. */
export function notStored(stored: Chat, heard: readonly Heard[]): readonly Heard[] {
  const calls = new Map(stored.items.flatMap((item) => (item.kind === "call" ? [[item.id, item.result !== null] as const] : [])));
  const lastSaid = stored.items.findLast((item) => item.kind === "user")?.text;
  const isStored = (each: Heard): boolean => {
    if ("said" in each) return each.said === lastSaid;
    if (each.type === "user") return text(each.payload, "text") === lastSaid;
    const id = text(each.payload, "id");
    return (each.type === "call" && calls.has(id)) || (each.type === "result" && calls.get(id) === true);
  };
  return withoutText(stored, heard.slice(heard.findLastIndex(isStored) + 1));
}

/** Without the pieces of the text with which the stored messages end. */
function withoutText(stored: Chat, heard: readonly Heard[]): readonly Heard[] {
  const last = stored.items.at(-1);
  const other = heard.findIndex((each) => !("type" in each) || each.type !== "text");
  const pieces = heard.slice(0, other < 0 ? heard.length : other);
  const said = pieces.map((each) => ("payload" in each ? text(each.payload, "text") : "")).join("");
  return last?.kind === "agent" && said && last.text.endsWith(said) ? heard.slice(pieces.length) : heard;
}

/** The hub tells it to everybody who watches, also to the page on which it was written and is shown already. */
function applyMessage(chat: Chat, message: string): Chat {
  const last = chat.items.at(-1);
  return last?.kind === "user" && last.text === message ? chat : addUserMessage(chat, message);
}

function applyText(chat: Chat, payload: Payload): Chat {
  const last = chat.items.at(-1);
  if (last?.kind === "agent" && last.isStreaming) {
    return { ...chat, isRunning: true, items: [...chat.items.slice(0, -1), { ...last, text: last.text + text(payload, "text") }] };
  }
  const item = { kind: "agent" as const, agent: text(payload, "agent"), text: text(payload, "text"), isStreaming: true };
  return add(chat, (key) => ({ ...item, key }), true);
}

function applyCall(chat: Chat, payload: Payload): Chat {
  const [input, left] = [payload["input"], payload["left"]];
  const call: Omit<ChatCall, "key"> = {
    kind: "call",
    id: text(payload, "id"),
    tool: text(payload, "tool"),
    caller: text(payload, "caller"),
    input,
    left: left !== undefined && JSON.stringify(left) !== JSON.stringify(input) ? left : undefined,
    decision: decisionOf(payload),
    result: null,
  };
  return add(chat, (key) => ({ ...call, key }), true);
}

function applyResult(chat: Chat, payload: Payload): Chat {
  const id = text(payload, "id");
  const index = chat.items.findLastIndex((item) => item.kind === "call" && item.id === id && item.result === null);
  if (index < 0) return chat;
  const ok = payload["ok"] === true;
  const result = { ok, ran: payload["ran"] !== false, text: text(payload, ok ? "content" : "error") || text(payload, "content") };
  const items = [...chat.items];
  items[index] = { ...(items[index] as ChatCall), result };
  return { ...chat, items };
}

function applyDecision(chat: Chat, payload: Payload): Chat {
  const decision = decisionOf(payload);
  if (decision.verdict === "silent" && !decision.halt) return chat;
  return add(chat, (key) => ({ kind: "decision", key, event: text(payload, "event"), ...decision }));
}

const QUIET_ENDINGS = ["answered"];

function applyEnd(chat: Chat, payload: Payload): Chat {
  const ending = text(payload, "ending");
  const done = { ...chat, items: settled(chat.items), isRunning: false };
  if (QUIET_ENDINGS.includes(ending)) return done;
  return add(done, (key) => ({ kind: "end", key, ending, text: text(payload, "text") }), false);
}
