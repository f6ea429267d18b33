/** Short messages in the corner, read aloud by assistive technology. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { describeError } from "../api/client";

export type Level = "info" | "success" | "warning" | "error";

interface Toast {
  id: number;
  level: Level;
  text: string;
}

const SHOWN_FOR = 6000;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function showToast(text: string, level: Level = "info"): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-3), { id, level, text }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((each) => each.id !== id);
  }, SHOWN_FOR);
}

/** Runs something that may fail and shows why it did. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (failure) {
    showToast(describeError(failure), "error");
    return undefined;
  }
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <div key={each.id} class="notice" data-level={each.level}>
          {each.text}
        </div>
      ))}
    </div>
  );
}
