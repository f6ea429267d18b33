/** Signing in with a link that works once. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { codeInAddress, enter } from "../../account";
import { ApiError, describeError, get } from "../../api/client";
import { Logo } from "../../parts/icons";
import { go } from "../../router";
import { pageTitle } from "../../title";

interface Health {
  name?: string;
  /** Where signing in with an identity provider begins, if the hub has one. */
  oidc?: string;
}

export function EnterPage(): JSX.Element {
  const [state, setState] = useState<"idle" | "entering" | { failure: string }>(() => (codeInAddress() ? "entering" : "idle"));
  const [health, setHealth] = useState<Health>({});

  useEffect(() => {
    pageTitle.value = "Sign in";
    get<Health>("/healthz").then(setHealth, () => undefined);
    const enterWithLink = (): void => {
      const code = codeInAddress();
      if (!code) return;
      go(window.location.pathname + window.location.search, { replace: true });
      setState("entering");
      enter(code).catch((failure: unknown) => setState({ failure: tellFailure(failure) }));
    };
    enterWithLink();
    window.addEventListener("hashchange", enterWithLink);
    return () => window.removeEventListener("hashchange", enterWithLink);
  }, []);

  return (
    <main class="enter">
      <div class="card enter-card">
        <Logo />
        <h1>{state === "entering" ? "Signing in…" : `Sign in to ${health.name ?? "the hub"}`}</h1>
        {typeof state === "object" && (
          <p class="notice" data-level="error" role="alert">
            {state.failure}
          </p>
        )}
        {state !== "entering" && (
          <>
            {health.oidc && (
              <a class="button primary" href={health.oidc}>
                Sign in with your organisation
              </a>
            )}
            <p class="muted">
              On the hub's machine, make a link and open it. It works once, within five minutes.
            </p>
            <pre class="code">hookline hub open</pre>
          </>
        )}
      </div>
    </main>
  );
}

function tellFailure(failure: unknown): string {
  if (failure instanceof ApiError && (failure.status === 401 || failure.status === 403 || failure.status === 410)) {
    return "This link was used already, or it is older than five minutes. Make a new one.";
  }
  if (failure instanceof ApiError && failure.status === 429) return "Too many tries. Wait a minute and make a new link.";
  return describeError(failure);
}
