/** One session: its chat, and what can be done with it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../account";
import { type SessionAction, type SessionRow, actOnSession, deleteSession, exportSession, isHere, showSession } from "../../api/sessions";
import { Confirm } from "../../parts/dialog";
import { saveFile } from "../../parts/download";
import { When, useLoad } from "../../parts/load";
import { Page } from "../../parts/page";
import { Ago } from "../../parts/time";
import { attempt } from "../../parts/toast";
import { go } from "../../router";
import { SessionChat } from "./session_chat";
import { SessionDecisions } from "./session_decisions";

export function SessionPage({ id }: { id: string }): JSX.Element {
  const session = useLoad(id, (signal) => showSession(id, signal));
  const name = session.data?.agent || session.data?.host || "Session";
  return (
    <Page
      title={name}
      class="session-page"
      crumbs={<a href="/sessions">Sessions</a>}
      lead={session.data && <SessionLead session={session.data} />}
      actions={session.data && <SessionActions session={session.data} reload={session.reload} />}
    >
      <When loaded={session}>{(data) => (isHere(data) ? <SessionChat session={data} showsEnd /> : <SessionDecisions session={data.id} />)}</When>
    </Page>
  );
}

function SessionLead({ session }: { session: SessionRow }): JSX.Element {
  return (
    <span class="session-lead">
      <code>{session.id}</code>
      {session.workspace && <span>{session.workspace}</span>}
      <span>
        used <Ago at={session.last_used} />
      </span>
      {session.ended && <span class="tag">ended: {session.ended}</span>}
      {!isHere(session) && <span class="tag">read-only: it runs elsewhere</span>}
    </span>
  );
}

async function saveSession(id: string): Promise<void> {
  saveFile(`session-${id}.json`, `${JSON.stringify(await exportSession(id), null, 2)}\n`);
}

export function SessionActions({ session, reload }: { session: SessionRow; reload: () => void }): JSX.Element {
  const [deleting, setDeleting] = useState(false);
  const act = (action: SessionAction): void => void attempt(() => actOnSession(session.id, action)).then(reload);
  const editable = may("editor") && isHere(session);
  return (
    <>
      <a class="button" href={`/?session=${encodeURIComponent(session.id)}`}>
        Decisions
      </a>
      {isHere(session) && (
        <button type="button" onClick={() => void attempt(() => saveSession(session.id))}>
          Export
        </button>
      )}
      {editable && session.state === "working" && (
        <button type="button" onClick={() => act("cancel")}>
          Cancel
        </button>
      )}
      {editable && !session.ended && (
        <button type="button" onClick={() => act("end")}>
          End
        </button>
      )}
      {editable && session.ended && (
        <button type="button" onClick={() => act("reopen")}>
          Resume
        </button>
      )}
      {editable && (
        <button type="button" class="danger" onClick={() => setDeleting(true)}>
          Delete
        </button>
      )}
      {deleting && (
        <Confirm
          title="Delete this session?"
          text="Its hooks on session.end run, then everything of it goes: messages, files, storage. What was recorded about its decisions stays."
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={() =>
            void attempt(async () => {
              await deleteSession(session.id);
              go("/sessions");
            })
          }
        />
      )}
    </>
  );
}
