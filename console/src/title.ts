/** The window's title: how many approvals wait, then the page. */

import { effect, signal } from "@preact/signals";

export const pageTitle = signal("");
export const waitingCount = signal(0);

effect(() => {
  const waiting = waitingCount.value ? `(${waitingCount.value}) ` : "";
  document.title = `${waiting}${pageTitle.value ? `${pageTitle.value} · ` : ""}hookline`;
});
