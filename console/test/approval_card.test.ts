import { expect, it } from "vitest";
import { describeAnswer, editedInput, mainText } from "../src/pages/approvals/approval_card";

it("shows the only text of an input plainly", () => {
  expect(mainText({ command: "git push" })).toBe("git push");
  expect(mainText({ path: "a", content: "b" })).toBeNull();
  expect(mainText({ count: 3 })).toBeNull();
  expect(mainText(null)).toBeNull();
});

it("gives an edited text the shape of the input", () => {
  expect(editedInput("git push --dry-run", { command: "git push" })).toEqual({ command: "git push --dry-run" });
  expect(editedInput('{"path": "b", "content": ""}', { path: "a", content: "b" })).toEqual({ path: "b", content: "" });
  expect(() => editedInput("[1]", { path: "a", content: "b" })).toThrow("object");
  expect(() => editedInput("{", { path: "a", content: "b" })).toThrow();
});

it("calls an edited call approved only by its hooks", () => {
  expect(describeAnswer("Bash", { yes: true })).toEqual(["Approved Bash.", "success"]);
  expect(describeAnswer("Bash", { yes: true, input: { command: "ls" } })[0]).toBe("Sent the edited Bash to its hooks.");
  expect(describeAnswer("Bash", { yes: false, input: { command: "ls" } })[0]).toBe("Denied Bash.");
});
