/** What does not work at the hub now. */

import { computed, effect, signal } from "@preact/signals";
import { type HubProblem, listProblems } from "../api/hosts";
import { showToast } from "../parts/toast";
import { connections, onEvent } from "./bus";

const REFRESH = 30_000; // pages that are not in the room `live` hear of no events

const known = signal<ReadonlyMap<string, HubProblem>>(new Map());

export const problems = computed(() => [...known.value.values()].sort((one, other) => one.since - other.since));

const keyOf = ({ hub, part }: HubProblem): string => `${hub} ${part}`;

export function take(problem: HubProblem): void {
  if (problem.part === "chain") {
    showToast(sentence(problem.text), "error"); // told once: the page Hosts shows it
    return;
  }
  const changed = new Map(known.value);
  if (problem.over) changed.delete(keyOf(problem));
  else changed.set(keyOf(problem), problem);
  known.value = changed;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

async function load(): Promise<void> {
  try {
    const { items } = await listProblems();
    known.value = new Map(items.map((each) => [keyOf(each), each]));
  } catch {
    // The page itself says that the hub does not answer.
  }
}

/** Until the returned function is called. */
export function watchProblems(): () => void {
  const timer = window.setInterval(() => void load(), REFRESH);
  const ends = [
    effect(() => {
      if (connections.value > 0) void load();
    }),
    onEvent((event) => {
      if (event.type === "problem") take(event.payload as unknown as HubProblem);
    }),
    () => window.clearInterval(timer),
  ];
  return () => ends.forEach((end) => end());
}
