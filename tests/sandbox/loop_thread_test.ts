import { assertEquals } from "@std/assert";
import { Bed } from "../harness.ts";
import { ModelServer } from "../models/model_server.ts";
import { prepareAgent, scripted } from "../process/prepare_agent.ts";
import { startPrepared } from "../process/running_session.ts";
import { loopAttackOn } from "./variant/attacking_loop.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

Deno.test("escape: a loop's thread reaches its model's endpoint and nothing else, by each of two walls where two can [binary]", async () => {
  const variant = await buildVariant();
  await using bed = new Bed("binary");
  await using own = ModelServer.start();
  await using other = ModelServer.start();
  const port = Number(new URL(other.url).port);
  /** What the thread of a session comes to behind these walls. */
  const attack = async (walls: string, isScripted = false, tools = {}): Promise<Record<string, string>> => {
    const model = loopAttackOn(port);
    const intelligence = isScripted ? { ...scripted([]), model } : { uri: own.url, model, headers: [] };
    const prepared = await prepareAgent(bed, { intelligence, tools });
    const launch = { ...prepared.launch, program: variant, args: [`--standing-walls=${walls}`] };
    await using started = await startPrepared({ ...prepared, launch });
    const { last, stderr } = await started.session.result();
    const { message } = last!["error"] as { readonly message: string };
    return JSON.parse(message.startsWith("{") ? message : `{"${message}": "${stderr}"}`);
  };
  const names = (found: Record<string, string>, how: (outcome: string) => boolean) =>
    Object.entries(found).filter(([, outcome]) => how(outcome)).map(([name]) => name);
  const isDone = (outcome: string) => outcome === "done";
  // Without either wall all of it goes: these are attempts that would do harm.
  assertEquals(names(await attack("g13"), (outcome) => !isDone(outcome)), []);
  for (const walls of ["g1234", "g123"]) {
    const found = await attack(walls);
    assertEquals(names(found, isDone), ["ask the model"], JSON.stringify(found));
  }
  // No kernel wall knows an environment, or what a thread calls in its own process.
  const beyond = ["ask the model", "read the environment", "call a library"];
  const byKernel = await attack("g134");
  assertEquals(names(byKernel, isDone), beyond, JSON.stringify(byKernel));
  // Its thread is made while the cell of a tool starts: the walls stood before both.
  const beside = await attack("g134", false, { probe: "tool_probe" });
  assertEquals(names(beside, isDone), beyond, JSON.stringify(beside));
  // A scripted model is a `data:` URL: asking it takes no network, and there is none.
  const offline = await attack("g134", true);
  assertEquals(names(offline, isDone), beyond, JSON.stringify(offline));
});
