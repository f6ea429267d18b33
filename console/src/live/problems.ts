/** What does not work at the hub now. */

import { computed, effect } from "@preact/signals";
import { type HubProblem, listProblems } from "../api/hosts";
import { showToast } from "../parts/toast";
import { connections, onEvent } from "./bus";
import { LiveList } from "./live_list";

const REFRESH = 30_000; // pages that are not in the room `live` hear of no events

const keyOf = ({ hub, part }: HubProblem): string => `${hub} ${part}`;

const known = new LiveList(listProblems, keyOf);

export const problems = computed(() => [...known.items.value.values()].sort((one, other) => one.since - other.since));

export function take(problem: HubProblem): void {
  if (problem.part === "chain") {
    showToast(sentence(problem.text), "error"); // told once: the page Hosts shows it
    return;
  }
  if (problem.over) known.drop(keyOf(problem));
  else known.put(problem);
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** If it fails, the page itself says that the hub does not answer. */
export const load = (): Promise<void> => known.load();

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
