import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type DecisionRow, matchesFilter, readFilter } from "../src/api/decisions";
import { DecisionFeed, Pulse } from "../src/pages/decisions/feed";

const row = (number: number, more: Partial<DecisionRow> = {}): DecisionRow => ({
  id: `o-${number}`,
  at: "2026-11-17T03:00:00Z",
  event: "tool.before",
  tool: "bash",
  what: `ls ${number}`,
  verdict: "silent",
  ...more,
});
const NONE = readFilter(new URLSearchParams());
let pages: { items: DecisionRow[]; next: number | null }[];

beforeEach(() => {
  pages = [];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(pages.shift() ?? { items: [], next: null })));
});
afterEach(() => vi.unstubAllGlobals());

const makeFeed = (filter = NONE): { feed: DecisionFeed; paint: () => void; paints: () => number } => {
  const queue: (() => void)[] = [];
  let count = 0;
  const feed = new DecisionFeed(filter, undefined, (paint) => queue.push(paint));
  return {
    feed,
    paint: () => {
      count += queue.length;
      for (const each of queue.splice(0)) each();
    },
    paints: () => count,
  };
};
const ids = (feed: DecisionFeed): string[] => Array.from({ length: feed.ring.size }, (_, position) => feed.ring.at(position)!.id);

describe("DecisionFeed", () => {
  it("paints once for each frame, however many batches came", () => {
    const { feed, paint, paints } = makeFeed();
    for (let batch = 0; batch < 20; batch += 1) feed.receive([row(batch)], 0);
    paint();
    expect(paints()).toBe(1);
    expect(feed.ring.size).toBe(20);
  });

  it("holds rows back while it is frozen, and shows them afterwards", () => {
    const { feed, paint } = makeFeed();
    feed.receive([row(1)], 0);
    paint();
    feed.freeze(true);
    feed.receive([row(2), row(3)], 0);
    paint();
    expect([ids(feed), feed.waiting.value]).toEqual([["o-1"], 2]);
    feed.freeze(false);
    paint();
    expect([ids(feed), feed.waiting.value]).toEqual([["o-3", "o-2", "o-1"], 0]);
  });

  it("has a row once that came live and in the first page", async () => {
    const { feed, paint } = makeFeed();
    feed.receive([row(2), row(3)], 0);
    pages = [{ items: [row(2), row(1)], next: 1 }];
    await feed.load();
    paint();
    expect(ids(feed)).toEqual(["o-3", "o-2", "o-1"]);
  });

  it("fills the hole that a lost connection left, or begins anew if it is too big", async () => {
    const { feed, paint } = makeFeed();
    pages = [{ items: [row(2), row(1)], next: null }, { items: [row(4), row(3), row(2)], next: null }, { items: [row(900), row(899)], next: 899 }];
    await feed.load();
    await feed.load();
    paint();
    expect(ids(feed)).toEqual(["o-4", "o-3", "o-2", "o-1"]);
    await feed.load();
    paint();
    expect(ids(feed)).toEqual(["o-900", "o-899"]);
  });

  it("loads older rows at the end, with the cursor", async () => {
    const { feed, paint } = makeFeed();
    pages = [{ items: [row(9), row(8)], next: 8 }, { items: [row(7)], next: null }];
    await feed.load();
    await feed.loadOlder();
    await feed.loadOlder();
    paint();
    expect(ids(feed)).toEqual(["o-9", "o-8", "o-7"]);
    expect(pages).toHaveLength(0);
  });

  it("learns what came of a call after its decision", () => {
    const { feed, paint } = makeFeed();
    feed.receive([row(1, { session: "s", call: "c", verdict: "ask" }), row(2, { session: "s", call: "d" })], 0);
    paint();
    feed.receive([], 0, [{ session: "s", call: "c", outcome: "approved" }, { session: "s", outcome: "ok" }]);
    paint();
    expect([feed.ring.at(1)!.outcome, feed.ring.at(0)!.outcome]).toEqual(["approved", undefined]);
  });

  it("offers the values it has seen as filters", () => {
    const { feed, paint } = makeFeed();
    feed.receive([row(1, { host: "codex" }), row(2, { host: "claude-code", hook: "no-rm" })], 0);
    paint();
    expect(feed.offered.value).toMatchObject({ host: ["claude-code", "codex"], hook: ["no-rm"], tool: ["bash"] });
  });
});

describe("matchesFilter", () => {
  const filter = (text: string): Parameters<typeof matchesFilter>[1] => readFilter(new URLSearchParams(text));
  it.each([
    ["", true],
    ["tool=bash", true],
    ["tool=ba", false],
    ["verdict=halt", true],
    ["verdict=deny", false],
    ["q=RM+build", true],
    ["q=rm+other", false],
    ["host=codex&q=rm", true],
    ["host=other", false],
  ])("%s → %s", (text, expected) => {
    expect(matchesFilter(row(1, { host: "codex", what: "rm -rf build", verdict: "deny", halt: true }), filter(text))).toBe(expected);
  });
});

it("counts the decisions of each second", () => {
  const pulse = new Pulse();
  pulse.count(row(1, { verdict: "deny" }), 100_000);
  pulse.count(row(2), 100_500);
  pulse.count(row(3, { verdict: "ask" }), 101_000);
  expect(pulse.last(101_900).slice(-2)).toEqual([
    { quiet: 1, ask: 0, stopped: 1 },
    { quiet: 0, ask: 1, stopped: 0 },
  ]);
  expect(pulse.last(500_000).every((each) => each.quiet + each.ask + each.stopped === 0)).toBe(true);
});
