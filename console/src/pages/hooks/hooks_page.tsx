/** Settings › Hooks: the rules of a set by event, and below them the hooks that files bring. */

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { may } from "../../account";
import { ApiError, describeError } from "../../api/client";
import { COUNTED_DAYS, COUNTED_RULES, type HookCount, type RuleSet, listHookCounts, listHooks, listSets, saveSet, showSet } from "../../api/rules";
import { connections, join, onEvent, onSnapshot } from "../../live/bus";
import { Confirm } from "../../parts/dialog";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { attempt, showToast } from "../../parts/toast";
import { Tags, Verdict } from "../../parts/verdict";
import { query, setQuery } from "../../router";
import { FileHooks } from "./file_hooks";
import {
  EVENT_HELP,
  EVENT_TYPES,
  type EventType,
  type FloDocument,
  type FloRule,
  type RulePlace,
  actionText,
  actionsOf,
  parseDocument,
  ruleAt,
  withRule,
  withoutRule,
  writeDocument,
} from "./flo_rules";

export const EVERYONE = "everyone";

export function HooksPage(): JSX.Element {
  const set = useComputed(() => query.value.get("set") ?? EVERYONE).value;
  const sets = useLoad("sets", listSets, connections.value);
  const chosen = useLoad(set, (signal) => showSet(set, signal), connections.value);
  const hooks = useLoad("hooks", listHooks, connections.value);
  const counts = useLoad("counts", listHookCounts, connections.value);
  const fires = counts.data && new Map(counts.data.items.filter(({ file }) => file === COUNTED_RULES + set).map((each) => [each.hook, each]));
  useEffect(() => {
    const ends = [
      join("live"),
      onSnapshot((room) => room === "live" && reload()),
      onEvent(({ type }) => type === "rules_changed" && reload()),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  const reload = (): void => {
    chosen.reload();
    hooks.reload();
    counts.reload();
  };
  const path = `/hooks/${encodeURIComponent(set)}`;
  return (
    <Page
      title="Hooks"
      lead="Rules made here are in force at once, on the hub and on machines that take its rules."
      actions={
        <>
          <a class="button" href={`${path}/history`}>
            <Icon name="clock" />
            History
          </a>
          {may("editor") && (
            <a class="button primary" href={`${path}/rule`}>
              <Icon name="plus" />
              Add hook rule
            </a>
          )}
        </>
      }
    >
      {(sets.data?.items.length ?? 0) > 1 && (
        <div class="field set-chooser">
          <label for="set">Rules for</label>
          <select id="set" value={set} onChange={(event) => setQuery({ set: event.currentTarget.value })}>
            {sets.data!.items.map((each) => (
              <option key={each.id} value={each.id}>
                {each.title || each.id}
              </option>
            ))}
          </select>
        </div>
      )}
      <When loaded={chosen}>{(data) => <RuleGroups set={data} fires={fires} reload={reload} />}</When>
      <FileHooks hooks={hooks} />
    </Page>
  );
}

interface RuleGroupsProps {
  set: RuleSet;
  /** By id, once they are known. */
  fires: ReadonlyMap<string, HookCount> | undefined;
  reload: () => void;
}

function RuleGroups({ set, fires, reload }: RuleGroupsProps): JSX.Element {
  const [deleting, setDeleting] = useState<RulePlace | null>(null);
  // Shown at once, until the saved rules are loaded: a switch must not flip back meanwhile.
  const [unsaved, setUnsaved] = useState<{ head: RuleSet["head"]; text: string } | null>(null);
  let document: FloDocument;
  try {
    document = parseDocument(unsaved?.head === set.head ? unsaved.text : set.text);
  } catch (failure) {
    return (
      <p class="notice" data-level="error">
        The rules of this set cannot be shown: {describeError(failure)}
      </p>
    );
  }
  const save = async (changed: FloDocument, note: string): Promise<void> => {
    const text = writeDocument(changed);
    setUnsaved({ head: set.head, text });
    await attempt(async () => {
      try {
        await saveSet(set.id, { text, base: set.head, note });
      } catch (failure) {
        setUnsaved(null);
        if (failure instanceof ApiError && failure.status === 409) showToast("Somebody else changed these rules. They are loaded again.", "warning");
        else throw failure;
      }
    });
    reload();
  };
  const events = EVENT_TYPES.filter((event) => document.hooks[event]?.length);
  if (!events.length) {
    return (
      <Empty title="No rule yet." icon="hooks">
        <p>Block a command, watch what agents do, or run JavaScript when they act.</p>
        {may("editor") && (
          <a class="button primary" href={`/hooks/${encodeURIComponent(set.id)}/rule`}>
            Add hook rule
          </a>
        )}
      </Empty>
    );
  }
  return (
    <>
      {events.map((event) => (
        <section key={event} class="rule-group">
          <header>
            <h2>{event}</h2>
            <span class="muted">{EVENT_HELP[event]}</span>
          </header>
          <ul class="list">
            {document.hooks[event]!.map((rule, index) => (
              <RuleItem
                key={index}
                set={set.id}
                event={event}
                index={index}
                rule={rule}
                fires={fires && rule.id !== undefined ? (fires.get(rule.id) ?? NEVER) : undefined}
                onEnable={(enabled) => void save(withEnabled(document, { event, index }, enabled), `${enabled ? "Enable" : "Disable"} ${nameOf(rule)}`)}
                onDelete={() => setDeleting({ event, index })}
              />
            ))}
          </ul>
        </section>
      ))}
      {deleting && (
        <Confirm
          title="Delete this rule?"
          text={`${describeRule(ruleAt(document, deleting))}. The history keeps it, so you can roll back.`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={() => void save(withoutRule(document, deleting), `Delete ${nameOf(ruleAt(document, deleting))}`)}
        />
      )}
    </>
  );
}

function withEnabled(document: FloDocument, place: RulePlace, enabled: boolean): FloDocument {
  const { enabled: _, ...rule } = ruleAt(document, place)!;
  return withRule(document, enabled ? rule : { ...rule, enabled: false }, place.event, place);
}

function nameOf(rule: FloRule | undefined): string {
  return rule?.id ?? rule?.matcher ?? "a rule";
}

function describeRule(rule: FloRule | undefined): string {
  return rule ? [rule.matcher && `Matcher ${rule.matcher}`, ...actionsOf(rule).map(actionText)].filter(Boolean).join(", ") : "";
}

interface RuleItemProps {
  set: string;
  event: EventType;
  index: number;
  rule: FloRule;
  fires: Pick<HookCount, "ran" | "failed"> | undefined;
  onEnable: (enabled: boolean) => void;
  onDelete: () => void;
}

function RuleItem({ set, event, index, rule, fires, onEnable, onDelete }: RuleItemProps): JSX.Element {
  const name = rule.id ?? `${event} rule ${index + 1}`;
  const enabled = rule.enabled !== false;
  return (
    <li class="rule" data-enabled={enabled}>
      <div class="rule-body">
        <p class="rule-line">
          {rule.matcher ? (
            <span>
              <span class="muted">Matcher:</span> <code>{rule.matcher}</code>
            </span>
          ) : (
            (event === "PreToolUse" || event === "PostToolUse") && <span class="muted">Every tool</span>
          )}
          {Object.entries(rule.inputMatchers ?? {}).map(([field, pattern]) => (
            <span key={field}>
              <span class="muted">Input:</span>{" "}
              <code>
                {field}={pattern}
              </code>
            </span>
          ))}
        </p>
        {actionsOf(rule).map((action, at) => (
          <p key={at} class="rule-line">
            <span class="muted">Action:</span>
            <Verdict word={action.action ?? "command"} />
            {(action.script !== undefined || action.command !== undefined) && (
              <code class="rule-script">{actionText(action).replace(/^(script|command): /, "")}</code>
            )}
            {action.reason && <span>“{action.reason}”</span>}
            {(action.continueOnError ?? rule.continueOnError) === false && <span class="tag">stops on error</span>}
            {rule.runs === "hub" && action.action === "script" && <span class="tag">runs on the hub</span>}
          </p>
        ))}
        <p class="rule-line rule-extra muted">
          {rule.id && <code>{rule.id}</code>}
          {rule.priority !== undefined && <span>priority {rule.priority}</span>}
          <Tags tags={rule.tags ?? []} />
          {!enabled && <span class="tag">off</span>}
          {rule.id && fires && <Fires hook={rule.id} {...fires} />}
        </p>
      </div>
      {may("editor") && (
        <div class="actions rule-actions">
          <label class="check">
            <input
              type="checkbox"
              role="switch"
              checked={enabled}
              onChange={(change) => onEnable(change.currentTarget.checked)}
              aria-label={`${name} is on`}
            />
            On
          </label>
          <a class="button small" href={`/hooks/${encodeURIComponent(set)}/rule?event=${event}&index=${index}`} aria-label={`Edit ${name}`}>
            Edit
          </a>
          <button type="button" class="small danger" onClick={onDelete} aria-label={`Delete ${name}`}>
            Delete
          </button>
        </div>
      )}
    </li>
  );
}

const NEVER = { ran: 0, failed: 0 };

function Fires({ hook, ran, failed }: { hook: string; ran: number; failed: number }): JSX.Element {
  const days = `in ${COUNTED_DAYS} days`;
  if (!ran) return <span>did not fire {days}</span>;
  return (
    <>
      <a href={`/?hook=${encodeURIComponent(hook)}`}>
        fired {ran === 1 ? "once" : `${ran.toLocaleString()} times`} {days}
      </a>
      {failed > 0 && <span class="tag">failed {failed === 1 ? "once" : `${failed.toLocaleString()} times`}</span>}
    </>
  );
}
