import { treeVerb } from "./act_on_tree.ts";

/** `boll pause SESSION|PATH`: held where it stands. */
export const verb = treeVerb({
  action: "pause",
  summary: "Hold what runs",
  notes: ["A command is held where it stands, an agent before its next turn; deadlines go", "on."],
});
