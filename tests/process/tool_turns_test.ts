/**
 * Calls of tools that share the one thread of a cell: whose time passes, who is blamed, who is run again.
 */
import { assert, assertEquals } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { CalledTools } from "./called_tools.ts";
import { forThreads } from "./tool_threads.ts";

const TOOLS = [{ name: "probe" }, { name: "mutating" }] as const;

/** Starts a call of each that sleeps, and waits until both do. */
async function sleepers(tools: CalledTools, deadlineMs: number) {
  const calls = TOOLS.map(({ name }) =>
    tools.call(name, { do: "sleep", ms: 300, text: `asleep ${name}` }, { deadlineMs })
  );
  for (const { name } of TOOLS) await tools.untilLogged(`asleep ${name}`);
  return calls;
}

forThreads(
  "tools: one that loops costs its cell; the others' time stood still, and they run again, once, unless they change something",
  async (bed, options) => {
    await using tools = await CalledTools.open(bed, TOOLS, options);
    const [first] = childrenOf(Deno.pid);
    const calls = await sleepers(tools, 4_000);
    const looping = await tools.call("probe", { do: "loop", text: "x" }, { deadlineMs: 8_000 });
    assertEquals([looping.isError, looping.failure], [true, "timeout"]);
    const [probe, mutating] = await Promise.all(calls);
    assertEquals(probe, { content: "slept", isError: false });
    assertEquals(mutating?.failure, "interrupted");
    const asleep = tools.log.filter(({ text }) => String(text).startsWith("asleep")).map(({ tool }) => tool);
    assertEquals(asleep, ["probe", "mutating", "probe"]);
    const [second] = childrenOf(Deno.pid);
    assert(first !== undefined && second !== undefined && first !== second);
    assertEquals(tools.trace.filter(({ event }) => event === "cell_lost").map(({ calls }) => calls), [2]);
  },
);

forThreads("tools: one that is given up does not cost another, which computes, its cell", async (bed, options) => {
  await using tools = await CalledTools.open(bed, TOOLS, options);
  const before = childrenOf(Deno.pid);
  const given = new AbortController();
  const asleep = tools.call("probe", { do: "sleep", ms: 60_000, text: "asleep" }, { signal: given.signal });
  await tools.untilLogged("asleep");
  const computing = tools.call("mutating", { do: "compute", ms: 1_500, text: "computing" });
  await tools.untilLogged("computing");
  given.abort();
  assertEquals((await asleep).failure, "cancelled");
  const beside = tools.call("probe", { do: "echo", text: "beside" });
  assertEquals(await computing, { content: "computed", isError: false });
  assertEquals(await beside, { content: "beside", isError: false });
  assertEquals([childrenOf(Deno.pid), tools.trace.filter(({ event }) => event === "cell_lost")], [before, []]);
});

forThreads(
  "tools: a cell that dies is lost to the call that had its thread, and not to the others",
  async (bed, options) => {
    await using tools = await CalledTools.open(bed, TOOLS, options);
    const calls = await sleepers(tools, 10_000);
    const looping = tools.call("probe", { do: "loop", text: "x" }, { deadlineMs: 20_000 });
    await tools.untilLogged("looping x");
    const [cell] = childrenOf(Deno.pid);
    Deno.kill(cell!, "SIGKILL");
    assertEquals((await looping).failure, "interrupted");
    const [probe, mutating] = await Promise.all(calls);
    assertEquals([probe?.content, mutating?.failure], ["slept", "interrupted"]);
  },
);

