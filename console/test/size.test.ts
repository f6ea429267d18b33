/** What a browser loads before the first row is shown stays small. `make console` has built it. */

import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const BUILT = join(__dirname, "../../src/hookline/hub/console_files");
const MOST_AT_FIRST = 60 * 1024;
const MOST_OF_ALL = 90 * 1024;

describe.skipIf(!existsSync(BUILT))("the built console", () => {
  const sizes = new Map(readdirSync(BUILT).filter((name) => name.endsWith(".gz")).map((name) => [name.slice(0, -3), statSync(join(BUILT, name)).size]));
  const page = readFileSync(join(BUILT, "index.html"), "utf8");
  const isEditor = (name: string): boolean => name.startsWith("code_mirror-");
  const first = [...sizes.keys()].filter((name) => name === "index.html" || page.includes(`/static/${name}"`));
  const others = [...sizes.keys()].filter((name) => !first.includes(name) && !isEditor(name));
  const weigh = (names: readonly string[]): number => names.reduce((sum, name) => sum + sizes.get(name)!, 0);

  it("is at most 60 KB at first, compressed, and 90 KB with every page", () => {
    expect(first.length).toBeGreaterThan(3);
    expect(others.length).toBeGreaterThan(3);
    expect(weigh(first) + weigh(others)).toBeLessThanOrEqual(MOST_OF_ALL);
    expect(weigh(first)).toBeLessThanOrEqual(MOST_AT_FIRST);
  });

  it("has the editor in a part of its own, which no page loads at first", () => {
    expect([...sizes.keys()].filter(isEditor)).toHaveLength(1);
    expect(first.some(isEditor)).toBe(false);
  });
});
