import { assertEquals } from "@std/assert";
import { fixture } from "../fixtures/fixture.ts";
import { forEachMode } from "../harness.ts";

function manifest(capture: string | undefined): string {
  const trace = capture === undefined ? {} : { trace: { capture } };
  return JSON.stringify({ name: "said", version: "1.0.0", component: "said.wasm", ...trace });
}

forEachMode(
  "trace.capture: arguments are content, their count and the usage are not, none keeps neither",
  async (bed) => {
    const component = await fixture("hello_stdio");
    for (
      const [capture, args, count, hasUsage] of [
        [undefined, undefined, 2, true],
        ["meta", undefined, 2, true],
        ["content", ["private", "words"], 2, true],
        ["none", undefined, undefined, false],
      ] as const
    ) {
      const folder = bed.folder(`said-${capture}`, { "capsule.jsonc": manifest(capture) });
      Deno.copyFileSync(component, `${folder}/said.wasm`);
      const { code } = await bed.run(["run", folder, "--accept", "--", "private", "words"]);
      assertEquals(code, 0);
      const events = bed.trace();
      const start = events.find(({ event }) => event === "session_start")!;
      const end = events.find(({ event }) => event === "session_end")!;
      assertEquals([start["args"], start["args_count"], end["usage"] !== undefined], [args, count, hasUsage], capture);
    }
  },
);
