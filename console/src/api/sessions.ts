/** Sessions of agents: those that run on this hub, and those of other hosts, which are shown only. */

import type { Moment } from "../parts/time";
import { type Page, get, post, remove } from "./client";

export interface SessionRow {
  id: string;
  host: string;
  agent?: string;
  workspace: string;
  user?: string;
  turns?: number;
  tool_calls?: number;
  decisions?: number;
  created: Moment;
  last_used: Moment;
  /** reported: it runs on another host, which told its decisions. */
  state: "working" | "idle" | "ended" | "reported";
  ended?: string | null;
}

/** Whether it runs on this hub, so that one can talk to it. */
export const isHere = (session: SessionRow): boolean => session.state !== "reported";

export interface StoredCall {
  id: string;
  function: { name: string; arguments?: string };
}

/** As models take them. */
export interface StoredMessage {
  role: string;
  content?: unknown;
  /** A list of calls, or its JSON. */
  tool_calls?: string | StoredCall[] | null;
  tool_call_id?: string;
}

export interface Diagnostic {
  file_path: string;
  severity_max: string;
  updated_at: Moment;
  items: { message: string; severity?: string; line?: number; column?: number; source?: string }[];
}

const pathOf = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

export const listSessions = (signal: AbortSignal): Promise<Page<SessionRow>> => get("/sessions", { signal });
export const showSession = (id: string, signal: AbortSignal): Promise<SessionRow> => get(pathOf(id), { signal });
export const listMessages = (id: string, signal: AbortSignal): Promise<Page<StoredMessage>> => get(`${pathOf(id)}/messages`, { signal });
export const listDiagnostics = (id: string, signal: AbortSignal): Promise<Page<Diagnostic>> => get(`${pathOf(id)}/diagnostics`, { signal });
export const startSession = (body: { agent?: string; workspace?: string }): Promise<SessionRow> => post("/sessions", body);
export const sendMessage = (id: string, text: string): Promise<void> => post(`${pathOf(id)}/messages`, { text });
export type SessionAction = "cancel" | "end" | "resume" | "reopen";
export const actOnSession = (id: string, action: SessionAction): Promise<void> => post(`${pathOf(id)}/${action}`);
export const exportSession = (id: string): Promise<unknown> => get(`${pathOf(id)}/export`);

/** A session that was imported has an agent of its own. `problems`: what of it is not used here. */
export interface ImportedSession {
  session: SessionRow;
  agent: string;
  problems: string[];
}

export const importSession = (session: unknown): Promise<ImportedSession> => post("/sessions/import", session);
export const deleteSession = (id: string): Promise<void> => remove(pathOf(id));

export const listWorkspaces = (signal: AbortSignal): Promise<Page<{ path: string }>> => get("/workspaces", { signal });
