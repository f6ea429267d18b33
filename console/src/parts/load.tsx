/** Loads something from the hub, and shows that it is loading or failed. */

import type { ComponentChildren, JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, describeError } from "../api/client";

export interface Loaded<T> {
  data: T | undefined;
  failure: unknown;
  reload: () => void;
}

/**
 * `key` says what is loaded; another key loads anew. So does another `version`, such as the number of the connection,
 * but then the old data stays until the new is there.
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>, version = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; failure?: unknown }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    latest.current(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ key, data }),
      (failure: unknown) =>
        !abort.signal.aborted && setState((old) => (old.key === key ? { ...old, failure } : { key, failure })),
    );
    return () => abort.abort();
  }, [key, version, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  const current = state.key === key ? state : undefined;
  return { data: current?.data, failure: current?.failure, reload };
}

export function Loading(): JSX.Element {
  return (
    <div class="loading" role="status" aria-label="Loading">
      <i />
      <i />
      <i />
    </div>
  );
}

export function Failure({ failure, retry }: { failure: unknown; retry?: () => void }): JSX.Element {
  const missing = failure instanceof ApiError && failure.status === 404;
  return (
    <div class="notice" data-level={missing ? "info" : "error"} role="alert">
      <span>{describeError(failure)}</span>
      {retry && !missing && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The loaded data, or what takes its place. */
export function When<T>({ loaded, children }: { loaded: Loaded<T>; children: (data: T) => ComponentChildren }): JSX.Element {
  if (loaded.data !== undefined) return <>{children(loaded.data)}</>;
  if (loaded.failure !== undefined) return <Failure failure={loaded.failure} retry={loaded.reload} />;
  return <Loading />;
}
