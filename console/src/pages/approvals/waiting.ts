/** The approvals that wait, kept up to date for the badge, the page, the list beside the decisions and the chat. */

import { computed, effect, signal } from "@preact/signals";
import { may } from "../../account";
import { type Approval, listApprovals } from "../../api/approvals";
import { connections, join, onEvent, onSnapshot } from "../../live/bus";
import { LiveList } from "../../live/live_list";
import { now, toDate } from "../../parts/time";
import { waitingCount } from "../../title";

const known = new LiveList(
  () => listApprovals("waiting"),
  (approval) => approval.id,
);
/** Counts up when an approval was answered, here or elsewhere. */
export const answered = signal(0);
export const failure = known.failure;

function isOpen(approval: Approval, at: number): boolean {
  return approval.state === "waiting" && (!approval.expires || toDate(approval.expires).getTime() > at);
}

export const waiting = computed(() => {
  const at = now.value;
  const open = [...known.items.value.values()].filter((each) => isOpen(each, at));
  return open.sort((one, other) => toDate(one.created).getTime() - toDate(other.created).getTime());
});

export const put = (approval: Approval): void => known.put(approval);

export function drop(id: string): void {
  known.drop(id);
  answered.value += 1;
}

export const load = (): Promise<void> => known.load();

/** Until the returned function is called. */
export function watchApprovals(): () => void {
  const ends = [
    join("approvals"),
    effect(() => {
      if (connections.value > 0) void load();
    }),
    effect(() => {
      waitingCount.value = waiting.value.length;
    }),
    onSnapshot((room) => {
      if (room === "approvals") void load();
    }),
    onEvent((event) => {
      if (event.room !== "approvals") return;
      if (event.type === "approval_request") {
        const asked = event.payload as unknown as Approval;
        put({ ...asked, state: asked.state ?? "waiting", created: asked.created ?? event.ts });
        notify(asked);
      } else if (event.type === "approval_answered") drop(String(event.payload["id"]));
    }),
  ];
  void load();
  return () => ends.forEach((end) => end());
}

export const canNotify = signal("Notification" in window ? Notification.permission : "denied");

export async function permitNotifications(): Promise<void> {
  canNotify.value = await Notification.requestPermission();
}

function notify(asked: Approval): void {
  if (canNotify.value !== "granted" || !document.hidden || !may("approver")) return;
  const note = new Notification(`${asked.tool} waits for your approval`, { body: asked.reason ?? "", tag: asked.id });
  note.onclick = () => {
    window.focus();
    note.close();
  };
}
