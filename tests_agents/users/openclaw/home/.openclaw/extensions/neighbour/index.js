import { appendFileSync } from "node:fs"

export default {
  id: "neighbour",
  name: "neighbour",
  description: "Notes each tool call.",
  register(api) {
    api.on("before_tool_call", async () => {
      appendFileSync(process.env.HOME + "/neighbour", "ran\n")
    })
  },
}
