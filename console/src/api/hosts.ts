/** The processes that report, and the state of their chains. */

import { type Page, get } from "./client";

export interface HostRow {
  id: string;
  kind: string;
  machine: string;
  user: string;
  workspace: string;
  pid: number | null;
  version: string;
  remote: boolean;
  running: boolean;
  first: number;
  last: number;
  /** Seconds since its last record. */
  ago: number;
  /** Seconds that its clock is ahead. */
  skew: number;
  records: number;
  gaps: number;
  lost: number;
  chain: "intact" | "incomplete" | "broken";
}

export interface HubProblem {
  hub: string;
  part: string;
  text: string;
  since: number;
  over: boolean;
}

export const listProblems = (): Promise<Page<HubProblem>> => get("/problems");

export const listHosts = (signal: AbortSignal): Promise<Page<HostRow>> => get("/hosts", { signal });
