/** Add or edit a rule: its form, problems as you type, and what it would have changed. */

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, describeError } from "../../api/client";
import { inputOf, showDecision } from "../../api/decisions";
import { type Problem, type RuleSet, checkText, problemText, saveSet, showSet } from "../../api/rules";
import { CodeText } from "../../parts/code_text";
import { When, useLoad } from "../../parts/load";
import { Page } from "../../parts/page";
import { showToast } from "../../parts/toast";
import { go, query } from "../../router";
import { ActionFields } from "./action_fields";
import {
  EVENT_HELP,
  EVENT_TYPES,
  type EventType,
  type FloDocument,
  type RuleForm,
  type RulePlace,
  emptyAction,
  emptyForm,
  formFromDecision,
  formProblems,
  hasScript,
  hasTool,
  parseDocument,
  proposeId,
  readForm,
  ruleAt,
  withRule,
  writeDocument,
  writeRule,
} from "./flo_rules";
import { InputMatchers } from "./input_matchers";
import { PreviewPanel } from "./preview_panel";

const TYPING_PAUSE = 350;

interface Opened {
  set: RuleSet;
  document: FloDocument;
  place?: RulePlace;
  form: RuleForm;
}

export function RulePage({ set }: { set: string }): JSX.Element {
  const address = useComputed(() => query.value.toString()).value;
  const opened = useLoad(`${set}?${address}`, (signal) => open(set, new URLSearchParams(address), signal));
  const isNew = !opened.data?.place;
  return (
    <Page title={isNew ? "Add hook rule" : "Edit hook rule"} narrow crumbs={<a href={hooksPath(set)}>Hooks</a>}>
      <When loaded={opened}>{(data) => <RuleEditor key={address} opened={data} />}</When>
    </Page>
  );
}

function hooksPath(set: string): string {
  return set === "everyone" ? "/hooks" : `/hooks?set=${encodeURIComponent(set)}`;
}

async function open(id: string, address: URLSearchParams, signal: AbortSignal): Promise<Opened> {
  const set = await showSet(id, signal);
  const document = parseDocument(set.text);
  const from = address.get("from");
  if (from) {
    const decision = await showDecision(from, signal);
    return { set, document, form: formFromDecision(decision.event, decision.tool, inputOf(decision.record.facts)) };
  }
  const event = EVENT_TYPES.find((each) => each === address.get("event"));
  const place = event && address.has("index") ? { event, index: Number(address.get("index")) } : undefined;
  if (!place) return { set, document, form: emptyForm() };
  const rule = ruleAt(document, place);
  if (!rule) throw new ApiError(404, "This rule is not there any more.");
  return { set, document, place, form: readForm(place.event, rule) };
}

