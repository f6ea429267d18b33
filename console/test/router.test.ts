import { expect, it } from "vitest";
import { matchPath } from "../src/router";

it.each([
  ["/", "/", {}],
  ["/sessions/:id", "/sessions/a%2Fb", { id: "a/b" }],
  ["/sessions/:id", "/sessions/", null],
  ["/sessions", "/sessions/", {}],
  ["/hooks/:set/rule", "/hooks/workspace%3A%2Fhome%2Fx/rule", { set: "workspace:/home/x" }],
  ["/hooks", "/hooks/x", null],
  ["/sessions/:id", "/sessions/%E0%A4%A", null],
])("%s and %s", (pattern, path, expected) => expect(matchPath(pattern, path)).toEqual(expected));
