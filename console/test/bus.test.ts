import { beforeEach, expect, it, vi } from "vitest";

type Handler = (data?: unknown) => void;
const handlers = new Map<string, Handler>();
let acknowledge: ((answer: unknown) => void)[] = [];
const requests: unknown[] = [];
const socket = {
  connected: true,
  on: (name: string, handler: Handler) => handlers.set(name, handler),
  emit: () => undefined,
  disconnect: () => undefined,
  timeout: () => socket,
  emitWithAck: (_: string, request: unknown) => {
    requests.push(request);
    return new Promise((resolve) => acknowledge.push(resolve));
  },
};
vi.mock("socket.io-client", () => ({ io: () => socket }));

const { token } = await import("../src/api/client");
const bus = await import("../src/live/bus");

beforeEach(() => {
  acknowledge = [];
  requests.length = 0;
  token.value = "";
  token.value = "t";
});

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it("is live, and asks for what happened before, only once its rooms are joined", async () => {
  socket.connected = false;
  const leave = bus.join("approvals");
  const stale: string[] = [];
  const end = bus.onSnapshot((room) => stale.push(room));
  const before = bus.connections.value;
  socket.connected = true;
  handlers.get("connect")!();
  await settle();
  expect([bus.busState.value, bus.connections.value, stale]).toEqual(["connecting", before, []]);
  acknowledge[0]!({ ok: true, latest_seq: 7 });
  await settle();
  expect([bus.busState.value, bus.connections.value, stale]).toEqual(["live", before + 1, ["approvals"]]);
  handlers.get("connect")!();
  await settle();
  expect(requests.at(-1)).toEqual({ room: "approvals", since: 7 });
  acknowledge[1]!({ ok: true, latest_seq: 9 });
  await settle();
  expect(stale).toEqual(["approvals"]);
  leave();
  end();
});
