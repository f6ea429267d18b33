import { appendFileSync } from "node:fs"

export const Neighbour = async () => ({
  "tool.execute.before": async () => appendFileSync(process.env.HOME + "/neighbour", "ran\n"),
})
