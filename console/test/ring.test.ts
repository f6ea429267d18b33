import { describe, expect, it } from "vitest";
import { Ring } from "../src/live/ring";

const row = (number: number): { id: string } => ({ id: `r${number}` });
const ids = (ring: Ring<{ id: string }>): string[] => Array.from({ length: ring.size }, (_, position) => ring.at(position)!.id);

describe("Ring", () => {
  it("gives the newest row first", () => {
    const ring = new Ring<{ id: string }>(5);
    for (const number of [1, 2, 3]) ring.add(row(number));
    expect(ids(ring)).toEqual(["r3", "r2", "r1"]);
    expect(ring.at(3)).toBeUndefined();
    expect(ring.at(-1)).toBeUndefined();
  });

  it("drops the oldest row when it is full", () => {
    const ring = new Ring<{ id: string }>(3);
    for (const number of [1, 2, 3, 4, 5]) ring.add(row(number));
    expect(ids(ring)).toEqual(["r5", "r4", "r3"]);
    expect(ring.has("r1")).toBe(false);
    expect(ring.isFull).toBe(true);
  });

  it("refuses a row twice, but takes one that was dropped", () => {
    const ring = new Ring<{ id: string }>(2);
    expect(ring.add(row(1))).toBe(true);
    expect(ring.add(row(1))).toBe(false);
    ring.add(row(2));
    ring.add(row(3));
    expect(ring.add(row(1))).toBe(true);
  });

  it("grows at the old end until it is full, and keeps the order around its edge", () => {
    const ring = new Ring<{ id: string }>(4);
    ring.add(row(9));
    ring.addOlder([row(8), row(9), row(7), row(6), row(5)]);
    expect(ids(ring)).toEqual(["r9", "r8", "r7", "r6"]);
    ring.add(row(10));
    expect(ids(ring)).toEqual(["r10", "r9", "r8", "r7"]);
    ring.clear();
    expect(ring.size).toBe(0);
  });

  it("stays right through many turns", () => {
    const ring = new Ring<{ id: string }>(100);
    for (let number = 0; number < 12_345; number += 1) ring.add(row(number));
    expect(ids(ring)).toEqual(Array.from({ length: 100 }, (_, index) => `r${12_344 - index}`));
  });
});
