/** One sandboxed frame and the port to it. What comes through the port is from that frame: nothing else has the other end. */

const PING_EVERY = 1000;
const HANGS_AFTER = 3000;
const READY_WITHIN = 10_000;

export type FrameMessage = Record<string, unknown>;

export interface FrameOptions {
  name: string;
  url: string;
  parent: HTMLElement;
  /** Shown to the person; the others only work. */
  title?: string;
  onReady: () => void;
  onMessage: (message: FrameMessage) => void;
  /** It does not answer, or it is not our document any more. */
  onLost: () => void;
}

export class FrameLink {
  private readonly frame = document.createElement("iframe");
  private readonly channel = new MessageChannel();
  private readonly waiting = new Map<number, (answer: unknown) => void>();
  private readonly pings: ReturnType<typeof setInterval>;
  private asked = 0;
  private heard = performance.now();
  private readySince = 0;
  private loads = 0;
  private closed = false;

  constructor(private readonly options: FrameOptions) {
    const { frame } = this;
    frame.setAttribute("sandbox", "allow-scripts");
    frame.setAttribute("allow", "");
    frame.referrerPolicy = "no-referrer";
    frame.title = options.title ?? `${options.name} frame`;
    if (!options.title) {
      frame.tabIndex = -1;
      frame.setAttribute("aria-hidden", "true");
      Object.assign(frame.style, { position: "absolute", width: "1px", height: "1px", opacity: "0", pointerEvents: "none" });
    }
    frame.addEventListener("load", () => this.loaded());
    this.channel.port1.onmessage = (event) => this.receive(event.data as unknown);
    frame.src = options.url;
    options.parent.append(frame);
    this.pings = setInterval(() => this.ping(), PING_EVERY);
  }

  get isReady(): boolean {
    return this.readySince > 0 && !this.closed;
  }

  send(message: FrameMessage): void {
    if (!this.closed) this.channel.port1.postMessage(message);
  }

  /** The answer to a message, whose key `name` gets a number; null if the frame is closed before. */
  request(name: string, message: FrameMessage): Promise<unknown> {
    if (this.closed) return Promise.resolve(null);
    const id = ++this.asked;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.send({ ...message, [name]: id });
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.pings);
    this.channel.port1.close();
    this.frame.remove();
    for (const resolve of this.waiting.values()) resolve(null);
    this.waiting.clear();
  }

  private loaded(): void {
    this.loads += 1;
    // The port goes to the first document alone: a frame that loads another one has navigated itself.
    if (this.loads === 1) this.frame.contentWindow?.postMessage("port", "*", [this.channel.port2]);
    else this.lost();
  }

  private receive(data: unknown): void {
    if (this.closed || typeof data !== "object" || data === null) return;
    const message = data as FrameMessage;
    this.heard = performance.now();
    if ("pong" in message) return;
    if ("ready" in message && !this.readySince) {
      this.readySince = this.heard;
      this.options.onReady();
    } else if (typeof message["done"] === "number" && this.waiting.has(message["done"])) {
      this.waiting.get(message["done"])?.(message);
      this.waiting.delete(message["done"]);
    } else this.options.onMessage(message);
  }

  private ping(): void {
    const limit = this.readySince ? HANGS_AFTER : READY_WITHIN;
    if (performance.now() - this.heard > limit) this.lost();
    else if (this.readySince) this.send({ ping: 1 });
  }

  private lost(): void {
    if (this.closed) return;
    this.close();
    this.options.onLost();
  }
}
