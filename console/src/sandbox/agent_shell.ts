/** Attaches this page to a session of a browser agent: the hub asks, the three frames answer. */

import { type Socket, io } from "socket.io-client";
import { FrameLink, type FrameMessage } from "./frame_link";

/**
 * unseparated: the browser would run the agent's code and its hooks in one process, so scripts of hooks run on the hub.
 * unprotected: it cannot keep the agent's code in its frame, so the page is not opened and the agent goes on at the hub.
 */
export type ShellState = "attaching" | "attached" | "unseparated" | "unprotected" | "elsewhere" | "hangs" | "gone";

export interface ShellOptions {
  session: string;
  token: string;
  name: string;
  parent: HTMLElement;
  onState: (state: ShellState) => void;
}

type FrameName = "hooks" | "agent" | "net";
type Answer = (answer: unknown) => void;

interface Attached {
  ok: boolean;
  taken?: boolean;
  /** The hub that has the session cannot be reached now. */
  again?: boolean;
  error?: string;
  dom: string;
  network: string[];
  frames: Record<FrameName, string>;
}

interface ScriptRequest {
  run: string;
  hook: string;
  source: string;
  variables: string;
  timeout: number;
  document: boolean;
}

interface ToolRequest {
  tool: string;
  input: Record<string, unknown>;
  timeout: number;
}

const MAX_BYTES = 900_000;
const PICTURE_WITHIN = 500;
const HOOKS_WITHIN = 5000;
const AGAIN_AFTER = 1000;
/** How long the agent's frame is busy while the hooks frame has to answer; a loaded machine gets a second chance. */
const BUSY_FOR = [60, 250, 1000, 2000];
const REPLACED = { error: "the page did not answer and was replaced" };
const NAMES: FrameName[] = ["hooks", "agent", "net"];

export class AgentShell {
  private readonly socket: Socket;
  private readonly frames = new Map<FrameName, FrameLink>();
  private readonly runs = new Map<string, { answer: Answer; document: boolean; hook: string }>();
  private attached: Attached | null = null;
  /** Whether the frames `hooks` and `agent` run beside each other; null until it was tried. */
  private separate: boolean | null = null;
  private hooksReady = Promise.withResolvers<void>();
  private stillBusy = Promise.withResolvers<void>();
  private readonly loaded = new WeakSet<FrameLink>();
  private wasWhole = false;
  private dom = "";
  private sent: string | null = null;
  private closed = false;

  constructor(private readonly options: ShellOptions) {
    this.socket = io("/page", { transports: ["websocket"], auth: { token: options.token }, reconnectionDelayMax: 5000 });
    this.socket.on("connect", () => void this.attach(false));
    this.socket.on("disconnect", () => this.detach("gone"));
    this.socket.on("connect_error", () => options.onState("gone"));
    this.socket.on("script", (data: ScriptRequest, answer: Answer) => void this.runScript(data, answer));
    this.socket.on("kill", (data: { run: string }) => this.frames.get("hooks")?.send({ kill: data.run }));
    this.socket.on("tool", (data: ToolRequest, answer: Answer) => void this.runTool(data, answer));
    this.socket.on("again", () => void this.attachLater());
    this.socket.on("detach", () => this.detach("elsewhere"));
  }

  /** Drives the session from this page, although another one does. */
  takeOver(): void {
    void this.attach(true);
  }

  close(): void {
    this.closed = true;
    this.socket.disconnect();
    this.closeFrames();
  }

  private async attach(take_over: boolean): Promise<void> {
    this.options.onState("attaching");
    const told = (await this.socket.emitWithAck("here", { session: this.options.session, take_over })) as Attached;
    if (this.closed) return;
    if (!told.ok) {
      this.options.onState(told.taken ? "elsewhere" : "gone");
      if (told.again) void this.attachLater();
      return;
    }
    this.attached = told;
    this.dom = told.dom;
    this.sent = null;
    this.closeFrames();
    this.wasWhole = false;
    this.hooksReady = Promise.withResolvers<void>();
    for (const name of isProtected() ? NAMES : (["net"] as const)) this.openFrame(name, told);
    this.tellFrames();
  }

