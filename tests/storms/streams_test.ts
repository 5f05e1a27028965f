import { assertEquals } from "@std/assert";
import { forEachMode } from "../harness.ts";
import { runInShell } from "./shell.ts";
import { sessionsOf, wholeTrace } from "./whole_records.ts";
import { warmGuest } from "../process/warm_cache.ts";

const STREAMS = ["<&-", ">&-", "2>&-"] as const;

forEachMode("streams: every choice of closed ones, for each kind of verb, ends as with open ones", async (bed) => {
  const [cat, trap] = [await warmGuest(bed, "cat"), await warmGuest(bed, "trap")];
  const lines = [[`run ${cat}`, 0], [`run ${trap}`, 1], ["sessions", 0], ["no-such-verb", 2]] as const;
  for (let choice = 1; choice < 2 ** STREAMS.length; choice++) {
    const closed = STREAMS.filter((_, bit) => choice & (1 << bit)).join(" ");
    const runs = lines.map(([line]) => runInShell(bed, `echo in | { $boll ${line} ${closed}; }`));
    for (const [index, { code, stdout }] of (await Promise.all(runs)).entries()) {
      assertEquals(code, lines[index]![1], `${lines[index]![0]} ${closed}`);
      const copies = index === 0 && (choice & 3) === 0;
      if (index < 2) assertEquals(stdout, copies ? "in\n" : "");
    }
  }
  // Nothing that boll opened took the number of a closed stream: no record holds what a guest or boll said.
  for (const id of sessionsOf(bed.home)) {
    const events = wholeTrace(`${bed.home}/sessions/${id}`).map(({ event }) => event);
    assertEquals(events, ["session_start", "walls", "session_end"]);
  }
});
