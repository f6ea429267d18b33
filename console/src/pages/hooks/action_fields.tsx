import type { JSX } from "preact";
import { Editor } from "../../parts/editor";
import { ACTION_KINDS, type ActionForm, type ActionKind, type EventType, scriptNames, scriptVariables } from "./flo_rules";

const HELP: Record<ActionKind, string> = {
  deny: "Blocks it. The agent reads the reason.",
  allow: "Allows it. A deny of another rule still wins.",
  log: "Writes it to the log, and goes on.",
  script: "Runs JavaScript that may return a decision.",
  command: "Runs a shell command. It was written in a file; the form shows it but makes no new ones.",
};

interface ActionFieldsProps {
  index: number;
  count: number;
  event: EventType;
  action: ActionForm;
  wrong: Record<string, string>;
  onChange: (action: ActionForm) => void;
  onRemove: () => void;
}

export function ActionFields(props: ActionFieldsProps): JSX.Element {
  const { action, index, wrong, onChange } = props;
  const id = (name: string): string => (index ? `${name}-${index}` : name);
  const kinds = action.kind === "command" ? [...ACTION_KINDS, "command" as const] : ACTION_KINDS;
  return (
    <section class="card" aria-label={props.count > 1 ? `Action ${index + 1}` : "Action"}>
      <div class="form-row">
        <div class="field">
          <label for={id("action")}>{props.count > 1 ? `Action ${index + 1}` : "Action"}</label>
          <select id={id("action")} value={action.kind} onChange={(event) => onChange({ ...action, kind: event.currentTarget.value as ActionKind })}>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kind}
              </option>
            ))}
          </select>
          <span class="hint">{HELP[action.kind]}</span>
        </div>
        {(action.kind === "deny" || action.kind === "allow") && (
          <div class="field">
            <label for={id("reason")}>Reason</label>
            <input
              id={id("reason")}
              value={action.reason}
              placeholder={action.kind === "deny" ? "Dangerous command blocked" : ""}
              onInput={(event) => onChange({ ...action, reason: event.currentTarget.value })}
            />
          </div>
        )}
        {(action.kind === "script" || action.kind === "command") && (
          <div class="field">
            <label for={id("timeout")}>Timeout, in milliseconds</label>
            <input
              id={id("timeout")}
              inputMode="numeric"
              value={action.timeout}
              placeholder="5000"
              aria-invalid={`timeout-${index}` in wrong}
              onInput={(event) => onChange({ ...action, timeout: event.currentTarget.value })}
            />
            {wrong[`timeout-${index}`] && <span class="error">{wrong[`timeout-${index}`]}</span>}
          </div>
        )}
      </div>
      {action.kind === "script" && (
        <div class="field">
          <span class="label">JavaScript</span>
          <Editor
            label="JavaScript"
            language="javascript"
            value={action.script}
            names={scriptNames(props.event)}
            invalid={`script-${index}` in wrong}
            onInput={(script) => onChange({ ...action, script })}
          />
          {wrong[`script-${index}`] && <span class="error" role="alert">{wrong[`script-${index}`]}</span>}
          <p class="hint script-help">
            {scriptVariables(props.event).map(({ label, detail }) => (
              <span key={label}>
                <code>{label}</code> {detail}
              </span>
            ))}
            <span>
              <code>await callTool(name, input)</code>, <code>log(…)</code>
            </span>
            <span>
              <code>{"return { decision: 'deny', reason: '…' }"}</code>
            </span>
          </p>
        </div>
      )}
      {action.kind === "command" && <pre class="code">{action.command}</pre>}
      {props.count > 1 && (
        <div class="actions">
          <button type="button" class="small danger" onClick={props.onRemove}>
            Remove this action
          </button>
        </div>
      )}
    </section>
  );
}