forExecutable(
  "tools: the time of a call passes when it loops beside its child, and not while it waits for it",
  async (bed) => {
    const delegator = {
      start: ({ capsule }: { capsule: string }) =>
        Promise.resolve({ delegation_id: `dlg_${(capsule === "slow" ? "0a" : "0b").repeat(16)}` }),
      ended: (id: string) =>
        new Promise<string>((resolve) => {
          if (id.startsWith("dlg_0a")) setTimeout(() => resolve("done"), 1_200);
        }),
    };
    const grants = { spawn: ["slow", "endless"] };
    await using tools = await CalledTools.open(bed, [{ name: "probe" }], { grants, delegator });
    const waited = await tools.call("probe", { do: "delegate", capsule: "slow" }, { deadlineMs: 600 });
    assertEquals(waited, { content: "done", isError: false });
    const looping = await tools.call("probe", { do: "delegate-and-loop", capsule: "endless" }, { deadlineMs: 600 });
    assertEquals(looping.failure, "timeout");
  },
);

forExecutable(
  "tools: what a call asks for when it was given up is refused at once, though it still runs",
  async (bed) => {
    const heard: string[] = [];
    const delegator = {
      start: ({ capsule }: { capsule: string }) => {
        heard.push(`delegate ${capsule}`);
        return Promise.resolve({ delegation_id: `dlg_${"0a".repeat(16)}` });
      },
      ended: () => new Promise<string>(() => {}),
    };
    const grants = { spawn: ["worker"], fs: { work: "rw" as const, mounts: [] } };
    await using tools = await CalledTools.open(bed, [{ name: "probe" }], {
      grants,
      delegator,
      onEmit: ({ text }) => void heard.push(`emit ${text}`),
      onLog: ({ text }) => void heard.push(`log ${text}`),
    });
    const work = `${tools.folder}/work`;
    const call = (name: string, signal: AbortSignal) =>
      tools.call("probe", { do: "delegate-at", path: `/workdir/${name}`, text: `spins ${name}`, capsule: "worker" }, {
        signal,
      });
    const open = new AbortController();
    const allowed = call("a", open.signal);
    await tools.untilLogged("spins a");
    Deno.writeTextFileSync(`${work}/a`, "");
    assertEquals((await allowed).isError, false);
    assertEquals(heard, ["emit still here", "log still here", "delegate worker"]);
    const given = new AbortController();
    const refused = call("b", given.signal);
    await tools.untilLogged("spins b");
    given.abort();
    Deno.writeTextFileSync(`${work}/b`, "");
    assertEquals((await refused).failure, "cancelled");
    // Behind it, so that all it said has come.
    assertEquals((await tools.call("probe", { do: "echo", text: "next" })).content, "next");
    assertEquals(heard.length, 3, heard.join());
    assert(tools.trace.every(({ event }) => event !== "cell_lost"));
  },
);

forThreads(
  "tools: the memory of calls that are over comes back before their cell is at its barrier",
  async (bed, options) => {
    const tools = [{ name: "tool-trap", fixture: "tool_trap" }, { name: "probe" }];
    await using bench = await CalledTools.open(bed, tools, { ...options, limits: { memory_mb: 256 } });
    const fill = () => bench.call("tool-trap", "1");
    for (let round = 0; round < 2; round++) {
      const filled = await Promise.all(Array.from({ length: 12 }, fill));
      assertEquals(filled.filter(({ failure }) => failure !== "memory"), []);
      assertEquals((await bench.call("probe", { do: "echo", text: "x" })).content, "x");
    }
    assertEquals(bench.trace.filter(({ event }) => event === "cell_lost"), []);
  },
);

forThreads(
  "tools: a call whose cell dies before it has begun is run in another, unless it changes something",
  async (bed, options) => {
    await using tools = await CalledTools.open(bed, TOOLS, options);
    for (const [name, failure] of [["probe", undefined], ["mutating", "interrupted"]] as const) {
      assertEquals((await tools.call("probe", { do: "echo", text: "there" })).content, "there");
      const [cell] = childrenOf(Deno.pid);
      Deno.kill(cell!, "SIGSTOP");
      const called = tools.call(name, { do: "echo", text: "once" });
      Deno.kill(cell!, "SIGKILL");
      const result = await called;
      assertEquals(
        [result.failure, result.isError || result.content],
        [failure, failure !== undefined || "once"],
        name,
      );
    }
  },
);
