import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PageComponent } from "../router";
import { Failure, Loading } from "./load";

/** A page whose code is loaded when it is shown for the first time. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | undefined;
  return function LazyPage(props: Record<string, string>): JSX.Element {
    const [state, setState] = useState<{ page?: PageComponent; failure?: unknown }>(loaded ? { page: loaded } : {});
    useEffect(() => {
      if (loaded) return;
      load().then(
        (page) => {
          loaded = page;
          setState({ page });
        },
        (failure: unknown) => setState({ failure }),
      );
    }, []);
    const { page: PageOf } = state;
    if (PageOf) return <PageOf {...props} />;
    return state.failure === undefined ? <Loading /> : <Failure failure={state.failure} retry={() => window.location.reload()} />;
  };
}