  /** Another hub had the session and left: it comes back, or this one takes the session over. */
  private async attachLater(): Promise<void> {
    this.detach("gone");
    await wait(AGAIN_AFTER);
    if (!this.closed && this.socket.connected && !this.attached) await this.attach(false);
  }

  private detach(state: ShellState): void {
    this.attached = null;
    this.closeFrames();
    if (!this.closed) this.options.onState(state);
  }

  private closeFrames(): void {
    for (const frame of this.frames.values()) frame.close();
    this.frames.clear();
    this.runs.clear();
  }

  private openFrame(name: FrameName, told: Attached): void {
    const query = name === "net" ? told.network.map((origin) => `origin=${encodeURIComponent(origin)}`).join("&") : "";
    const link: FrameLink = new FrameLink({
      name,
      url: `${told.frames[name]}/sandbox/${name}${query ? `?${query}` : ""}`,
      parent: this.options.parent,
      ...(name === "agent" ? { title: `The page of ${this.options.name}` } : {}),
      onReady: () => {
        if (name === "hooks") this.hooksReady.resolve();
        if (name === "agent") void this.loadDocument(link, told);
        this.tellFrames();
      },
      onMessage: (message) => this.hear(name, message),
      onLost: () => this.replaceFrame(name, told),
    });
    this.frames.set(name, link);
  }

  /** Whether the frames are in processes of their own is tried before any code of the agent runs. */
  private async loadDocument(link: FrameLink, told: Attached): Promise<void> {
    this.separate ??= await this.testSeparation(link);
    if (this.attached !== told || !link.isReady) return;
    if (!this.separate) {
      this.frames.get("hooks")?.close();
      this.frames.delete("hooks");
    }
    this.loaded.add(link);
    link.send({ load: this.dom });
    this.tellFrames();
  }

  /** The hooks frame answers while the agent's frame is busy. In one process it would answer afterwards. Null: not known. */
  private async testSeparation(agent: FrameLink): Promise<boolean | null> {
    await Promise.race([this.hooksReady.promise, wait(HOOKS_WITHIN)]);
    for (const time of BUSY_FOR) {
      const hooks = this.frames.get("hooks");
      if (!hooks?.isReady) return false;
      this.stillBusy = Promise.withResolvers<void>();
      if (!(await agent.request("busy", { time }))) return null;
      if (await Promise.race([hooks.request("echo", {}).then(Boolean), this.stillBusy.promise.then(() => false)])) return true;
    }
    return false;
  }

  private replaceFrame(name: FrameName, told: Attached): void {
    if (this.attached !== told || this.closed) return;
    if (name === "hooks") for (const run of [...this.runs.keys()]) this.finishRun(run, { ...REPLACED, kind: "raised" });
    this.frames.delete(name);
    this.tellFrames();
    this.openFrame(name, told);
  }

  /** The hub learns which frames answer. Without a frame it does what it does without a page. */
  private tellFrames(): void {
    const states = Object.fromEntries(NAMES.map((name) => [name, this.isWorking(name) ? "ok" : "hangs"]));
    const text = JSON.stringify(states);
    if (text === this.sent) return;
    this.sent = text;
    this.socket.emit("frames", states);
    this.options.onState(this.stateOf(states));
  }

  private isWorking(name: FrameName): boolean {
    const frame = this.frames.get(name);
    if (!frame?.isReady) return false;
    return name === "net" || (name === "agent" ? this.loaded.has(frame) : this.separate === true);
  }

  private stateOf(frames: Record<string, string>): ShellState {
    if (!isProtected()) return "unprotected";
    const isWhole = frames["agent"] === "ok" && (frames["hooks"] === "ok" || this.separate === false);
    if (!isWhole) return this.wasWhole ? "hangs" : "attaching";
    this.wasWhole = true;
    return this.separate ? "attached" : "unseparated";
  }

