/** The address bar as a signal, and which page belongs to it. */

import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";

const address = signal(new URL(window.location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

export function go(to: string, options: { replace?: boolean } = {}): void {
  const url = new URL(to, address.value);
  if (options.replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  address.value = url;
}

/** Changes parts of the query without a new entry in the history; an empty value removes the part. */
export function setQuery(changes: Record<string, string>): void {
  const url = new URL(address.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  go(url.href, { replace: true });
}

window.addEventListener("popstate", () => {
  address.value = new URL(window.location.href);
});

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
  if (!link || link.target || link.hasAttribute("download") || link.origin !== window.location.origin) return;
  if (link.hash && link.pathname === window.location.pathname) return; // a place on this page
  if (link.pathname.startsWith("/api/") || link.pathname.startsWith("/oidc/")) return;
  event.preventDefault();
  go(link.href);
  window.scrollTo(0, 0);
});

/** The page of a browser agent, or of one of its sessions. */
export function agentPath(agent: string, session?: string): string {
  const path = `/agents/${encodeURIComponent(agent)}`;
  return session === undefined ? path : `${path}/sessions/${encodeURIComponent(session)}`;
}

export type PageComponent = ComponentType<any>;

export interface Route {
  pattern: string;
  page: PageComponent;
  /** The navigation entry that is marked as current. */
  section: string;
}

/** `/sessions/:id` and `/sessions/a%2Fb` → `{id: "a/b"}`; null if they do not match. */
export function matchPath(pattern: string, pathname: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = pathname.replace(/(.)\/$/, "$1").split("/");
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? "";
    if (part.startsWith(":")) {
      try {
        found[part.slice(1)] = decodeURIComponent(text);
      } catch {
        return null;
      }
    } else if (part !== text) return null;
  }
  return found;
}
