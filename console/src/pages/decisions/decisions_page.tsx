/** Every decision of every host, live. */

import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { token } from "../../api/client";
import { type DecisionFilter, type DecisionRow, FILTER_NAMES, readFilter, verdictWord } from "../../api/decisions";
import { connections, join, onRows, onSnapshot } from "../../live/bus";
import { Icon } from "../../parts/icons";
import { Failure, Loading } from "../../parts/load";
import { isPhone } from "../../parts/media";
import { Empty, Page } from "../../parts/page";
import { formatFull, formatMilliseconds, formatShort } from "../../parts/time";
import { ToolName, Verdict } from "../../parts/verdict";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { query, setQuery } from "../../router";
import { WaitingAside } from "../approvals/waiting_aside";
import { type CallOutcome, DecisionFeed, Pulse } from "./feed";
import { FilterBar } from "./filter_bar";
import { PulseView } from "./pulse_view";

const COLUMNS: readonly Column<DecisionRow>[] = [
  { name: "time", title: "Time", cell: (row) => <span title={formatFull(row.at)}>{formatShort(row.at)}</span> },
  { name: "verdict", title: "Verdict", cell: verdictCell },
  { name: "host", title: "Host", cell: (row) => row.host },
  { name: "tool", title: "Tool", cell: (row) => <ToolName row={row} /> },
  { name: "what", title: "What", cell: (row) => row.what },
  { name: "by", title: "Hook", cell: (row) => row.hook },
  { name: "session", title: "Session", cell: (row) => row.session },
  { name: "ms", title: "Took", cell: (row) => formatMilliseconds(row.ms) },
];

const TOLD_OUTCOMES = ["failed", "approved", "refused"];

function verdictCell(row: DecisionRow): JSX.Element {
  const outcome = row.event === "tool.before" && row.outcome && TOLD_OUTCOMES.includes(row.outcome) ? row.outcome : "";
  return (
    <>
      <Verdict word={verdictWord(row)} />
      {outcome && <small>{outcome}</small>}
    </>
  );
}

function rowLabel(row: DecisionRow): string {
  return [formatShort(row.at), verdictWord(row), row.host, row.tool ?? row.event, row.what].filter(Boolean).join(", ");
}

export function DecisionsPage(): JSX.Element {
  const filterKey = useComputed(() => JSON.stringify(readFilter(query.value))).value;
  const pulse = useMemo(() => new Pulse(), [filterKey]);
  const feed = useMemo(() => {
    const filter = JSON.parse(filterKey) as DecisionFilter;
    return new DecisionFeed(filter, (row, at) => pulse.count(row, at));
  }, [filterKey]);
  const [paused, setPaused] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const [focused, setFocused] = useState(false);
  const frozen = paused || scrolled || focused;
  const resets = useSignal(0);

  useEffect(
    () => onRows(({ items, outcomes, dropped }) => feed.receive(items as DecisionRow[], dropped, outcomes as CallOutcome[])),
    [feed],
  );
  useEffect(() => join("live"), []);
  useEffect(() => onSnapshot((room) => void (room === "live" && feed.load())), [feed]);
  useEffect(() => () => feed.close(), [feed]);
  useEffect(() => void feed.load(), [feed, connections.value, token.value]);
  useEffect(() => feed.freeze(frozen), [feed, frozen]);

  const goLive = (): void => {
    setPaused(false);
    setFocused(false);
    setScrolled(false); // the table is made anew below, at its top, and tells nothing
    (document.activeElement as HTMLElement | null)?.blur();
    resets.value += 1;
  };
  const count = feed.ring.size;
  const version = feed.version.value;

  return (
    <Page
      title="Decisions"
      class="decisions-page"
      actions={
        <>
          <PulseView pulse={pulse} />
          <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            <Icon name={paused ? "play" : "pause"} />
            {paused ? "Resume" : "Pause"}
          </button>
        </>
      }
    >
      <FilterBar filter={feed.filter} offered={feed.offered.value} />
      <div class="decisions-columns">
        <div class="decisions-main">
          {frozen && feed.waiting.value > 0 && (
            <button type="button" class="primary small new-rows" onClick={goLive}>
              <Icon name="up" />
              {feed.waiting.value === 1 ? "1 new decision" : `${feed.waiting.value} new decisions`}
            </button>
          )}
          {feed.dropped.value > 0 && (
            <p class="notice" data-level="warning">
              {feed.dropped.value} decisions came too fast to be shown live. They are recorded; reload the page to see them.
            </p>
          )}
          {feed.failure.value !== undefined && <Failure failure={feed.failure.value} retry={() => void feed.load()} />}
          {!feed.isLoaded.value && feed.failure.value === undefined ? (
            <Loading />
          ) : count === 0 ? (
            <NothingYet filter={feed.filter} />
          ) : (
            <VirtualTable
              key={resets.value}
              label="Decisions"
              columns={COLUMNS}
              count={count}
              rowAt={(position) => feed.ring.at(position)}
              href={(row) => `/decisions/${encodeURIComponent(row.id)}`}
              rowLabel={rowLabel}
              rowHeight={isPhone.value ? 64 : 38}
              version={version}
              onScroll={(top) => setScrolled(top > 4)}
              onFocus={setFocused}
              onNearEnd={() => void feed.loadOlder()}
            />
          )}
        </div>
        <WaitingAside />
      </div>
    </Page>
  );
}

function NothingYet({ filter }: { filter: DecisionFilter }): JSX.Element {
  if (FILTER_NAMES.some((name) => filter[name])) {
    return (
      <Empty title="No decision matches these filters." icon="search">
        <button type="button" onClick={() => setQuery(Object.fromEntries(FILTER_NAMES.map((name) => [name, ""])))}>
          Clear filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No decision has been reported yet." icon="decisions">
      <p>Hosts of this user on this machine report by themselves. To try it:</p>
      <pre class="code">hookline run --demo</pre>
      <a href="/hosts">How other machines join</a>
    </Empty>
  );
}
