/** Who is signed in, and what they may do. */

import { signal } from "@preact/signals";
import { get, keepToken, post, remove } from "./api/client";
import { go } from "./router";

export type Role = "viewer" | "approver" | "editor" | "owner";

export interface Me {
  user: { id: string; name: string };
  role: Role;
  hub: {
    name: string;
    url: string;
    /** How long records are kept, in seconds, and how many at most. */
    record: { keep: number; most: number };
    /** How long a question of the hub's own agents waits, in seconds. */
    patience: number;
  };
}

const RANKS: Record<string, number> = { viewer: 0, approver: 1, editor: 2, owner: 3 };

export const me = signal<Me | null>(null);

export function may(role: Role): boolean {
  return me.value !== null && (RANKS[me.value.role] ?? -1) >= RANKS[role]!;
}

export async function loadMe(): Promise<void> {
  me.value = await get<Me>("/me");
}

/** Exchanges the one-time code of a link for a token. */
export async function enter(code: string): Promise<void> {
  const entered = await post<{ token: string }>("/enter", { code });
  keepToken(entered.token);
  await loadMe();
}

export async function signOut(): Promise<void> {
  try {
    await remove("/me");
  } finally {
    keepToken("");
    me.value = null;
    go("/", { replace: true });
  }
}

/** The code in the fragment of an enter link: `/#enter=…`. */
export function codeInAddress(): string {
  return new URLSearchParams(window.location.hash.slice(1)).get("enter") ?? "";
}
