/** An agent behind a door: each message a turn of its model. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { serve, textOf } from "./served.ts";

forExecutable(
  "serve AGENT: each message is answered by its model, and nothing is left when it is stopped",
  async (bed) => {
    const capsule = bed.folder("agent", {
      "capsule.jsonc": JSON.stringify({
        name: "tester",
        version: "1.0.0",
        inference: { dialect: "scripted", uri: "play.json" },
      }),
      "play.json": JSON.stringify({
        turns: [{ when_contains: "first", text: "one" }, { when_contains: "second", text: "two" }],
      }),
    });
    const served = await serve(bed, { capsule });
    assertEquals(textOf(await served.send("the first")), "one");
    assertEquals(textOf(await served.send("the second")), "two");
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
    const refused = await bed.run(["serve", "--accept", "--model", "m", capsule, "--dialect", "openai"]);
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, "Read --dialect: openai needs --uri too");
  },
);
