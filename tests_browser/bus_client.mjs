// The official JavaScript client of Socket.IO: joins rooms and prints what it hears, one event a line.
// bus_client.mjs MODULES URL TOKEN ROOM…
import { createRequire } from "node:module";

const [modules, url, token, ...rooms] = process.argv.slice(2);
const { io } = createRequire(`${modules}/`)("socket.io-client");
const socket = io(`${url}/events`, { transports: ["websocket"], auth: { token } });
const print = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

socket.on("event", print);
socket.on("connect_error", (error) => print({ type: "connect_error", payload: { text: error.message } }));
socket.on("connect", async () => {
  for (const room of rooms) await socket.emitWithAck("join", { room });
  print({ type: "joined" });
});
