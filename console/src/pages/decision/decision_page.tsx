/** One decision: what was asked, which hook decided, why no other did, and what came of it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../account";
import {
  type DecisionDetail,
  type Explained,
  type Facts,
  type HostRecord,
  type ReplayedDecision,
  explainDecision,
  inputOf,
  replayDecision,
  showDecision,
  verdictWord,
} from "../../api/decisions";
import { DiffView } from "../../parts/diff_view";
import { Icon } from "../../parts/icons";
import { InputView } from "../../parts/input_view";
import { Json, toText } from "../../parts/json";
import { Failure, type Loaded, Loading, When, useLoad } from "../../parts/load";
import { Page } from "../../parts/page";
import { Place } from "../../parts/place";
import { formatFull, formatMilliseconds } from "../../parts/time";
import { attempt } from "../../parts/toast";
import { Verdict } from "../../parts/verdict";
import { HookTrace } from "./hook_trace";

export function DecisionPage({ id }: { id: string }): JSX.Element {
  const decision = useLoad(id, (signal) => showDecision(id, signal));
  const why = useLoad(id, (signal) => explainDecision(id, signal));
  const title = decision.data ? `${verdictWord(decision.data)} ${decision.data.tool ?? decision.data.event}` : "Decision";
  return (
    <Page
      title={title}
      crumbs={<a href="/">Decisions</a>}
      heading={
        decision.data && (
          <span class="decision-title">
            <Verdict word={verdictWord(decision.data)} big />
            {decision.data.tool ?? decision.data.event}
          </span>
        )
      }
      actions={decision.data && <Actions decision={decision.data} />}
    >
      <When loaded={decision}>{(data) => <Detail decision={data} why={why} />}</When>
    </Page>
  );
}

function Actions({ decision }: { decision: DecisionDetail }): JSX.Element | null {
  if (!may("editor")) return null;
  return (
    <a class="button" href={`/hooks/everyone/rule?from=${encodeURIComponent(decision.id)}`}>
      <Icon name="plus" />
      New rule from this
    </a>
  );
}

function Detail({ decision, why }: { decision: DecisionDetail; why: Loaded<Explained> }): JSX.Element {
  const asked = inputOf(decision.record.facts);
  const left = why.data ? inputOf(why.data.decision.facts) : undefined;
  return (
    <div class="decision-columns">
      <div class="decision-main">
        {decision.reason && (
          <p class="decision-reason">
            {decision.reason}
            {decision.hook && (
              <span class="muted">
                {" "}
                — <HookPlace hook={decision.hook} file={decision.file} line={decision.line} />
              </span>
            )}
          </p>
        )}
        <InputCard asked={asked} left={left} />
        <section class="card">
          <header>
            <h2>Why</h2>
            <span class="muted">under the hooks that were in force</span>
          </header>
          <When loaded={why}>{(explained) => <HookTrace explained={explained} />}</When>
        </section>
        <Replay id={decision.id} verdict={verdictWord(decision)} />
        <Notes record={decision.record} />
        <Outcome decision={decision} />
        <details class="card">
          <summary>Raw record</summary>
          <Json value={decision.record} label="Raw record" />
        </details>
      </div>
      <aside class="card decision-facts" aria-label="About this decision">
        <FactList decision={decision} />
      </aside>
    </div>
  );
}

export function HookPlace(props: { hook: string; file?: string | undefined; line?: number | undefined }): JSX.Element {
  return (
    <>
      <code>{props.hook}</code>
      {props.file && (
        <>
          {" "}
          <Place file={props.file} line={props.line} />
        </>
      )}
    </>
  );
}

function InputCard({ asked, left }: { asked: unknown; left: unknown }): JSX.Element | null {
  if (asked === undefined) return null;
  const changed = left !== undefined && JSON.stringify(asked) !== JSON.stringify(left);
  return (
    <section class="card">
      <header>
        <h2>Input</h2>
        {changed && <span class="tag">changed by hooks</span>}
      </header>
      {changed ? (
        <DiffView before={toText(asked)} after={toText(left)} label="Input as written, and as the hooks left it" />
      ) : (
        <InputView input={asked} />
      )}
    </section>
  );
}

function Notes({ record }: { record: HostRecord }): JSX.Element | null {
  const failures = record.failures ?? [];
  const notes = record.notes ?? [];
  if (!failures.length && !notes.length) return null;
  return (
    <section class="card">
      <h2>Notes</h2>
      {failures.map((each, index) => (
        <p key={index} class="notice" data-level="warning">
          <code>{each.hook}</code> failed ({each.kind}): {each.text}
        </p>
      ))}
      {notes.map((each, index) => (
        <p key={index}>
          <span class="tag">for the {each.for}</span> {each.text}
        </p>
      ))}
    </section>
  );
}

function Outcome({ decision }: { decision: DecisionDetail }): JSX.Element | null {
  const answer = decision.related.find((each) => each.kind === "answer");
  const ended = decision.related.find((each) => each.event === "tool.after" || each.event === "tool.failed");
  if (!answer && !ended) return null;
  const tool = (ended?.facts?.["tool"] ?? {}) as Facts;
  const said = tool["result"] ?? tool["error"];
  return (
    <section class="card">
      <header>
        <h2>What came of it</h2>
        {decision.outcome && <span class="tag">{decision.outcome}</span>}
      </header>
      {answer && (
        <p>
          <Verdict word={answer.approved ? "approved" : "denied"} /> by {String(answer["by"] ?? "somebody")}
        </p>
      )}
      {said !== undefined && <pre class="code">{toText(said)}</pre>}
      {ended && (
        <p class="muted">
          <a href={`/decisions/${encodeURIComponent(ended.id)}`}>{ended.event}</a>, {formatFull(ended.at)}
        </p>
      )}
    </section>
  );
}

function FactList({ decision }: { decision: DecisionDetail }): JSX.Element {
  const facts = decision.record.facts ?? {};
  const rows: [string, JSX.Element | string | undefined][] = [
    ["Time", formatFull(decision.at)],
    ["Event", filterLink("event", decision.event)],
    ["Host", filterLink("host", decision.host)],
    ["Machine", filterLink("machine", decision.machine)],
    ["User", decision.user],
    ["Agent", filterLink("agent", decision.agent)],
    ["Session", decision.session && <a href={`/sessions/${encodeURIComponent(decision.session)}`}>{decision.session}</a>],
    ["Tool", filterLink("tool", decision.tool)],
    ["Hook", filterLink("hook", decision.hook)],
    ["Called by", decision.caller],
    ["Directory", typeof facts["cwd"] === "string" ? facts["cwd"] : undefined],
    ["Took", formatMilliseconds(decision.ms)],
    ["Record", <code key="record">{decision.id}</code>],
  ];
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

function filterLink(name: string, value: string | undefined): JSX.Element | undefined {
  return value ? <a href={`/?${name}=${encodeURIComponent(value)}`}>{value}</a> : undefined;
}

function Replay({ id, verdict }: { id: string; verdict: string }): JSX.Element {
  const [replayed, setReplayed] = useState<ReplayedDecision | "busy" | null>(null);
  const [failure, setFailure] = useState<unknown>();
  const run = async (): Promise<void> => {
    setReplayed("busy");
    setFailure(undefined);
    try {
      setReplayed(await replayDecision(id));
    } catch (error) {
      setReplayed(null);
      setFailure(error);
    }
  };
  return (
    <section class="card">
      <header>
        <h2>Under today's hooks</h2>
        <button type="button" onClick={() => void attempt(run)} disabled={replayed === "busy"}>
          <Icon name="play_back" />
          Replay under today's hooks
        </button>
      </header>
      {failure !== undefined && <Failure failure={failure} />}
      {replayed === "busy" && <Loading />}
      {replayed !== null && replayed !== "busy" && (
        <>
          <p class="replay-verdicts">
            <Verdict word={verdict} /> then, <Verdict word={verdictWord(replayed.decision)} /> today
            {replayed.difference && <span class="tag">{replayed.difference}</span>}
          </p>
          {replayed.decision.reason && <p>{replayed.decision.reason}</p>}
          {(replayed.unknown?.length ?? 0) > 0 && (
            <p class="notice" data-level="warning">
              Nobody knows what these would have said, because nothing was called for them: {replayed.unknown!.join(", ")}
            </p>
          )}
          <HookTrace explained={replayed} />
        </>
      )}
      {replayed === null && failure === undefined && <p class="muted">Decides the recorded event anew. Nothing is called or changed.</p>}
    </section>
  );
}
