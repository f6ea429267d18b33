/** The hub's event bus: one Socket.IO connection for the whole console. */

import { effect, signal } from "@preact/signals";
import { type Socket, io } from "socket.io-client";
import { token } from "../api/client";

export interface BusEvent {
  type: string;
  room: string;
  seq: number;
  session_id: string;
  app_id: string;
  payload: Record<string, unknown>;
  ts: number;
}

type Listener = (event: BusEvent) => void;
export interface RowsBatch {
  items: unknown[];
  outcomes?: unknown[];
  dropped: number;
}
type RowsListener = (batch: RowsBatch) => void;
interface Joined {
  ok: boolean;
  error?: string;
  latest_seq?: number;
}

export type BusState = "connecting" | "live" | "away";

export const busState = signal<BusState>("connecting");
/** Counts up each time the connection is made anew; what is loaded by HTTP is loaded again then. */
export const connections = signal(0);

const rooms = new Map<string, { latest: number; users: number }>();
const listeners = new Set<Listener>();
const rowsListeners = new Set<RowsListener>();
const snapshotListeners = new Set<(room: string) => void>();
let socket: Socket | null = null;

effect(() => {
  const current = token.value;
  socket?.disconnect();
  socket = current ? connect(current) : null;
  busState.value = "connecting";
});

function connect(current: string): Socket {
  const made = io("/events", { transports: ["websocket"], auth: { token: current }, reconnectionDelayMax: 5000 });
  made.on("connect", async () => {
    // Joined first: what happens after the answer to a later request arrives as an event.
    await Promise.all([...rooms.keys()].map(joinRoom));
    if (!made.connected) return;
    busState.value = "live";
    connections.value += 1;
  });
  made.on("disconnect", () => {
    busState.value = "away";
  });
  made.on("connect_error", () => {
    busState.value = "away";
  });
  made.on("event", (event: BusEvent) => {
    const known = rooms.get(event.room);
    if (known) known.latest = Math.max(known.latest, event.seq);
    for (const listener of [...listeners]) listener(event);
  });
  made.on("snapshot", (told: { room?: string }) => askForSnapshot(told?.room ?? ""));
  made.on("decisions", (batch: RowsBatch) => {
    for (const listener of [...rowsListeners]) listener(batch);
  });
  return made;
}

async function joinRoom(room: string): Promise<void> {
  const known = rooms.get(room);
  if (!known || !socket?.connected) return;
  const request = known.latest > 0 ? { room, since: known.latest } : { room };
  try {
    const joined = (await socket.timeout(10_000).emitWithAck("join", request)) as Joined | null;
    if (joined?.latest_seq !== undefined) known.latest = Math.max(known.latest, joined.latest_seq);
    if (!("since" in request)) askForSnapshot(room);
  } catch {
    // The connection went away meanwhile; the next one joins again.
  }
}

function askForSnapshot(room: string): void {
  for (const listener of [...snapshotListeners]) listener(room);
}

/** Joins a room until the returned function is called. What was missed while the connection was away comes first. */
export function join(room: string): () => void {
  const known = rooms.get(room);
  if (known) known.users += 1;
  else {
    rooms.set(room, { latest: 0, users: 1 });
    void joinRoom(room);
  }
  return () => {
    const left = rooms.get(room);
    if (!left) return;
    left.users -= 1;
    if (left.users > 0) return;
    rooms.delete(room);
    if (socket?.connected) socket.emit("leave", { room });
  };
}

export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function onRows(listener: RowsListener): () => void {
  rowsListeners.add(listener);
  return () => rowsListeners.delete(listener);
}

/** The room was joined just now, or the hub has forgotten what was missed: everything about it is loaded anew. */
export function onSnapshot(listener: (room: string) => void): () => void {
  snapshotListeners.add(listener);
  return () => snapshotListeners.delete(listener);
}

export async function ask<T>(event: string, data: unknown): Promise<T> {
  if (!socket?.connected) throw new Error("The connection to the hub is gone.");
  return (await socket.timeout(10_000).emitWithAck(event, data)) as T;
}
