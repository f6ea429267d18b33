import { afterEach, describe, expect, it, vi } from "vitest";
import { load, problems, sentence, take } from "../src/live/problems";

const FULL = { hub: "office", part: "record", text: "records are not taken for now: the disk is full", since: 20, over: false };
const AWAY = { hub: "office", part: "redis", text: "Redis cannot be reached", since: 10, over: false };

describe("what does not work at the hub", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("keeps what began while an older list was on its way", async () => {
    let answer: (response: Response) => void = () => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (answer = resolve)));
    const list = load();
    take(FULL);
    answer(new Response(JSON.stringify({ items: [], next: null })));
    await list;
    expect(problems.value).toEqual([FULL]);
    take({ ...FULL, over: true });
  });

  it("is listed until it is over, the oldest first, each part once", () => {
    take(FULL);
    take(AWAY);
    take({ ...FULL, text: "records are not taken for now: it is locked" });
    expect(problems.value.map(({ text }) => text)).toEqual([AWAY.text, "records are not taken for now: it is locked"]);
    take({ ...FULL, over: true });
    expect(problems.value).toEqual([AWAY]);
    take({ ...AWAY, hub: "other", over: true });
    expect(problems.value).toEqual([AWAY]);
    take({ ...AWAY, over: true });
    expect(problems.value).toEqual([]);
  });

  it("does not list a broken chain, which is never over", () => {
    take({ hub: "office", part: "chain", text: "a record does not follow", since: 1, over: false });
    expect(problems.value).toEqual([]);
  });

  it("is a sentence", () => {
    expect(sentence("rules cannot be read")).toBe("Rules cannot be read.");
  });
});
