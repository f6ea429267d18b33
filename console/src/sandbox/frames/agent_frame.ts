/**
 * Runs in the agent frame before any code of the agent: takes away what would reach the network in spite of the policy,
 * then offers the document to the tools `runjs` and `dom`. It imports nothing.
 */

interface Trusted {
  createHTML: (text: string) => string;
  createScriptURL: (text: string) => string;
}

interface DomInput {
  action: string;
  selector?: string;
  parentSelector?: string;
  html?: string;
  innerHTML?: string;
  textContent?: string;
  attributes?: Record<string, string | null>;
}

(() => {
  const MAX_DOM = 900_000;
  const MAX_JSON = 800_000;
  const MAX_CALLS = 8;
  const SAVE_DELAY = 1000;
  const MAX_BUSY = 2000;
  const BUSY_AFTER = 20;
  const root = self as unknown as Record<string, unknown>;
  const factory = root["trustedTypes"] as { createPolicy: (name: string, rules: object) => Trusted } | undefined;
  const startWorker = Worker;

  /** None of these is under the control of a policy, or gives back what is. */
  const REMOVED = [
    ...["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "RTCDtlsTransport", "RTCSctpTransport"],
    ...["WebTransport", "WebSocketStream", "XSLTProcessor", "PresentationRequest", "PaymentRequest", "SharedWorker", "Sanitizer"],
    ...["HTMLPortalElement", "HTMLFencedFrameElement", "FencedFrameConfig", "IdentityCredential", "fetchLater", "open", "print"],
  ];
  const ELEMENTS = ["link", "iframe", "frame", "frameset", "object", "embed", "applet", "portal", "fencedframe", "webview", "base", "meta"];
  // The agent's code runs in this realm later and may replace what a prototype has. So nothing below looks a method up
  // when it is called: methods are taken now, and the pattern carries its own.
  const uncurry = Function.prototype.bind.bind(Function.prototype.call) as (method: unknown) => (self: unknown, ...given: unknown[]) => unknown;
  const toLowerCase = uncurry(String.prototype.toLowerCase) as (text: string) => string;
  const lastIndexOf = uncurry(String.prototype.lastIndexOf) as (text: string, part: string) => number;
  const slice = uncurry(String.prototype.slice) as (text: string, start: number) => string;
  const replaceMatches = uncurry(RegExp.prototype[Symbol.replace]) as (pattern: RegExp, text: string, by: string) => string;
  const REFUSED: Record<string, true> = Object.create(null) as Record<string, true>;
  for (const name of ELEMENTS) REFUSED[name] = true;
  const MARKUP = new RegExp(`<(?=(?:[^\\s<>/:="']*:)?(?:${ELEMENTS.join("|")})\\b|!ENTITY)`, "gi");
  for (const [name, value] of [["exec", RegExp.prototype.exec], ["flags", "gi"], ["global", true], ["unicode", false]] as const) {
    Object.defineProperty(MARKUP, name, { value });
  }
  const KNOWN_MARKUP = new Set(["innerHTML", "outerHTML", "insertAdjacentHTML", "getHTML", "setHTMLUnsafe", "parseHTMLUnsafe"]);

  /** No parser makes one of these elements of it, whatever the context. */
  const clean = (text: string): string => replaceMatches(MARKUP, text, "&lt;");

  function harden(): (url: string) => string {
    for (const name of REMOVED) {
      delete root[name];
      if (name in root) throw new Error(`${name} cannot be removed`);
    }
    delete (Navigator.prototype as unknown as Record<string, unknown>)["credentials"];
    if (!factory) throw new Error("this browser has no Trusted Types");
    const own = factory.createPolicy("hookline", { createScriptURL: (url: string) => url });
    const trustUrl = own.createScriptURL.bind(own);
    factory.createPolicy("default", {
      createHTML: clean,
      createScript: (text: string) => text,
      createScriptURL: (url: string) => url, // script-src and worker-src allow blob: alone
    });
    refuseElements();
    refuseParsers();
    return trustUrl;
  }

  function redefine(owner: object, name: string, value: unknown): void {
    if (name in owner) Object.defineProperty(owner, name, { value, writable: false, configurable: false, enumerable: true });
  }

  function checkName(name: string): string {
    const local = toLowerCase(slice(name, lastIndexOf(name, ":") + 1));
    if (REFUSED[local]) throw new TypeError(`<${local}> is not available here`);
    return name;
  }

  function refuseElements(): void {
    const create = uncurry(Document.prototype.createElement);
    const createWithin = uncurry(Document.prototype.createElementNS);
    const createDocument = uncurry(DOMImplementation.prototype.createDocument);
    const define = uncurry(CustomElementRegistry.prototype.define);
    // A name is made text once, before it is checked: an object could answer differently the second time.
    redefine(Document.prototype, "createElement", function (this: unknown, name: unknown) {
      return create(this, checkName(`${name as string}`));
    });
    redefine(Document.prototype, "createElementNS", function (this: unknown, space: unknown, name: unknown) {
      return createWithin(this, space, checkName(`${name as string}`));
    });
    redefine(DOMImplementation.prototype, "createDocument", function (this: unknown, space: unknown, name: unknown, type: unknown = null) {
      return createDocument(this, space, name == null ? name : checkName(`${name as string}`), type);
    });
    redefine(CustomElementRegistry.prototype, "define", function (this: unknown, name: unknown, made: unknown) {
      return define(this, name, made);
    });
  }

  function refuseParsers(): void {
    for (const name of ["write", "writeln", "open", "execCommand"]) {
      redefine(Document.prototype, name, () => {
        throw new TypeError(`document.${name} is not available here`);
      });
    }
    for (const owner of [Element.prototype, ShadowRoot.prototype, Document.prototype, Document, DocumentFragment.prototype]) {
      for (const name of Object.getOwnPropertyNames(owner)) {
        if (/html/i.test(name) && !KNOWN_MARKUP.has(name)) delete (owner as unknown as Record<string, unknown>)[name];
      }
    }
  }

  /** What a worker runs: code of the tool runjs. It is sent as text. */
  function runCode(): void {
    const scope = self as unknown as { postMessage: (message: unknown) => void; onmessage: ((event: MessageEvent) => void) | null };
    const send = scope.postMessage.bind(scope);
    const types = (self as unknown as { trustedTypes?: { createPolicy: (name: string, rules: object) => void } }).trustedTypes;
    const same = (text: string): string => text;
    types?.createPolicy("default", { createScript: same, createScriptURL: same });
    scope.onmessage = async (event) => {
      scope.onmessage = null;
      const { run, code } = event.data as { run: string; code: string };
      const evaluate = new Function(`return ${run}`)() as (code: string) => Promise<string>;
      send(await evaluate(code));
    };
  }

  /** The answer of runjs as JSON: {value, lines} or {error, name, lines}. */
  async function evaluate(code: string): Promise<string> {
    const lines: string[] = [];
    const stringify = JSON.stringify;
    const errorAsText = (_: string, value: unknown): unknown => (value instanceof Error ? String(value) : value);
    const show = (value: unknown): string => {
      try {
        return typeof value === "string" ? value : value instanceof Error ? String(value) : (stringify(value, errorAsText) ?? String(value));
      } catch {
        return "[cannot be shown]";
      }
    };
    const log = (...values: unknown[]): void => {
      if (lines.length < 200) lines.push(values.map(show).join(" ").slice(0, 4000));
    };
    const print = { ...console, log, info: log, warn: log, error: log, debug: log };
    try {
      const AsyncFunction = (async () => {}).constructor as new (...texts: string[]) => (...given: unknown[]) => Promise<unknown>;
      const value = await new AsyncFunction("log", "console", code)(log, print);
      const json = stringify({ value: value === undefined || typeof value === "function" ? null : value, lines });
      return json.length > 800_000 ? stringify({ error: "the result is too large", name: "Error", lines: [] }) : json;
    } catch (error) {
      const told = error as { message?: unknown; name?: unknown } | null;
      return stringify({ error: String(told?.message ?? error), name: String(told?.name ?? ""), lines });
    }
  }

  const trustUrl = harden();
  const workerUrl = trustUrl(URL.createObjectURL(new Blob([`(${runCode.toString()})()`], { type: "text/javascript" })));
  const evaluateSource = evaluate.toString();
  let port: MessagePort;
  let calls = 0;
  const waiting = new Map<number, (result: unknown) => void>();

  function callTool(name: unknown, input: unknown = {}): Promise<unknown> {
    if (typeof name !== "string" || typeof input !== "object" || input === null) {
      return Promise.resolve({ content: "callTool takes a tool's name and its input", is_error: true });
    }
    const json = JSON.stringify(input);
    if (json.length > MAX_JSON || waiting.size >= MAX_CALLS) {
      return Promise.resolve({ content: "too many calls, or too large an input", is_error: true });
    }
    const id = ++calls;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      port.postMessage({ call: id, name, input: json });
    });
  }
  Object.defineProperty(root, "hookline", { value: Object.freeze({ callTool }), enumerable: true });

  function runInWorker(code: string, timeout: number): Promise<string> {
    const worker = new startWorker(workerUrl);
    return new Promise((resolve) => {
      const finish = (json: string): void => {
        clearTimeout(timer);
        worker.terminate();
        resolve(json);
      };
      const timer = setTimeout(() => finish(JSON.stringify({ error: `did not end within ${timeout / 1000} s`, name: "TimeoutError", lines: [] })), timeout);
      worker.onmessage = (event) => finish(String(event.data));
      worker.onerror = (event) => {
        event.preventDefault();
        finish(JSON.stringify({ error: event.message || "the worker failed", name: "Error", lines: [] }));
      };
      worker.postMessage({ run: evaluateSource, code });
    });
  }

  function describe(element: Element): object {
    const attributes = Object.fromEntries([...element.attributes].map((each) => [each.name, each.value]));
    const text = (element.textContent ?? "").slice(0, 2_000);
    return { tag: element.tagName.toLowerCase(), attributes, text, html: element.innerHTML.slice(0, 20_000), children: element.children.length };
  }

  function setAttributes(element: Element, given: Record<string, string | null>): void {
    for (const [name, value] of Object.entries(given)) {
      if (value === null) element.removeAttribute(name);
      else element.setAttribute(name, value);
    }
  }

  function changeDom(input: DomInput): unknown {
    const selector = input.selector ?? input.parentSelector ?? "body";
    const found = [...document.querySelectorAll(selector)];
    if (input.action === "query") return { count: found.length, elements: found.slice(0, 50).map(describe) };
    const first = found[0];
    if (!first) throw new Error(`no element matches ${selector}`);
    if (input.action === "append" || input.action === "create") {
      first.insertAdjacentHTML("beforeend", input.html ?? input.innerHTML ?? "");
      return "appended";
    }
    for (const element of input.action === "modify" ? [first] : found) {
      if (input.action === "remove") element.remove();
      if (input.attributes) setAttributes(element, input.attributes);
      if (input.action !== "modify") continue;
      if (input.innerHTML !== undefined) element.innerHTML = input.innerHTML;
      else if (input.textContent !== undefined) element.textContent = input.textContent;
    }
    if (input.action === "attributes") return found.slice(0, 50).map((each) => Object.fromEntries([...each.attributes].map((one) => [one.name, one.value])));
    return input.action === "remove" ? `removed ${found.length}` : "modified";
  }

  async function perform(tool: string, input: Record<string, unknown>, timeout: number): Promise<string> {
    if (tool === "dom") {
      try {
        return JSON.stringify({ content: changeDom(input as unknown as DomInput) });
      } catch (error) {
        return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
      }
    }
    const code = String(input["code"]);
    return input["context"] === "iframe" ? evaluate(code) : runInWorker(code, timeout);
  }

  const picture = (): object => ({
    title: document.title,
    body: { innerHTML: document.body.innerHTML.slice(0, MAX_DOM), textContent: (document.body.textContent ?? "").slice(0, MAX_DOM) },
  });

  let saving: ReturnType<typeof setTimeout> | undefined;
  function saveSoon(): void {
    saving ??= setTimeout(() => {
      saving = undefined;
      port.postMessage({ state: document.body.innerHTML });
    }, SAVE_DELAY);
  }

  function stayBusy(time: number): void {
    const end = performance.now() + time;
    while (performance.now() < end);
  }

  /** For the console's test whether another frame answers meanwhile. The second part lets the word arrive before that one's. */
  function beBusy(request: unknown, time: number): void {
    port.postMessage({ done: request });
    stayBusy(time);
    port.postMessage({ idle: true });
    stayBusy(BUSY_AFTER);
  }

  async function receive(event: MessageEvent): Promise<void> {
    const told = event.data as Record<string, unknown>;
    if ("ping" in told) port.postMessage({ pong: told["ping"] });
    else if ("busy" in told) beBusy(told["busy"], Math.min(Number(told["time"]), MAX_BUSY));
    else if ("load" in told) document.body.innerHTML = String(told["load"]);
    else if ("picture" in told) port.postMessage({ done: told["picture"], answer: picture() });
    else if ("settle" in told) {
      waiting.get(Number(told["settle"]))?.(told["result"]);
      waiting.delete(Number(told["settle"]));
    } else if ("tool" in told) {
      const json = await perform(String(told["name"]), told["input"] as Record<string, unknown>, Number(told["timeout"]));
      port.postMessage({ done: told["tool"], json, state: document.body.innerHTML });
    }
  }

  document.currentScript?.remove();
  new MutationObserver(saveSoon).observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
  addEventListener("message", function take(event) {
    const given = event.ports[0];
    if (event.source !== parent || !given) return;
    removeEventListener("message", take);
    port = given;
    port.onmessage = (message) => void receive(message);
    port.postMessage({ ready: true });
  });
})();