function RuleEditor({ opened }: { opened: Opened }): JSX.Element {
  const [form, setForm] = useState(opened.form);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [failure, setFailure] = useState("");
  const [conflict, setConflict] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [touched, setTouched] = useState(false);
  const change = (part: Partial<RuleForm>): void => {
    setTouched(true);
    setForm((old) => ({ ...old, ...part }));
  };
  const wrong = useMemo(() => formProblems(form), [form]);
  const isWrong = Object.keys(wrong).length > 0;
  const proposedId = useMemo(() => (opened.place ? "" : proposeId(form, opened.document)), [form]);
  const text = useMemo(() => {
    const rule = writeRule({ ...form, id: form.id || proposedId });
    return writeDocument(withRule(opened.document, rule, form.event, opened.place));
  }, [form]);

  useEffect(() => {
    if (isWrong) {
      setProblems([]);
      return;
    }
    let gone = false;
    const timer = window.setTimeout(() => {
      checkText(opened.set.id, text).then(
        (told) => !gone && setProblems(told.problems),
        () => undefined, // Save tells it
      );
    }, TYPING_PAUSE);
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [text, isWrong]);

  const save = async (): Promise<void> => {
    setTouched(true);
    if (isWrong) {
      document.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
      return;
    }
    setBusy(true);
    setFailure("");
    try {
      await saveSet(opened.set.id, { text, base: opened.set.head, note: noteFor(form, opened.place !== undefined) });
      showToast("Saved. The rule is in force.", "success");
      go(hooksPath(opened.set.id));
    } catch (error) {
      setBusy(false);
      if (error instanceof ApiError && error.status === 409) setConflict(true);
      else if (error instanceof ApiError && error.status === 422 && Array.isArray(error.detail)) setProblems(error.detail as Problem[]);
      else setFailure(describeError(error));
    }
  };

  return (
    <form
      class="rule-form"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <section class="card">
        <div class="form-row">
          <div class="field">
            <label for="event">Event type</label>
            <select id="event" value={form.event} onChange={(event) => change({ event: event.currentTarget.value as EventType })}>
              {EVENT_TYPES.map((event) => (
                <option key={event} value={event}>
                  {event}
                </option>
              ))}
            </select>
            <span class="hint">{EVENT_HELP[form.event]}</span>
          </div>
          {hasTool(form.event) && (
            <div class="field">
              <label for="matcher">Matcher</label>
              <input
                id="matcher"
                class="mono"
                value={form.matcher}
                placeholder="^bash$"
                spellcheck={false}
                autocomplete="off"
                aria-invalid={"matcher" in wrong}
                aria-describedby="matcher-hint"
                onInput={(event) => change({ matcher: event.currentTarget.value })}
              />
              {wrong["matcher"] ? (
                <span class="error" id="matcher-hint">
                  {wrong["matcher"]}
                </span>
              ) : (
                <span class="hint" id="matcher-hint">
                  A pattern for the tool's name; empty means every tool.
                </span>
              )}
            </div>
          )}
        </div>
        {hasTool(form.event) && <InputMatchers inputs={form.inputs} wrong={wrong} onChange={(inputs) => change({ inputs })} />}
      </section>

      {form.actions.map((action, index) => (
        <ActionFields
          key={index}
          index={index}
          count={form.actions.length}
          event={form.event}
          action={action}
          wrong={touched ? wrong : {}}
          onChange={(changed) => change({ actions: form.actions.map((each, at) => (at === index ? changed : each)) })}
          onRemove={() => change({ actions: form.actions.filter((_, at) => at !== index) })}
        />
      ))}

      <section class="card">
        <div class="form-row">
          <div class="field">
            <label for="priority">Priority</label>
            <input
              id="priority"
              inputMode="numeric"
              value={form.priority}
              placeholder="0"
              aria-invalid={"priority" in wrong}
              onInput={(event) => change({ priority: event.currentTarget.value })}
            />
            {wrong["priority"] ? <span class="error">{wrong["priority"]}</span> : <span class="hint">Higher numbers run first.</span>}
          </div>
          <div class="field">
            <span class="label">If it fails</span>
            <label class="check">
              <input type="checkbox" checked={form.continueOnError} onChange={(event) => change({ continueOnError: event.currentTarget.checked })} />
              Continue on error
            </label>
            <span class="hint">{form.continueOnError ? "A script that fails does not stop the call." : "A script that fails stops the call."}</span>
          </div>
        </div>
        <details class="more-fields">
          <summary>More</summary>
          <div class="form-row">
            <TextField id="id" title="Id" value={form.id} placeholder={proposedId} hint="Its name in reasons and in the record." onChange={(id) => change({ id })} />
            <TextField id="tags" title="Tags" value={form.tags} hint="Separated by commas." onChange={(tags) => change({ tags })} />
          </div>
          <div class="form-row">
            <label class="check">
              <input type="checkbox" checked={form.enabled} onChange={(event) => change({ enabled: event.currentTarget.checked })} />
              Enabled
            </label>
          </div>
          {hasScript(form) && (
            <div class="form-row">
              <div class="field">
                <label for="runs">Runs in</label>
                <select id="runs" value={form.runs || "page"} onChange={(event) => change({ runs: event.currentTarget.value === "hub" ? "hub" : "" })}>
                  <option value="page">page</option>
                  <option value="hub">hub</option>
                </select>
                <span class="hint">
                  {form.runs === "hub"
                    ? "The script runs on the hub, even while the agent's page is open: whoever has the page cannot change its answer."
                    : "The script runs in the agent's page while one is open, otherwise on the hub."}
                </span>
              </div>
            </div>
          )}
          <button type="button" onClick={() => change({ actions: [...form.actions, emptyAction("log")] })}>
            Add another action
          </button>
        </details>
      </section>

      {problems.length > 0 && (
        <ul class="problems" aria-label="Problems">
          {problems.map((problem, index) => (
            <li key={index} class="notice" data-level={problem.severity === "warning" ? "warning" : "error"}>
              <span>
                <CodeText text={problemText(problem)} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <PreviewPanel set={opened.set.id} text={text} disabled={isWrong} />
      {conflict && (
        <p class="notice" data-level="warning" role="alert">
          <span>Somebody else saved these rules meanwhile, so yours would undo theirs. Load them again and make your change there.</span>
          <button type="button" class="small" onClick={() => window.location.reload()}>
            Load again
          </button>
        </p>
      )}
      {failure && (
        <p class="notice" data-level="error" role="alert">
          {failure}
        </p>
      )}
      <div class="actions form-end">
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
        <a class="button" href={hooksPath(opened.set.id)}>
          Cancel
        </a>
      </div>
    </form>
  );
}

function noteFor(form: RuleForm, isEdit: boolean): string {
  const name = form.id.trim() || form.matcher || form.event;
  return `${isEdit ? "Edit" : "Add"} ${name}: ${form.actions.map(({ kind }) => kind).join(", ")}`;
}

interface TextFieldProps {
  id: string;
  title: string;
  value: string;
  placeholder?: string;
  hint: string;
  onChange: (text: string) => void;
}

function TextField({ id, title, value, placeholder = "", hint, onChange }: TextFieldProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{title}</label>
      <input id={id} value={value} placeholder={placeholder} autocomplete="off" onInput={(event) => onChange(event.currentTarget.value)} />
      <span class="hint">{hint}</span>
    </div>
  );
}
