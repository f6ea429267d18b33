import type { JSX } from "preact";
import { listSignIns, removeSignIn } from "../../api/users";
import { When, useLoad } from "../../parts/load";
import { Ago } from "../../parts/time";
import { attempt } from "../../parts/toast";

export function SignInList(): JSX.Element {
  const signIns = useLoad("sign-ins", listSignIns);
  return (
    <section class="card">
      <h2>Signed-in browsers</h2>
      <When loaded={signIns}>
        {({ items }) => (
          <ul class="plain-list">
            {items.map((each) => (
              <li key={each.id}>
                <strong class="ellipsis">{each.name}</strong>
                <span class="muted">
                  {each.role}, signed in <Ago at={each.created} />
                </span>
                <div class="actions">
                  <button
                    type="button"
                    class="small danger"
                    aria-label={`Sign out the browser of ${each.name}`}
                    onClick={() => void attempt(() => removeSignIn(each.id)).then(signIns.reload)}
                  >
                    Sign out
                  </button>
                </div>
              </li>
            ))}
          </ul>
        )}
      </When>
    </section>
  );
}
