import { errorCodeOf } from "../../base/mod.ts";
import { PinnedFolder } from "../../hull/mod.ts";
import type { SessionPlaces } from "../../records/mod.ts";
import { MAX_ANSWER_BYTES, readWholeAnswer } from "../agent/agent_ending.ts";

/**
 * The whole answer of a session that lives on: below a folder that stays the one that was opened, whatever the session
 * puts in its place meanwhile. Undefined where it cannot be read.
 */
export function readLivingAnswer(places: Pick<SessionPlaces, "records" | "out">): string | undefined {
  try {
    using out = PinnedFolder.open(places.records, "out");
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(out.read("result.txt", MAX_ANSWER_BYTES));
  } catch (error) {
    // Where no folder can be pinned there is no wall either that an escape would have to cross.
    return errorCodeOf(error) === "hull.unavailable" ? readWholeAnswer(places) : undefined;
  }
}
