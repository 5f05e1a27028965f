import { assertEquals } from "@std/assert";
import { fixture, forMode } from "../harness.ts";
import { quote, runInShell } from "./shell.ts";
import { sessionsOf, wholeTrace } from "./whole_records.ts";
import { warmGuest } from "../warm_cache.ts";

const STREAMS = ["<&-", ">&-", "2>&-"] as const;

forMode(
  "binary",
  "streams: every choice of closed ones, for each kind of verb, ends as with open ones",
  async (bed) => {
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
  },
);

forMode("binary", "streams: a service serves and drains whichever of them are closed", async (bed) => {
  const served = await fixture("served_probe");
  for (const closed of [...STREAMS, STREAMS.join(" ")]) {
    const port = freePort();
    const line = bed.command(["serve-http", served, "--cells", "1", "--listen", `127.0.0.1:${port}`]).map(quote).join(
      " ",
    );
    const running = bed.startCommand(["bash", "-c", `exec ${line} ${closed}`]);
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    assertEquals(await firstAnswer(`http://127.0.0.1:${port}/count`, client), "1");
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.result();
    assertEquals([code, stderr], [0, ""], closed);
  }
  for (const id of sessionsOf(bed.home)) {
    const events = wholeTrace(`${bed.home}/sessions/${id}`).map(({ event }) => event);
    assertEquals(events, ["session_start", "walls", "request", "session_end"]);
  }
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Asks until somebody listens: with its output closed a service cannot say so. */
async function firstAnswer(url: string, client: Deno.HttpClient): Promise<string> {
  for (;;) {
    try {
      return await (await fetch(url, { client })).text();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
