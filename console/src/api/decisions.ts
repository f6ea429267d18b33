/** Decisions: rows for the table, the whole record, why, and replay. */

import { type Page, type RequestOptions, get, post } from "./client";

export interface DecisionRow {
  id: string;
  sequence?: number;
  at: string;
  host?: string;
  machine?: string;
  session?: string;
  thread?: string;
  agent?: string;
  user?: string;
  event: string;
  call?: string;
  caller?: string;
  tool?: string;
  what: string;
  verdict: string;
  reason?: string;
  hook?: string;
  file?: string;
  line?: number;
  dialect?: string;
  halt?: boolean;
  again?: boolean;
  ms?: number;
  outcome?: string | null;
  tags?: string[];
}

export interface DecisionFilter {
  q: string;
  host: string;
  machine: string;
  session: string;
  agent: string;
  event: string;
  tool: string;
  verdict: string;
  hook: string;
  tag: string;
  since: string;
}

export const FILTER_NAMES = [
  "q",
  "host",
  "machine",
  "session",
  "agent",
  "event",
  "tool",
  "verdict",
  "hook",
  "tag",
  "since",
] as const satisfies readonly (keyof DecisionFilter)[];

export function readFilter(query: URLSearchParams): DecisionFilter {
  const values = FILTER_NAMES.map((name) => [name, query.get(name) ?? ""]);
  return Object.fromEntries(values) as unknown as DecisionFilter;
}

/** The word that the table shows and filters by. */
export function verdictWord(row: { verdict: string; halt?: boolean }): string {
  return row.halt ? "halt" : row.verdict;
}

const EQUAL = ["host", "machine", "session", "agent", "event", "tool", "hook"] as const;

/** Whether a row that came live belongs into a list with this filter. The hub decides the same for older rows. */
export function matchesFilter(row: DecisionRow, filter: DecisionFilter): boolean {
  for (const name of EQUAL) if (filter[name] && row[name] !== filter[name]) return false;
  if (filter.verdict && verdictWord(row) !== filter.verdict) return false;
  if (filter.tag && !row.tags?.includes(filter.tag)) return false;
  if (!filter.q) return true;
  const text = [row.tool, row.hook, row.reason, row.host, row.agent, row.user, row.session, row.what].join(" ").toLowerCase();
  return filter.q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function listDecisions(
  filter: Partial<DecisionFilter>,
  options: { before?: string | number; limit: number; signal?: AbortSignal },
): Promise<Page<DecisionRow>> {
  const query: NonNullable<RequestOptions["query"]> = { ...filter, limit: options.limit };
  if (filter.since) query["since"] = sinceTime(filter.since);
  if (options.before !== undefined) query["before"] = options.before;
  return get("/decisions", options.signal ? { query, signal: options.signal } : { query });
}

export type Facts = Record<string, unknown>;

/** A line of a host's record, as it was written. */
export interface HostRecord {
  id: string;
  at: string;
  kind: string;
  event: string;
  facts?: Facts;
  notes?: { for: string; text: string }[];
  failures?: { hook: string; kind: string; text: string }[];
  approved?: boolean;
  by?: string;
  [key: string]: unknown;
}

export interface DecisionDetail extends DecisionRow {
  record: HostRecord;
  /** Other records about the same call: what came of it, who approved it. */
  related: HostRecord[];
}

export interface TraceEntry {
  hook: string;
  file: string;
  line: number;
  applied: boolean;
  why: string;
  outcome: Record<string, unknown> | null;
  error: string | null;
  ms: number;
}

export interface Explained {
  under: "then" | "now";
  decision: {
    verdict: string;
    reason: string;
    by: string | null;
    halt: boolean;
    facts: Facts;
    notes: { for: string; text: string }[];
    trace: TraceEntry[];
  };
  /** Hooks that took part, but whose text is not kept. */
  missing: { hook: string; file?: string; line?: number; outcome?: Record<string, unknown> | null }[];
  uncertain?: boolean;
}

export interface ReplayedDecision extends Explained {
  difference?: string;
  unknown?: string[];
}

export const showDecision = (id: string, signal: AbortSignal): Promise<DecisionDetail> =>
  get(`/decisions/${encodeURIComponent(id)}`, { signal });
export const explainDecision = (id: string, signal: AbortSignal): Promise<Explained> =>
  get(`/decisions/${encodeURIComponent(id)}/why`, { signal });
export const replayDecision = (id: string): Promise<ReplayedDecision> => post(`/decisions/${encodeURIComponent(id)}/replay`, {});

/** The input of the tool, or the prompt. */
export function inputOf(facts: Facts | undefined): unknown {
  const tool = facts?.["tool"];
  if (typeof tool === "object" && tool !== null && (tool as Facts)["input"] !== undefined) return (tool as Facts)["input"];
  return facts?.["prompt"];
}

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "24h" → the time that was 24 hours ago, as the API takes it. */
export function sinceTime(text: string, at: number = Date.now()): string {
  const found = /^(\d+)([mhd])$/.exec(text);
  return found ? new Date(at - Number(found[1]) * UNITS[found[2]!]!).toISOString() : text;
}
