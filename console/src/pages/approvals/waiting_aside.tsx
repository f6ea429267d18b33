import type { JSX } from "preact";
import { ApprovalCard } from "./approval_card";
import { waiting } from "./waiting";

const SHOWN = 3;

/** The approvals that wait, beside another page. */
export function WaitingAside(): JSX.Element | null {
  const all = waiting.value;
  if (!all.length) return null;
  return (
    <aside class="waiting-aside" aria-label="Waiting approvals">
      <h2>Waiting for approval</h2>
      {all.slice(0, SHOWN).map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} compact />
      ))}
      <a href="/approvals">{all.length > SHOWN ? `See all ${all.length}` : "Open approvals"}</a>
    </aside>
  );
}
