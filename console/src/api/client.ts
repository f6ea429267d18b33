/** One request to the hub's API, with the token of the signed-in user. */

import { signal } from "@preact/signals";

const TOKEN_KEY = "hookline.token";

/** The bearer token; empty while nobody is signed in. It lives in localStorage, which is bound to this port; a cookie is not. */
export const token = signal(localStorage.getItem(TOKEN_KEY) ?? "");

export function keepToken(text: string): void {
  if (text) localStorage.setItem(TOKEN_KEY, text);
  else localStorage.removeItem(TOKEN_KEY);
  token.value = text;
}

window.addEventListener("storage", (event) => {
  if (event.key === TOKEN_KEY || event.key === null) token.value = localStorage.getItem(TOKEN_KEY) ?? "";
});

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly detail?: unknown,
  ) {
    super(message);
  }
}

export interface Page<T> {
  items: T[];
  next: string | number | null;
}

export interface RequestOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  signal?: AbortSignal;
}

export const get = <T>(path: string, options?: RequestOptions): Promise<T> => request<T>("GET", path, options);
export const post = <T>(path: string, body?: unknown): Promise<T> => request<T>("POST", path, { body: body ?? {} });
export const put = <T>(path: string, body: unknown): Promise<T> => request<T>("PUT", path, { body });
export const patch = <T>(path: string, body: unknown): Promise<T> => request<T>("PATCH", path, { body });
export const remove = <T>(path: string): Promise<T> => request<T>("DELETE", path);

async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** The response of a request that succeeded. Throws ApiError otherwise. */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (token.value) headers["Authorization"] = `Bearer ${token.value}`;
  const init: RequestInit = { method, headers, credentials: "omit" };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  const sentToken = token.value;
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}${queryText(options.query)}`, init);
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    throw new ApiError(0, "The hub does not answer.");
  }
  if (response.ok) return response;
  if (response.status === 401 && sentToken && sentToken === token.value) keepToken("");
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const told = (await response.json()) as { error?: unknown; detail?: unknown };
    return new ApiError(response.status, String(told.error ?? response.statusText), told.detail);
  } catch {
    return new ApiError(response.status, response.statusText || `HTTP ${response.status}`);
  }
}

export function queryText(query: RequestOptions["query"]): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") parts.set(name, String(value));
  }
  const text = parts.toString();
  return text ? `?${text}` : "";
}

export function describeError(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
