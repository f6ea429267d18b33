/**
 * Runs in the hooks frame: scripts of hooks, each in a fresh worker.
 * The build puts this file into a document as it is, so it imports nothing.
 */

interface StartRun {
  run: string;
  source: string;
  variables: string;
  timeout: number;
  picture: unknown;
}

(() => {
  const SPARES = 3;

  /** What a worker runs. It is sent as text, so it uses nothing from around it. */
  function runScript(): void {
    const MAX_CALLS = 100;
    const MAX_LINES = 200;
    const MAX_LINE = 4_000;
    const MAX_ERROR = 2_000;
    const MAX_JSON = 800_000;
    const MAX_REASON = 20_000;
    /** Policies refuse them; without them a script is told the same here and on the hub. */
    const REMOVED = ["fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "caches", "indexedDB"];
    const NO_MEMORY = /^Invalid (string|array|typed array|array buffer) length|allocation failed/i;
    const { parse, stringify } = JSON;
    const { defineProperty } = Object;
    const root = self as unknown as {
      postMessage: (message: unknown) => void;
      onmessage: ((event: MessageEvent) => void) | null;
    };
    const send = root.postMessage.bind(root);
    const AsyncFunction = (async () => {}).constructor as new (...texts: string[]) => () => Promise<unknown>;
    const waiting = new Map<number, (result: unknown) => void>();
    let calls = 0;
    let lines = 0;
    let picture: unknown = null;

    const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
    const show = (value: unknown): string => {
      if (typeof value === "string") return value;
      try {
        if (value instanceof Error) return String(value);
        const asText = (_: string, held: unknown): unknown => (held instanceof Error ? String(held) : held);
        return (typeof value === "object" && value !== null ? stringify(value, asText) : undefined) ?? String(value);
      } catch {
        return "[cannot be shown]";
      }
    };
    const why = (error: unknown): string => {
      try {
        if (typeof error !== "object" || error === null) return String(error);
        const told = error as { message?: unknown; name?: unknown };
        if (error instanceof RangeError && NO_MEMORY.test(error.message)) return "out of memory";
        return String(told.message ?? "") || String(told.name || error);
      } catch {
        return "the script threw something that cannot be shown";
      }
    };
    const log = (...values: unknown[]): void => {
      lines += 1;
      if (lines <= MAX_LINES) send({ log: values.map((value) => cut(show(value), MAX_LINE)) });
    };
    const refuse = (content: string): Promise<unknown> => Promise.resolve({ content, is_error: true });
    const callTool = (name: unknown, input: unknown = {}): Promise<unknown> => {
      if (typeof name !== "string") return refuse("callTool takes a tool's name and its input");
      if (typeof input !== "object" || input === null || Array.isArray(input)) return refuse("the input of a tool is an object");
      if (calls >= MAX_CALLS) return refuse(`a script may call tools ${MAX_CALLS} times`);
      let json: string;
      try {
        json = stringify(input);
      } catch (error) {
        return refuse(why(error));
      }
      if (json.length > MAX_JSON) return refuse("the input of this call is too large");
      const id = ++calls;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        send({ call: id, name, input: json });
      });
    };
    const answer = (value: unknown): unknown => {
      if (value === undefined) return { returned: "null" };
      const json = stringify(value, function (this: unknown, key: string, held: unknown) {
        return this === value && key === "reason" && typeof held === "string" ? cut(held, MAX_REASON) : held;
      });
      if (json === undefined) return { error: `the script returned a ${typeof value}`, kind: "unreadable" };
      if (json.length > MAX_JSON) return { error: "what the script returned is too large", kind: "unreadable" };
      return { returned: json };
    };
    const define = (name: string, value: unknown): void => {
      defineProperty(root, name, { value, writable: true, enumerable: true, configurable: true });
    };

    for (let owner: object | null = self; owner; owner = Object.getPrototypeOf(owner) as object | null) {
      for (const name of REMOVED) delete (owner as Record<string, unknown>)[name];
    }
    root.onmessage = async (event) => {
      const given = event.data as StartRun;
      root.onmessage = (later) => {
        const told = later.data as { settle: number; result: unknown; picture?: unknown };
        if (told.picture !== undefined) picture = told.picture;
        waiting.get(told.settle)?.(told.result);
        waiting.delete(told.settle);
      };
      try {
        const variables = parse(given.variables) as Record<string, unknown>;
        for (const name of Object.keys(variables)) define(name, variables[name]);
        define("log", log);
        define("callTool", callTool);
        const print = { log, info: log, warn: log, error: log, debug: log };
        define("console", print);
        if (given.picture !== null) {
          picture = given.picture;
          defineProperty(root, "document", { get: () => picture, configurable: true });
        }
        send(answer(await new AsyncFunction(given.source)()));
      } catch (error) {
        send({ error: cut(why(error), MAX_ERROR), kind: "raised" });
      }
    };
  }

  interface Run {
    worker: Worker;
    timer: ReturnType<typeof setTimeout>;
  }

  const workerUrl = URL.createObjectURL(new Blob([`(${runScript.toString()})()`], { type: "text/javascript" }));
  const spares: Worker[] = [];
  const runs = new Map<string, Run>();
  let port: MessagePort;

  const fillSpares = (): void => {
    while (spares.length < SPARES) spares.push(new Worker(workerUrl));
  };

  function finish(run: string, answer: object | null): void {
    const known = runs.get(run);
    if (!known) return;
    runs.delete(run);
    clearTimeout(known.timer);
    known.worker.terminate();
    if (answer) port.postMessage({ done: run, answer });
    setTimeout(fillSpares, 0);
  }

  function start(given: StartRun): void {
    const worker = spares.pop() ?? new Worker(workerUrl);
    const timer = setTimeout(() => finish(given.run, { error: "", kind: "timeout" }), given.timeout);
    runs.set(given.run, { worker, timer });
    // The worker is who speaks: an id in its messages would count for nothing.
    worker.onmessage = (event: MessageEvent) => {
      const told = event.data as Record<string, unknown>;
      if (!runs.has(given.run) || typeof told !== "object" || told === null) return;
      if ("call" in told) port.postMessage({ call: told["call"], run: given.run, name: told["name"], input: told["input"] });
      else if ("log" in told) port.postMessage({ log: told["log"], run: given.run });
      else if ("returned" in told) finish(given.run, { returned: String(told["returned"]) });
      else finish(given.run, { error: String(told["error"]), kind: String(told["kind"]) });
    };
    worker.onerror = (event) => event.preventDefault();
    worker.postMessage(given);
  }

  function receive(event: MessageEvent): void {
    const told = event.data as Record<string, unknown>;
    if ("ping" in told) port.postMessage({ pong: told["ping"] });
    else if ("echo" in told) port.postMessage({ done: told["echo"] });
    else if ("source" in told) start(told as unknown as StartRun);
    else if ("settle" in told) runs.get(String(told["run"]))?.worker.postMessage(told);
    else if ("kill" in told) for (const run of told["kill"] === null ? [...runs.keys()] : [String(told["kill"])]) finish(run, null);
  }

  addEventListener("message", function take(event) {
    const given = event.ports[0];
    if (event.source !== parent || !given) return; // a sibling frame can send messages too
    removeEventListener("message", take);
    port = given;
    port.onmessage = receive;
    fillSpares();
    port.postMessage({ ready: true });
  });
})();
