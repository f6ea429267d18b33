import { describe, expect, it } from "vitest";
import {
  type FloRule,
  actionText,
  emptyAction,
  emptyForm,
  formFromDecision,
  formProblems,
  parseDocument,
  proposeId,
  readForm,
  withRule,
  withoutRule,
  writeDocument,
  writeRule,
} from "../src/pages/hooks/flo_rules";

const SEED = `if (toolInput.command?.includes('rm -rf')) {
  return { decision: 'deny', reason: 'Dangerous command blocked' };
}`;

describe("a rule and its form", () => {
  it("writes the example of the documentation", () => {
    const form = { ...emptyForm(), matcher: "^bash$", actions: [{ ...emptyAction("script"), script: SEED }] };
    expect(writeRule(form)).toEqual({ matcher: "^bash$", action: "script", script: SEED });
  });

  const rules: [string, FloRule][] = [
    ["a deny", { matcher: "^write_file$", inputMatchers: { path: "\\.env$", content: "API_KEY" }, action: "deny", reason: "No keys." }],
    ["everything", { id: "x", matcher: "a", priority: -5, continueOnError: false, tags: ["a", "b"], enabled: false, runs: "hub", action: "script", script: "1", timeout: 100 }],
    ["continueOnError that somebody wrote", { action: "log", continueOnError: true }],
    ["a command", { matcher: "^write_file$", command: "git add -A", continueOnError: true, timeout: 9000 }],
    ["several actions", { id: "bash", matcher: "^bash$", priority: 10, hooks: [{ type: "action", action: "log" }, { type: "command", command: "test ! -e frozen", continueOnError: false, id: "own" }] }],
    ["a key that the form does not know", { action: "deny", note: "why", hooks: undefined as never }],
  ];
  it.each(rules)("keeps %s as it was", (_, rule) => {
    const given = JSON.parse(JSON.stringify(rule)) as FloRule;
    expect(writeRule(readForm("PreToolUse", given))).toEqual(given);
  });

  it("keeps a list of actions with one entry a list", () => {
    const rule: FloRule = { matcher: "x", hooks: [{ action: "log" }] };
    expect(writeRule(readForm("PreToolUse", rule))).toEqual(rule);
  });

  it("becomes a list when a second action is added", () => {
    const form = readForm("PreToolUse", { action: "deny", reason: "no" });
    form.actions.push(emptyAction("log"));
    expect(writeRule(form)).toEqual({ hooks: [{ action: "deny", reason: "no" }, { action: "log" }] });
  });

  it("has no matcher on an event without a tool", () => {
    expect(writeRule({ ...emptyForm(), event: "Stop", matcher: "^bash$", inputs: [{ field: "a", pattern: "b" }] })).toEqual({ action: "deny" });
  });

  it("says where scripts run only if there is one", () => {
    const form = readForm("PreToolUse", { action: "script", script: "1", runs: "hub" });
    form.actions[0]!.kind = "log";
    expect(writeRule(form)).toEqual({ action: "log" });
  });

  it("drops a reason where none is read", () => {
    const form = readForm("PreToolUse", { action: "deny", reason: "no" });
    form.actions[0]!.kind = "log";
    expect(writeRule(form)).toEqual({ action: "log" });
  });
});

describe("problems of a form", () => {
  it("finds a wrong pattern, an empty script and wrong numbers", () => {
    const form = {
      ...emptyForm(),
      matcher: "(",
      inputs: [{ field: "", pattern: "x" }, { field: "path", pattern: "[" }, { field: "path", pattern: "a" }],
      actions: [{ ...emptyAction("script"), script: "  ", timeout: "5s" }],
      priority: "high",
    };
    expect(Object.keys(formProblems(form)).sort()).toEqual(["input-0", "input-1", "input-2", "matcher", "priority", "script-0", "timeout-0"]);
  });

  it("finds none in the empty form: it denies everything, and the preview says so", () => {
    expect(formProblems(emptyForm())).toEqual({});
  });
});

describe("a document", () => {
  const document = parseDocument('{"name": "hub", "hooks": {"PreToolUse": [{"action": "log"}, {"action": "deny"}], "Stop": [{"action": "deny"}]}}');

  it("takes a new rule at the end of its event", () => {
    expect(withRule(document, { action: "allow" }, "Stop").hooks.Stop).toEqual([{ action: "deny" }, { action: "allow" }]);
  });

  it("replaces a rule in its place", () => {
    const changed = withRule(document, { action: "allow" }, "PreToolUse", { event: "PreToolUse", index: 0 });
    expect(changed.hooks.PreToolUse).toEqual([{ action: "allow" }, { action: "deny" }]);
    expect(changed["name"]).toBe("hub");
  });

  it("moves a rule whose event changed", () => {
    const changed = withRule(document, { action: "deny" }, "AgentStart", { event: "Stop", index: 0 });
    expect(changed.hooks).toEqual({ PreToolUse: document.hooks.PreToolUse, AgentStart: [{ action: "deny" }] });
  });

  it("loses a rule, and an event without rules", () => {
    expect(withoutRule(document, { event: "Stop", index: 0 }).hooks).toEqual({ PreToolUse: document.hooks.PreToolUse });
  });

  it("is written as it is read, and refused if it is none", () => {
    expect(parseDocument(writeDocument(document))).toEqual(document);
    expect(parseDocument("")).toEqual({ hooks: {} });
    expect(() => parseDocument("[1]")).toThrow();
    expect(() => parseDocument('{"hooks": []}')).toThrow();
    expect(() => parseDocument("{")).toThrow();
  });
});

it("cuts a script at forty characters", () => {
  expect(actionText({ action: "script", script: SEED })).toBe("script: if (toolInput.command?.includes('rm -rf'…");
  expect(actionText({ action: "deny" })).toBe("deny");
});

it("makes a rule from a decision, with the texts of its input taken literally", () => {
  const form = formFromDecision("tool.before", "Bash", { command: "rm -rf a.b", timeout: 3, long: "x".repeat(500) });
  expect(writeRule(form)).toEqual({ matcher: "^Bash$", inputMatchers: { command: "rm -rf a\\.b" }, action: "deny" });
  expect(new RegExp(form.inputs[0]!.pattern).test("rm -rf a.b")).toBe(true);
  expect(formFromDecision("session.start", undefined, null).event).toBe("PreToolUse");
});

it("proposes an id that is free", () => {
  const form = { ...emptyForm(), matcher: "^bash$", actions: [{ ...emptyAction("deny"), reason: "Dangerous command, blocked!" }] };
  expect(proposeId(form, { hooks: {} })).toBe("dangerous-command-blocked");
  expect(proposeId(form, { hooks: { Stop: [{ id: "dangerous-command-blocked" }] } })).toBe("dangerous-command-blocked-2");
  expect(proposeId(emptyForm(), { hooks: {} })).toBe("deny-pretooluse");
});
