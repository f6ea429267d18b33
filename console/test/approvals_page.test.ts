import { expect, it } from "vitest";
import type { Approval } from "../src/api/approvals";
import { describeEdit } from "../src/pages/approvals/approvals_page";

const edited: Approval = { id: "question_1", tool: "Bash", input: {}, edited: { command: "rm" }, created: 0, state: "approved" };

it("says that hooks denied an edited input, also before the record of it is here", () => {
  expect(describeEdit(edited)).toBe("Edited, then decided again by hooks");
  expect(describeEdit({ ...edited, state: "denied" })).toBe("Edited, and then denied by hooks");
});
