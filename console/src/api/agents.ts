/** Agents that run on this hub. */

import type { Moment } from "../parts/time";
import { type Page, get, patch, post, remove } from "./client";

export interface Agent {
  id: string;
  name: string;
  prompt: string;
  model: string;
  tools: string[];
  network: string[];
  workspace: string;
  by: string;
  created: Moment;
}

export type AgentForm = Pick<Agent, "name" | "prompt" | "model" | "tools" | "network">;

const pathOf = (id: string): string => `/agents/${encodeURIComponent(id)}`;

export const listAgents = (signal: AbortSignal): Promise<Page<Agent>> => get("/agents", { signal });
export const showAgent = (id: string, signal: AbortSignal): Promise<Agent> => get(pathOf(id), { signal });
export const addAgent = (form: AgentForm): Promise<Agent> => post("/agents", form);
export const changeAgent = (id: string, form: AgentForm): Promise<Agent> => patch(pathOf(id), form);
export const removeAgent = (id: string): Promise<void> => remove(pathOf(id));
