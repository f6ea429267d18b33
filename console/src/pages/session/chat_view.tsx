/** The chat of a session: what was said, each call with what hooks decided about it, and what came of it. */

import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { DiffView } from "../../parts/diff_view";
import { InputView } from "../../parts/input_view";
import { toText } from "../../parts/json";
import { Verdict } from "../../parts/verdict";
import { mainText } from "../approvals/approval_card";
import type { Chat, ChatCall, ChatItem } from "./chat";

/** `waiting`: calls about which a person is asked. */
export function ChatView({ chat, waiting }: { chat: Chat; waiting: ReadonlySet<string> }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const follow = useFollowing(box);
  useEffect(follow, [chat]);
  return (
    <div ref={box} class="chat" role="log" aria-label="Chat" tabIndex={0}>
      {chat.items.map((item) => (
        <ChatLine key={item.key} item={item} waiting={waiting} />
      ))}
      {chat.isRunning && (
        <p class="chat-working" role="status">
          <i />
          <i />
          <i />
          <span class="visually-hidden">The agent works</span>
        </p>
      )}
    </div>
  );
}

/** Keeps the end in view, also when the box shrinks, until the person scrolls up. Returns what to call after a change. */
function useFollowing(box: RefObject<HTMLDivElement | null>): () => void {
  const follows = useRef(true);
  const follow = (): void => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useEffect(() => {
    const scroller = box.current;
    if (!scroller) return undefined;
    let before = 0;
    const look = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = scroller;
      if (scrollTop + clientHeight > scrollHeight - 40) follows.current = true;
      else if (scrollTop < before) follows.current = false; // what was added since only makes the end further away
      before = scrollTop;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(scroller);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", look);
    };
  }, []);
  return follow;
}

function ChatLine({ item, waiting }: { item: ChatItem; waiting: ReadonlySet<string> }): JSX.Element {
  switch (item.kind) {
    case "user":
      return (
        <div class="chat-user">
          <p>{item.text}</p>
        </div>
      );
    case "agent":
      return (
        <div class="chat-agent" data-streaming={item.isStreaming}>
          {item.agent && <span class="chat-name">{item.agent}</span>}
          <p>{item.text}</p>
        </div>
      );
    case "call":
      return <CallView call={item} isWaiting={waiting.has(item.id)} />;
    case "decision":
      return (
        <p class="chat-note">
          <Verdict word={item.halt ? "halt" : item.verdict} /> {item.event} {item.reason && <span>{item.reason}</span>}
          {item.by && <code>{item.by}</code>}
        </p>
      );
    case "line":
      return (
        <p class="notice chat-notice" data-level={item.level}>
          <span>{item.text}</span>
          {item.hook && <code>{item.hook}</code>}
        </p>
      );
    case "end":
      return (
        <p class="chat-note muted">
          {item.ending}
          {item.text && `: ${item.text}`}
        </p>
      );
  }
}

const LONG = 600;

function CallView({ call, isWaiting }: { call: ChatCall; isWaiting: boolean }): JSX.Element {
  const { decision, result } = call;
  const verdict = decision && (decision.halt ? "halt" : decision.verdict);
  return (
    <div class="chat-call" data-ok={result ? result.ok : undefined}>
      <div class="chat-call-head">
        <strong>{call.tool}</strong>
        {call.caller && <span class="muted">called by {call.caller}</span>}
        {verdict && verdict !== "silent" && <Verdict word={verdict} />}
        {decision?.by && <code class="muted">{decision.by}</code>}
        <span class="chat-state muted">{!result ? (isWaiting ? "waits for approval" : "running…") : !result.ran ? "did not run" : result.ok ? "done" : "failed"}</span>
      </div>
      {call.left === undefined ? (
        <InputView input={mainText(call.input) ?? call.input} />
      ) : (
        <DiffView before={mainText(call.input) ?? toText(call.input)} after={mainText(call.left) ?? toText(call.left)} label="Input as written, and as the hooks left it" />
      )}
      {decision?.reason && <p class="muted">{decision.reason}</p>}
      {result?.text && !(decision?.reason && result.text.includes(decision.reason)) && (
        <details open={result.text.length < LONG}>
          <summary>{result.ok ? "Result" : "Error"}</summary>
          <pre class="code" tabIndex={0} role="region" aria-label={result.ok ? "Result" : "Error"}>
            {result.text}
          </pre>
        </details>
      )}
    </div>
  );
}
