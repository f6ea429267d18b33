import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Credential, addKey, listKeys, removeKey } from "../../api/users";
import { Confirm } from "../../parts/dialog";
import { When, useLoad } from "../../parts/load";
import { Ago } from "../../parts/time";
import { attempt } from "../../parts/toast";
import { NameAndRole } from "./name_and_role";
import { SecretDialog } from "./secret_dialog";

const ROLES = ["reporter", "viewer", "approver", "editor", "owner"];

export function KeyList(): JSX.Element {
  const keys = useLoad("keys", listKeys);
  const [made, setMade] = useState<{ name: string; key: string } | null>(null);
  const [leaving, setLeaving] = useState<Credential | null>(null);
  return (
    <section class="card">
      <header>
        <h2>Keys</h2>
      </header>
      <p class="muted">For machines and programs. A reporter sends its record and asks questions, and reads nothing else.</p>
      <When loaded={keys}>
        {({ items }) =>
          items.length > 0 && (
            <ul class="plain-list">
              {items.map((key) => (
                <li key={key.id}>
                  <strong class="ellipsis">{key.name || "unnamed"}</strong>
                  <span class="muted">
                    {key.role}, {key.used ? <>used <Ago at={key.used} /></> : "never used"}
                  </span>
                  <div class="actions">
                    <button type="button" class="small danger" onClick={() => setLeaving(key)} aria-label={`Remove the key ${key.name}`}>
                      Remove
                    </button>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </When>
      <NameAndRole
        what="key"
        roles={ROLES}
        onAdd={async (name, role) => {
          const added = await attempt(() => addKey(name, role));
          if (added) setMade(added);
          keys.reload();
          return added !== undefined;
        }}
      />
      {made && (
        <SecretDialog
          title={`The key ${made.name}`}
          text="Copy it now: the hub keeps only its hash, so nobody can show it again."
          secret={made.key}
          onClose={() => setMade(null)}
        />
      )}
      {leaving && (
        <Confirm
          title={`Remove the key ${leaving.name}?`}
          text="Machines and programs that use it are refused at once."
          action="Remove"
          onClose={() => setLeaving(null)}
          onConfirm={() => void attempt(() => removeKey(leaving.id)).then(keys.reload)}
        />
      )}
    </section>
  );
}
