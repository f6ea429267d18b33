/** Questions of agents that wait for a person, and their answers. */

import type { Moment } from "../parts/time";
import { type Page, get, post } from "./client";

export interface Approval {
  id: string;
  host?: string;
  machine?: string;
  user?: string;
  session?: string;
  agent?: string;
  call?: string;
  tool: string;
  input: unknown;
  reason?: string;
  hook?: string;
  can_edit?: boolean;
  created: Moment;
  expires?: Moment | null;
  state: string;
  by?: string | null;
  answered_at?: Moment | null;
  edited?: unknown;
  why?: string | null;
  /** The decision about the edited input, if hooks denied it. */
  denied_by?: { decision: string; hook: string; reason: string } | null;
}

export interface Answer {
  yes: boolean;
  input?: unknown;
  reason?: string;
  remember?: "session";
}

export const listApprovals = (state: string, signal?: AbortSignal): Promise<Page<Approval>> =>
  get("/approvals", signal ? { query: { state }, signal } : { query: { state } });
export const answerApproval = (id: string, answer: Answer): Promise<Approval> =>
  post(`/approvals/${encodeURIComponent(id)}/answer`, answer);
