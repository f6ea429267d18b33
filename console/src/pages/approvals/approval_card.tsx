/** One question with everything that is needed to answer it. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { may } from "../../account";
import { type Answer, type Approval, answerApproval } from "../../api/approvals";
import { ApiError, describeError } from "../../api/client";
import { Icon } from "../../parts/icons";
import { InputView } from "../../parts/input_view";
import { Ago, formatLeft, now, toDate } from "../../parts/time";
import { showToast } from "../../parts/toast";
import { drop } from "./waiting";

/** The one text that says what would be done; null if the input has several parts. */
export function mainText(input: unknown): string | null {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return null;
  const entries = Object.entries(input);
  const [only] = entries;
  return entries.length === 1 && only && typeof only[1] === "string" ? only[1] : null;
}

/** What the person typed, as an input of the same shape. Throws if it is not one. */
export function editedInput(text: string, original: unknown): unknown {
  if (typeof original === "string") return text;
  if (mainText(original) !== null) return { [Object.keys(original as object)[0]!]: text };
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("The input of a tool is an object: {…}");
  return parsed;
}

/** Nobody knows yet whether hooks let an edited call run. */
export function describeAnswer(tool: string, answer: Answer): [string, "success" | "info"] {
  if (!answer.yes) return [`Denied ${tool}.`, "info"];
  return answer.input === undefined ? [`Approved ${tool}.`, "success"] : [`Sent the edited ${tool} to its hooks.`, "info"];
}

interface ApprovalCardProps {
  approval: Approval;
  compact?: boolean;
  /** On the page of its session, no link leads there. */
  isInSession?: boolean;
}

export function ApprovalCard({ approval, compact, isInSession }: ApprovalCardProps): JSX.Element {
  const [editing, setEditing] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const [remember, setRemember] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const id = useId();
  const text = mainText(approval.input);

  const answer = async (yes: boolean): Promise<void> => {
    const body: Answer = { yes };
    if (reason.trim()) body.reason = reason.trim();
    if (remember && yes) body.remember = "session";
    try {
      if (yes && editing !== null) body.input = editedInput(editing, approval.input);
    } catch (wrong) {
      setFailure(describeError(wrong));
      return;
    }
    setBusy(true);
    setFailure("");
    try {
      await answerApproval(approval.id, body);
      drop(approval.id);
      showToast(...describeAnswer(approval.tool, body));
    } catch (error) {
      setBusy(false);
      setFailure(describeError(error));
      if (error instanceof ApiError && error.status === 409) {
        showToast(describeError(error), "warning");
        drop(approval.id);
      }
    }
  };

  return (
    <article class="card approval" aria-labelledby={id}>
      <header>
        <h3 id={id} class="approval-title">
          <span class="approval-tool">{approval.tool}</span>
          <span class="muted">{[approval.host, approval.agent, approval.machine].filter(Boolean).join(" · ")}</span>
        </h3>
        <TimeLeft approval={approval} />
      </header>
      {approval.reason && <p>{approval.reason}</p>}
      {text !== null ? (
        <pre class="code" tabIndex={0} role="region" aria-label="Input">
          {text}
        </pre>
      ) : (
        <InputView input={approval.input} />
      )}
      {editing !== null && (
        <div class="field">
          <label for={`${id}-edit`}>{text === null ? "Run this instead, as JSON" : "Run this instead"}</label>
          <textarea
            id={`${id}-edit`}
            class="mono"
            rows={Math.min(14, editing.split("\n").length + 1)}
            value={editing}
            spellcheck={false}
            onInput={(event) => setEditing(event.currentTarget.value)}
          />
          <span class="hint">Hooks decide about the edited input again.</span>
        </div>
      )}
      {!compact && (
        <p class="approval-meta muted">
          {approval.hook && (
            <span>
              asked by <code>{approval.hook}</code>
            </span>
          )}
          {approval.session && !isInSession && <a href={`/sessions/${encodeURIComponent(approval.session)}`}>its session</a>}
          <span>
            <Ago at={approval.created} />
          </span>
        </p>
      )}
      {failure && (
        <p class="notice" data-level="error" role="alert">
          {failure}
        </p>
      )}
      {may("approver") ? (
        <>
          {!compact && (
            <div class="approval-options">
              <div class="field">
                <label for={`${id}-reason`}>Reason, for the agent</label>
                <input id={`${id}-reason`} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
              </div>
              <label class="check">
                <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.currentTarget.checked)} />
                Approve the same call for this session
              </label>
            </div>
          )}
          <div class="approval-buttons">
            <button type="button" class="primary" disabled={isBusy} onClick={() => void answer(true)}>
              <Icon name="check" />
              {editing === null ? "Approve" : "Approve edited"}
            </button>
            {!compact && approval.can_edit !== false && (
              <button
                type="button"
                disabled={isBusy}
                aria-pressed={editing !== null}
                onClick={() => setEditing(editing === null ? (text ?? JSON.stringify(approval.input, null, 2)) : null)}
              >
                <Icon name="edit" />
                {editing === null ? "Edit" : "Do not edit"}
              </button>
            )}
            <button type="button" class="danger" disabled={isBusy} onClick={() => void answer(false)}>
              <Icon name="close" />
              Deny
            </button>
          </div>
        </>
      ) : (
        <p class="muted">Your role shows questions but does not answer them.</p>
      )}
    </article>
  );
}

function TimeLeft({ approval }: { approval: Approval }): JSX.Element | null {
  if (!approval.expires) return null;
  const left = toDate(approval.expires).getTime() - now.value;
  return (
    <span class="time-left" data-urgent={left < 30_000} title="Time left to answer">
      <Icon name="clock" />
      {formatLeft(left)}
      <span class="visually-hidden"> left</span>
    </span>
  );
}
