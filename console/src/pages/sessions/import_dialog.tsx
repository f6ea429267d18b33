/** Takes a session that flo or a hub exported. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { ApiError, describeError } from "../../api/client";
import { type Problem, problemText } from "../../api/rules";
import { type ImportedSession, importSession } from "../../api/sessions";
import { Dialog } from "../../parts/dialog";
import { agentPath, go } from "../../router";

export function ImportDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const [file, setFile] = useState<File | null>(null);
  const [working, setWorking] = useState(false);
  const [failures, setFailures] = useState<readonly string[]>([]);
  const [imported, setImported] = useState<ImportedSession | null>(null);
  const id = useId();
  const take = async (chosen: File): Promise<void> => {
    setWorking(true);
    setFailures([]);
    try {
      const done = await importSession(await readSession(chosen));
      if (done.problems.length) setImported(done);
      else open(done);
    } catch (failure) {
      setFailures(tellFailures(failure));
    }
    setWorking(false);
  };
  if (imported) return <Unused imported={imported} />;
  return (
    <Dialog title="Import a session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (file) void take(file);
        }}
      >
        <p class="muted">A file that flo or a hub exported. It becomes an agent of its own, with the rules and the page that it brings.</p>
        <div class="field">
          <label for={`${id}-file`}>File</label>
          <input
            id={`${id}-file`}
            type="file"
            accept=".json,application/json"
            required
            onChange={(event) => {
              setFile(event.currentTarget.files?.[0] ?? null);
              setFailures([]);
            }}
          />
        </div>
        {failures.length > 0 && (
          <div class="notice" data-level="error" role="alert">
            <ul class="notice-list">
              {failures.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          </div>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!file || working}>
            {working ? "Importing…" : "Import"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The session is there; parts of the file are not used by this hub. */
function Unused({ imported }: { imported: ImportedSession }): JSX.Element {
  return (
    <Dialog title="Imported, without some parts" onClose={() => open(imported)}>
      <ul class="notice-list">
        {imported.problems.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="primary" onClick={() => open(imported)}>
          Open the session
        </button>
      </div>
    </Dialog>
  );
}

const open = (imported: ImportedSession): void => go(agentPath(imported.agent, imported.session.id));

async function readSession(file: File): Promise<unknown> {
  try {
    return JSON.parse(await file.text()) as unknown;
  } catch {
    throw new Error(`${file.name} is not JSON. Choose the file that Export saved.`);
  }
}

/** A part of the file that is not as it must be. */
interface WrongPart {
  where: string;
  problem: string;
}

function tellFailures(failure: unknown): readonly string[] {
  if (!(failure instanceof ApiError) || !Array.isArray(failure.detail)) return [describeError(failure)];
  const detail = failure.detail as (WrongPart | Problem)[];
  const told = detail.map((each) => ("where" in each ? `${each.where.replace(/^body\./, "")}: ${each.problem}` : problemText(each)));
  const isWrong = detail.some((each) => "where" in each);
  return [isWrong ? "This is not a session that the hub can read." : describeError(failure), ...told];
}
