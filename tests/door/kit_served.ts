/**
 * What the official compatibility kit (see `kit_agent.ts`) tests `dist/boll serve` with: a command and an agent, which know
 * a message's text and not its id, so that each does a part of what the kit asks for. Prints their addresses, and serves
 * until its stdin ends.
 *
 * ```sh
 * deno run -A tests/door/kit_served.ts
 * ```
 *
 * @module
 */
import { Bed } from "../harness.ts";
import { serve } from "../process/served.ts";
import { warmGuest } from "../warm_cache.ts";

/** The answer and the file that the kit's `tck-artifact-…` ask for, and an answer for all else. */
const COMMAND = `
  const isArtifact = readStdin() === "TCK artifact test";
  if (isArtifact) {
    mount("/workdir").createDirectoryAt("out");
    writeFile("/workdir/out/output.txt", "Generated file content");
  }
  stdout().blockingWriteAndFlush(bytes(isArtifact ? "Generated text content" : "Hello from TCK"));
  exit(0)`;

/** As many of each as a run of the kit may want. */
const TURNS = [
  { when_contains: "TCK prerequisite", tool_calls: [{ name: "request-input", arguments: { question: "What else?" } }] },
  { when_contains: "TCK history message", tool_calls: [{ name: "request-input", arguments: { question: "And?" } }] },
  { when_contains: "TCK artifact test", text: "Generated text content" },
  { text: "Hello from TCK" },
].flatMap((turn) => Array(500).fill(turn));

const FOREVER = { flags: ["--open"], safetyNetMs: 24 * 3_600_000 };

await using bed = new Bed("binary");
const agent = bed.folder("agent", {
  "capsule.jsonc": JSON.stringify({
    name: "kit-agent",
    version: "1.0.0",
    inference: { dialect: "scripted", uri: "play.json", max_session_tokens: 2_000_000 },
    lifecycle: { input_timeout_ms: 1_500 },
  }),
  "play.json": JSON.stringify({ turns: TURNS }),
});
const command = bed.folder("command", {
  "capsule.jsonc": JSON.stringify({
    name: "kit-command",
    version: "1.0.0",
    component: "guest.wasm",
    args: [COMMAND],
    grants: { fs: { work: "rw" } },
  }),
});
Deno.copyFileSync(await warmGuest(bed, "probe"), `${command}/guest.wasm`);
const served = [
  await serve(bed, { ...FOREVER, capsule: command }),
  await serve(bed, { ...FOREVER, capsule: agent }),
];
console.log(`command ${served[0]!.url}\nagent   ${served[1]!.url}`);
while (await Deno.stdin.read(new Uint8Array(1_024)) !== null);
for (const one of served) await one.stop();
