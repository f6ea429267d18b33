/** Rules as the hub keeps them (the flo format), and as the form edits them. What the form does not know stays as it is. */

export const EVENT_TYPES = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "AgentStart", "AgentEnd"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_HELP: Record<EventType, string> = {
  PreToolUse: "Before a tool runs",
  PostToolUse: "After a tool has run",
  UserPromptSubmit: "Before the agent reads a message",
  Stop: "When the agent is about to stop",
  AgentStart: "When an agent starts",
  AgentEnd: "When an agent ends",
};

/** hookline's own names of flo's events. */
const EVENT_NAMES: Record<string, EventType> = {
  "tool.before": "PreToolUse",
  "tool.after": "PostToolUse",
  "tool.failed": "PostToolUse",
  "prompt.submit": "UserPromptSubmit",
  stop: "Stop",
  "agent.start": "AgentStart",
  "agent.end": "AgentEnd",
};

export const hasTool = (event: EventType): boolean => event === "PreToolUse" || event === "PostToolUse";

export interface ScriptName {
  label: string;
  detail: string;
}

const EVERY_SCRIPT: readonly ScriptName[] = [
  { label: "type", detail: "the event, such as 'pre_tool_use'" },
  { label: "agentId", detail: "the agent" },
];
const TOOL_SCRIPT: readonly ScriptName[] = [
  { label: "toolName", detail: "the tool" },
  { label: "toolInput", detail: "its input" },
];
const FUNCTIONS: readonly ScriptName[] = [
  { label: "callTool", detail: "await callTool(name, input)" },
  { label: "log", detail: "log(…values)" },
];
const EVENT_VARIABLES: Record<EventType, readonly ScriptName[]> = {
  PreToolUse: TOOL_SCRIPT,
  PostToolUse: [...TOOL_SCRIPT, { label: "toolResult", detail: "{ content, is_error? }" }],
  UserPromptSubmit: [{ label: "prompt", detail: "the user's message" }],
  Stop: [{ label: "stopReason", detail: "why the agent stops" }],
  AgentStart: [],
  AgentEnd: [],
};

export function scriptVariables(event: EventType): readonly ScriptName[] {
  return [...EVERY_SCRIPT, ...EVENT_VARIABLES[event]];
}

export function scriptNames(event: EventType): readonly ScriptName[] {
  return [...scriptVariables(event), ...FUNCTIONS];
}

export interface FloAction {
  type?: string;
  action?: string;
  reason?: string;
  script?: string;
  command?: string;
  timeout?: number;
  continueOnError?: boolean;
  id?: string;
  enabled?: boolean;
  [other: string]: unknown;
}

export interface FloRule extends FloAction {
  matcher?: string;
  inputMatchers?: Record<string, string>;
  priority?: number;
  hooks?: FloAction[];
  tags?: string[];
  runs?: string;
}

export interface FloDocument {
  hooks: Partial<Record<EventType, FloRule[]>>;
  [other: string]: unknown;
}

export interface RulePlace {
  event: EventType;
  index: number;
}

/** Throws if the text is not a document of rules by event. */
export function parseDocument(text: string): FloDocument {
  if (!text.trim()) return { hooks: {} };
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("The rules are not an object.");
  const hooks = (parsed as { hooks?: unknown }).hooks ?? {};
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)) throw new Error("hooks is not an object of lists by event.");
  return { ...parsed, hooks: hooks as FloDocument["hooks"] };
}

