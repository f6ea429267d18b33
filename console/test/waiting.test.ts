import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Approval } from "../src/api/approvals";
import { drop, load, put, waiting } from "../src/pages/approvals/waiting";

const approval = (id: string): Approval =>
  ({ id, state: "waiting", created: 1, tool: "bash", input: {}, reason: "" }) as unknown as Approval;
let answers: ((items: Approval[]) => void)[];

beforeEach(() => {
  answers = [];
  vi.stubGlobal(
    "fetch",
    () =>
      new Promise((resolve) => {
        answers.push((items) => resolve(new Response(JSON.stringify({ items, next: null }))));
      }),
  );
});
afterEach(() => vi.unstubAllGlobals());

const ids = (): string[] => waiting.value.map(({ id }) => id);

it("keeps a question that came while an older list was on its way", async () => {
  const list = load();
  put(approval("asked"));
  answers[0]!([]);
  await list;
  expect(ids()).toEqual(["asked"]);
});

it("does not bring back a question that was answered while the list was on its way", async () => {
  const list = load();
  drop("done");
  answers[0]!([approval("done"), approval("open")]);
  await list;
  expect(ids()).toEqual(["open"]);
});

it("shows the newest list, whichever arrives last", async () => {
  const older = load();
  const newer = load();
  answers[1]!([approval("newer")]);
  await newer;
  answers[0]!([]);
  await older;
  expect(ids()).toEqual(["newer"]);
});

it("forgets what a later list does not have", async () => {
  put(approval("gone"));
  const list = load();
  answers[0]!([]);
  await list;
  expect(ids()).toEqual([]);
});
