// Runs in a fresh context before the hook's script. hookline replaces the names in capitals with numbers. What most
// scripts do not need is in files of its own: console, timers, URL.
//
// It saves the built-ins that it needs before the script runs, and keeps its own state in variables, null-prototype
// objects and strings, so nothing that a script does to prototypes or globals reaches it. It answers in JSON text: a
// string that crosses into Python directly would be cut at a NUL and refused for a lone surrogate.
(() => {
"use strict";
const {parse, stringify} = JSON, text = String, P = Promise, {isArray} = Array, {ownKeys} = Reflect;
const {create, defineProperty} = Object, root = globalThis, evaluate = eval, AnyError = Error;
const AsyncFunction = (async () => {}).constructor;
const slice = Function.prototype.call.bind(String.prototype.slice);
const waiting = create(null);
let calls = "", called = 0, lines = "", logged = 0, done = "", timers = null;

const cut = (said, longest) => said.length > longest ? slice(said, 0, longest) + "…" : said;

const errorAsText = (key, value) => value instanceof AnyError ? text(value) : value;

const shown = value => {
  if (typeof value === "string") return value;
  try {
    if (value instanceof AnyError) return text(value);
    const json = typeof value === "object" && value !== null ? stringify(value, errorAsText) : undefined;
    return json === undefined ? text(value) : json;
  } catch {
    try { return text(value); } catch { return "[cannot be shown]"; }
  }
};

const why = error => {
  try {
    if (error === null) return "null was thrown, or out of memory";  // QuickJS throws null if it cannot allocate an error
    if (typeof error !== "object") return text(error);
    const message = text(error.message ?? "");
    return message || text(error.name || error);
  } catch { return "the script threw something that cannot be shown"; }
};

const log = (...said) => {
  if (logged > MAX_LINES) return;
  let line = "";
  for (let i = 0; i < said.length; i++) line += (i ? " " : "") + cut(shown(said[i]), MAX_LINE_LENGTH);
  logged += 1;
  line = logged > MAX_LINES ? "[more lines are not shown]" : cut(line, MAX_LINE_LENGTH);
  lines += (lines && ",") + stringify(line);
};

const setGlobal = (name, value) => defineProperty(root, name, {__proto__: null, value, writable: true, configurable: true});

const define = feature => {
  timers ??= feature.timers ?? null;
  for (const name in feature.names) setGlobal(name, feature.names[name]);
};

const refused = content => new P(resolve => resolve({content, is_error: true}));

const callTool = (name, input) => {
  if (typeof name !== "string") return refused("callTool takes a tool's name and its input");
  input ??= {};
  if (typeof input !== "object" || isArray(input)) return refused("the input of a tool is an object");
  if (called >= MAX_CALLS) return refused("a script may call tools MAX_CALLS times");
  let json;
  try { json = stringify(input); } catch (error) { return refused(why(error)); }
  if (json?.[0] !== "{" || json.length > MAX_JSON_LENGTH) return refused("the input of this call is not an object, or too large");
  const id = ++called;
  calls += (calls && ",") + "[" + id + "," + stringify(name) + "," + json + "]";
  return new P(resolve => { waiting[id] = resolve; });
};

const failed = (kind, error) => "{\"" + kind + "\":" + stringify(cut(why(error), MAX_ERROR_LENGTH)) + "}";

const answered = value => {
  if (value === undefined) return "{\"value\":null}";
  const json = stringify(value, function (key, held) {  // a long reason must not cost a deny
    return this === value && key === "reason" && typeof held === "string" ? cut(held, MAX_REASON_LENGTH) : held;
  });
  if (json === undefined) return failed("unreadable", "returned a " + typeof value);
  if (json.length > MAX_JSON_LENGTH) return failed("unreadable", "returned a value that is too large");
  return "{\"value\":" + json + "}";
};

const start = async (source, variables) => {
  try {
    const names = ownKeys(variables);
    for (let i = 0; i < names.length; i++) {
      const value = variables[names[i]];
      defineProperty(root, names[i], {value, writable: true, enumerable: true, configurable: true});
    }
    setGlobal("log", log);
    setGlobal("callTool", callTool);
    done = answered(await new AsyncFunction(source)());
  } catch (error) {
    done = failed("error", error);
  }
};

const settle = (id, result) => {
  const resolve = waiting[id];
  delete waiting[id];
  resolve(result);
};

const take = () => {
  const said = " {\"lines\":[" + lines + "],\"calls\":[" + calls + "],\"timer\":" + (timers === null ? "null" : timers.wait()) + ",\"done\":" + (done || "null") + "}";
  lines = calls = "";
  return slice(said, 1);  // a copy in one piece: QuickJS joins long texts lazily, and Python cannot read those
};

return (what, first, second) => {
  if (what === "take") return take();
  if (what === "start") start(parse(first), parse(second));
  else if (what === "timer") timers.run();
  else if (what === "define") define(evaluate(first)(log, shown));
  else settle(first, parse(second));
};
})()
