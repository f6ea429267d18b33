import type { JSX } from "preact";
import { useState } from "preact/hooks";

interface NameAndRoleProps {
  what: string;
  roles: readonly string[];
  onAdd: (name: string, role: string) => Promise<boolean>;
}

/** A line of a name, a role and Add. */
export function NameAndRole({ what, roles, onAdd }: NameAndRoleProps): JSX.Element {
  const [name, setName] = useState("");
  const [role, setRole] = useState(roles[0] ?? "");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (name.trim() && (await onAdd(name.trim(), role))) setName("");
  };
  return (
    <form class="add-line" onSubmit={(event) => void submit(event)}>
      <input
        aria-label={`Name of the new ${what}`}
        placeholder="Name"
        maxLength={100}
        required
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <select aria-label={`Role of the new ${what}`} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
        {roles.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <button type="submit">Add {what}</button>
    </form>
  );
}
