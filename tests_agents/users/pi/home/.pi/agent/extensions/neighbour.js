import { appendFileSync } from "node:fs"

export default function (pi) {
  pi.on("tool_call", async () => {
    appendFileSync(process.env.HOME + "/neighbour", "ran\n")
  })
}
