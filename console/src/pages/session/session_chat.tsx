/** A session's chat with its approvals, diagnostics, notifications and, if it runs here, a line to write in. */

import type { JSX } from "preact";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { may } from "../../account";
import { listDecisions } from "../../api/decisions";
import { type Diagnostic, type SessionRow, listDiagnostics, listMessages, sendMessage } from "../../api/sessions";
import { connections, join, onEvent, onSnapshot } from "../../live/bus";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { isPhone } from "../../parts/media";
import { type Level, attempt, showToast } from "../../parts/toast";
import { ApprovalCard } from "../approvals/approval_card";
import { waiting } from "../approvals/waiting";
import { type Chat, EMPTY_CHAT, type Heard, applyHeard, notStored, withoutMessage } from "./chat";
import { ChatView } from "./chat_view";
import { Diagnostics } from "./diagnostics";
import { chatOf } from "./stored_messages";

const CALLS = 500; // of which the decisions are shown

/** The chat, and what of it the stored messages do not have yet: they may be read while more is heard. */
interface Shown {
  chat: Chat;
  heard: readonly Heard[];
}

type Change = { stored: Chat } | { heard: Heard } | { notSent: string };

function change(shown: Shown, action: Change): Shown {
  if ("heard" in action) return { chat: applyHeard(shown.chat, action.heard), heard: [...shown.heard, action.heard] };
  if ("notSent" in action) {
    const heard = shown.heard.filter((each) => !("said" in each) || each.said !== action.notSent);
    return { chat: withoutMessage(shown.chat, action.notSent), heard };
  }
  const heard = notStored(action.stored, shown.heard);
  return { chat: heard.reduce(applyHeard, action.stored), heard };
}

interface SessionChatProps {
  session: SessionRow;
  /** At phone width, the page shows its end: the newest lines and the questions. */
  showsEnd?: boolean;
}

export function SessionChat({ session, showsEnd = false }: SessionChatProps): JSX.Element {
  const { id } = session;
  const room = `session:${id}`;
  const [{ chat }, dispatch] = useReducer<Shown, Change>(change, { chat: EMPTY_CHAT, heard: [] });
  const [diagnostics, setDiagnostics] = useState<ReadonlyMap<string, Diagnostic>>(new Map());
  const messages = useLoad(id, async (signal) => {
    const calls = { session: id, event: "tool.before" };
    const [stored, decided] = await Promise.all([listMessages(id, signal), listDecisions(calls, { limit: CALLS, signal })]);
    return { stored: stored.items, decided: decided.items };
  }, connections.value);

  useEffect(() => {
    if (messages.data) dispatch({ stored: chatOf(messages.data.stored, messages.data.decided, session.state === "working") });
  }, [messages.data]);
  useEffect(() => {
    const abort = new AbortController();
    listDiagnostics(id, abort.signal).then(
      ({ items }) => setDiagnostics(new Map(items.map((each) => [each.file_path, each]))),
      () => undefined,
    );
    const ends = [
      join(room),
      onSnapshot((about) => about === room && messages.reload()),
      onEvent((event) => {
        if (event.room !== room) return;
        if (event.type === "preview:resource_set") setDiagnostics((old) => withDiagnostic(old, event.payload));
        else if (event.type === "hook_notification") notify(event.payload);
        else dispatch({ heard: event });
      }),
    ];
    return () => {
      abort.abort();
      for (const end of ends) end();
    };
  }, [id]);

  const questions = waiting.value.filter((each) => each.session === id);
  useEndOfPage(showsEnd && isPhone.value, [chat, questions.length]);
  return (
    <div class="session-chat">
      <When loaded={messages}>{() => <ChatView chat={chat} waiting={new Set(questions.map(({ call }) => call ?? ""))} />}</When>
      <div class="session-extras">
        {questions.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} isInSession />
        ))}
        <Diagnostics diagnostics={[...diagnostics.values()]} />
      </div>
      {may("editor") && !session.ended && (
        <Composer
          isRunning={chat.isRunning}
          onSend={async (text) => {
            dispatch({ heard: { said: text } }); // before the answer can come
            const sent = await attempt(async () => {
              await sendMessage(id, text);
              return true;
            });
            if (!sent) dispatch({ notSent: text });
            return sent === true;
          }}
        />
      )}
    </div>
  );
}

/** Scrolls to the end of the page after each change, unless the person has scrolled up. */
function useEndOfPage(isOn: boolean, changes: readonly unknown[]): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    let before = 0;
    const look = (): void => {
      if (window.scrollY + window.innerHeight > document.documentElement.scrollHeight - 80) isAtEnd.current = true;
      else if (window.scrollY < before) isAtEnd.current = false;
      before = window.scrollY;
    };
    window.addEventListener("scroll", look, { passive: true });
    return () => window.removeEventListener("scroll", look);
  }, []);
  useEffect(() => {
    if (isOn && isAtEnd.current) window.scrollTo(0, document.documentElement.scrollHeight);
  }, [isOn, ...changes]);
}

function withDiagnostic(old: ReadonlyMap<string, Diagnostic>, payload: Record<string, unknown>): ReadonlyMap<string, Diagnostic> {
  const told = payload["payload"] as Diagnostic | undefined;
  if (payload["channel"] !== "diagnostics" || !told) return old;
  const changed = new Map(old);
  if (told.items.length) changed.set(told.file_path, told);
  else changed.delete(told.file_path);
  return changed;
}

const LEVELS: readonly string[] = ["info", "success", "warning", "error"];

function notify(payload: Record<string, unknown>): void {
  const level = String(payload["level"] ?? "info");
  const words = [payload["title"], payload["message"]].filter(Boolean).join(": ");
  showToast(words, LEVELS.includes(level) ? (level as Level) : "info");
}

function Composer({ isRunning, onSend }: { isRunning: boolean; onSend: (text: string) => Promise<boolean> }): JSX.Element {
  const [text, setText] = useState("");
  const submit = async (): Promise<void> => {
    const message = text.trim();
    if (!message) return;
    setText("");
    if (!(await onSend(message))) setText(message);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        aria-label="Message"
        placeholder={isRunning ? "The agent works. You can write meanwhile." : "Write to the agent"}
        rows={2}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void submit();
        }}
      />
      <button type="submit" class="primary" disabled={!text.trim()}>
        <Icon name="send" />
        Send
      </button>
    </form>
  );
}
