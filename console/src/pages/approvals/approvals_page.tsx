/** What agents ask people, answered from any screen. */

import type { JSX } from "preact";
import { type Approval, listApprovals } from "../../api/approvals";
import { Failure, When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { Ago } from "../../parts/time";
import { Verdict } from "../../parts/verdict";
import { ApprovalCard, mainText } from "./approval_card";
import { answered, canNotify, failure, load, permitNotifications, waiting } from "./waiting";

export function ApprovalsPage(): JSX.Element {
  const earlier = useLoad(`answered-${answered.value}`, (signal) => listApprovals("answered", signal));
  return (
    <Page
      title="Approvals"
      narrow
      actions={
        canNotify.value === "default" && (
          <button type="button" onClick={() => void permitNotifications()}>
            Notify me
          </button>
        )
      }
    >
      {failure.value !== undefined && <Failure failure={failure.value} retry={() => void load()} />}
      {waiting.value.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} />
      ))}
      {!waiting.value.length && failure.value === undefined && (
        <Empty title="Nothing waits for you." icon="approvals">
          <p>When a hook says “ask” and the agent cannot ask by itself, its question appears here.</p>
        </Empty>
      )}
      <When loaded={earlier}>
        {({ items }) =>
          items.length > 0 && (
            <section class="answered">
              <h2>Answered</h2>
              <ul class="list">
                {items.map((approval) => (
                  <li key={approval.id} class="answered-row">
                    <Verdict word={approval.denied_by ? "denied" : approval.state} />
                    <code class="ellipsis">{summary(approval)}</code>
                    <span class="muted">
                      {approval.by ? `${approval.by}, ` : ""}
                      <Ago at={approval.answered_at ?? approval.created} />
                    </span>
                    {approval.edited != null && !approval.denied_by && <span class="muted answered-why">{describeEdit(approval)}</span>}
                    {approval.denied_by && (
                      <span class="muted answered-why">
                        Edited, and then denied by <a href={`/decisions/${encodeURIComponent(approval.denied_by.decision)}`}>{approval.denied_by.hook || "a hook"}</a>: {approval.denied_by.reason}
                      </span>
                    )}
                    {approval.why && <span class="muted answered-why">“{approval.why}”</span>}
                  </li>
                ))}
              </ul>
            </section>
          )
        }
      </When>
    </Page>
  );
}

/** Until the record of the host is here, only the state tells what hooks decided. */
export function describeEdit(approval: Approval): string {
  return approval.state === "denied" ? "Edited, and then denied by hooks" : "Edited, then decided again by hooks";
}

function summary(approval: Approval): string {
  const input = approval.edited ?? approval.input;
  return `${approval.tool}: ${mainText(input) ?? JSON.stringify(input)}`;
}