export function writeDocument(document: FloDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function ruleAt(document: FloDocument, place: RulePlace): FloRule | undefined {
  return document.hooks[place.event]?.[place.index];
}

/** The document with the rule in its place: changed where it was, at the end if it is new, moved if its event changed. */
export function withRule(document: FloDocument, rule: FloRule, event: EventType, replaced?: RulePlace): FloDocument {
  if (replaced && replaced.event === event) {
    const rules = [...(document.hooks[event] ?? [])];
    rules[replaced.index] = rule;
    return { ...document, hooks: { ...document.hooks, [event]: rules } };
  }
  const rest = replaced ? withoutRule(document, replaced) : document;
  return { ...rest, hooks: { ...rest.hooks, [event]: [...(rest.hooks[event] ?? []), rule] } };
}

export function withoutRule(document: FloDocument, place: RulePlace): FloDocument {
  const rules = (document.hooks[place.event] ?? []).filter((_, index) => index !== place.index);
  const hooks = { ...document.hooks };
  if (rules.length) hooks[place.event] = rules;
  else delete hooks[place.event];
  return { ...document, hooks };
}

export type ActionKind = "deny" | "allow" | "log" | "script" | "command";
export const ACTION_KINDS: readonly ActionKind[] = ["deny", "allow", "log", "script"];

export interface ActionForm {
  kind: ActionKind;
  reason: string;
  script: string;
  command: string;
  timeout: string;
  /** What the form does not edit. */
  rest: FloAction;
}

export interface RuleForm {
  event: EventType;
  matcher: string;
  inputs: { field: string; pattern: string }[];
  actions: ActionForm[];
  priority: string;
  continueOnError: boolean;
  id: string;
  tags: string;
  enabled: boolean;
  runs: string;
  rest: FloRule;
}

export function emptyAction(kind: ActionKind = "deny"): ActionForm {
  return { kind, reason: "", script: "", command: "", timeout: "", rest: {} };
}

export function emptyForm(): RuleForm {
  return {
    event: "PreToolUse",
    matcher: "",
    inputs: [],
    actions: [emptyAction()],
    priority: "",
    continueOnError: true,
    id: "",
    tags: "",
    enabled: true,
    runs: "",
    rest: {},
  };
}

const ACTION_KEYS = ["action", "reason", "script", "command", "timeout"] as const;
const RULE_KEYS = ["matcher", "inputMatchers", "priority", "hooks", "tags", "runs", "continueOnError", "id", "enabled"] as const;

function without<T extends object>(value: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T;
}

function readAction(action: FloAction): ActionForm {
  const kind = action.command !== undefined ? "command" : (action.action as ActionKind | undefined);
  return {
    kind: kind ?? "deny",
    reason: action.reason ?? "",
    script: action.script ?? "",
    command: action.command ?? "",
    timeout: action.timeout === undefined ? "" : String(action.timeout),
    rest: without(action, ACTION_KEYS),
  };
}

export function readForm(event: EventType, rule: FloRule): RuleForm {
  const entries = rule.hooks ?? [without(rule, RULE_KEYS)];
  return {
    event,
    matcher: rule.matcher ?? "",
    inputs: Object.entries(rule.inputMatchers ?? {}).map(([field, pattern]) => ({ field, pattern })),
    actions: entries.map(readAction),
    priority: rule.priority === undefined ? "" : String(rule.priority),
    continueOnError: rule.continueOnError !== false,
    id: rule.id ?? "",
    tags: (rule.tags ?? []).join(", "),
    enabled: rule.enabled !== false,
    runs: rule.runs ?? "",
    rest: rule,
  };
}

function writeAction(form: ActionForm): FloAction {
  const action: FloAction = { ...form.rest };
  if (form.kind === "command") action.command = form.command;
  else action.action = form.kind;
  if (form.kind === "script") action.script = form.script;
  if (form.reason.trim() && (form.kind === "deny" || form.kind === "allow")) action.reason = form.reason.trim();
  if (form.timeout.trim() && (form.kind === "script" || form.kind === "command")) action.timeout = Number(form.timeout);
  return action;
}

export function writeRule(form: RuleForm): FloRule {
  const rule: FloRule = {};
  if (form.id.trim()) rule.id = form.id.trim();
  if (hasTool(form.event)) {
    if (form.matcher) rule.matcher = form.matcher;
    const inputs = form.inputs.filter(({ field }) => field.trim());
    if (inputs.length) rule.inputMatchers = Object.fromEntries(inputs.map(({ field, pattern }) => [field.trim(), pattern]));
  }
  if (form.priority.trim()) rule.priority = Number(form.priority);
  if (!form.continueOnError) rule.continueOnError = false;
  else if (form.rest.continueOnError === true) rule.continueOnError = true;
  const tags = form.tags.split(",").map((tag) => tag.trim()).filter(Boolean);
  if (tags.length) rule.tags = tags;
  if (!form.enabled) rule.enabled = false;
  if (form.runs && hasScript(form)) rule.runs = form.runs;
  const [first] = form.actions;
  if (form.rest.hooks === undefined && form.actions.length === 1 && first) return { ...rule, ...writeAction(first) };
  return { ...rule, ...without(form.rest, [...RULE_KEYS, ...ACTION_KEYS]), hooks: form.actions.map(writeAction) };
}

export const hasScript = (form: RuleForm): boolean => form.actions.some(({ kind }) => kind === "script");

const LONGEST_ID = 40;

/** A name for a rule that has none: what it says or does, and a number if that is taken. */
export function proposeId(form: RuleForm, document: FloDocument): string {
  const [first] = form.actions;
  const wanted = first?.reason || `${first?.kind ?? "rule"} ${form.matcher || form.event}`;
  const base = wanted.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, LONGEST_ID) || "rule";
  const taken = new Set(Object.values(document.hooks).flatMap((rules) => rules.map(({ id }) => id)));
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) return id;
  }
}

