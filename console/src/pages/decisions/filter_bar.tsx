/** Search and filters; they live in the address, so a filtered list can be shared and comes back after a reload. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionFilter } from "../../api/decisions";
import { Icon } from "../../parts/icons";
import { setQuery } from "../../router";
import { OFFERED, type Offered } from "./feed";

const VERDICTS = ["deny", "ask", "allow", "halt", "silent"];
const TIMES: readonly (readonly [string, string])[] = [
  ["15m", "last 15 minutes"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
];
const TITLES: Record<Offered, string> = { host: "Host", event: "Event", tool: "Tool", hook: "Hook" };
const CHIPS = ["session", "agent", "machine", "tag"] as const;
const TYPING_PAUSE = 200;

interface FilterBarProps {
  filter: DecisionFilter;
  offered: Readonly<Record<Offered, readonly string[]>>;
}

export function FilterBar({ filter, offered }: FilterBarProps): JSX.Element {
  const chips = CHIPS.filter((name) => filter[name]);
  return (
    <search class="filters">
      <SearchField value={filter.q} />
      <div class="filter-selects">
        <Choice name="verdict" title="Verdict" value={filter.verdict} values={VERDICTS} />
        {OFFERED.map((name) => (
          <Choice key={name} name={name} title={TITLES[name]} value={filter[name]} values={offered[name]} />
        ))}
        <select
          aria-label="Time"
          value={filter.since}
          data-active={filter.since !== ""}
          onChange={(event) => setQuery({ since: event.currentTarget.value })}
        >
          <option value="">Any time</option>
          {TIMES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {chips.length > 0 && (
        <div class="chips">
          {chips.map((name) => (
            <button key={name} type="button" class="chip" onClick={() => setQuery({ [name]: "" })}>
              <span class="ellipsis">
                {name}: {filter[name]}
              </span>
              <Icon name="close" />
              <span class="visually-hidden">Remove this filter</span>
            </button>
          ))}
        </div>
      )}
    </search>
  );
}

function SearchField({ value }: { value: string }): JSX.Element {
  const [text, setText] = useState(value);
  const timer = useRef<number>(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || target.closest("input, textarea, select")) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", focusSearch);
    return () => document.removeEventListener("keydown", focusSearch);
  }, []);
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-keyshortcuts="/"
        aria-label="Search decisions"
        placeholder="Search commands, paths, hooks, reasons…"
        value={text}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setText(typed);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => setQuery({ q: typed.trim() }), TYPING_PAUSE);
        }}
      />
    </div>
  );
}

interface ChoiceProps {
  name: string;
  title: string;
  value: string;
  values: readonly string[];
}

function Choice({ name, title, value, values }: ChoiceProps): JSX.Element {
  const shown = value && !values.includes(value) ? [value, ...values] : values;
  return (
    <select aria-label={title} value={value} data-active={value !== ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{title}: all</option>
      {shown.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}
