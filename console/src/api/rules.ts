/** Rule sets: texts in the flo format, with versions. And the hooks that files bring. */

import type { Moment } from "../parts/time";
import { type Page, get, post, put } from "./client";

export interface RuleSet {
  id: string;
  title: string;
  dialect?: string;
  /** The number of the last version; 0 if nothing was saved yet. */
  head: number;
  text: string;
}

export interface Problem {
  severity?: string;
  code?: string;
  file?: string;
  line?: number;
  what: string;
  hint?: string;
}

export interface RuleVersion {
  number: number;
  by: string;
  at: Moment;
  note: string;
  text?: string;
}

export interface PreviewDifference {
  id: string;
  at: string;
  host?: string;
  event: string;
  tool?: string | null;
  what?: string;
  difference: string;
  before: string;
  after: string;
  hook: string | null;
}

export interface Preview {
  events: number;
  /** Events on which a rule of this set took part. */
  heard: number;
  loosened: number;
  tightened: number;
  changed: number;
  /** The verdict would be another one, but facts were masked or cut when they were recorded: nobody knows. */
  undecided: number;
  same: number;
  items: PreviewDifference[];
  unknown: string[];
}

const pathOf = (set: string): string => `/rules/${encodeURIComponent(set)}`;

export const listSets = (signal?: AbortSignal): Promise<Page<RuleSet>> => get("/rules", signal ? { signal } : {});
export const showSet = (set: string, signal?: AbortSignal): Promise<RuleSet> => get(pathOf(set), signal ? { signal } : {});
export const saveSet = (set: string, body: { text: string; base: number; note: string }): Promise<RuleVersion> => put(pathOf(set), body);
export const checkText = (set: string, text: string): Promise<{ problems: Problem[] }> => post(`${pathOf(set)}/check`, { text });
export const previewText = (set: string, text: string, last: number): Promise<Preview> => post(`${pathOf(set)}/preview`, { text, last });
export const listVersions = (set: string, signal: AbortSignal): Promise<Page<RuleVersion>> => get(`${pathOf(set)}/versions`, { signal });
export const showVersion = (set: string, number: number, signal: AbortSignal): Promise<RuleVersion> =>
  get(`${pathOf(set)}/versions/${number}`, { signal });
export const rollBack = (set: string, to: number): Promise<RuleVersion> => post(`${pathOf(set)}/rollback`, { to });

export interface HookRow {
  id: string;
  event: string;
  file: string;
  path: string;
  line: number;
  dialect: string;
  condition: string;
  action: { name: string; value: string }[];
  tags: string[];
  fires: number;
  last_fire: Moment | null;
  enabled?: boolean;
  /** Where it is in force. */
  in: { machine: string; workspace: string; host: string; /** of this hub */ agent?: string }[];
}

export interface HookList {
  items: HookRow[];
  problems?: Problem[];
}

/** What a hook did lately. */
export interface HookCount {
  hook: string;
  file: string;
  ran: number;
  denied: number;
  asked: number;
  failed: number;
}

export const COUNTED_DAYS = 7;

/** Of all hooks that took part in a decision. */
export function listHookCounts(signal: AbortSignal): Promise<{ items: HookCount[] }> {
  const since = new Date(Date.now() - COUNTED_DAYS * 86_400_000).toISOString();
  return get("/stats", { query: { by: "hook", since }, signal });
}

/** How the file of a rule set's hooks begins: in a list of hooks, and in counts. */
export const RULES = "rules/";
export const COUNTED_RULES = "/hub/rules/";

export const listHooks = (signal: AbortSignal): Promise<HookList> => get("/hooks", { signal });

export function problemText(problem: Problem): string {
  return [problem.what, problem.hint].filter(Boolean).join(" ");
}
