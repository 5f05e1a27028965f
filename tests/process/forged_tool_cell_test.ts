import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../src/base/mod.ts";
import { type Bed, forMode, REPOSITORY } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { CalledTools, type CalledToolsOptions } from "./called_tools.ts";

/** Tools whose cell is a program that forges what a cell says. */
function forged(bed: Bed, mode: string, options: CalledToolsOptions = {}): Promise<CalledTools> {
  const script = `${REPOSITORY}/tests/process/forged_tool_cell.ts`;
  const args = ["run", "--no-check", "--quiet", `--config=${REPOSITORY}/deno.json`, script, mode];
  const { DENO_DIR } = Deno.env.toObject();
  const env = DENO_DIR === undefined ? {} : { DENO_DIR };
  return CalledTools.open(bed, [{ name: "forged" }], {
    self: () => ({ program: Deno.execPath(), args, env }),
    ...options,
  });
}

forMode("source", "tools: of what a broken cell says nothing is believed that is not checked", async (bed) => {
  for (const mode of ["no-base64", "no-text", "too-long", "dies"]) {
    await using tools = await forged(bed, mode);
    const result = await tools.call("forged", {});
    assertEquals([result.isError, result.failure], [true, "interrupted"], mode);
    const [lost] = tools.trace.filter(({ event }) => event === "cell_lost");
    assertEquals(lost?.["calls"], 1, mode);
    assertEquals(String(lost?.["reason"]).includes("message.value.text"), mode !== "dies", mode);
    assertEquals(childrenOf(Deno.pid), []);
  }
  const error = await assertRejects(() => forged(bed, "described"), CapsuleError);
  assertEquals(error.code, "protocol.bad_field");
  assertEquals(childrenOf(Deno.pid), []);
});

forMode("source", "tools: words of other calls are nobody's, and floods are bounded", async (bed) => {
  const heard: string[] = [];
  const options = { onEmit: ({ text }: { text: string }) => void heard.push(text) };
  await using other = await forged(bed, "other-call", options);
  assertEquals(await other.call("forged", {}), { content: "honest", isError: false });
  assertEquals([heard, other.log.map(({ tool }) => tool)], [[], ["?"]]);
  await using flood = await forged(bed, "flood", options);
  assertEquals((await flood.call("forged", {})).content, "honest");
  assertEquals(heard.length, 1_000);
  assertEquals(flood.trace.filter(({ event }) => event === "denied").length, 100);
  let [asked, waiting] = [0, 0];
  await using asks = await forged(bed, "asks", {
    requestInput: ({ signal }) => {
      [asked, waiting] = [asked + 1, waiting + 1];
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          waiting--;
          resolve({ refused: "nobody waits" });
        });
      });
    },
  });
  assertEquals((await asks.call("forged", {})).content, "honest");
  assert(asked > 0 && asked <= 8, String(asked));
  assertEquals(waiting, 0);
});

forMode(
  "source",
  "tools: what is asked for a call that nobody waits for is refused, and what for none",
  async (bed) => {
    const heard: string[] = [];
    const given = new AbortController();
    await using tools = await forged(bed, "goes-on", {
      grants: { spawn: ["worker"] },
      onEmit: () => void heard.push("emit"),
      onLog: () => void heard.push("log"),
      requestInput: () => {
        heard.push("ask");
        return Promise.resolve({ text: "so" });
      },
      delegator: {
        start: () => {
          heard.push("delegate");
          return Promise.resolve({ delegation_id: `dlg_${"0a".repeat(16)}` });
        },
        ended: () => Promise.resolve("done"),
      },
    });
    const answers = () =>
      tools.log.filter(({ stream }) => stream === "stdout").map(({ text }) => JSON.parse(String(text)));
    const call = tools.call("forged", {}, { signal: given.signal });
    while (answers().length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
    assertEquals(heard, ["emit", "log", "ask", "delegate"]);
    given.abort();
    assertEquals((await call).failure, "cancelled");
    while (answers().length < 6) await new Promise((resolve) => setTimeout(resolve, 10));
    assertEquals(heard.length, 4, heard.join());
    const over = (what: string) => ({ kind: "refused", message: `${what}: the call that it is for is over` });
    assertEquals(answers().sort((one, other) => one.id - other.id), [
      { id: 2, value: { input: "so" } },
      { id: 3, value: { delegation_id: `dlg_${"0a".repeat(16)}` } },
      { id: 4, error: over("Delegate") },
      { id: 12, error: over("Request input") },
      { id: 13, error: over("Delegate") },
      { id: 14, error: over("Delegate") },
    ]);
  },
);
