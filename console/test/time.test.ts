import { expect, it } from "vitest";
import { sinceTime } from "../src/api/decisions";
import { formatAgo, formatLeft, formatMilliseconds, toDate } from "../src/parts/time";

it.each([
  [0, "0:00"],
  [-5000, "0:00"],
  [999, "0:01"],
  [61_000, "1:01"],
  [3_723_000, "1:02:03"],
])("%i ms left are %s", (milliseconds, expected) => expect(formatLeft(milliseconds)).toBe(expected));

it.each([
  [0, "just now"],
  [30, "30 seconds ago"],
  [60, "1 minute ago"],
  [7260, "2 hours ago"],
  [90_000, "yesterday"],
  [-3601, "in 1 hour"],
])("%i seconds before now is %s", (seconds, expected) => {
  const at = Date.UTC(2026, 0, 10, 12);
  expect(formatAgo(at / 1000 - seconds, at)).toBe(expected);
});

it("reads seconds, milliseconds and texts", () => {
  const expected = Date.UTC(2026, 10, 17, 3);
  for (const moment of [expected / 1000, expected, "2026-11-17T03:00:00Z"]) expect(toDate(moment).getTime()).toBe(expected);
});

it("shows short and long times", () => {
  expect([0.01, 0.27, 42.4, 1500, null].map(formatMilliseconds)).toEqual(["<0.1 ms", "0.3 ms", "42 ms", "1.5 s", ""]);
});

it("turns 24h into a time", () => {
  const at = Date.UTC(2026, 0, 2);
  expect(sinceTime("24h", at)).toBe("2026-01-01T00:00:00.000Z");
  expect(sinceTime("15m", at)).toBe("2026-01-01T23:45:00.000Z");
  expect(sinceTime("2026-01-01T00:00:00Z", at)).toBe("2026-01-01T00:00:00Z");
});
