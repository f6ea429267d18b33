import { expect, it } from "vitest";
import { editedInput, mainText } from "../src/pages/approvals/approval_card";

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