/** Problems that are seen without asking the hub, by the field they belong to. */
export function formProblems(form: RuleForm): Record<string, string> {
  const problems: Record<string, string> = {};
  if (hasTool(form.event) && form.matcher) checkPattern(problems, "matcher", form.matcher);
  const fields = new Set<string>();
  for (const [index, { field, pattern }] of form.inputs.entries()) {
    if (!field.trim()) problems[`input-${index}`] = "Name a field of the input, or remove this row.";
    else if (fields.has(field.trim())) problems[`input-${index}`] = `${field.trim()} has a pattern already.`;
    else checkPattern(problems, `input-${index}`, pattern);
    fields.add(field.trim());
  }
  for (const [index, action] of form.actions.entries()) {
    if (action.kind === "script" && !action.script.trim()) problems[`script-${index}`] = "Write the JavaScript that runs.";
    if (action.timeout.trim() && !/^[1-9]\d*$/.test(action.timeout.trim())) problems[`timeout-${index}`] = "Write whole milliseconds, such as 5000.";
  }
  if (form.priority.trim() && !/^-?\d+$/.test(form.priority.trim())) problems["priority"] = "Write a whole number; higher runs first.";
  return problems;
}

function checkPattern(problems: Record<string, string>, name: string, pattern: string): void {
  try {
    new RegExp(pattern);
  } catch (wrong) {
    problems[name] = String(wrong instanceof Error ? wrong.message : wrong).replace(/^Invalid regular expression: /, "");
  }
}

const SCRIPT_SHOWN = 40;

/** One line about an action, as the list of rules shows it. */
export function actionText(action: FloAction): string {
  if (action.command !== undefined) return `command: ${cut(action.command)}`;
  return action.action === "script" ? `script: ${cut(action.script ?? "")}` : (action.action ?? "none");
}

function cut(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > SCRIPT_SHOWN ? `${line.slice(0, SCRIPT_SHOWN)}…` : line;
}

export const actionsOf = (rule: FloRule): FloAction[] => rule.hooks ?? [rule];

const LONGEST_PATTERN = 200;

export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** A form for a rule that would catch what was decided. */
export function formFromDecision(event: string, tool: string | undefined, input: unknown): RuleForm {
  const form = emptyForm();
  form.event = EVENT_NAMES[event] ?? "PreToolUse";
  if (!hasTool(form.event)) return form;
  if (tool) form.matcher = `^${escapePattern(tool)}$`;
  if (typeof input === "object" && input !== null) {
    for (const [field, value] of Object.entries(input)) {
      if (typeof value === "string" && value.length <= LONGEST_PATTERN) form.inputs.push({ field, pattern: escapePattern(value) });
    }
  }
  return form;
}
