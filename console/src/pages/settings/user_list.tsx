import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { me } from "../../account";
import { type User, addUser, changeRole, listUsers, makeLink, removeUser } from "../../api/users";
import { Confirm } from "../../parts/dialog";
import { When, useLoad } from "../../parts/load";
import { attempt } from "../../parts/toast";
import { NameAndRole } from "./name_and_role";
import { SecretDialog } from "./secret_dialog";

export const ROLES = ["viewer", "approver", "editor", "owner"] as const;
const HELP = "Viewers see everything, approvers answer questions, editors change rules and talk to agents, owners manage users.";

export function UserList(): JSX.Element {
  const users = useLoad("users", listUsers);
  const [link, setLink] = useState<{ name: string; link: string } | null>(null);
  const [leaving, setLeaving] = useState<User | null>(null);
  return (
    <section class="card">
      <header>
        <h2>Users</h2>
      </header>
      <p class="muted">{HELP}</p>
      <When loaded={users}>
        {({ items }) => (
          <ul class="plain-list">
            {items.map((user) => (
              <li key={user.id}>
                <strong class="ellipsis">
                  {user.name} {user.id === me.value?.user.id && <span class="tag">you</span>} {user.oidc && <span class="tag">OIDC</span>}
                </strong>
                <select
                  aria-label={`Role of ${user.name}`}
                  value={user.role}
                  onChange={(event) =>
                    void attempt(async () => {
                      await changeRole(user.id, event.currentTarget.value);
                    }).then(users.reload)
                  }
                >
                  {ROLES.map((role) => (
                    <option key={role} value={role}>
                      {role}
                    </option>
                  ))}
                </select>
                <div class="actions">
                  <button
                    type="button"
                    class="small"
                    onClick={() => void attempt(async () => setLink({ name: user.name, ...(await makeLink(user.id)) }))}
                    aria-label={`Make a link for ${user.name}`}
                  >
                    Make a link
                  </button>
                  <button type="button" class="small danger" onClick={() => setLeaving(user)} aria-label={`Remove ${user.name}`}>
                    Remove
                  </button>
                </div>
              </li>
            ))}
          </ul>
        )}
      </When>
      <NameAndRole
        what="user"
        roles={ROLES}
        onAdd={async (name, role) => {
          const added = await attempt(() => addUser(name, role));
          users.reload();
          return added !== undefined;
        }}
      />
      {link && (
        <SecretDialog
          title={`A link for ${link.name}`}
          text="It signs in once, within five minutes. Send it to nobody else."
          secret={link.link}
          onClose={() => setLink(null)}
        />
      )}
      {leaving && (
        <Confirm
          title={`Remove ${leaving.name}?`}
          text="All browsers of this user are signed out."
          action="Remove"
          onClose={() => setLeaving(null)}
          onConfirm={() => void attempt(() => removeUser(leaving.id)).then(users.reload)}
        />
      )}
    </section>
  );
}