  /** Each frame may say what is its own, and nothing else: the agent's cannot answer for a hook. */
  private hear(name: FrameName, message: FrameMessage): void {
    if (name === "hooks") this.hearHooks(message);
    else if (name === "agent") this.hearAgent(message);
  }

  private hearHooks(message: FrameMessage): void {
    const run = String(message["run"] ?? message["done"]);
    const known = this.runs.get(run);
    if (!known) return;
    if ("done" in message) this.finishRun(run, message["answer"]);
    else if ("log" in message) {
      const values = (message["log"] as unknown[]).map(String);
      console.info(`[${known.hook}]`, ...values);
      this.socket.emit("log", { run, values });
    } else if ("call" in message) void this.callTool("hooks", message, run, known.document);
  }

  private hearAgent(message: FrameMessage): void {
    if ("idle" in message) this.stillBusy.resolve();
    else if ("state" in message) this.saveDom(String(message["state"]));
    else if ("call" in message) void this.callTool("agent", message, null, false);
  }

  private async callTool(name: FrameName, message: FrameMessage, run: string | null, wantsPicture: boolean): Promise<void> {
    const frame = this.frames.get(name);
    let result: unknown;
    try {
      const input: unknown = JSON.parse(String(message["input"]));
      result = await this.socket.emitWithAck("call", { run, name: String(message["name"]), input });
    } catch (error) {
      result = { content: `the call could not be made: ${String(error)}`, is_error: true };
    }
    const picture = wantsPicture ? { picture: await this.takePicture() } : {};
    frame?.send({ settle: message["call"], run, result, ...picture });
  }

  private async runScript(data: ScriptRequest, answer: Answer): Promise<void> {
    const frame = this.frames.get("hooks");
    if (!frame?.isReady) {
      answer({ error: "the hooks frame is not there", kind: "raised" });
      return;
    }
    this.runs.set(data.run, { answer, document: data.document, hook: data.hook });
    const { run, source, variables, timeout } = data;
    const picture = data.document ? await this.takePicture() : null;
    frame.send({ run, source, variables, timeout, picture });
  }

  private finishRun(run: string, answer: unknown): void {
    const known = this.runs.get(run);
    this.runs.delete(run);
    known?.answer(fits(answer) ? answer : { error: "what the script returned is too large", kind: "unreadable" });
  }

  private async runTool(data: ToolRequest, answer: Answer): Promise<void> {
    const frame = this.frames.get(data.tool === "fetch" ? "net" : "agent");
    const told = (await frame?.request("tool", { name: data.tool, input: data.input, timeout: data.timeout })) as FrameMessage | null | undefined;
    if (!told) {
      answer(REPLACED);
      return;
    }
    let result: unknown;
    try {
      result = typeof told["json"] === "string" ? JSON.parse(told["json"]) : told["answer"];
    } catch {
      result = { error: "the page gave an unreadable answer" };
    }
    if (typeof told["state"] === "string") this.saveDom(told["state"]);
    answer(fits(result) ? result : { error: "the answer of the page is too large" });
  }

  /** What a script sees as its document: as it is now, or as it was saved if the agent's frame does not answer. */
  private async takePicture(): Promise<unknown> {
    const saved = { title: "", body: { innerHTML: this.dom, textContent: "" } };
    const asked = this.frames.get("agent")?.request("picture", {}) ?? Promise.resolve(null);
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), PICTURE_WITHIN));
    const told = (await Promise.race([asked, late])) as FrameMessage | null;
    return told?.["answer"] ?? saved;
  }

  private saveDom(dom: string): void {
    if (dom === this.dom || !fits(dom)) return;
    this.dom = dom;
    this.socket.emit("state", { dom });
  }
}

/** Without Trusted Types, the agent's code could make a frame that has what its own has lost. */
function isProtected(): boolean {
  return "trustedTypes" in window;
}

function wait(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}

/** One message to the hub has at most a megabyte. */
function fits(value: unknown): boolean {
  const text = JSON.stringify(value) ?? "";
  return text.length <= MAX_BYTES / 3 || new TextEncoder().encode(text).length <= MAX_BYTES;
}
