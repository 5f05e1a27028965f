import { treeVerb } from "./act_on_tree.ts";

/** `boll stop SESSION|PATH`: asked to end, then made to. */
export const verb = treeVerb({
  action: "stop",
  summary: "End what runs",
  notes: ["It and all below it are asked to end, and made to when they do not."],
});
