/** Times as people read them. The hub sends ISO texts or seconds since 1970. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";

export type Moment = string | number;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const shortDate = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });

/** Ticks once a second while somebody looks. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});

export function toDate(moment: Moment): Date {
  return typeof moment === "number" ? new Date(moment < 1e11 ? moment * 1000 : moment) : new Date(moment);
}

export function formatClock(moment: Moment): string {
  return clock.format(toDate(moment));
}

/** The time of day; with the date in front if that is not today. */
export function formatShort(moment: Moment, today: Date = new Date()): string {
  const date = toDate(moment);
  return date.toDateString() === today.toDateString() ? clock.format(date) : `${shortDate.format(date)} ${clock.format(date)}`;
}

export function formatFull(moment: Moment): string {
  return full.format(toDate(moment));
}

const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/** "3 minutes ago", "in 2 hours", "just now". */
export function formatAgo(moment: Moment, at: number): string {
  const seconds = (toDate(moment).getTime() - at) / 1000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 5 ? `in ${Math.round(seconds)} seconds` : seconds < -10 ? `${Math.round(-seconds)} seconds ago` : "just now";
}

/** "9:41" for minutes and seconds that are left; "1:02:03" with hours; "0:00" if none is left. */
export function formatLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

export function formatMilliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "";
  if (ms < 0.1) return "<0.1 ms";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function Ago({ at }: { at: Moment }): JSX.Element {
  const date = toDate(at);
  return (
    <time dateTime={Number.isNaN(date.getTime()) ? undefined : date.toISOString()} title={formatFull(at)}>
      {formatAgo(at, now.value)}
    </time>
  );
}
