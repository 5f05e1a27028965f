import { treeVerb } from "./act_on_tree.ts";

/** `boll resume SESSION|PATH`: goes on after a pause. */
export const verb = treeVerb({ action: "resume", summary: "Let it go on", notes: [] });
