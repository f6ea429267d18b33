import { describe, expect, it } from "vitest";
import { diffLines, foldEqual } from "../src/parts/diff";

const shown = (before: string, after: string): string => diffLines(before, after).map(({ sign, text }) => sign + text).join("|");

describe("diffLines", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", " a| b| c"],
    ["a\nb\nc", "a\nx\nc", " a|−b|+x| c"],
    ["", "a", "−|+a"],
    ["a\nb", "b", "−a| b"],
    ["a\nb\nc\nd", "b\nd\ne", "−a| b|−c| d|+e"],
  ])("%j → %j", (before, after, expected) => {
    expect(shown(before, after)).toBe(expected);
  });

  it("gives both texts back", () => {
    const [before, after] = ["x\na\nb\nb\nc\n", "a\nb\nq\nc\nc\n"];
    const lines = diffLines(before, after);
    expect(lines.filter(({ sign }) => sign !== "+").map(({ text }) => text).join("\n")).toBe(before);
    expect(lines.filter(({ sign }) => sign !== "−").map(({ text }) => text).join("\n")).toBe(after);
  });

  it("copes with texts that have nothing in common and many lines", () => {
    const lines = (word: string): string => Array.from({ length: 3000 }, (_, index) => `${word}${index}`).join("\n");
    expect(diffLines(lines("a"), lines("b"))).toHaveLength(6000);
  });
});

it("folds equal lines that are far from a difference", () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index}`).join("\n");
  const folded = foldEqual(diffLines(before, before.replace("10", "ten")), 2);
  expect(folded.map((line) => ("hidden" in line ? line.hidden : line.sign))).toEqual([8, " ", " ", "−", "+", " ", " ", 7]);
});
