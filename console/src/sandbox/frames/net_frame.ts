/** Runs in the net frame, alone: fetches from the origins that the frame's policy names. It imports nothing. */

interface FetchInput {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  format?: string;
}

(() => {
  const MAX_BYTES = 700_000;
  let port: MessagePort;

  async function readStart(response: Response): Promise<{ text: string; cut: boolean }> {
    const reader = response.body?.getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    while (reader && size <= MAX_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value as Uint8Array<ArrayBuffer>);
      size += value.length;
    }
    void reader?.cancel().catch(() => undefined);
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return { text: new TextDecoder().decode(bytes.subarray(0, MAX_BYTES)), cut: size > MAX_BYTES };
  }

  async function load(input: FetchInput, timeout: number): Promise<object> {
    const options: RequestInit = {
      method: input.method ?? "GET",
      headers: input.headers ?? {},
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(timeout),
    };
    if (input.body !== undefined) options.body = input.body;
    let response: Response;
    try {
      response = await fetch(input.url, options);
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      return { error: name === "TimeoutError" ? "the server did not answer in time" : "the browser could not fetch this; it may not allow it (CORS)" };
    }
    const { text, cut } = await readStart(response);
    const isPage = input.format === "text" && (response.headers.get("content-type") ?? "").includes("html");
    const shown = (isPage ? (new DOMParser().parseFromString(text, "text/html").body.textContent ?? "") : text) + (cut ? `\n[only the first ${MAX_BYTES} bytes were kept]` : "");
    return response.ok ? { content: shown } : { error: `${response.status} ${response.statusText}\n${shown.slice(0, 4_000)}`.trimEnd(), content: shown };
  }

  addEventListener("message", function take(event) {
    const given = event.ports[0];
    if (event.source !== parent || !given) return;
    removeEventListener("message", take);
    port = given;
    port.onmessage = async (message) => {
      const told = message.data as { ping?: number; tool?: number; input?: FetchInput; timeout?: number };
      if (told.ping !== undefined) port.postMessage({ pong: told.ping });
      else if (told.input) port.postMessage({ done: told.tool, answer: await load(told.input, told.timeout ?? 30_000) });
    };
    port.postMessage({ ready: true });
  });
})();
